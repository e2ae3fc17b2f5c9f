// SPDX-License-Identifier: Apache-2.0
#include "store/backup.h"

#include <algorithm>

#include <fmt/core.h>

#include "ledger/codec.h"
#include "ledger/snapshot.h"
#include "store/detail/log_reader.h"
#include "store/detail/stream_file.h"
#include "store/record.h"

namespace rhizome::store {
namespace {

using ledger::Height;

constexpr std::size_t kNotesMax = 1'000'000;
/// Which notes are worth keeping: a chain elsewhere prunes for itself.
constexpr std::array<std::string_view, 3> kNoteTables{"peers", "voters", "snapshot"};

/// Records one behind the other, as in a segment.
class RecordWriter {
public:
    RecordWriter(detail::NewFile& file) : file_(file) {}

    Result<void> write(RecordKind kind, ByteView payload) {
        RecordHead head{.kind = kind, .sequence = ++sequence_, .link = link_};
        const auto bytes = encode_head(head, std::span{&payload, 1});
        link_ = head.checksum;
        TRY(file_.write(bytes));
        TRY(file_.write(payload));
        static constexpr std::array<std::uint8_t, kRecordAlignment> kZeros{};
        return file_.write(ByteView{kZeros}.first(record_bytes(payload.size()) - kRecordHeadBytes - payload.size()));
    }

private:
    detail::NewFile& file_;
    std::uint64_t sequence_ = 0;
    std::uint64_t link_ = 0;
};

class RecordReader {
public:
    static Result<RecordReader> open(const std::filesystem::path& path) {
        TRY(auto file, detail::File::open(path, detail::File::Mode::Read));
        TRY(const std::uint64_t size, file.size());
        return RecordReader{std::move(file), size};
    }

    Result<SegmentHead> head() {
        std::array<std::uint8_t, kSegmentHeadBytes> bytes{};
        TRY(const std::size_t got, file_->read_some(0, bytes));
        const auto head = decode_segment_head(ByteView{bytes}.first(got));
        if (!head)
            return fail(ErrorKind::Corrupt,
                        fmt::format("{} is no backup: {}", file_->path().native(), name(head.error())));
        if (head->number != 0)
            return fail(ErrorKind::Invalid,
                        fmt::format("{} is a piece of a log, not a backup", file_->path().native()));
        if (head->schema > kSchema)
            return fail(ErrorKind::Unsupported,
                        fmt::format("{} was written by a newer rhizome (schema {}; this one knows up to {})",
                                    file_->path().native(), head->schema, kSchema));
        return *head;
    }

    Result<RecordView> next() {
        const std::uint64_t offset = reader_.offset();
        TRY(auto record, reader_.next());
        if (!record) return damaged(offset, name(record.error()));
        if (record->head.sequence != ++sequence_ || record->head.link != link_)
            return damaged(offset, "the record does not follow the one before");
        link_ = record->head.checksum;
        return *record;
    }

