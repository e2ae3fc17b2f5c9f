// SPDX-License-Identifier: Apache-2.0
#include "node/refusal_journal.h"

namespace rhizome::node {

void RefusalJournal::note(const ledger::CheckedTx& tx, const ledger::Reject& why, Time now) {
    Kept kept{.row = {.time = now, .tx = tx.id, .why = why}};
    for (const ledger::NamedOutput& output : tx.outputs)
        if (output.wish != ledger::Wish::Nothing) kept.keys.insert(output.resource.path.key());
    const std::lock_guard hold{mutex_};
    rows_.push_back(std::move(kept));
    if (rows_.size() > kRowsMax) rows_.pop_front();
}

std::vector<RefusalJournal::Row> RefusalJournal::about(const state::Path& path, std::size_t most) const {
    std::vector<Row> found;
    const std::lock_guard hold{mutex_};
    for (auto at = rows_.rbegin(); at != rows_.rend() && found.size() < most; ++at)
        if (at->keys.contains(path.key())) found.push_back(at->row);
    return found;
}

}  // namespace rhizome::node
