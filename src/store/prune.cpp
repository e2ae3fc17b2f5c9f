// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/core.h>

#include "ledger/codec.h"
#include "store/detail/store_inside.h"
#include "store/store.h"

namespace rhizome::store {
namespace {

using ledger::BlockHash;
using ledger::Height;

constexpr std::uint64_t kHeightsAtOnce = 5'000;
/// Up to where each kind was let go, which is also where the next slice of it goes on.
constexpr std::string_view kNotes = "prune";
constexpr std::string_view kBodies = "bodies";
constexpr std::string_view kAttestations = "attestations";
constexpr std::string_view kHeaders = "headers";

Result<Height> progress_of(const ChainIndex& index, std::string_view what, Height base) {
    TRY(const auto kept, index.note(kNotes, what));
    if (!kept) return base;
    Reader in{*kept};
    TRY(const std::uint64_t height, in.u64());
    return Height{height};
}

Result<void> put_progress(ChainIndex::Update& update, std::string_view what, Height height) {
    Writer out;
    out.u64(height.number());
    return update.put_note(kNotes, what, out.view());
}

}  // namespace

Result<Store::Pruned> Store::prune(Prune what, Height height) {
    const BlockInfo newest_final = final_block();
    if (height > newest_final.height())
        return fail(ErrorKind::Invalid,
                    fmt::format("only what is below the newest final block ({}) can be pruned, not {}",
                                newest_final.height(), height));
    TRY(settle(false));
    if (const BlockId checkpoint = inside_->indexer->checkpoint(); height > checkpoint.height) {
        TRY(settle(true));  // the state must not depend on what goes
        if (height > inside_->indexer->checkpoint().height)
            return fail(ErrorKind::Unavailable,
                        fmt::format("the newest checkpoint of the state is at {}: prune below that",
                                    inside_->indexer->checkpoint().height));
    }
    switch (what) {
        case Prune::Bodies: return inside_->prune_bodies(height);
        case Prune::Attestations: return inside_->prune_attestations(height);
        case Prune::Headers: return inside_->prune_headers(height);
    }
    return Pruned{};
}

Result<Store::Pruned> Store::Inside::prune_bodies(Height height) {
    const std::uint32_t segment = log->first_segment();
    if (segment >= log->active_segment() || segment >= indexer->indexed_segment()) return Pruned{};
    struct Body {
        BlockHash hash{};
        Height height{};
        std::vector<ledger::TxId> ids{};
        Bytes seal{};
    };
    std::vector<Body> bodies;
    bool all_below = true;
    TRY(log->scan_segment(segment, [&](const LogRecord& record) -> Result<void> {
        if (record.head.kind != RecordKind::Block && record.head.kind != RecordKind::Append) return {};
        auto block = ledger::decode_block(record.payload);
        if (!block) return fail(ErrorKind::Corrupt, "a block in the log cannot be read: " + block.error().why);
        Body body{.hash = hash_of(block->header), .height = block->header.height, .seal = detail::encode(block->seal)};
        if (body.height >= height) all_below = false;
        for (const ledger::Tx& tx : block->txs) body.ids.push_back(id_of(tx));
        bodies.push_back(std::move(body));
        return {};
    }));
    if (!all_below) return Pruned{};

    Pruned pruned;
    TRY(Height whole_from, progress_of(*index, kBodies, facts.base.height));
    TRY(auto update, index->update());
    for (const Body& body : bodies) {
        TRY(auto known, row(body.hash));
        if (!known || known->position.segment != segment) continue;  // written twice, and the other one counts
        TRY(const auto on_chain, hash_at(body.height));
        TRY(update.erase_transactions(body.height, body.ids));
        if (on_chain && *on_chain == body.hash) {
            known->position = {};
            TRY(update.put_block(body.hash, *known));
            TRY(update.put_seal(body.hash, body.seal));
            whole_from = std::max(whole_from, body.height + 1);
        } else {
            TRY(update.erase_block(body.height, body.hash));
        }
        ++pruned.blocks;
    }
    TRY(put_progress(update, kBodies, whole_from));
    TRY(update.commit());
    // Only now: a crash before leaves the file, and the next call finds nothing in it that anybody asks for.
    TRY(pruned.bytes, log->drop_first_segment());
    pruned.more = log->first_segment() < std::min(log->active_segment(), indexer->indexed_segment());
    return pruned;
}

/// Lets go of something of the chain's blocks below `height`, some thousands of them, beginning where the last slice
/// ended. Stops at a block whose body is still here: that goes first.
Result<Store::Pruned> Store::Inside::prune_rows(std::string_view what, Height height, const RowPruner& each) {
    TRY(const Height from, progress_of(*index, what, facts.base.height));
    const Height to{std::min(height.number(), from.number() + kHeightsAtOnce)};
    Pruned pruned;
    TRY(auto update, index->update());
    Height next = from;
    for (; next < to; ++next) {
        TRY(const auto hash, hash_at(next));
        if (!hash) continue;
        TRY(const auto known, row(*hash));
        if (known && known->position.segment != 0) break;
        TRY(each(update, {.hash = *hash, .height = next}, pruned));
    }
    TRY(put_progress(update, what, next));
    TRY(update.commit());
    pruned.more = next == to && to < height;
    return pruned;
}

Result<Store::Pruned> Store::Inside::prune_attestations(Height height) {
    const auto each = [&](ChainIndex::Update& update, const BlockId& block, Pruned& pruned) -> Result<void> {
        TRY(const auto kept, index->seal(block.hash));
        if (!kept) return {};
        TRY(auto seal, detail::decode_seal(*kept));
        if (seal.attestations.empty()) return {};
        pruned.bytes += seal.attestations.size();
        ++pruned.blocks;
        seal.attestations.clear();
        return update.put_seal(block.hash, detail::encode(seal));
    };
    return prune_rows(kAttestations, height, each);
}

Result<Store::Pruned> Store::Inside::prune_headers(Height height) {
    const auto each = [&](ChainIndex::Update& update, const BlockId& block, Pruned& pruned) -> Result<void> {
        if (block.hash == facts.base.hash) return {};  // where everything begins is always known
        TRY(update.erase_block(block.height, block.hash));
        TRY(update.erase_on_chain(block.height));
        TRY(update.erase_seal(block.hash));
        pruned.bytes += ledger::kHeaderBytes;
        ++pruned.blocks;
        return {};
    };
    return prune_rows(kHeaders, height, each);
}

Result<Store::Extent> Store::extent() const {
    const auto [tip, total] = [&] {
        const std::lock_guard lock{inside_->mutex};
        return std::pair{inside_->tip.height(), inside_->tx_total};
    }();
    const BlockInfo& base = inside_->base;
    Extent extent;
    TRY(extent.bodies_from, progress_of(*inside_->index, kBodies, base.height() + (base.has_body ? 0 : 1)));
    extent.bodies_from = std::min(extent.bodies_from, tip);
    std::optional<ChainRow> oldest;
    for (std::optional<Height> before; !oldest; before = extent.headers_from) {
        TRY(extent.headers_from, progress_of(*inside_->index, kHeaders, base.height()));
        TRY(oldest, inside_->chain_at(extent.headers_from));
        // Pruned between these two questions, unless it is asked for the same a second time.
        if (!oldest && before == extent.headers_from)
            return fail(ErrorKind::Corrupt, fmt::format("{} is damaged: it does not have the chain's block {}",
                                                        inside_->index->path().native(), extent.headers_from));
    }
    TRY(const BlockInfo first, info(oldest->hash));
    extent.blocks = tip - extent.headers_from + 1;
    extent.transactions = total - oldest->tx_total + first.tx_count;
    return extent;
}

Result<void> Store::check_log() const {
    return inside_->log->scan([](const LogRecord&) -> Result<void> { return {}; });
}

}  // namespace rhizome::store
