// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>
#include <utility>

#include "core/detail/inside.h"
#include "ledger/codec.h"

namespace rhizome::core {
namespace {

using ledger::RejectCode;

std::size_t bytes_of(const SealedHeader& sealed) {
    return ledger::kHeaderBytes + sealed.signature.size() + sealed.seal.proof.size() + sealed.seal.attestations.size();
}

}  // namespace

// ---- serving --------------------------------------------------------------------------------------------------------

std::optional<SealedHeader> Node::Inside::sealed_header(const ledger::BlockHash& hash) const {
    if (auto known = ports.history.sealed_header(hash)) return known;
    const auto block = blocks.shared(hash);
    if (!block) return std::nullopt;
    return SealedHeader{(*block)->header, (*block)->signature, (*block)->seal};
}

void Node::Inside::heard(PeerId from, const WantHeaders& message) {
    const auto way = way_asked(from, message.locator, message.wanted);
    if (!way) return;
    Headers answer;
    std::size_t bytes = 0;
    for (ledger::Height height = way->first; height <= way->goal->header.height; ++height) {
        const auto hash = hash_below(way->goal, height);
        if (!hash || is_held(*hash)) break;
        auto given = sealed_header(*hash);
        if (!given) break;  // pruned, or never had: what follows is of no use without it
        bytes += bytes_of(*given);
        if (answer.headers.size() == config.answer_headers_max ||
            (bytes > config.answer_headers_bytes && !answer.headers.empty())) {
            answer.more = true;
            break;
        }
        answer.headers.push_back(*std::move(given));
    }
    send(from, std::move(answer));
}

void Node::Inside::heard(PeerId from, const WantBodies& message) {
    if (message.blocks.empty() || message.blocks.size() > config.ask_bodies_max)
        return blame(from, {.code = RejectCode::TooLarge, .why = "one to 128 bodies are asked for at a time"});
    Bodies answer{.first = message.blocks.front()};
    std::size_t bytes = 0;
    for (const ledger::BlockHash& hash : message.blocks) {
        // What this node has sealed leaves it when it is on disk, whoever asks.
        const auto block = is_held(hash) ? Result<SharedBlock>{fail(ErrorKind::NotFound, "")} : blocks.shared(hash);
        if (!block) continue;
        bytes += ledger::encoded_size(**block);
        if (bytes > config.answer_bytes_max && !answer.bodies.empty()) {
            answer.more = true;
            break;
        }
        answer.bodies.push_back({hash, std::shared_ptr<const std::vector<ledger::Tx>>{*block, &(*block)->txs}});
    }
    send(from, std::move(answer));
}

// ---- following ------------------------------------------------------------------------------------------------------

bool Node::Inside::is_far(ledger::Height height) const {
    return height > settled->header.height + config.catch_up_from;
}

void Node::Inside::begin_catch_up(PeerId guide) {
    const auto peer = peers.find(guide);
    if (peer == peers.end() || now < peer->second.guide_after) return;
    // Who was slow before is given longer, but only while nobody else offers to lead.
    if (guide != catch_up.guide() && catch_up.is_late(now) && catch_up.headers() == 0) leave_guide(FalseWay::Silent);
    if (catch_up.is_active()) return;
    follow(guide);
    ask_headers();
}

void Node::Inside::follow(PeerId guide) {
    const PeerState& peer = peers.at(guide);
    catch_up.begin(guide, now, config.answer_timeout * (1 << std::min<std::uint32_t>(peer.silent_ways, 5)));
}

bool Node::Inside::may_show_headers(PeerId from) const {
    if (from == catch_up.guide()) return catch_up.awaits_headers();
    const auto peer = peers.find(from);
    return peer != peers.end() && peer->second.owes_headers && catch_up.headers() == 0;
}

void Node::Inside::ask_headers() {
    const auto peer = peers.find(catch_up.guide());
    if (peer == peers.end()) return;
    std::vector<ledger::BlockHash> locator;
    if (const auto last = catch_up.last()) {
        locator.push_back(*last);
    } else if (const HeaderNode* before = tree.find(peer->second.last_block)) {
        // Where it got to with its own branch: that may be long and not followed here yet.
        locator = tree.locator(before);
    }
    for (const ledger::BlockHash& hash : tree.locator(settled)) locator.push_back(hash);
    if (is_ahead_by_recovery(catch_up.guide())) add_old_blocks(locator);
    catch_up.note_asked_headers(now);
    send(catch_up.guide(), WantHeaders{.locator = std::move(locator), .wanted = peer->second.tip});
}

void Node::Inside::heard(PeerId from, const Headers& message) {
    if (!may_show_headers(from)) return;
    // A late answer is as good as one in time, while nobody else has shown anything.
    if (from != catch_up.guide()) {
        if (const auto asked = peers.find(catch_up.guide()); asked != peers.end()) asked->second.owes_headers = true;
        follow(from);
    }
    peers.at(from).owes_headers = false;
    if (message.headers.size() > config.answer_headers_max) {
        blame(from, {.code = RejectCode::TooLarge, .why = "more headers than an answer may have"});
        return leave_guide(FalseWay::DeadEnd);
    }
    for (std::size_t i = 1; i < message.headers.size(); ++i) {
        if (message.headers[i].header.previous == hash_of(message.headers[i - 1].header)) continue;
        blame(from, {.code = RejectCode::BadEncoding, .why = "headers that do not follow one another"});
        return leave_guide(FalseWay::DeadEnd);
    }
    // An answer to a question before: all of it is here already, or it stands elsewhere. The right one is on its way.
    const auto last = catch_up.last();
    const auto stands_on_last = [&](const SealedHeader& one) { return one.header.previous == *last; };
    auto first = message.headers.begin();
    if (last && first != message.headers.end()) {
        first = std::find_if(first, message.headers.end(), stands_on_last);
        if (first == message.headers.end()) return;
    }
    traffic.headers_heard += message.headers.size();
    bool more = message.more;
    for (const SealedHeader& given : std::span{first, message.headers.end()}) {
        const auto tolerance = consensus::engine_of(parameters().consensus)->future_tolerance();
        if (given.header.time > now + tolerance) {
            // Its sender's clock may be right and ours wrong: it comes again.
            more = false;
            break;
        }
        if (!extend_way(given)) return;
    }
    catch_up.note_headers(more);
    if (catch_up.headers() == 0) {
        // All of it is here already, or it has nothing to show.
        const auto peer = peers.find(from);
        if (tree.find(peer->second.tip) == nullptr) peer->second.guide_after = now + config.answer_timeout;
        catch_up.end();
        return;
    }
    go_on_catching_up();
}

bool Node::Inside::extend_way(const SealedHeader& given) {
    const PeerId guide = catch_up.guide();
    const auto hash = hash_of(given.header);
    const ledger::Block bare{.header = given.header, .signature = given.signature, .txs = {}, .seal = given.seal};
    const auto refuse = [&](ledger::Reject why) {
        blame(guide, std::move(why));
        leave_guide(FalseWay::DeadEnd);
        return false;
    };
    if (catch_up.last()) {
        if (given.header.height != catch_up.last_height() + 1)
            return refuse({.code = RejectCode::BadEncoding, .why = "heights that do not follow one another"});
    } else {
        if (tree.find(hash) == nullptr && is_ahead_by_recovery(guide)) {
            const auto proposer = consensus::check_proposer(bare, signatures);
            if (proposer && is_member(*proposer)) (void)deepen_to(given.header.previous);
        }
        if (tree.find(hash) != nullptr) {
            if (const auto peer = peers.find(guide); peer != peers.end()) peer->second.last_block = hash;
            return true;
        }
        const HeaderNode* parent = tree.find(given.header.previous);
        if (parent == nullptr || invalid.contains(hash) || invalid.contains(parent->hash) ||
            given.header.height != parent->header.height + 1) {
            // It leaves our chain below what is kept, or follows what was found bad here: no way for us.
            leave_guide(FalseWay::DeadEnd);
            return false;
        }
    }
    if (given.header.consensus != parameters().consensus)
        return refuse({.code = RejectCode::BadSeal, .why = "the block is of another consensus than the chain"});
    if (const auto proposer = consensus::check_proposer(bare, signatures); !proposer) return refuse(proposer.error());
    catch_up.extend(hash, given);
    return true;
}

void Node::Inside::heard(PeerId from, const Bodies& message) {
    if (message.bodies.size() > config.ask_bodies_max)
        return blame(from, {.code = RejectCode::TooLarge, .why = "more bodies than an answer may have"});
    const auto peer = peers.find(from);
    for (const Body& body : message.bodies) {
        switch (catch_up.take(from, body)) {
            case detail::CatchUp::Taken::Good:
                ++traffic.bodies_heard;
                if (peer != peers.end()) peer->second.known_blocks.put(body.block, 0);
                break;
            case detail::CatchUp::Taken::Unknown: break;
            case detail::CatchUp::Taken::Mismatch:
                blame(from, {.code = RejectCode::BadMerkle, .why = "the transactions are not those of the header"});
                break;
        }
    }
    if (!catch_up.answered(from, message.first, message.more)) return leave_guide(FalseWay::BrokenPromise);
    // First the next question, which is answered while this node works; and blocks whose answers are here already are
    // looked at together.
    go_on_catching_up();
    if (catch_up.has_next()) resume_wanted = true;
}

void Node::Inside::take_caught_up() {
    if (is_moving()) return;  // `resume` comes back to it
    std::vector<SharedBlock> taken;
    std::size_t bytes = 0;
    // Two answers' worth: of the largest blocks still several, so that all cores work while one is executed.
    while (catch_up.has_next() && taken.size() < config.blocks_per_slice && bytes < 2 * config.answer_bytes_max) {
        const SharedBlock block = catch_up.next_block();
        const auto hash = hash_of(block->header);
        bytes += ledger::encoded_size(*block);
        take_block(catch_up.guide(), block, Keeping::KeepLater);
        if (tree.find(hash) == nullptr) {
            leave_guide(FalseWay::DeadEnd);
            break;
        }
        taken.push_back(block);
    }
    if (taken.empty()) return;
    is_catching_up = true;
    follow_best();
    is_catching_up = false;
    const auto is_bad = [&](const SharedBlock& block) { return invalid.contains(hash_of(block->header)); };
    if (std::any_of(taken.begin(), taken.end(), is_bad)) leave_guide(FalseWay::DeadEnd);
    if (catch_up.has_next()) resume_wanted = true;
}

void Node::Inside::keep_rest() {
    for (const auto& [hash, block] : std::exchange(unkept, {}))
        if (!invalid.contains(hash)) persist(KeepBlock{block});
}

void Node::Inside::go_on_catching_up() {
    if (!catch_up.is_active()) return;
    traffic.bodies_asked_again += catch_up.look_at_time(now);
    if (catch_up.is_guide_silent(now)) return leave_guide(FalseWay::Silent);
    if (catch_up.is_dead_end()) return leave_guide(FalseWay::DeadEnd);
    if (catch_up.headers() == 0 && !catch_up.awaits_headers() && !catch_up.wants_headers()) return catch_up.end();
    if (catch_up.wants_headers()) ask_headers();
    for (auto& ask : catch_up.next_asks(now)) send(ask.peer, WantBodies{std::move(ask.blocks)});
}

void Node::Inside::leave_guide(FalseWay why) {
    const PeerId guide = catch_up.guide();
    catch_up.end();
    const auto found = peers.find(guide);
    if (found == peers.end()) return;
    PeerState& peer = found->second;
    // What gets lost on the way is nobody's fault. But it costs seconds: those who were not asked yet come first.
    if (why == FalseWay::Silent) {
        peer.guide_after = now + config.answer_timeout;
        peer.owes_headers = true;
        ++peer.silent_ways;
        return;
    }
    ++traffic.false_guides;
    const auto doubled = config.false_guide_first * (1 << std::min<std::uint32_t>(peer.false_ways, 10));
    peer.guide_after = now + std::min(config.false_guide_most, doubled);
    ++peer.false_ways;
    // Who shows headers has the bodies; once a disk may have lost one in between.
    if (why == FalseWay::BrokenPromise && peer.false_ways > 1)
        blame(guide, {.code = RejectCode::MissingInput, .why = "it shows headers of blocks that it does not have"});
}

void Node::Inside::resume() {
    resume_pending = false;
    announce_untold();
    follow_best();
    take_caught_up();
    go_on_catching_up();
}

}  // namespace rhizome::core
