// SPDX-License-Identifier: Apache-2.0
#include "core/node.h"

#include "core/detail/inside.h"

namespace rhizome::core {
namespace {

template <class... Handlers>
struct Overloaded : Handlers... {
    using Handlers::operator()...;
};
template <class... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;

}  // namespace

Node::Node(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
Node::~Node() = default;

Result<std::unique_ptr<Node>, ledger::Reject> Node::start(const Config& config, const Start& start, const Ports& ports,
                                                          Time now) {
    auto inside = std::make_unique<Inside>(config, start, ports, now);
    TRY(inside->restore(start));
    return std::unique_ptr<Node>{new Node{std::move(inside)}};
}

std::vector<Effect> Node::step(const Event& event) {
    Inside& node = *inside_;
    node.set_clock(event.now);
    std::visit(
        Overloaded{[&](const Tick&) {}, [&](const PeerUp& up) { node.peer_up(up.peer); },
                   [&](const PeerDown& down) { node.peer_down(down.peer); },
                   [&](const Heard& heard) { node.hear(heard); }, [&](const Submit& submit) { node.submit(submit); },
                   [&](const Forget& forget) { node.forget(forget.client); },
                   [&](const Stored& stored) { node.stored_up_to(stored.up_to); },
                   [&](const Verified& verified) { node.verified(verified); },
                   [&](const Mined& mined) { node.mined(mined); }, [&](const Resume&) { node.resume(); },
                   [&](const DiskLow& disk) { node.set_condition(Condition::DiskFull, disk.low); },
                   [&](const StateFound& found) { node.state_found(found); },
                   [&](const OldState& old) { node.old_state(old); }},
        event.kind);
    node.tick();
    node.finish_step();
    return std::move(node.effects);
}

const ledger::LedgerState& Node::state() const { return inside_->state; }
const ledger::Header& Node::tip() const { return inside_->settled->header; }
ledger::BlockHash Node::tip_hash() const { return inside_->settled->hash; }
consensus::ChainRank Node::rank() const { return inside_->rank_of(inside_->settled); }
ledger::BlockHash Node::final_block() const { return inside_->final_node->hash; }
ledger::Height Node::final_height() const { return inside_->final_node->header.height; }
std::uint64_t Node::final_generation() const {
    return inside_->facts.at(inside_->final_node->hash).electorate->generation;
}
std::uint64_t Node::generation_heard() const {
    std::uint64_t highest = inside_->generation();
    for (const auto& [id, peer] : inside_->peers)
        if (peer.is_member) highest = std::max(highest, peer.generation);
    return highest;
}
consensus::Checkpoint Node::justified() const { return *inside_->book.justified().rbegin(); }
std::size_t Node::pending() const { return inside_->pool.size(); }
ledger::SharedTx Node::pending_tx(const ledger::TxId& id) const { return inside_->pool.find(id); }
std::vector<ledger::SharedTx> Node::pending_txs() const { return inside_->pool.best(); }
Node::FinalVotes Node::final_votes() const {
    const consensus::Checkpoint& newest = inside_->book.final_checkpoint();
    return {newest, consensus::ungrouped(inside_->book.votes_final(newest))};
}
bool Node::has(Condition condition) const { return inside_->conditions.contains(condition); }

Node::Usage Node::usage() const {
    const Inside& node = *inside_;
    return {.headers = node.tree.size(),
            .orphans = node.orphan_order.size(),
            .future = node.future.size(),
            .parked = node.parked.size(),
            .votes = node.book.size(),
            .pending_bytes = node.pool.bytes(),
            .peers = node.peers.size(),
            .tips = node.tips.size(),
            .unstored = static_cast<std::size_t>(node.last_ticket - node.stored),
            .headers_ahead = node.catch_up.headers(),
            .bodies_ahead_bytes = node.catch_up.held_bytes()};
}

const Node::Traffic& Node::traffic() const { return inside_->traffic; }

}  // namespace rhizome::core
