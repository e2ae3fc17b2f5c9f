// SPDX-License-Identifier: Apache-2.0
#include "ledger/working_state.h"

#include "base/ensure.h"

namespace rhizome::ledger {

OutpointIndex OutpointIndex::of(const state::StateView& view) {
    OutpointIndex index;
    state::Cursor cursor = view.walk(state::Prefix::documents());
    while (const state::Entry* entry = cursor.next())
        if (entry->is_written()) index.paths_.emplace(entry->origin().latest.output, entry->path());
    return index;
}

const state::Path* OutpointIndex::find(const Outpoint& outpoint) const {
    const auto at = paths_.find(outpoint);
    return at == paths_.end() ? nullptr : &at->second;
}

void OutpointIndex::apply(const state::Delta& delta) {
    delta.visit([&](const state::Change& change) {
        if (change.before && change.before->is_written()) paths_.erase(change.before->origin().latest.output);
        if (change.after && change.after->is_written())
            paths_.insert_or_assign(change.after->origin().latest.output, change.after->path());
    });
}

const state::Entry* WorkingState::find_latest(const Outpoint& outpoint) const {
    // Both maps may know outputs that have been replaced since; the entry itself says whether this is still the latest.
    const auto added = added_.find(outpoint);
    const state::Path* path = added != added_.end() ? &added->second : index_->find(outpoint);
    if (path == nullptr) return nullptr;
    const state::Entry* entry = find(*path);
    if (entry == nullptr || !entry->is_written() || entry->origin().latest.output != outpoint) return nullptr;
    return entry;
}

void WorkingState::put(state::EntryPtr entry) {
    if (entry->is_written()) added_.insert_or_assign(entry->origin().latest.output, entry->path());
    batch_.put(std::move(entry));
}

void WorkingState::put_record(const state::Path& path, ByteView bytes) {
    auto entry = state::Entry::plain(path, bytes);
    ensure(entry.has_value(), "a record of the ledger's own fits the tree");
    batch_.put(*std::move(entry));
}

}  // namespace rhizome::ledger
