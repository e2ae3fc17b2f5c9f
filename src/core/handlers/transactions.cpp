// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/detail/inside.h"
#include "ledger/codec.h"

namespace rhizome::core {

using ledger::PendingPool;
using ledger::RejectCode;
using ledger::SharedTx;
using ledger::TxClass;
using ledger::TxId;

void Node::Inside::heard(PeerId from, const Transactions& message) {
    if (message.txs.size() > config.message_txs_max)
        return blame(from, {.code = RejectCode::TooLarge, .why = "more transactions than a message may have"});
    const auto peer = peers.find(from);
    for (const SharedTx& tx : message.txs) {
        if (peer != peers.end()) peer->second.known_txs.put(tx->wire_id, 0);
        asked_txs.erase(tx->wire_id);
        recent_txs.put(tx);
    }
    take_txs(from, message.txs);
}

void Node::Inside::take_txs(PeerId from, std::span<const SharedTx> txs) {
    if (conditions.contains(Condition::DiskFull)) return;
    // The link's own number stands for the sender: one flooding neighbour has one share of the pool.
    ledger::Sender sender{};
    const Bytes number = ledger::records::encode_number(from.number());
    std::copy(number.begin(), number.end(), sender.writable().begin());
    std::vector<SharedTx> fresh;
    for (const SharedTx& tx : txs) {
        if (included.contains(tx->id) || pool.find(tx->id) != nullptr) continue;
        const auto taken = pool.admit(tx, sender, TxClass::Relayed);
        // A refusal is no fault of the peer's: it may follow another branch, or not have heard of a change yet.
        if (taken && *taken == PendingPool::Admission::Added) fresh.push_back(tx);
    }
    note_pending();
    announce(fresh, from, Telling::Named);
}

void Node::Inside::heard(PeerId from, const HaveTxs& message) {
    if (message.ids.size() > config.message_txs_max)
        return blame(from, {.code = RejectCode::TooLarge, .why = "more ids of transactions than a message may have"});
    const auto peer = peers.find(from);
    std::vector<SharedTx> again;
    WantTxs want;
    for (const ledger::WireId& id : message.ids) {
        if (peer != peers.end()) peer->second.known_txs.put(id, 0);
        if (const SharedTx here = recent_txs.find(id)) {
            // Refused before, perhaps, by a state that is another now.
            if (!included.contains(here->id) && pool.find(here->id) == nullptr) again.push_back(here);
            continue;
        }
        const auto [asked, first] = asked_txs.try_emplace(id, now);
        if (!first && now < asked->second + config.vote_timeout) continue;
        asked->second = now;
        want.ids.push_back(id);
    }
    traffic.txs_asked += want.ids.size();
    if (!want.ids.empty()) send(from, std::move(want));
    if (!again.empty()) take_txs(from, again);
    // What nobody sent is no longer waited for; of a liar's ids no more are kept than of everybody's.
    if (asked_txs.size() > 4 * config.message_txs_max)
        std::erase_if(asked_txs, [&](const auto& one) { return now >= one.second + config.vote_timeout; });
    if (asked_txs.size() > 16 * config.message_txs_max) asked_txs.clear();
}

void Node::Inside::heard(PeerId from, const WantTxs& message) {
    if (message.ids.size() > config.message_txs_max)
        return blame(from, {.code = RejectCode::TooLarge, .why = "more ids of transactions than a message may have"});
    std::vector<SharedTx> found;
    for (const ledger::WireId& id : message.ids)
        if (SharedTx here = recent_txs.find(id)) found.push_back(std::move(here));
    send_txs(from, found);
}

std::vector<SharedMessage> Node::Inside::messages_of(std::span<const SharedTx> txs) const {
    std::vector<SharedMessage> messages;
    Transactions message;
    std::size_t bytes = 0;
    const auto close = [&] {
        if (!message.txs.empty()) messages.push_back(std::make_shared<const Message>(std::exchange(message, {})));
        bytes = 0;
    };
    for (const SharedTx& tx : txs) {
        if (bytes + tx->bytes > config.message_txs_bytes || message.txs.size() == config.message_txs_max) close();
        message.txs.push_back(tx);
        bytes += tx->bytes;
    }
    close();
    return messages;
}

void Node::Inside::send_txs(PeerId to, std::span<const SharedTx> txs) {
    traffic.txs_sent += txs.size();
    for (SharedMessage& message : messages_of(txs)) effects.emplace_back(Send{to, std::move(message)});
}

void Node::Inside::submit(const Submit& event) {
    const TxId id = event.tx->id;
    const auto answer = [&](Stage stage, const ledger::BlockHash& block, std::optional<ledger::Reject> refused = {}) {
        effects.emplace_back(Answer{event.client, id, stage, block, std::move(refused)});
    };
    if (const auto known = awaited.find(id); known != awaited.end()) {
        Awaited& one = known->second;
        one.clients.insert(event.client);
        // Not on the disk yet: it is told with the others.
        if (one.stage == Stage::Included && !one.inclusion_told) return answer(Stage::Accepted, {});
        return answer(one.stage, one.block);
    }
    if (const ledger::BlockHash* block = finals.get(id)) return answer(Stage::Final, *block);
    const auto is_in = [&](const ledger::BlockHash& block) {
        answer(Stage::Accepted, {});
        tell_inclusion(id, awaited[id] = {.tx = event.tx, .clients = {event.client}}, block, told_with(block));
    };
    if (const auto block = included.find(id); block != included.end()) return is_in(block->second);
    if (conditions.contains(Condition::DiskFull))
        return answer(Stage::Refused, {},
                      ledger::Reject{.code = RejectCode::TooManyPending,
                                     .why = "the disk of the machine that was asked is full, so it takes no changes "
                                            "until there is room, and then by itself (it goes on answering reads): "
                                            "make room there (rhizome status says how much), or ask another machine"});
    const auto taken = pool.admit(event.tx, {}, TxClass::Local);
    if (!taken) {
        // It may be in the chain already: its client asks again because the node it asked first has died.
        if (const HeaderNode* there = place_of(id)) {
            if (ledger::HeaderTree::is_ancestor(there, final_node)) return answer(Stage::Final, there->hash);
            included[id] = there->hash;
            return is_in(there->hash);
        }
        return answer(Stage::Refused, {}, taken.error());
    }
    awaited[id] = {.tx = event.tx, .clients = {event.client}, .announced = now};
    answer(Stage::Accepted, {});
    note_pending();
    untold.push_back(event.tx);
    resume_wanted = true;
}

void Node::Inside::announce_untold() { announce(std::exchange(untold, {}), {}, Telling::Whole); }

const HeaderNode* Node::Inside::place_of(const TxId& id) const {
    for (const ledger::BlockHash& hash : ports.history.blocks_with(id)) {
        const HeaderNode* node = tree.find(hash);
        if (node != nullptr && ledger::HeaderTree::is_ancestor(node, settled)) return node;
    }
    return nullptr;
}

void Node::Inside::forget(ClientId client) {
    for (auto one = awaited.begin(); one != awaited.end();) {
        one->second.clients.erase(client);
        one = one->second.clients.empty() ? awaited.erase(one) : std::next(one);
    }
}

void Node::Inside::note_pending() {
    if (pool.size() == 0) {
        pending_since.reset();
    } else if (!pending_since) {
        pending_since = now;
    }
}

void Node::Inside::announce(std::span<const SharedTx> txs, PeerId except, Telling telling) {
    for (const SharedTx& tx : txs) recent_txs.put(tx);  // whoever is told may ask
    std::vector<SharedMessage> all;                     // for whoever knows none of them: made once
    for (auto& [id, peer] : peers) {
        if (id == except) continue;
        std::vector<SharedTx> fresh;
        for (const SharedTx& tx : txs) {
            if (peer.known_txs.get(tx->wire_id) != nullptr) continue;
            peer.known_txs.put(tx->wire_id, 0);  // or it asks
            fresh.push_back(tx);
        }
        if (telling == Telling::Whole && fresh.size() == txs.size()) {
            if (all.empty()) all = messages_of(txs);
            traffic.txs_sent += txs.size();
            for (const SharedMessage& message : all) effects.emplace_back(Send{id, message});
        } else if (telling == Telling::Whole) {
            send_txs(id, fresh);
        } else {
            traffic.txs_named += fresh.size();
            for (std::size_t first = 0; first < fresh.size(); first += config.message_txs_max) {
                HaveTxs named;
                for (std::size_t i = first; i < std::min(fresh.size(), first + config.message_txs_max); ++i)
                    named.ids.push_back(fresh[i]->wire_id);
                send(id, std::move(named));
            }
        }
    }
}

void Node::Inside::announce_again() {
    std::vector<SharedTx> again;
    for (auto& [id, one] : awaited) {
        if (one.stage != Stage::Accepted || one.refused || now < one.announced + config.announce_again) continue;
        one.announced = now;
        again.push_back(one.tx);
        if (again.size() == config.message_txs_max) break;
    }
    // Whether they have it is not known: it may have been lost on the way.
    for (auto& [id, peer] : peers)
        for (const SharedTx& tx : again) peer.known_txs.erase(tx->wire_id);
    announce(again, {}, Telling::Named);
}

void Node::Inside::tell(const TxId& id, Awaited& one, Stage stage, const ledger::BlockHash& block,
                        std::optional<ledger::Reject> refused) {
    one.stage = stage;
    one.block = block;
    for (const ClientId client : one.clients) effects.emplace_back(Answer{client, id, stage, block, refused});
}

void Node::Inside::tell_inclusion(const TxId& id, Awaited& one, const ledger::BlockHash& block,
                                  std::optional<Ticket> needs) {
    one.inclusion_told = !needs;
    if (!needs) return tell(id, one, Stage::Included, block);
    one.stage = Stage::Included;
    one.block = block;
    one.on_disk_with = *needs;
    held_inclusions.push_back({.needs = *needs, .tx = id});
}

void Node::Inside::tell_held_inclusions() {
    for (; !held_inclusions.empty() && held_inclusions.front().needs <= stored; held_inclusions.pop_front()) {
        const TxId id = held_inclusions.front().tx;
        const auto one = awaited.find(id);
        // It may have left its block meanwhile, and come into another that waits for the disk as well.
        if (one == awaited.end() || one->second.stage != Stage::Included || one->second.inclusion_told) continue;
        if (one->second.on_disk_with > stored) continue;
        one->second.inclusion_told = true;
        tell(id, one->second, Stage::Included, one->second.block);
    }
}

std::vector<TxId> Node::Inside::ids_in(const ledger::Block& block, const ledger::BlockHash& hash) const {
    if (const auto known = facts.find(hash); known != facts.end() && known->second.ids) return *known->second.ids;
    std::vector<TxId> ids;
    ids.reserve(block.txs.size());
    for (const ledger::Tx& tx : block.txs) ids.push_back(id_of(tx));
    return ids;
}

void Node::Inside::note_included(std::span<const TxId> ids, const ledger::BlockHash& hash) {
    const auto needs = told_with(hash);
    for (const TxId& id : ids) {
        included[id] = hash;
        const auto one = awaited.find(id);
        if (one == awaited.end()) continue;
        one->second.refused.reset();
        if (one->second.stage != Stage::Included || one->second.block != hash)
            tell_inclusion(id, one->second, hash, needs);
    }
}

void Node::Inside::note_returned(const TxId& id) {
    const auto one = awaited.find(id);
    if (one == awaited.end() || one->second.stage != Stage::Included) return;
    if (one->second.inclusion_told) return tell(id, one->second, Stage::Accepted, {});
    one->second.stage = Stage::Accepted;
    one->second.block = {};
}

void Node::Inside::note_final(const ledger::BlockHash& hash) {
    std::vector<TxId> ids;
    const auto known = facts.find(hash);
    if (known != facts.end() && known->second.ids) {
        ids = *std::exchange(known->second.ids, std::nullopt);
    } else if (const auto block = blocks.shared(hash)) {
        ids = ids_in(**block, hash);
    } else {
        // The disk has lost it; who waits for what is still known.
        for (const auto& [id, where] : included)
            if (where == hash) ids.push_back(id);
        std::sort(ids.begin(), ids.end());
    }
    for (const TxId& id : ids) {
        included.erase(id);
        finals.put(id, hash);
        if (const auto one = awaited.find(id); one != awaited.end()) {
            tell(id, one->second, Stage::Final, hash);
            awaited.erase(one);
        }
    }
}

void Node::Inside::note_dropped(const SharedTx& tx, const ledger::Reject& why) {
    // Others may still hold it, and another branch may take it: it is refused for good when the state that refuses it
    // is final.
    if (const auto one = awaited.find(tx->id); one != awaited.end() && one->second.stage == Stage::Accepted) {
        one->second.refused = why;
        one->second.block = at->hash;
    }
}

void Node::Inside::retry_refused() {
    for (auto one = awaited.begin(); one != awaited.end();) {
        Awaited& waiting = one->second;
        if (!waiting.refused) {
            // It may wait for a parent that was refused elsewhere, or whose sender is gone: not for ever.
            const bool lost = waiting.stage == Stage::Accepted && pool.find(one->first) == nullptr;
            if (!lost) {
                waiting.lost_since.reset();
            } else if (!waiting.lost_since) {
                waiting.lost_since = now;
            } else if (now > *waiting.lost_since + parameters().lease()) {
                tell(one->first, waiting, Stage::Refused, {},
                     ledger::Reject{.code = RejectCode::MissingInput, .why = "what it builds on did not come to be"});
                one = awaited.erase(one);
                continue;
            }
            ++one;
            continue;
        }
        const auto taken = pool.admit(waiting.tx, {}, TxClass::Local);
        if (taken) {
            waiting.refused.reset();
            waiting.block = {};
            ++one;
            continue;
        }
        const HeaderNode* refuser = tree.find(waiting.block);
        const bool is_final = refuser == nullptr || ledger::HeaderTree::is_ancestor(refuser, final_node);
        if (!is_final) {
            // Refused by the present state too, whatever becomes of the one that refused it first.
            if (!ledger::HeaderTree::is_ancestor(refuser, settled)) waiting.block = settled->hash;
            waiting.refused = taken.error();
            ++one;
            continue;
        }
        tell(one->first, waiting, Stage::Refused, {}, taken.error());
        one = awaited.erase(one);
    }
}

}  // namespace rhizome::core
