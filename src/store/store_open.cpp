// SPDX-License-Identifier: Apache-2.0
// Opening a store and ending it in order.
#include <array>
#include <utility>

#include <fmt/core.h>

#include "runtime/files.h"
#include "store/chain_index.h"
#include "store/detail/indexer.h"
#include "store/detail/log_reader.h"
#include "store/detail/store_inside.h"
#include "store/place.h"
#include "store/store.h"

namespace rhizome::store {

using detail::IndexItem;
using ledger::Height;

namespace {

/// Whether the log alone tells everything since genesis.
Result<bool> log_is_whole(const std::filesystem::path& folder) {
    const std::filesystem::path first = folder / "0000000001.log";
    std::error_code fault;
    if (!std::filesystem::exists(first, fault)) return false;
    TRY(const auto file, detail::File::open(first, detail::File::Mode::Read));
    TRY(const std::uint64_t size, file.size());
    const auto damaged = [&](std::uint64_t offset, std::string_view what) {
        return fail(ErrorKind::Corrupt, fmt::format("{} is damaged at offset {}: {}", first.native(), offset, what));
    };
    std::array<std::uint8_t, kSegmentHeadBytes> bytes{};
    TRY(const std::size_t got, file.read_some(0, bytes));
    const auto head = decode_segment_head(ByteView{bytes}.first(got));
    if (!head) return damaged(0, name(head.error()));
    detail::LogReader reader{file, size, kSegmentHeadBytes, head->salt};
    TRY(const auto record, reader.next());
    if (!record) return damaged(kSegmentHeadBytes, name(record.error()));
    const auto facts =
        record->head.kind == RecordKind::Carry ? decode_facts(record->payload) : Fail{DecodeFault::BadValue};
    if (!facts) return damaged(kSegmentHeadBytes, "it does not begin as a log should");
    return facts->base.height == Height{0};
}

/// Whether the directory is where it was, going also by its index.
Result<PlaceFinding> find_place(const DataFolder& folder, const IndexFinding& index) {
    TRY(PlaceFinding place, examine_place(folder.path()));
    if (place.trust != PlaceTrust::Same || !index.another_file) return place;
    // Opening the index makes it ours, so what it shows must be kept elsewhere until the vote record says it.
    TRY(runtime::remove_file(place_of(folder.path())));
    return PlaceFinding{.trust = PlaceTrust::Elsewhere, .what = "its index is a copy of the one that was last used"};
}

/// Opens the index if it can be believed, else begins a new one.
Result<void> open_index(const DataFolder& folder, const IndexFinding& finding, std::unique_ptr<ChainIndex>& index,
                        std::vector<Finding>& findings) {
    const std::filesystem::path file = folder.index() / "data.mdb";
    std::string why;
    if (finding.trust == IndexTrust::Sealed || finding.trust == IndexTrust::Ours) {
        auto opened = ChainIndex::open(folder.index());
        if (opened) {
            index = *std::move(opened);
            // Nothing changes the file before this is done: without room for it, it is tried again then.
            const auto marked = index->mark_in_use();
            return marked || marked.error().kind == ErrorKind::Exhausted ? ok() : marked;
        }
        if (opened.error().kind != ErrorKind::Corrupt) return Fail{opened.error()};
        why = opened.error().message;
    } else if (finding.trust == IndexTrust::New) {
        why = fmt::format("{} is not there", file.native());
    } else {
        why = fmt::format("{} cannot be used (offset {}): {}", file.native(), finding.offset, finding.what);
    }
    const auto whole = log_is_whole(folder.log());
    if (!whole) return Fail{with_context(why, whole.error())};
    if (!*whole)
        return fail(
            ErrorKind::Corrupt,
            fmt::format(
                "{}\nit cannot be made again, since older blocks were pruned or lost: restore a backup (rhizome "
                "chain restore), or import a snapshot; a running node's directory is copied with rhizome "
                "chain backup",
                why));
    findings.push_back({.what = why + "; it is made again from the log", .file = file, .offset = finding.offset});
    TRY(runtime::make_folder(folder.index(), 0700));  // somebody may have removed all of it
    TRY(discard_index(folder.index()));
    TRY(index, ChainIndex::open(folder.index()));
    return index->mark_in_use();
}

}  // namespace

Result<std::unique_ptr<Store>> Store::open(const std::filesystem::path& folder, const Options& options) {
    TRY(auto data, DataFolder::open(folder));
    auto inside = std::make_unique<Inside>(std::move(data), options);
    TRY(const IndexFinding found, examine_index(inside->folder.index()));
    TRY(const PlaceFinding place, find_place(inside->folder, found));
    TRY(open_index(inside->folder, found, inside->index, inside->findings));
    TRY(auto head, inside->index->head());

    std::vector<IndexItem> behind;
    bool first = !head.has_value();
    if (head) {
        inside->facts = head->facts;
        TRY(const auto tip, inside->index->on_chain(head->facts.tip.height));
        if (!tip)
            return fail(ErrorKind::Corrupt,
                        fmt::format("{} is damaged: it does not have the chain's tip", inside->index->path().native()));
        inside->tx_total = tip->tx_total;
        TRY(inside->bring_final_home());
        if (inside->facts.final_block != head->facts.final_block)
            inside->findings.push_back(
                {.what = fmt::format("block {} was marked final, and a recovery has led the chain elsewhere since: "
                                     "block {}, where they part, is final until more is shown",
                                     head->facts.final_block.height, inside->facts.final_block.height),
                 .file = inside->index->path()});
    }
    const auto each = [&](const LogRecord& record) -> Result<void> {
        TRY(auto item, inside->read_record(record, std::exchange(first, false), behind));
        behind.push_back(std::move(item));
        return {};
    };
    LogTail tail;
    const ledger::ChainId chain = inside->folder.chain();
    TRY(inside->log, SegmentLog::open(inside->log_settings(chain), head ? std::optional{head->log} : std::nullopt,
                                      head ? head->durable : 0, each, tail));
    if (tail.dropped_bytes > 0)
        inside->findings.push_back(
            {.what =
                 fmt::format("{} bytes at the end of the log were never confirmed and are not whole (offset {} of {}): "
                             "a write was interrupted; they are gone",
                             tail.dropped_bytes, tail.dropped_offset, tail.dropped_file.native()),
             .file = tail.dropped_file,
             .offset = tail.dropped_offset});

    inside->start_indexer(head.value_or(IndexHead{}));
    for (IndexItem& item : behind) inside->indexer->push(std::move(item));
    std::unique_ptr<Store> store{new Store{std::move(inside)}};
    TRY(store->inside_->tip, store->info(store->inside_->facts.tip.hash));
    TRY(store->inside_->final_block, store->info(store->inside_->facts.final_block.hash));
    TRY(store->inside_->base, store->info(store->inside_->facts.base.hash));
    store->inside_->arriving = place;
    if (const auto arrived = store->inside_->arrive(); !arrived) {
        if (arrived.error().kind != ErrorKind::Exhausted) return Fail{arrived.error()};
        store->inside_->findings.push_back(
            {.what = fmt::format("the disk of {} is full: it can be read, and nothing is written until there is room",
                                 folder.native()),
             .file = folder});
    }
    return store;
}

/// From here on this directory is the one that signs, if its vote record allows it.
Result<void> Store::Inside::arrive() {
    if (!arriving) return {};
    TRY(index->mark_in_use());
    const bool has_id = facts.votes_complete || facts.record_id != ledger::VoteRecordId{};
    // Also when it was lost before: what the owner says of a directory by the id of its record is not said of a copy.
    if (forgets_votes() || !has_id) {
        TRY(lose_votes());
        TRY(log->sync());  // before the place is ours: the next opening will not know
    }
    if (forgets_votes())
        findings.push_back(
            {.what = fmt::format("the data directory {} is not where it was: {}. What the node has signed since is not "
                                 "known here, so it signs nothing until the chain shows that it is safe",
                                 folder.path().native(), arriving->what),
             .file = place_of(folder.path())});
    TRY(mark_place(folder.path()));
    const std::lock_guard lock{mutex};
    arriving.reset();
    return {};
}

Result<void> Store::close() {
    TRY(inside_->arrive());
    TRY(inside_->log->sync());
    TRY(inside_->indexer->settle(true));
    inside_->indexer.reset();
    const std::filesystem::path index = inside_->folder.index();
    inside_->index.reset();
    TRY(seal_index(index));
    TRY(mark_place(inside_->folder.path()));
    inside_.reset();
    return {};
}

}  // namespace rhizome::store
