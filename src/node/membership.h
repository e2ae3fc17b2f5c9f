// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/log.h"
#include "node/host.h"
#include "node/status.h"

/// That this machine was a member once, remembered over restarts: so that it can say what became of that, and what to
/// do, when the chain it follows no longer has its Node.
namespace rhizome::node {

/// A member that is none any more.
struct MembershipLost {
    std::string node{};      ///< as which it was one
    ledger::Height since{};  ///< the block after which it was none
    /// The chain never had it: the branch on which it joined lost against another, and its token or name was used there
    /// by somebody else, or revoked. Else it was removed.
    bool undone = false;
};

/// Keeps the memory, and logs what changes, while the handle is there.
[[nodiscard]] std::shared_ptr<void> remember_membership(Host& host, Log log);

/// Nothing for a member, for who never was one, and as long as another branch may still bring the Node back: that it is
/// gone is final first. Any thread.
std::optional<MembershipLost> membership_lost(const Host& host);

/// What an operator is told of it.
Warning warning_of(const MembershipLost& lost);

}  // namespace rhizome::node
