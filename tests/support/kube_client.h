// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "stream/stream.h"
#include "stream/tls.h"

/// A client of any Kubernetes API that costs next to nothing, for tests and benchmarks: one connection, one question at
/// a time, HTTP/1.1 as servers speak it and nothing more.
namespace rhizome::test {

/// What most tests write to, and how most changes are sent.
inline constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";
inline constexpr const char* kMerge = "application/merge-patch+json";

/// Where an API is and who asks it.
struct KubeAccess {
    stream::Address address{};
    std::string path{};                               ///< in front of every target: of `https://host/prefix`
    std::shared_ptr<const stream::TlsContext> tls{};  ///< none: in clear
    std::string token{};

    /// `url` as in a kubeconfig. Without `authority_pem` any server is believed.
    struct Given {
        std::string url{};
        std::string authority_pem{};
        std::string certificate_pem{};
        std::string key_pem{};
        std::string token{};
    };
    static Result<KubeAccess> make(const Given& given);
    /// The current context of a kubeconfig.
    static Result<KubeAccess> from_kubeconfig(std::string_view yaml);
};

struct KubeReply {
    unsigned status = 0;
    std::string head{};  ///< lines before the body, as they came
    std::string body{};
    [[nodiscard]] json::Value value() const;
    /// A field of the head; empty when there is none.
    [[nodiscard]] std::string header(std::string_view name) const;
};

/// Confined to the strand of the task that opened it.
class KubeConnection {
public:
    static stream::Task<Result<std::unique_ptr<KubeConnection>>> open(KubeAccess access, stream::Deadline deadline);

    /// Bytes of a request; made once where the same is asked again and again. `more`: header lines with their ends.
    [[nodiscard]] std::string request(std::string_view method, std::string_view target, std::string_view body = {},
                                      std::string_view media = "application/json", std::string_view more = {}) const;
    /// Sends and reads the whole answer.
    stream::Task<Result<KubeReply>> ask(std::string request);

    /// Sends and reads only the head of an answer that has no end: a watch. Then its lines, one at a time; an empty one
    /// is the end.
    stream::Task<Result<KubeReply>> begin(std::string request);
    stream::Task<Result<std::string>> next_line();
    void set_deadline(stream::Deadline deadline) { stream_->set_read_deadline(deadline); }
    [[nodiscard]] stream::Stream& bytes() { return *stream_; }

private:
    KubeConnection(KubeAccess access, std::unique_ptr<stream::Stream> stream)
        : access_(std::move(access)), stream_(std::move(stream)) {}
    stream::Task<Result<void>> read_more();
    stream::Task<Result<void>> read_more(std::string* into);
    stream::Task<Result<KubeReply>> read_head();
    /// The next piece of a chunked body, into `into`; false at its end.
    stream::Task<Result<bool>> read_chunk(std::string* into);

    KubeAccess access_;
    std::unique_ptr<stream::Stream> stream_;
    Bytes scratch_{};
    std::string buffer_{};
    std::size_t at_ = 0;  ///< of `buffer_`: what is read
    std::string lines_{};
    bool ended_ = false;
};

/// A question and its answer on a connection of its own, from a thread that may wait.
Result<KubeReply> ask_kube(const KubeAccess& access, std::string_view method, std::string_view target,
                           std::string_view body = {}, std::string_view media = "application/json",
                           std::string_view more = {});

}  // namespace rhizome::test
