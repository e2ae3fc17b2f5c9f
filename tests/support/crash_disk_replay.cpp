// SPDX-License-Identifier: Apache-2.0
#include "support/crash_disk_replay.h"

#include <algorithm>
#include <set>

#include "base/ensure.h"

namespace rhizome::test::crash {

// ---- Content -------------------------------------------------------------------------------------------------------

Content::Page& Content::page_for_writing(std::uint64_t number) {
    auto& slot = pages_[number];
    auto fresh = slot ? std::make_shared<Page>(*slot) : std::make_shared<Page>();
    Page& page = *fresh;
    slot = std::move(fresh);
    return page;
}

void Content::store(std::uint64_t offset, ByteView bytes) {
    while (!bytes.empty()) {
        const auto at = offset % kPageBytes;
        const auto now = std::min<std::uint64_t>(bytes.size(), kPageBytes - at);
        std::copy_n(bytes.begin(), now,
                    page_for_writing(offset / kPageBytes).begin() + static_cast<std::ptrdiff_t>(at));
        bytes = bytes.subspan(now);
        offset += now;
    }
}

void Content::write(std::uint64_t offset, ByteView bytes) {
    store(offset, bytes);
    cover(offset + bytes.size());
}

void Content::resize(std::uint64_t size) {
    pages_.erase(pages_.lower_bound((size + kPageBytes - 1) / kPageBytes), pages_.end());
    if (size % kPageBytes != 0 && pages_.contains(size / kPageBytes)) {
        Page& last = page_for_writing(size / kPageBytes);
        std::fill(last.begin() + static_cast<std::ptrdiff_t>(size % kPageBytes), last.end(), std::uint8_t{0});
    }
    size_ = size;
}

void Content::copy(const Content& other, std::uint64_t begin, std::uint64_t end) {
    while (begin < end) {
        const auto number = begin / kPageBytes;
        const auto now = std::min(end - begin, kPageBytes - begin % kPageBytes);
        const auto found = other.pages_.find(number);
        if (now == kPageBytes && found != other.pages_.end()) {
            pages_[number] = found->second;
        } else if (now == kPageBytes) {
            pages_.erase(number);
        } else if (found != other.pages_.end() || pages_.contains(number)) {
            std::array<std::uint8_t, kPageBytes> part{};
            const auto bytes = std::span{part}.first(now);
            other.read(begin, bytes);
            store(begin, bytes);
        }
        begin += now;
    }
}

void Content::read(std::uint64_t offset, std::span<std::uint8_t> out) const {
    while (!out.empty()) {
        const auto at = offset % kPageBytes;
        const auto now = std::min<std::uint64_t>(out.size(), kPageBytes - at);
        const auto found = pages_.find(offset / kPageBytes);
        if (found == pages_.end()) {
            std::fill_n(out.begin(), now, std::uint8_t{0});
        } else {
            std::copy_n(found->second->begin() + static_cast<std::ptrdiff_t>(at), now, out.begin());
        }
        out = out.subspan(now);
        offset += now;
    }
}

// ---- what one operation does to the cache and to the disk ----------------------------------------------------------

namespace {

struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

/// Does `operation` to what programs see, and says which bytes changed.
Range apply(const Operation& operation, Content& seen) {
    if (operation.act == Act::Write) {
        seen.write(operation.offset, operation.bytes);
        return {operation.offset, operation.offset + operation.bytes.size()};
    }
    const Range cut{std::min(operation.size, seen.size()), seen.size()};
    seen.resize(operation.size);
    return cut;
}

Range whole_sectors(Range range) {
    if (range.begin == range.end) return range;
    return {range.begin / kSectorBytes * kSectorBytes, (range.end + kSectorBytes - 1) / kSectorBytes * kSectorBytes};
}

/// The size reaches the disk. What lies behind it is gone there too: programs saw nothing there at that moment.
void land_size(const Content& seen, Content& disk) { disk.resize(seen.size()); }

/// All that `operation` changed reaches the disk, as `seen` (after it) has it.
void land(const Operation& operation, Range changed, const Content& seen, Content& disk) {
    const auto sectors = whole_sectors(changed);
    disk.copy(seen, sectors.begin, sectors.end);
    if (operation.grew) land_size(seen, disk);
    // Though an earlier write made the file longer and did not arrive, what did arrive can be read.
    if (operation.act == Act::Write) disk.cover(changed.end);
}

}  // namespace

// ---- Replay --------------------------------------------------------------------------------------------------------

Replay::Replay(const std::vector<Operation>& trace, Tree base) : trace_(trace), safe_names_(std::move(base.names)) {
    for (auto& [node, content] : base.files) files_[node] = File{content, content};
}

void Replay::advance_to(std::size_t point) {
    ensure(point >= position_ && point <= trace_.size(), "a replay walks forward, and only over what was done");
    for (; position_ < point; ++position_) {
        const Operation& operation = trace_[position_];
        if (operation.on_names()) pending_names_.push_back({position_});
        if (operation.act == Act::Create) files_[*operation.names.front().second];  // empty so far
        if (operation.on_data()) files_[operation.node].pending.push_back(position_);
        if (operation.act == Act::Sync || operation.act == Act::SyncAll || operation.act == Act::FailedSync) {
            sync(operation);
        }
    }
}

/// Only the sectors this write touched are flushed, not what else is pending in the file. Those sectors hold what the
/// cache held, so it stays in its place among the pending ones.
void Replay::sync_write(const Operation& operation) {
    const auto index = operation.covers - 1;
    if (operation.act == Act::Sync) {
        synced_.insert(index);
        commit_file(operation.node, operation.covers, false);
        forget_committed();
        File& file = files_[operation.node];
        if (file.pending.front() == index) absorb(file, index + 1, false);
    } else if (operation.lost) {
        lost_.insert(index);
    }
}

void Replay::sync(const Operation& operation) {
    if (operation.one_write) {
        sync_write(operation);
        return;
    }
    if (operation.act == Act::FailedSync) {
        // The names a failed sync should have saved stay unsafe: they are in the journal, not among the lost pages.
        const auto found = files_.find(operation.node);
        if (operation.lost && found != files_.end()) absorb(found->second, operation.covers, true);
        return;
    }
    if (operation.act == Act::SyncAll) {
        for (auto& [node, file] : files_) absorb(file, operation.covers, false);
        for (auto& names : pending_names_) names.posix = names.posix || names.index < operation.covers;
        commit_journal(operation.covers);
    } else {
        commit_file(operation.node, operation.covers, operation.whole);
        commit_folder(operation.node, operation.covers);
        const auto found = files_.find(operation.node);
        if (found != files_.end()) absorb(found->second, operation.covers, false);
    }
    forget_committed();
}

/// Takes pending operations before `covers` as done: on the disk, or never.
void Replay::absorb(File& file, std::size_t covers, bool lost) {
    auto next = file.pending.begin();
    for (; next != file.pending.end() && *next < covers; ++next) {
        const Operation& operation = trace_[*next];
        const Range changed = apply(operation, file.seen);
        if (synced_.contains(*next) || !(lost || lost_.contains(*next))) land(operation, changed, file.seen, file.safe);
    }
    for (auto done = file.pending.begin(); done != next; ++done) {
        synced_.erase(*done);
        lost_.erase(*done);
    }
    file.pending.erase(file.pending.begin(), next);
}

/// ext4 writes its journal up to the last change of the file that the sync is about, and so everything before it.
void Replay::commit_file(Node node, std::size_t covers, bool whole) {
    std::size_t before = 0;
    for (const auto& names : pending_names_) {
        const Operation& operation = trace_[names.index];
        if (names.index >= covers || !(whole || operation.act == Act::Create || operation.act == Act::MakeFolder))
            continue;
        for (const auto& [name, target] : operation.names) {
            if (target == node) before = names.index + 1;
        }
    }
    if (const auto found = files_.find(node); found != files_.end()) {
        for (const auto index : found->second.pending) {
            if (index < covers && trace_[index].grew) before = std::max(before, index + 1);
        }
    }
    commit_journal(before);
}

void Replay::commit_journal(std::size_t covers) {
    for (auto& names : pending_names_) names.journal = names.journal || names.index < covers;
}

void Replay::commit_folder(Node folder, std::size_t covers) {
    std::size_t last = 0;
    for (std::size_t i = 0; i < pending_names_.size() && pending_names_[i].index < covers; ++i) {
        const auto& changes = trace_[pending_names_[i].index].names;
        const bool here = std::any_of(changes.begin(), changes.end(),
                                      [folder](const auto& change) { return change.first.first == folder; });
        if (!here) continue;
        commit_with_earlier(i);
        last = pending_names_[i].index + 1;
    }
    commit_journal(last);
}

/// A rename between two folders is safe when one of them is synced; then what was done before to its names is, too.
void Replay::commit_with_earlier(std::size_t position) {
    if (pending_names_[position].posix) return;
    pending_names_[position].posix = true;
    std::set<Name> names;
    for (const auto& [name, target] : trace_[pending_names_[position].index].names) names.insert(name);
    for (std::size_t i = position; i-- > 0;) {
        for (const auto& [name, target] : trace_[pending_names_[i].index].names) {
            if (!names.contains(name)) continue;
            commit_with_earlier(i);
            break;
        }
    }
}

void Replay::forget_committed() {
    auto next = pending_names_.begin();
    for (; next != pending_names_.end() && next->posix && next->journal; ++next) {
        for (const auto& [name, target] : trace_[next->index].names) {
            if (target) {
                safe_names_[name] = *target;
            } else {
                safe_names_.erase(name);
            }
        }
    }
    pending_names_.erase(pending_names_.begin(), next);
}

std::vector<std::size_t> Replay::unsafe(Names names) const {
    std::vector<std::size_t> indexes;
    for (const auto& [node, file] : files_) {
        for (const auto index : file.pending) {
            if (!synced_.contains(index) && !lost_.contains(index)) indexes.push_back(index);
        }
    }
    for (const auto& pending : pending_names_) {
        if (!pending.safe(names)) indexes.push_back(pending.index);
    }
    std::sort(indexes.begin(), indexes.end());
    return indexes;
}

// ---- images --------------------------------------------------------------------------------------------------------

/// Decides what becomes of each unsafe operation.
class Replay::Fate {
public:
    Fate(const Choice& choice, const std::vector<std::size_t>& unsafe, const std::vector<Operation>& trace)
        : choice_(choice), random_(choice.number) {
        if (choice.kind == Choice::Kind::All || choice.kind == Choice::Kind::TornLast) kept_below_ = trace.size();
        if (choice.kind == Choice::Kind::Prefix) {
            kept_below_ = choice.number < unsafe.size() ? unsafe[choice.number] : trace.size();
        }
        if (choice.kind == Choice::Kind::TornLast) {
            for (const auto index : unsafe) {
                if (trace[index].act == Act::Write) torn_ = index;
            }
        }
        if (choice.kind == Choice::Kind::Subset) {
            by_sector_ = random_.chance(2, 3);
            constexpr std::uint64_t kEighths[] = {1, 4, 4, 7};
            eighths_ = kEighths[random_.below(4)];
        }
    }

