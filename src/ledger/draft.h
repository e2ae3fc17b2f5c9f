// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "ledger/reject.h"
#include "ledger/tx.h"
#include "state/path.h"
#include "state/view.h"

/// From what somebody wants to the transaction that says so: finds the inputs (docs/spec/chain.md section 2). Nobody
/// has signed it yet.
namespace rhizome::ledger {

/// One thing to write or delete.
struct Change {
    std::string document{};       ///< compact JSON, as it is to be stored; or a deletion, see `deletion_of`
    std::optional<Bytes> lock{};  ///< of what is written; nothing: as it is, and none for what is created
};

struct DraftWish {
    std::vector<Change> changes{};
    /// Whose lock is to decide; nothing: each resource's own, or that of its nearest ancestor with one.
    std::optional<state::Path> by{};
    std::uint32_t lock_time = 0;
    std::uint32_t sequence = kSequenceFinal;  ///< of inputs that somebody signs
    /// Unix seconds. Nothing: `kExpirySecondsDefault` after `now` when no input is consumed, else never.
    std::optional<std::uint32_t> expiry{};
    Time now{};  ///< the state's
};

/// The draft. An update names the present version; where not its own lock but an ancestor's is to decide, that is named
/// as authority beside it. A creation names an ancestor. A deletion by its own lock names the version, one by an
/// ancestor only that: whatever version there is then, it goes.
Result<Tx, Reject> make_draft(const DraftWish& wish, const state::StateView& state);

/// The value that deletes the resource of this document.
std::string deletion_of(std::string_view document);

}  // namespace rhizome::ledger
