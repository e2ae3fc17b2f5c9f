// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/core.h>

#include "base/safety_rule.h"
#include "consensus/attestations.h"
#include "core/detail/inside.h"
#include "crypto/compact_target.h"
#include "ledger/codec.h"

namespace rhizome::core {
namespace {

using ledger::HeaderTree;
using ledger::RejectCode;

/// Two locators: the last ten, then at doubling distances.
constexpr std::size_t kLocatorMax = 128;

/// Where a member seals once: on a parent. (Without that rule: at a height, where every honest member that changes
/// branches would seal twice.)
ledger::BlockHash seat_of(const ledger::Header& header) {
    if (holds(SafetyRule::SameParentEvidence)) return header.previous;
    return ledger::BlockHash{crypto::sha256(ledger::records::encode_number(header.height.number())).view()};
}

}  // namespace

std::uint64_t claimed_generation(const ledger::Tx& tx) {
    std::uint64_t generation = 0;
    for (const ledger::Output& output : tx.outputs) {
        if (output.value.find("\"recovery\"") == std::string::npos) continue;
        const auto document =
            json::parse(output.value, {.bytes = ledger::kDocumentBytesMax, .depth = ledger::kDocumentDepthMax});
        if (!document || document->text_at({"kind"}) != "Cluster") continue;
        if (const auto read = ledger::read_parameters(*document)) generation = read->recovery.generation;
    }
    return generation;
}

void Node::Inside::heard(PeerId from, const NewBlock& message) {
    const auto hash = hash_of(message.block->header);
    if (const auto peer = peers.find(from); peer != peers.end()) peer->second.known_blocks.put(hash, 0);
    take_block(from, message.block);
    follow_best();
}

void Node::Inside::heard(PeerId from, const Blocks& message) {
    const auto peer = peers.find(from);
    if (peer != peers.end()) peer->second.asked_blocks.reset();
    if (message.blocks.size() > config.answer_blocks_max)
        return blame(from, {.code = RejectCode::TooLarge, .why = "more blocks than an answer may have"});
    for (const SharedBlock& block : message.blocks) {
        if (peer != peers.end()) peer->second.known_blocks.put(hash_of(block->header), 0);
        take_block(from, block);
    }
    if (peer != peers.end() && !message.blocks.empty()) {
        peer->second.last_block = hash_of(message.blocks.back()->header);
        if (message.more && tree.find(peer->second.last_block) != nullptr) {
            if (is_far(peer->second.height)) {
                begin_catch_up(from);
            } else {
                want_blocks(from, {});
            }
        }
    }
    follow_best();
}

std::optional<Node::Inside::AskedWay> Node::Inside::way_asked(PeerId from,
                                                              const std::vector<ledger::BlockHash>& locator,
                                                              const ledger::BlockHash& wanted) {
    if (locator.size() > kLocatorMax) {
        blame(from, {.code = RejectCode::TooLarge, .why = "a locator has at most 128 hashes"});
        return std::nullopt;
    }
    const HeaderNode* goal = tree.find(wanted);
    if (goal == nullptr || invalid.contains(wanted)) goal = settled;
    // Who has nothing at all begins with genesis.
    return AskedWay{goal, locator.empty() ? ledger::Height{0} : fork_height(locator, goal) + 1};
}

void Node::Inside::heard(PeerId from, const WantBlocks& message) {
    const auto way = way_asked(from, message.locator, message.wanted);
    if (!way) return;
    Blocks answer;
    std::size_t bytes = 0;
    for (ledger::Height height = way->first; height <= way->goal->header.height; ++height) {
        const auto hash = hash_below(way->goal, height);
        if (!hash) break;
        const auto block = blocks.shared(*hash);
        if (!block) break;  // pruned, or never had
        // What this node has sealed leaves it when it is on disk, whoever asks.
        if (is_held(*hash)) break;
        bytes += ledger::encoded_size(**block);
        if (answer.blocks.size() == config.answer_blocks_max ||
            (bytes > config.answer_bytes_max && !answer.blocks.empty())) {
            answer.more = true;
            break;
        }
        answer.blocks.push_back(*block);
    }
    send(from, std::move(answer));
}

ledger::Height Node::Inside::fork_height(const std::vector<ledger::BlockHash>& locator, const HeaderNode* goal) const {
    const HeaderNode* fork = tree.find_fork(locator, goal);
    const bool is_known = std::find(locator.begin(), locator.end(), fork->hash) != locator.end();
    if (fork != &tree.root() || is_known) return fork->header.height;
    // Somebody whose newest block is older than what is in memory here.
    for (const ledger::BlockHash& hash : locator)
        if (const auto height = ports.history.height_of(hash)) return *height;
    return fork->header.height;
}

std::optional<ledger::BlockHash> Node::Inside::hash_below(const HeaderNode* goal, ledger::Height height) const {
    if (height < tree.root().header.height) return ports.history.hash_at(height);
    return HeaderTree::ancestor(goal, height)->hash;
}

void Node::Inside::want_blocks(PeerId from, const ledger::BlockHash& wanted) {
    const auto peer = peers.find(from);
    if (peer == peers.end()) return;
    // What lies in between comes headers first: all of it would come twice.
    if (catch_up.is_active() && is_far(peer->second.height)) return;
    if (peer->second.asked_blocks && now < *peer->second.asked_blocks + config.answer_timeout) return;
    peer->second.asked_blocks = now;
    // Where it got to with its own branch comes first: that may be long and not followed here yet.
    std::vector<ledger::BlockHash> locator;
    if (const HeaderNode* last = tree.find(peer->second.last_block)) locator = tree.locator(last);
    for (const ledger::BlockHash& hash : tree.locator(settled)) locator.push_back(hash);
    if (is_ahead_by_recovery(from)) add_old_blocks(locator);
    send(from, WantBlocks{.locator = std::move(locator), .wanted = wanted});
}

void Node::Inside::want_unreadable(PeerId from) {
    const auto peer = peers.find(from);
    if (peer == peers.end() || (peer->second.asked_blocks && now < *peer->second.asked_blocks + config.answer_timeout))
        return;
    const HeaderNode* node = tree.find(unreadable.begin()->first);
    if (node == nullptr || node->parent == nullptr) return;
    peer->second.asked_blocks = now;
    send(from, WantBlocks{.locator = tree.locator(node->parent), .wanted = node->hash});
}

void Node::Inside::take_block(PeerId from, const SharedBlock& block, Keeping keeping) {
    // Else a relay that changes a good block's transactions would get the header banned, and with it the block.
    const auto is_whole = [&] { return keeping == Keeping::KeepLater || ledger::has_its_txs(*block); };
    take(from, block, keeping, is_whole);
}

void Node::Inside::take_checked(PeerId from, const SharedBlock& block, std::vector<ledger::SharedTx> txs) {
    blocks.put_checked(hash_of(block->header), std::move(txs));
    take(from, block, Keeping::KeepNow, [] { return true; });
}

void Node::Inside::take(PeerId from, const SharedBlock& block, Keeping keeping, const std::function<bool()>& is_whole) {
    const auto hash = hash_of(block->header);
    if (unreadable.contains(hash) && ledger::is_whole(*block)) {
        blocks.put(hash, block);
        persist(KeepBlock{block});
        note_readable(hash);
        return;
    }
    if (tree.find(hash) != nullptr || invalid.contains(hash)) return;
    // Cheap things first: a stranger's block costs one signature check before anything of it is kept.
    const auto proposer = consensus::check_proposer(*block, signatures);
    if (!proposer) return blame(from, proposer.error());
    if (!is_whole())
        return blame(from, {.code = RejectCode::BadMerkle, .why = "the transactions are not those of the header"});
    if (block->header.consensus != parameters().consensus)
        return blame(from, {.code = RejectCode::BadSeal, .why = "the block is of another consensus than the chain"});
    if (invalid.contains(block->header.previous)) {
        invalid.insert(hash);
        return;
    }
    if (block->header.time > now + consensus::engine_of(parameters().consensus)->future_tolerance()) {
        // Its sender's clock may be right and ours wrong: it waits and nobody is blamed.
        if (future.size() >= config.future_max) future.erase(std::prev(future.end()));
        future.emplace(block->header.time, std::pair{from, block});
        return;
    }
    if (is_ahead_by_recovery(from) && is_member(*proposer) && deepen_to(block->header.previous) &&
        tree.find(hash) != nullptr)
        return;
    if (tree.find(block->header.previous) == nullptr) {
        // It may be a member on a branch that is not known here: nobody is blamed, but a stranger's block is not kept.
        if (!is_member(*proposer)) return want_blocks(from, hash);
        while (orphan_order.size() >= config.orphans_max) {
            orphans.erase(orphan_order.front());
            orphan_order.pop_front();
        }
        auto& waiting = orphans[block->header.previous];
        const bool known = std::any_of(waiting.begin(), waiting.end(),
                                       [&](const auto& one) { return hash_of(one.second->header) == hash; });
        if (!known && waiting.size() < 8) {
            waiting.emplace_back(from, block);
            orphan_order.push_back(block->header.previous);
        }
        return want_blocks(from, hash);
    }
    const auto node = tree.insert(block->header);
    if (!node) return blame(from, node.error());
    note_claims(*node, *block, *proposer, from);
    blocks.put(hash, block);
    // A child of the tip is mostly judged at once and written when it is good; others are kept for when their branch
    // wins.
    if (keeping == Keeping::KeepLater || ((*node)->parent == settled && !is_moving())) {
        unkept.emplace(hash, block);
    } else {
        persist(KeepBlock{block});
    }
    tips.erase((*node)->parent->hash);
    tips.emplace(hash, *node);
    if (tips.size() > config.tips_max) {
        // The lowest one goes: it could be fetched again, should it ever win.
        const auto worst = std::min_element(tips.begin(), tips.end(), [this](const auto& left, const auto& right) {
            return is_better(right.second, left.second);
        });
        tips.erase(worst);
    }
    const auto [first, alone] = sealed.emplace(std::pair{seat_of(block->header), *proposer}, hash);
    if (!alone && first->second != hash)
        if (const auto other = blocks.shared(first->second))
            bring_evidence({.accused = *proposer,
                            .proof = std::array{consensus::SignedHeader{block->header, block->signature},
                                                consensus::SignedHeader{(*other)->header, (*other)->signature}}});
    take_orphans(hash);
}

void Node::Inside::note_claims(const HeaderNode* node, const ledger::Block& block, const consensus::MemberKey& proposer,
                               PeerId from) {
    BlockFacts claim{.proposer = proposer, .from = from};
    const auto parent = facts.find(node->parent->hash);
    if (parent != facts.end()) {
        claim.electorate = parent->second.electorate;
        claim.weight = parent->second.weight;
    }
    if (claim.electorate == nullptr) claim.electorate = std::make_shared<const consensus::Electorate>();
    std::uint64_t generation = 0;
    for (const ledger::Tx& tx : block.txs)
        if (const std::uint64_t claimed = claimed_generation(tx); claimed > 0) generation = claimed;
    if (generation > claim.electorate->generation) {
        consensus::Electorate recovered = *claim.electorate;
        recovered.generation = generation;
        claim.electorate = std::make_shared<const consensus::Electorate>(std::move(recovered));
    }
    U256 gained{};
    if (block.header.consensus == ledger::ConsensusId::Work) {
        gained = crypto::work_of(crypto::decode_compact(block.header.bits).target);
    } else if (const auto votes = consensus::count_encoded(block.seal.attestations, consensus::kCarriedVotesMax)) {
        gained = U256{*votes};
    }
    const auto sum = add(claim.weight, gained);
    claim.weight = sum.overflow ? U256::max() : sum.value;
    claim.sealed_final = sealed_final_of(node, claim);
    facts[node->hash] = std::move(claim);
}

void Node::Inside::take_orphans(const ledger::BlockHash& parent) {
    const auto waiting = orphans.find(parent);
    if (waiting == orphans.end()) return;
    const auto children = std::move(waiting->second);
    orphans.erase(waiting);
    std::erase(orphan_order, parent);
    for (const auto& [from, block] : children) take_block(from, block);
}

void Node::Inside::take_future() {
    bool any = false;
    while (!future.empty()) {
        const auto first = future.begin();
        const auto tolerance = consensus::engine_of(parameters().consensus)->future_tolerance();
        if (first->first > now + tolerance) break;
        const auto [from, block] = first->second;
        future.erase(first);
        take_block(from, block);
        any = true;
    }
    if (any) follow_best();
}

}  // namespace rhizome::core
