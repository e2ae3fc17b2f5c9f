// SPDX-License-Identifier: Apache-2.0
#include "ledger/working_state.h"

#include "base/ensure.h"

namespace rhizome::ledger {

OutpointIndex OutpointIndex::of(const state::StateView& view) {
    OutpointIndex index;
    state::Cursor cursor = view.walk(state::Prefix::documents());
    while (const state::Entry* entry = cursor.next())
        if (entry->is_written()) index.put(state::EntryPtr{entry});
    return index;
}

const state::Entry* OutpointIndex::find(const Outpoint& outpoint) const {
    const auto at = latest_.find(outpoint);
    return at == latest_.end() ? nullptr : at->entry.get();
}

void OutpointIndex::put(state::EntryPtr entry) {
    Latest latest{std::move(entry)};
    const auto [at, fresh] = latest_.insert(latest);
    if (fresh) return;
    latest_.erase(at);
    latest_.insert(std::move(latest));
}

void OutpointIndex::erase(const Outpoint& outpoint) {
    if (const auto at = latest_.find(outpoint); at != latest_.end()) latest_.erase(at);
}

void OutpointIndex::apply(const state::Delta& delta) {
    delta.visit([&](const state::Change& change) {
        if (change.before && change.before->is_written()) erase(change.before->origin().latest.output);
        if (change.after && change.after->is_written()) put(change.after);
    });
}

const state::Entry* WorkingState::find_latest(const Outpoint& outpoint) const {
    // Both indexes may know outputs that have been replaced since; what stands there now says whether this is still the
    // latest.
    const state::Entry* known = added_.find(outpoint);
    if (known == nullptr) known = index_->find(outpoint);
    if (known == nullptr) return nullptr;
    const state::Entry* entry = find(known->path());
    if (entry == nullptr || !entry->is_written() || entry->origin().latest.output != outpoint) return nullptr;
    return entry;
}

void WorkingState::put(state::EntryPtr entry) {
    if (entry->is_written()) added_.put(entry);
    batch_.put(std::move(entry));
}

void WorkingState::put_record(const state::Path& path, ByteView bytes) {
    auto entry = state::Entry::plain(path, bytes);
    ensure(entry.has_value(), "a record of the ledger's own fits the tree");
    batch_.put(*std::move(entry));
}

}  // namespace rhizome::ledger
