// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <deque>
#include <memory>

#include "base/json.h"
#include "base/log.h"
#include "core/effects.h"
#include "follow/unusual.h"
#include "ledger/block.h"

namespace rhizome::node {

/// What has been unusual on the chain since the start, as one moment shows it.
struct UnusualSeen {
    std::array<std::uint64_t, follow::kUnusualKinds> counts{};
    std::deque<follow::Unusual> last{};  ///< newest first, at most `kKept`
    static constexpr std::size_t kKept = 16;
};

/// `{"rate","size","nonces","pace","last":[{"kind","at","subject","what"}]}`.
json::Object to_json(const UnusualSeen& seen);

/// Shows a node's chain to `follow::UsualWatch`, and says in the log what that tells. On the host's strand.
class UsualFollower {
public:
    explicit UsualFollower(Log log) : log_(std::move(log)) {}

    /// `headers` are those of the blocks that came, oldest first.
    void follow(const core::TipMoved& moved, const std::vector<ledger::Header>& headers,
                const ledger::LedgerState& state, Time now);
    /// Never null; another pointer when something was added.
    [[nodiscard]] std::shared_ptr<const UnusualSeen> seen() const { return seen_; }

private:
    Log log_;
    follow::UsualWatch watch_{{}};
    std::shared_ptr<const UnusualSeen> seen_ = std::make_shared<const UnusualSeen>();
};

}  // namespace rhizome::node
