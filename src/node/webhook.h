// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/json.h"
#include "base/log.h"
#include "stream/strand.h"

namespace rhizome::node {

struct WebhookOptions {
    std::string url{};  ///< `http://…`, or `https://…` with a certificate that this machine's authorities vouch for
    std::size_t waiting_max = 256;     ///< then the oldest is given up: the newest is what somebody must act on
    milliseconds timeout{10'000};      ///< of one attempt
    milliseconds again_first{1'000};   ///< after one that failed,
    milliseconds again_most{300'000};  ///< twice as long each time up to this
    std::size_t answer_bytes_max = 65'536;
    Log log{};
};

/// Posts JSON to an address, one after the other and in order, each until somebody there answers with 2xx. What nobody
/// takes waits, bounded; an answer of 4xx (but 408 and 429) is a refusal: asking again would not change it.
class Webhook {
public:
    /// Invalid when the address makes no sense.
    static Result<std::unique_ptr<Webhook>> start(stream::IoContext& io, WebhookOptions options);
    /// What waits is lost.
    ~Webhook();
    Webhook(const Webhook&) = delete;
    Webhook& operator=(const Webhook&) = delete;

    /// Any thread; never waits.
    void post(const json::Object& body);

    struct Counts {
        std::uint64_t delivered = 0;
        std::uint64_t refused = 0;   ///< by an answer that asking again would not change
        std::uint64_t given_up = 0;  ///< too many waited
        std::uint64_t failed = 0;    ///< attempts
        std::size_t waiting = 0;
    };
    [[nodiscard]] Counts counts() const;

private:
    struct Inside;
    explicit Webhook(std::shared_ptr<Inside> inside);
    std::shared_ptr<Inside> inside_;
};

}  // namespace rhizome::node