    [[nodiscard]] bool torn(std::size_t index) const { return torn_ == index; }
    [[nodiscard]] std::uint64_t torn_bytes() const { return choice_.number; }
    [[nodiscard]] bool by_sector() const { return by_sector_; }
    bool coin() { return random_.chance(eighths_, 8); }
    bool keeps(std::size_t index) { return choice_.kind == Choice::Kind::Subset ? coin() : index < kept_below_; }

private:
    Choice choice_;
    Random random_;
    std::size_t kept_below_ = 0;
    std::optional<std::size_t> torn_;
    bool by_sector_ = false;
    std::uint64_t eighths_ = 4;
};

Replay::Tree Replay::image(const Choice& choice) const {
    Fate fate{choice, unsafe(choice.names), trace_};
    Tree tree{safe_names_, {}};

    std::set<Name> stuck;  // names whose later changes cannot have happened
    bool journal_ended = false;
    for (const auto& pending : pending_names_) {
        const auto& changes = trace_[pending.index].names;
        bool kept = true;
        if (!pending.safe(choice.names)) {
            const bool blocked = std::any_of(changes.begin(), changes.end(),
                                             [&stuck](const auto& change) { return stuck.contains(change.first); });
            const bool ended = choice.names == Names::Journal && journal_ended;
            kept = fate.keeps(pending.index) && !blocked && !ended;
        }
        if (!kept) journal_ended = true;
        for (const auto& [name, target] : changes) {
            if (!kept) {
                stuck.insert(name);
            } else if (target) {
                tree.names[name] = *target;
            } else {
                tree.names.erase(name);
            }
        }
    }

    for (const auto& [node, file] : files_) {
        Content disk = file.safe;
        Content seen = file.pending.empty() ? Content{} : file.seen;
        for (const auto index : file.pending) {
            const Operation& operation = trace_[index];
            const Range changed = apply(operation, seen);
            if (synced_.contains(index)) {
                land(operation, changed, seen, disk);
            } else if (lost_.contains(index)) {
                continue;
            } else if (fate.torn(index)) {
                const auto end = std::min(changed.end, changed.begin + fate.torn_bytes());
                disk.copy(seen, changed.begin, end);
                disk.cover(end);
            } else if (fate.by_sector() && operation.act == Act::Write) {
                const auto sectors = whole_sectors(changed);
                for (auto at = sectors.begin; at < sectors.end; at += kSectorBytes) {
                    if (fate.coin()) disk.copy(seen, at, at + kSectorBytes);
                }
                if (operation.grew && fate.coin()) land_size(seen, disk);
            } else if (fate.keeps(index)) {
                land(operation, changed, seen, disk);
            }
        }
        disk.resize(disk.size());  // sectors may have arrived behind the end
        tree.files[node] = std::move(disk);
    }
    return tree;
}

Replay::Tree Replay::live() const {
    Tree tree{safe_names_, {}};
    for (const auto& pending : pending_names_) {
        for (const auto& [name, target] : trace_[pending.index].names) {
            if (target) {
                tree.names[name] = *target;
            } else {
                tree.names.erase(name);
            }
        }
    }
    for (const auto& [node, file] : files_) {
        Content seen = file.seen;
        for (const auto index : file.pending) apply(trace_[index], seen);
        tree.files[node] = std::move(seen);
    }
    return tree;
}

}  // namespace rhizome::test::crash