    Fail<Error> damaged(std::uint64_t offset, std::string_view what) const {
        return fail(ErrorKind::Corrupt,
                    fmt::format("{} is damaged at offset {}: {}", file_->path().native(), offset, what));
    }
    [[nodiscard]] std::uint64_t offset() const { return reader_.offset(); }
    [[nodiscard]] std::uint64_t size() const { return size_; }

private:
    RecordReader(detail::File file, std::uint64_t size)
        : file_(std::make_unique<detail::File>(std::move(file))),
          size_(size),
          reader_(*file_, size, kSegmentHeadBytes) {}
    std::unique_ptr<detail::File> file_;
    std::uint64_t size_;
    detail::LogReader reader_;
    std::uint64_t sequence_ = 0;
    std::uint64_t link_ = 0;
};

bool has_all_bodies(const Store& store) {
    if (!store.base().has_body) return false;
    const auto first = store.info_at(store.base().height() + (store.tip().height() > store.base().height() ? 1 : 0));
    return first && first->has_body;
}

}  // namespace

Result<BackupSummary> write_backup(Chain& chain, const std::filesystem::path& path, const ProgressSink& progress) {
    Store& store = chain.store();
    TRY(store.settle(false));
    const BlockInfo tip = store.tip();
    const state::StateView view = chain.state().view();
    TRY(auto file, detail::NewFile::open(path));
    SegmentHead head{.schema = kSchema, .number = 0};
    std::copy(store.chain().view().begin(), store.chain().view().end(), head.chain.begin());
    TRY(file.write(encode_head(head)));
    RecordWriter out{file};

    BackupSummary summary{.chain = store.chain(), .tip = tip.height()};
    const bool whole = has_all_bodies(store);
    const BlockInfo base = whole ? store.base() : tip;
    const BlockInfo final_block = store.final_block();
    const Facts facts{.base = {.hash = base.hash, .height = base.height()},
                      .tip = {.hash = tip.hash, .height = tip.height()},
                      .final_block = {.hash = final_block.hash, .height = final_block.height()}};
    TRY(out.write(RecordKind::Carry, encode(facts)));
    if (whole) {
        for (Height height = base.height(); height <= tip.height(); ++height) {
            TRY(const BlockInfo info, store.info_at(height));
            TRY(const Bytes bytes, store.block_bytes(info.hash));
            TRY(out.write(height == base.height() ? RecordKind::Block : RecordKind::Append, bytes));
            ++summary.blocks;
            if (progress) progress(summary.blocks, tip.height() - base.height() + 1);
        }
    } else {
        ledger::Block block{.header = tip.header, .signature = tip.signature};
        TRY(block.seal, store.seal(tip.hash));
        TRY(const auto manifest, ledger::make_manifest(store.chain(), block, view));
        const auto sink = [&](ByteView bytes) -> Result<void> {
            for (std::size_t at = 0; at < bytes.size(); at += kPayloadBytesMax)
                TRY(out.write(RecordKind::State, bytes.subspan(at, std::min(kPayloadBytesMax, bytes.size() - at))));
            return {};
        };
        TRY(ledger::write_snapshot(manifest, view, {}, sink));
    }
    for (const std::string_view table : kNoteTables) {
        TRY(const auto notes, store.notes(table, kNotesMax));
        for (const auto& [name, bytes] : notes) {
            if (bytes.size() + table.size() + name.size() + 16 > kPayloadBytesMax) continue;
            Writer note;
            note.short_blob(as_bytes(table)).short_blob(as_bytes(name)).blob(bytes);
            TRY(out.write(RecordKind::Note, note.view()));
            ++summary.notes;
        }
    }
    TRY(out.write(RecordKind::End, {}));
    TRY(file.finish());
    summary.bytes = file.size();
    return summary;
}

Result<BackupSummary> write_backup(const BackupBlocks& blocks, const std::filesystem::path& path,
                                   const ProgressSink& progress) {
    TRY(auto file, detail::NewFile::open(path));
    SegmentHead head{.schema = kSchema, .number = 0};
    std::copy(blocks.chain.view().begin(), blocks.chain.view().end(), head.chain.begin());
    TRY(file.write(encode_head(head)));
    RecordWriter out{file};
    BackupSummary summary{.chain = blocks.chain, .tip = blocks.tip};
    const ledger::BlockHash genesis{blocks.chain.view()};
    const Facts facts{.base = {.hash = genesis, .height = Height{0}},
                      .tip = {.hash = blocks.hash, .height = blocks.tip},
                      .final_block = {.hash = blocks.hash, .height = blocks.tip}};
    TRY(out.write(RecordKind::Carry, encode(facts)));
    ledger::BlockHash last = genesis;
    for (Height height{0}; height <= blocks.tip; ++height) {
        TRY(const ledger::Block block, blocks.block(height));
        const bool is_first = height == Height{0};
        const ledger::BlockHash hash = hash_of(block.header);
        if (block.header.height != height || (is_first ? hash : block.header.previous) != last)
            return fail(ErrorKind::Corrupt,
                        fmt::format("the block given for height {} does not follow the one before", height));
        TRY(out.write(is_first ? RecordKind::Block : RecordKind::Append, ledger::encode(block)));
        last = hash;
        ++summary.blocks;
        if (progress) progress(summary.blocks, blocks.tip.number() + 1);
    }
    if (last != blocks.hash)
        return fail(ErrorKind::Corrupt,
                    fmt::format("the block at height {} is another than the final one", blocks.tip));
    TRY(out.write(RecordKind::End, {}));
    TRY(file.finish());
    summary.bytes = file.size();
    return summary;
}

namespace {

/// Reads a backup's records in their order.
struct Restoring {
    RecordReader& in;
    const std::filesystem::path& folder;
    const ledger::BlockRules& rules;
    Parallel& parallel;
    const Options& options;
    const ProgressSink& progress;
    BackupSummary summary{};
    std::unique_ptr<Chain> chain{};
    Facts facts{};

    Result<void> begin_with(const ledger::Block& genesis) {
        TRY(const auto consensus, rules.judge.judge_genesis(genesis));
        TRY(auto commit, ledger::apply_genesis(genesis, consensus));
        TRY(chain, Chain::create(folder, {.block = genesis, .commit = std::move(commit)}, rules, parallel, options,
                                 ChainOrigin::FromElsewhere));
        return {};
    }

