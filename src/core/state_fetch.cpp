// SPDX-License-Identifier: Apache-2.0
#include "core/state_fetch.h"

#include <algorithm>
#include <set>

#include "base/ensure.h"
#include "consensus/judge.h"

namespace rhizome::core {
namespace {

using ledger::RejectCode;

/// So often in a row a peer's time may be up. Once: its link is slow. Twice: the question was lost, or there were too
/// many for it to answer.
constexpr std::uint32_t kLateMax = 3;

/// What it was that no honest peer sends, as those who keep scores name it.
ledger::Reject refusal_of(const ledger::SnapshotFault& fault) {
    const bool is_form = fault.kind == ledger::SnapshotFaultKind::BadEncoding ||
                         fault.kind == ledger::SnapshotFaultKind::TooLarge ||
                         fault.kind == ledger::SnapshotFaultKind::Unsupported;
    return {.code = is_form ? RejectCode::BadEncoding : RejectCode::BadMerkle, .why = "a state: " + to_text(fault)};
}

}  // namespace

StateFetch::StateFetch(const Config& config, const TrustedBlock& trusted, const consensus::Signatures& signatures,
                       Parallel& parallel)
    : config_(config), trusted_(trusted), signatures_(signatures), parallel_(parallel) {}

std::vector<Effect> StateFetch::step(const Event& event) {
    if (event.now < now_)  // the clock was set back
        for (Question& question : questions_) question.asked = event.now;
    now_ = event.now;
    if (const auto* up = std::get_if<PeerUp>(&event.kind)) {
        helpers_.try_emplace(up->peer);
    } else if (const auto* down = std::get_if<PeerDown>(&event.kind)) {
        helpers_.erase(down->peer);
        asked_again_ += std::erase_if(questions_, [&](const Question& one) { return one.peer == down->peer; });
        next_part_ = 0;
    } else if (const auto* said = std::get_if<Heard>(&event.kind)) {
        if (const auto* manifest = std::get_if<StateManifest>(said->message.get())) heard(said->from, *manifest);
        if (const auto* part = std::get_if<StatePart>(said->message.get())) heard(said->from, *part);
    }
    look_at_time();
    ask();
    std::optional<Time> wake;
    for (const Question& question : questions_) {
        const Time end = question.asked + config_.state_timeout;
        wake = wake ? std::min(*wake, end) : end;
    }
    if (wake) effects_.emplace_back(Wake{*wake});
    return std::exchange(effects_, {});
}

StateFetch::Progress StateFetch::progress() const {
    Progress progress{.bytes = bytes_, .peers = helpers_.size(), .asked_again = asked_again_};
    if (assembler_) {
        progress.parts = assembler_->manifest().partition.parts.size();
        progress.here = progress.parts - assembler_->missing();
    }
    progress.lacking = static_cast<std::size_t>(
        std::count_if(helpers_.begin(), helpers_.end(), [](const auto& one) { return is_left(one.second); }));
    return progress;
}

bool StateFetch::nobody_has_it() const {
    const Progress now = progress();
    return now.peers > 0 && now.lacking == now.peers && !is_done();
}

Result<StateFetch::Fetched, ledger::SnapshotFault> StateFetch::take() {
    ensure(is_done(), "a state is taken when all of it is here");
    Fetched fetched{.manifest = assembler_->manifest()};
    auto view = std::move(*assembler_).finish();
    assembler_.reset();
    if (!view) return Fail{view.error()};
    fetched.view = *std::move(view);
    return fetched;
}

// ---- answers --------------------------------------------------------------------------------------------------------

void StateFetch::heard(PeerId from, const StateManifest& message) {
    if (message.block != trusted_.block) return;
    const bool was_asked = answered(from, std::nullopt);
    Helper* helper = listened_to(from);
    if (helper == nullptr) return;
    if (message.bytes.empty()) return give_up_on(from, std::nullopt);
    if (was_asked) came_from(from, *helper);
    if (assembler_) return;
    auto manifest = ledger::decode_manifest(message.bytes);
    if (!manifest) return give_up_on(from, refusal_of(manifest.error()));
    // The header first: all else hangs on it.
    if (hash_of(manifest->header) != trusted_.block)
        return give_up_on(from, ledger::Reject{.code = RejectCode::BadMerkle,
                                               .why = "a state of another block than the one that was asked for"});
    if (manifest->chain != trusted_.chain)
        return give_up_on(
            from, ledger::Reject{.code = RejectCode::BadMerkle, .why = "a state of another chain than this one"});
    if (const auto good = ledger::check_manifest(*manifest); !good) return give_up_on(from, refusal_of(good.error()));
    // No hash covers the signature. Kept unchecked, this machine would hand it on and be banned for it.
    const ledger::Block bare{
        .header = manifest->header, .signature = manifest->signature, .txs = {}, .seal = manifest->seal};
    if (const auto proposer = consensus::check_proposer(bare, signatures_); !proposer)
        return give_up_on(from, proposer.error());
    assembler_.emplace(*std::move(manifest));
    came_from(from, *helper);
    // Nothing commits to what was derived: it is derived again here.
}

void StateFetch::heard(PeerId from, const StatePart& message) {
    if (message.block != trusted_.block) return;
    const bool was_asked = answered(from, message.part);
    Helper* helper = listened_to(from);
    if (helper == nullptr || !assembler_) return;
    if (message.bytes.empty()) return give_up_on(from, std::nullopt);
    // Only what was asked or is new counts as an answer: nobody holds things up by saying the same again.
    if (was_asked) came_from(from, *helper);
    if (message.part < assembler_->manifest().partition.parts.size() && assembler_->has(message.part)) return;
    const auto part = ledger::read_part(assembler_->manifest(), message.part, message.bytes, &parallel_);
    if (!part) return give_up_on(from, refusal_of(part.error()));
    const auto added = assembler_->add(*part);
    if (!added) return give_up_on(from, refusal_of(added.error()));
    bytes_ += message.bytes.size();
    came_from(from, *helper);
}

StateFetch::Helper* StateFetch::listened_to(PeerId peer) {
    const auto helper = helpers_.find(peer);
    return helper == helpers_.end() || helper->second.lacks ? nullptr : &helper->second;
}

void StateFetch::came_from(PeerId peer, Helper& helper) {
    helper.late = 0;
    for (Question& question : questions_) {
        if (question.peer != peer) continue;
        question.asked = now_;
        question.overdue = false;
    }
}

bool StateFetch::answered(PeerId from, std::optional<std::size_t> part) {
    const auto question = std::find_if(questions_.begin(), questions_.end(),
                                       [&](const Question& one) { return one.peer == from && one.part == part; });
    if (question == questions_.end()) return false;
    questions_.erase(question);
    return true;
}

void StateFetch::give_up_on(PeerId peer, std::optional<ledger::Reject> why) {
    if (const auto helper = helpers_.find(peer); helper != helpers_.end()) helper->second.lacks = true;
    asked_again_ += std::erase_if(questions_, [&](const Question& one) { return one.peer == peer; });
    next_part_ = 0;
    if (why) effects_.emplace_back(Blame{peer, *std::move(why)});
}

// ---- questions ------------------------------------------------------------------------------------------------------

void StateFetch::look_at_time() {
    std::set<PeerId> late;
    for (const Question& question : questions_)
        if (now_ >= question.asked + config_.state_timeout) late.insert(question.peer);
    for (const PeerId peer : late) {
        next_part_ = 0;
        if (++helpers_[peer].late > 1) {
            asked_again_ += std::erase_if(questions_, [&](const Question& one) { return one.peer == peer; });
            continue;
        }
        // Others may have it sooner. Asked again itself it would only send twice what it is sending.
        for (Question& question : questions_) {
            if (question.peer != peer) continue;
            question.asked = now_;
            question.overdue = true;
        }
    }
}

bool StateFetch::is_left(const Helper& helper) { return helper.lacks || helper.late >= kLateMax; }

std::optional<PeerId> StateFetch::helper_for(std::optional<std::size_t> part) const {
    // Those who answered last time come first, then those with least to do.
    std::optional<PeerId> best;
    std::pair<std::uint32_t, std::size_t> least{};
    for (const auto& [id, helper] : helpers_) {
        std::size_t open = 0;
        bool owes_it = false;
        for (const Question& question : questions_) {
            if (question.peer != id) continue;
            ++open;
            owes_it = owes_it || question.part == part;
        }
        const std::pair burden{helper.late, open};
        if (is_left(helper) || owes_it || open >= config_.state_asks_per_peer || (best && burden >= least)) continue;
        least = burden;
        best = id;
    }
    return best;
}

bool StateFetch::is_asked(std::optional<std::size_t> part) const {
    return std::any_of(questions_.begin(), questions_.end(),
                       [&](const Question& one) { return one.part == part && !one.overdue; });
}

bool StateFetch::is_owed(std::size_t part) const {
    return std::any_of(questions_.begin(), questions_.end(), [&](const Question& one) { return one.part == part; });
}

void StateFetch::ask() {
    if (!assembler_) {
        if (is_asked(std::nullopt)) return;
        const auto peer = helper_for(std::nullopt);
        if (!peer) return;
        questions_.push_back({.peer = *peer, .asked = now_});
        return send(*peer, WantManifest{trusted_.block});
    }
    const auto& parts = assembler_->manifest().partition.parts;
    auto open = static_cast<std::size_t>(
        std::count_if(questions_.begin(), questions_.end(), [](const Question& one) { return !one.overdue; }));
    bool all_asked = true;
    for (std::size_t part = next_part_; part < parts.size() && open < config_.state_asks_max; ++part) {
        if (!assembler_->has(part) && !is_asked(part)) {
            const bool is_late = is_owed(part);
            if (const auto peer = helper_for(part)) {
                questions_.push_back({.peer = *peer, .asked = now_, .part = part});
                send(*peer, WantPart{trusted_.block, static_cast<std::uint32_t>(part), parts[part].hash});
                ++open;
                if (is_late) ++asked_again_;
            } else if (is_late) {
                all_asked = false;  // whoever has time owes it; the next one it may not
            } else {
                return;  // nobody has time
            }
        }
        if (all_asked) next_part_ = part + 1;
    }
}

void StateFetch::send(PeerId to, Message message) {
    effects_.emplace_back(Send{to, std::make_shared<const Message>(std::move(message))});
}

}  // namespace rhizome::core
