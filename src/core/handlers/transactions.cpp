// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/ensure.h"
#include "base/safety_rule.h"
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
    if (conditions.contains(Condition::Starting) && early.size() < config.early_max) return early.push_back(event);
    const auto answer = [&](Stage stage, const ledger::BlockHash& block, std::optional<ledger::Reject> refused = {}) {
        effects.emplace_back(Answer{event.client, id, stage, block, std::move(refused)});
    };
    if (const auto known = awaited.find(id); known != awaited.end()) {
        Awaited& one = known->second;
        one.clients.insert(event.client);
        waits_for[event.client] = id;
        // Not on the disk yet: it is told with the others.
        if (one.stage == Stage::Included && !one.inclusion_told) return answer(Stage::Accepted, {});
        return answer(one.stage, one.block);
    }
    if (const ledger::BlockHash* block = finals.get(id)) return answer(Stage::Final, *block);
    const auto is_in = [&](const ledger::BlockHash& block) {
        answer(Stage::Accepted, {});
        tell_inclusion(id, await(event), block, told_with(block));
    };
    if (const auto block = included.find(id); block != included.end()) return is_in(block->second);
    if (conditions.contains(Condition::DiskFull))
        return answer(Stage::Refused, {},
                      ledger::Reject{.code = RejectCode::TooManyPending,
                                     .why = "the disk of the machine that was asked is full, so it takes no changes "
                                            "until there is room, and then by itself (it goes on answering reads): "
                                            "make room there (rhizome status says how much), or ask another machine"});
    if (awaited.size() >= config.accepted_max || awaited_bytes + event.tx->bytes > config.accepted_bytes_max)
        return answer(Stage::Refused, {},
                      ledger::Reject{.code = RejectCode::TooManyPending,
                                     .why = "this node keeps as many orders as it can of which none is final yet: it "
                                            "takes no more until some are"});
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
    (void)await(event);
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

Awaited& Node::Inside::await(const Submit& event) {
    const auto [place, added] = awaited.try_emplace(event.tx->id);
    ensure(added, "a transaction is awaited once, whoever asks");
    Awaited& one = place->second;
    one = {.tx = event.tx, .clients = {event.client}, .remember = event.remember, .accepted = now, .announced = now};
    awaited_bytes += event.tx->bytes;
    waits_for[event.client] = event.tx->id;
    if (event.remember == Remember::UntilSettled) {
        one.kept_with = persist(KeepAccepted{event.tx, now});
        request_sync();
    }
    return one;
}

void Node::Inside::await_again(const KeepAccepted& earlier) {
    const TxId& id = earlier.tx->id;
    const auto [place, added] = awaited.try_emplace(id);
    if (!added) return;
    place->second = {.tx = earlier.tx, .accepted = earlier.time};
    awaited_bytes += earlier.tx->bytes;
    // It became final, and the power failed before that was written down: long ago, perhaps.
    const auto below = [&](const ledger::BlockHash& hash) {
        const auto height = tree.find(hash) == nullptr ? ports.history.height_of(hash) : std::nullopt;
        return height && *height <= tree.root().header.height;
    };
    const auto places = ports.history.blocks_with(id);
    if (std::any_of(places.begin(), places.end(), below)) {
        (void)end_awaited(place);
        return;
    }
    if (const HeaderNode* there = place_of(id)) {
        if (ledger::HeaderTree::is_ancestor(there, final_node)) {
            finals.put(id, there->hash);
            (void)end_awaited(place);
            return;
        }
        included[id] = there->hash;
        place->second.stage = Stage::Included;
        place->second.was_included = place->second.inclusion_told = true;
        place->second.block = there->hash;
        return;
    }
    if (const auto taken = pool.admit(earlier.tx, {}, TxClass::Local); !taken) note_dropped(earlier.tx, taken.error());
}

Node::Inside::AwaitedAt Node::Inside::end_awaited(AwaitedAt one) {
    Awaited& ended = one->second;
    for (const ClientId client : ended.clients) waits_for.erase(client);
    awaited_bytes -= ended.tx->bytes;
    if (ended.remember == Remember::UntilSettled) persist(ForgetAccepted{one->first});
    return awaited.erase(one);
}

Node::Inside::AwaitedAt Node::Inside::refuse_awaited(AwaitedAt one, const ledger::Reject& why) {
    Awaited& refused = one->second;
    if (refused.remember == Remember::UntilSettled && (refused.was_included || refused.clients.empty()))
        effects.emplace_back(Lost{refused.tx, why, refused.accepted, refused.was_included});
    tell(one->first, refused, Stage::Refused, {}, why);
    return end_awaited(one);
}

void Node::Inside::forget(ClientId client) {
    std::erase_if(early, [&](const Submit& one) { return one.client == client; });
    const auto waits = waits_for.find(client);
    if (waits == waits_for.end()) return;
    const auto one = awaited.find(waits->second);
    waits_for.erase(waits);
    one->second.clients.erase(client);
    const bool is_kept = one->second.remember == Remember::UntilSettled && holds(SafetyRule::TellLosses);
    if (one->second.clients.empty() && !is_kept) (void)end_awaited(one);
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
    one.was_included |= stage == Stage::Included;
    for (const ClientId client : one.clients) effects.emplace_back(Answer{client, id, stage, block, refused});
}

void Node::Inside::tell_inclusion(const TxId& id, Awaited& one, const ledger::BlockHash& block,
                                  std::optional<Ticket> needs) {
    // Who is told so can go: then it is this node's to remember.
    if (one.kept_with > stored) needs = std::max(needs.value_or(Ticket{}), one.kept_with);
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
            (void)end_awaited(one);
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

bool Node::Inside::is_settled(const ledger::BlockHash& block) const {
    const HeaderNode* node = tree.find(block);
    return node == nullptr || ledger::HeaderTree::is_ancestor(node, final_node);
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
                waiting.block = settled->hash;
            } else if (const HeaderNode* missed = tree.find(waiting.block);
                       missed != nullptr && !ledger::HeaderTree::is_ancestor(missed, settled)) {
                waiting.block = settled->hash;  // that block was left: it would never be final
            } else if (now > *waiting.lost_since + parameters().lease() &&
                       (!waiting.clients.empty() || is_settled(waiting.block))) {
                one = refuse_awaited(one,
                                     {.code = RejectCode::MissingInput, .why = "what it builds on did not come to be"});
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
        if (!is_settled(waiting.block)) {
            const HeaderNode* refuser = tree.find(waiting.block);
            // Refused by the present state too, whatever becomes of the one that refused it first.
            if (!ledger::HeaderTree::is_ancestor(refuser, settled)) waiting.block = settled->hash;
            waiting.refused = taken.error();
            ++one;
            continue;
        }
        // It may stand in a block whose transactions could not be read when the chain came to lead over it.
        const HeaderNode* there = place_of(one->first);
        if (there != nullptr && ledger::HeaderTree::is_ancestor(there, final_node)) {
            finals.put(one->first, there->hash);
            tell(one->first, waiting, Stage::Final, there->hash);
            one = end_awaited(one);
            continue;
        }
        one = refuse_awaited(one, taken.error());
    }
}

}  // namespace rhizome::core