    /// The snapshot's bytes begin in `first` and go on in the records behind it.
    Result<void> begin_with_state(ByteView first) {
        Bytes ahead{first.begin(), first.end()};
        std::size_t used = 0;
        const auto source = [&](std::size_t size) -> Result<Bytes> {
            while (ahead.size() - used < size) {
                ahead.erase(ahead.begin(), ahead.begin() + static_cast<std::ptrdiff_t>(used));
                used = 0;
                const std::uint64_t offset = in.offset();
                TRY(const RecordView record, in.next());
                if (record.head.kind != RecordKind::State) return in.damaged(offset, "the state in it is not whole");
                ahead.insert(ahead.end(), record.payload.begin(), record.payload.end());
            }
            const auto begin = ahead.begin() + static_cast<std::ptrdiff_t>(used);
            used += size;
            return Bytes{begin, begin + static_cast<std::ptrdiff_t>(size)};
        };
        TRY(const auto snapshot, ledger::read_snapshot(source, parallel));
        const ledger::SnapshotManifest& manifest = snapshot.manifest;
        if (manifest.chain != summary.chain || hash_of(manifest.header) != facts.base.hash)
            return in.damaged(in.offset(), "the state in it is not the one it announced");
        TRY(chain, Chain::create_from_state(
                       folder, manifest.chain,
                       {.header = manifest.header, .signature = manifest.signature, .seal = manifest.seal},
                       snapshot.view, rules, parallel, options));
        return {};
    }

    Result<bool> take(const RecordView& record, std::uint64_t offset) {
        switch (record.head.kind) {
            case RecordKind::Block:
            case RecordKind::Append: {
                const auto block = ledger::decode_block(record.payload);
                if (!block) return in.damaged(offset, block.error().why);
                if (!chain) {
                    if (ledger::ChainId{hash_of(block->header).view()} != summary.chain)
                        return in.damaged(offset, "it begins with the genesis of another chain");
                    TRY(begin_with(*block));
                } else {
                    TRY(chain->add(*block));
                }
                ++summary.blocks;
                if (progress) progress(summary.blocks, facts.tip.height - facts.base.height + 1);
                return true;
            }
            case RecordKind::State:
                if (chain) return in.damaged(offset, "a second state");
                TRY(begin_with_state(record.payload));
                return true;
            case RecordKind::Note: {
                if (!chain) return in.damaged(offset, "notes come after the chain");
                Reader note{record.payload};
                TRY(const ByteView table, note.short_blob(256));
                TRY(const ByteView key, note.short_blob(512));
                TRY(const ByteView bytes, note.blob(kPayloadBytesMax));
                TRY(note.finish());
                TRY(chain->store().put_note({reinterpret_cast<const char*>(table.data()), table.size()},
                                            {reinterpret_cast<const char*>(key.data()), key.size()}, bytes));
                ++summary.notes;
                return true;
            }
            case RecordKind::End: return false;
            case RecordKind::Carry:
            case RecordKind::Tip:
            case RecordKind::Final:
            case RecordKind::Vote:
            case RecordKind::VotesLost:
            case RecordKind::VotesKnown: break;
        }
        return in.damaged(offset, "such a record is in no backup");
    }

    Result<void> run() {
        TRY(const SegmentHead head, in.head());
        summary.chain = ledger::ChainId{ByteView{head.chain}.first<32>()};
        summary.bytes = in.size();
        TRY(const RecordView first, in.next());
        if (first.head.kind != RecordKind::Carry) return in.damaged(kSegmentHeadBytes, "it does not say what it holds");
        TRY(facts, decode_facts(first.payload));
        for (bool more = true; more;) {
            const std::uint64_t offset = in.offset();
            TRY(const RecordView record, in.next());
            TRY(more, take(record, offset));
        }
        if (in.offset() != in.size()) return in.damaged(in.offset(), "something stands behind its end");
        if (!chain || hash_of(chain->tip()) != facts.tip.hash)
            return in.damaged(in.offset(), "its last block is not the tip it announced");
        summary.tip = facts.tip.height;
        if (const auto known = chain->store().info(facts.final_block.hash); known && chain->store().on_chain(*known))
            TRY(chain->store().mark_final(facts.final_block.hash));
        return chain->close();
    }
};

}  // namespace

Result<BackupSummary> restore_backup(const std::filesystem::path& file, const std::filesystem::path& folder,
                                     const ledger::BlockRules& rules, Parallel& parallel, const Options& options,
                                     const ProgressSink& progress) {
    TRY(auto in, RecordReader::open(file));
    Restoring restoring{
        .in = in, .folder = folder, .rules = rules, .parallel = parallel, .options = options, .progress = progress};
    if (const auto done = restoring.run(); !done) {
        if (restoring.chain) {  // ours, so it may go; another chain would have been refused before
            restoring.chain.reset();
            std::error_code ignored;
            for (const char* part : {"format", "log", "index", "place"})
                std::filesystem::remove_all(folder / part, ignored);
        }
        return Fail{done.error()};
    }
    return restoring.summary;
}

}  // namespace rhizome::store
