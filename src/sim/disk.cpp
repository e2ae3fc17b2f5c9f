// SPDX-License-Identifier: Apache-2.0
#include "sim/disk.h"

#include <algorithm>

#include "base/ensure.h"
#include "consensus/electorate.h"

namespace rhizome::sim {

const ledger::Applied* Archive::find(const ledger::BlockHash& block) {
    const auto known = applied_.find(block);
    return known == applied_.end() ? nullptr : &known->second;
}

void Archive::keep(const ledger::BlockHash& block, const ledger::Applied& applied) { applied_.emplace(block, applied); }

std::shared_ptr<const consensus::Order> Archive::find_order(const ledger::BlockHash& parent) {
    const auto known = orders_.find(parent);
    return known == orders_.end() ? nullptr : known->second;
}

void Archive::keep_order(const ledger::BlockHash& parent, std::shared_ptr<const consensus::Order> order) {
    orders_.emplace(parent, std::move(order));
}

void Archive::put(const core::SharedBlock& block) {
    const auto hash = hash_of(block->header);
    if (!blocks_.emplace(hash, block).second) return;
    for (const ledger::Tx& tx : block->txs) places_[id_of(tx)].push_back(hash);
}

std::vector<ledger::BlockHash> Archive::blocks_with(const ledger::TxId& id) const {
    const auto known = places_.find(id);
    return known == places_.end() ? std::vector<ledger::BlockHash>{} : known->second;
}

core::SharedBlock Archive::block(const ledger::BlockHash& hash) const {
    const auto known = blocks_.find(hash);
    return known == blocks_.end() ? nullptr : known->second;
}

const state::Delta* Archive::change(const ledger::BlockHash& hash) const {
    const auto known = applied_.find(hash);
    return known == applied_.end() ? nullptr : &known->second.commit.delta;
}

const state::StateView* Archive::view(const ledger::BlockHash& hash) const {
    const auto known = applied_.find(hash);
    return known == applied_.end() ? nullptr : &known->second.commit.view;
}

void Disk::begin(const ledger::BlockHash& genesis, const ledger::BlockHash& second) {
    now_ = {.blocks = {genesis, second}, .genesis = genesis, .second = second, .tip = second, .final_block = genesis};
    durable_ = now_;
    unsynced_.clear();
    damaged_.clear();
}

bool Disk::misdirect(Random& random) {
    std::vector<ledger::BlockHash> kept;
    for (const ledger::BlockHash& hash : now_.blocks)
        if (hash != now_.genesis && hash != now_.second) kept.push_back(hash);
    if (kept.empty()) return false;
    damaged_.insert(kept[random.below(kept.size())]);
    return true;
}

ledger::Height Disk::height(const ledger::BlockHash& hash) const {
    const auto block = archive_->block(hash);
    return block ? block->header.height : ledger::Height{};
}

std::uint64_t Disk::generation(const ledger::BlockHash& hash) const {
    const state::StateView* view = archive_->view(hash);
    return view == nullptr ? 0 : consensus::Electorate::of(*view, ledger::parameters_of(*view)).generation;
}

ledger::BlockHash Disk::ancestor(ledger::BlockHash tip, ledger::Height wanted) const {
    for (auto block = archive_->block(tip); block; block = archive_->block(tip)) {
        if (block->header.height == wanted) return tip;
        if (block->header.height < wanted) break;
        tip = block->header.previous;
    }
    return {};
}

bool Disk::is_on_chain(const ledger::BlockHash& hash, const Contents& contents) const {
    return ancestor(contents.tip, height(hash)) == hash;
}

void Disk::perform(const core::Write& what, Contents& contents) const {
    if (const auto* append = std::get_if<core::AppendBlock>(&what)) {
        contents.tip = hash_of(append->block->header);
        contents.blocks.insert(contents.tip);
        if (append->far_behind) contents.caught_up.insert(contents.tip);
    } else if (const auto* keep = std::get_if<core::KeepBlock>(&what)) {
        contents.blocks.insert(hash_of(keep->block->header));
    } else if (const auto* move = std::get_if<core::MoveTip>(&what)) {
        contents.tip = move->tip;
        // In one write with the move, as in the store.
        while (!is_on_chain(contents.final_block, contents))
            contents.final_block = archive_->block(contents.final_block)->header.previous;
    } else if (const auto* votes = std::get_if<core::RecordVotes>(&what)) {
        contents.votes = votes->record;
        contents.votes_complete = votes->complete;
    } else if (const auto* mark = std::get_if<core::MarkFinal>(&what)) {
        contents.final_block = mark->block;
    } else {
        return;
    }
    const std::uint64_t tip = height(contents.tip).number();
    const std::uint64_t kept =
        std::min(height(contents.final_block).number(), tip - std::min(tip, limits_.undo_blocks));
    contents.undo_from = std::max(contents.undo_from, ledger::Height{kept});
}

std::optional<std::string> Disk::broken_rule(const core::Write& what) const {
    if (const auto* append = std::get_if<core::AppendBlock>(&what)) {
        if (append->block->header.previous != now_.tip) return "only a child of the tip is appended";
    } else if (const auto* move = std::get_if<core::MoveTip>(&what)) {
        for (auto at = move->tip; !is_on_chain(at, now_); at = archive_->block(at)->header.previous)
            if (!now_.blocks.contains(at)) return "the tip moved over a block that is not there";
        for (const auto& [hash, change] : move->branch)
            if (change.root_after() != archive_->block(hash)->header.state_root)
                return "what a block changed does not lead to its state";
        if (ancestor(move->tip, height(now_.final_block)) == now_.final_block) return std::nullopt;
        if (!move->takes_back) return "the chain moves off its final block only by a recovery";
        if (generation(move->tip) <= generation(now_.final_block))
            return "only a higher recovery generation takes back what is final";
    } else if (const auto* mark = std::get_if<core::MarkFinal>(&what)) {
        if (!is_on_chain(mark->block, now_)) return "a final block is of the chain";
        if (height(mark->block) < height(now_.final_block)) return "the final block goes back only with the chain";
    }
    return std::nullopt;
}

std::optional<std::string> Disk::write(core::Ticket ticket, const core::Write& what) {
    if (const auto* append = std::get_if<core::AppendBlock>(&what)) {
        archive_->put(append->block);
        archive_->keep(hash_of(append->block->header), {.commit = append->commit});
    } else if (const auto* keep = std::get_if<core::KeepBlock>(&what)) {
        archive_->put(keep->block);
    }
    if (const auto* keep = std::get_if<core::KeepBlock>(&what)) damaged_.erase(hash_of(keep->block->header));
    auto broken = broken_rule(what);
    perform(what, now_);
    unsynced_.emplace_back(ticket, what);
    return broken;
}

void Disk::sync(core::Ticket up_to) {
    auto end = unsynced_.begin();
    while (end != unsynced_.end() && end->first <= up_to) {
        perform(end->second, durable_);
        ++end;
    }
    unsynced_.erase(unsynced_.begin(), end);
}

void Disk::lose(std::uint64_t keep) {
    const std::size_t kept = unsynced_.size() * static_cast<std::size_t>(keep) / 1'000;
    for (std::size_t i = 0; i < kept; ++i) perform(unsynced_[i].second, durable_);
    unsynced_.clear();
    now_ = durable_;
}

void Disk::replace() {
    begin(now_.genesis, now_.second);
    now_.votes_complete = durable_.votes_complete = false;
}

void Disk::install(const ledger::BlockHash& root) {
    begin(root, root);
    now_.final_block = durable_.final_block = root;
    now_.votes_complete = durable_.votes_complete = false;
}

bool Disk::restore() {
    if (!backup_) return false;
    durable_ = *backup_;
    durable_.votes.clear();
    durable_.votes_complete = false;
    now_ = durable_;
    unsynced_.clear();
    damaged_.clear();
    return true;
}

core::Start Disk::start(const ledger::ChainId& chain, std::uint64_t seed) const {
    core::Start start{.chain = chain,
                      .final_block = now_.final_block,
                      .vote_record = now_.votes,
                      .votes_complete = now_.votes_complete,
                      .seed = seed};
    const std::uint64_t final_height = height(now_.final_block).number();
    const ledger::Height root{final_height - std::min(final_height, limits_.headers_below_final)};
    ledger::BlockHash at = now_.tip;
    while (at != now_.genesis && height(at) > root) {
        const auto found = archive_->block(at);
        ensure(found != nullptr && now_.blocks.contains(at), "the chain on a disk is whole");
        start.chain_headers.push_back(found->header);
        at = found->header.previous;
    }
    std::reverse(start.chain_headers.begin(), start.chain_headers.end());
    start.root = archive_->block(at)->header;
    const state::StateView* view = archive_->view(now_.tip);
    ensure(view != nullptr, "a tip on a disk was applied");
    start.tip_view = *view;
    return start;
}

Result<ledger::Block> Disk::block(const ledger::BlockHash& hash) const {
    if (damaged_.contains(hash)) return fail(ErrorKind::Corrupt, "the block's checksum is wrong");
    const auto found = now_.blocks.contains(hash) ? archive_->block(hash) : nullptr;
    if (!found) return fail(ErrorKind::NotFound, "there is no such block");
    return *found;
}

std::vector<ledger::BlockHash> Disk::blocks_with(const ledger::TxId& id) const {
    auto blocks = archive_->blocks_with(id);
    std::erase_if(blocks, [&](const auto& hash) { return !now_.blocks.contains(hash) || damaged_.contains(hash); });
    return blocks;
}

std::optional<ledger::Height> Disk::height_of(const ledger::BlockHash& hash) const {
    if (!now_.blocks.contains(hash) || !is_on_chain(hash, now_)) return std::nullopt;
    return height(hash);
}

std::optional<ledger::BlockHash> Disk::hash_at(ledger::Height wanted) const {
    const auto hash = ancestor(now_.tip, wanted);
    if (hash.is_zero() || !now_.blocks.contains(hash)) return std::nullopt;
    return hash;
}

std::optional<ledger::Header> Disk::header(const ledger::BlockHash& hash) const {
    if (!now_.blocks.contains(hash)) return std::nullopt;
    return archive_->block(hash)->header;
}

std::optional<state::StateView> Disk::state_after(const ledger::BlockHash& hash) const {
    const state::StateView* view = archive_->view(hash);
    // A block on the way that cannot be read ends it.
    if (view == nullptr || is_damaged() || !height_of(hash) || height(hash) < height(now_.genesis)) return std::nullopt;
    return *view;
}

Result<state::Delta> Disk::change(const ledger::BlockHash& hash) const {
    if (damaged_.contains(hash)) return fail(ErrorKind::Corrupt, "the checksum of what the block changed is wrong");
    const bool gone =
        (now_.caught_up.contains(hash) && height(hash) <= height(now_.final_block)) || height(hash) < now_.undo_from;
    const state::Delta* found = !gone && now_.blocks.contains(hash) ? archive_->change(hash) : nullptr;
    if (found == nullptr) return fail(ErrorKind::NotFound, "there is no record of that block's changes");
    return *found;
}

}  // namespace rhizome::sim
