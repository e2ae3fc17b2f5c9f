// SPDX-License-Identifier: Apache-2.0
#include "sim/disk.h"

#include <algorithm>

#include "base/ensure.h"

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

void Disk::perform(const core::Write& what, Contents& contents) {
    if (const auto* append = std::get_if<core::AppendBlock>(&what)) {
        contents.tip = hash_of(append->block->header);
        contents.blocks.insert(contents.tip);
        if (append->far_behind) contents.caught_up.insert(contents.tip);
    } else if (const auto* keep = std::get_if<core::KeepBlock>(&what)) {
        contents.blocks.insert(hash_of(keep->block->header));
    } else if (const auto* move = std::get_if<core::MoveTip>(&what)) {
        contents.tip = move->tip;
    } else if (const auto* votes = std::get_if<core::RecordVotes>(&what)) {
        contents.votes = votes->record;
        contents.votes_complete = votes->complete;
    } else if (const auto* mark = std::get_if<core::MarkFinal>(&what)) {
        contents.final_block = mark->block;
    }
}

void Disk::write(core::Ticket ticket, const core::Write& what) {
    if (const auto* append = std::get_if<core::AppendBlock>(&what)) {
        archive_->put(append->block);
        archive_->keep(hash_of(append->block->header), {.commit = append->commit});
    } else if (const auto* keep = std::get_if<core::KeepBlock>(&what)) {
        archive_->put(keep->block);
    }
    if (const auto* keep = std::get_if<core::KeepBlock>(&what)) damaged_.erase(hash_of(keep->block->header));
    perform(what, now_);
    unsynced_.emplace_back(ticket, what);
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
    for (ledger::BlockHash at = now_.tip; at != now_.genesis;) {
        const auto found = archive_->block(at);
        ensure(found != nullptr && now_.blocks.contains(at), "the chain on a disk is whole");
        start.chain_headers.push_back(found->header);
        at = found->header.previous;
    }
    std::reverse(start.chain_headers.begin(), start.chain_headers.end());
    start.root = archive_->block(now_.genesis)->header;
    const state::StateView* view = archive_->view(now_.tip);
    ensure(view != nullptr, "a tip on a disk was applied");
    start.tip_view = *view;
    // A mark may be there whose block is on a branch that the tip has not reached again.
    const bool on_chain = now_.final_block == now_.genesis ||
                          std::any_of(start.chain_headers.begin(), start.chain_headers.end(),
                                      [&](const auto& header) { return hash_of(header) == now_.final_block; });
    if (!on_chain) start.final_block = now_.genesis;
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

Result<state::Delta> Disk::change(const ledger::BlockHash& hash) const {
    if (damaged_.contains(hash)) return fail(ErrorKind::Corrupt, "the checksum of what the block changed is wrong");
    const auto height_of = [&](const ledger::BlockHash& of) {
        const auto block = archive_->block(of);
        return block ? block->header.height : ledger::Height{};
    };
    const bool gone = now_.caught_up.contains(hash) && height_of(hash) <= height_of(now_.final_block);
    const state::Delta* found = !gone && now_.blocks.contains(hash) ? archive_->change(hash) : nullptr;
    if (found == nullptr) return fail(ErrorKind::NotFound, "there is no record of that block's changes");
    return *found;
}

}  // namespace rhizome::sim
