// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/log.h"
#include "follow/watchtower.h"
#include "stream/strand.h"

namespace rhizome::node {

class Host;

struct WatchOptions {
    follow::WatchRules rules{};
    std::optional<std::string> webhook{};  ///< where alerts are posted
    Log log{};
};

/// A watchtower on a node: shows `follow::Watchtower` what the host sees, and tells of what that says: in the log, by
/// counters, and to a webhook. Evidence itself is submitted by the core of every node, this one's too.
class Watching {
public:
    /// Invalid when the webhook's address makes no sense. `host` outlives it.
    static Result<std::unique_ptr<Watching>> start(stream::IoContext& io, Host& host, WatchOptions options);
    ~Watching();
    Watching(const Watching&) = delete;
    Watching& operator=(const Watching&) = delete;

    /// `{"blocks","shortBlocks","leftOut","watched","alerts":[{"kind","node","key","at","what",…}],"webhook":{…}}`: the
    /// last alerts, newest first. Any thread.
    [[nodiscard]] json::Object shown() const;

private:
    struct Inside;
    explicit Watching(std::shared_ptr<Inside> inside);
    std::shared_ptr<Inside> inside_;
};

}  // namespace rhizome::node
