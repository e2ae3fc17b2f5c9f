// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "crypto/keys.h"
#include "ledger/tx.h"
#include "state/view.h"

/// Whether the holders of some keys could open a lock, without anybody signing anything: for showing Secrets and for
/// answering `can-i`. What they say of a lock is what a transaction signed with those keys would be told in a block of
/// that height and time, as far as locks have a known form; others are taken as closed.
namespace rhizome::ledger {

struct Moment {
    state::Height height{};
    Time time{};
};

/// `since` is the lock point: what waiting times count from.
bool could_open(ByteView lock, const state::Mark& since, std::span<const crypto::PublicKey::Array> keys,
                const Moment& moment, const state::StateView& view);

/// The nearest of `path` and its ancestors whose lock they could open; nothing when there is none. `path` itself need
/// not exist.
std::optional<state::Path> opened_by(const state::Path& path, std::span<const crypto::PublicKey::Array> keys,
                                     const Moment& moment, const state::StateView& view);

}  // namespace rhizome::ledger
