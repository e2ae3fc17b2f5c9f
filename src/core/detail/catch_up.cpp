// SPDX-License-Identifier: Apache-2.0
#include "core/detail/catch_up.h"

#include <algorithm>

#include "base/ensure.h"
#include "ledger/codec.h"

namespace rhizome::core::detail {
namespace {

/// So many questions in a row may go unanswered: one may get lost with a link, two seldom do.
constexpr std::uint32_t kLateMax = 2;
/// A large block may take its time over a slow link: this many bytes a second are nobody's fault.
constexpr std::size_t kSlowBytesPerSecond = 64u << 10;
/// Questions open at the same time beyond `asks_per_peer`, once a peer has shown that it answers.
constexpr std::size_t kMoreAsksMax = 6;

}  // namespace

void CatchUp::begin(PeerId guide, Time now, milliseconds patience) {
    patience_ = patience;
    end();
    guide_ = guide;
    asked_headers_ = now;
}

void CatchUp::end() {
    guide_ = {};
    asked_headers_.reset();
    more_headers_ = false;
    road_.clear();
    places_.clear();
    questions_.clear();
    held_bytes_ = 0;
    for (auto& [id, helper] : helpers_) helper = {.height = helper.height};
}

// ---- headers --------------------------------------------------------------------------------------------------------

bool CatchUp::wants_headers() const {
    return is_active() && more_headers_ && !asked_headers_ &&
           road_.size() + config_.answer_headers_max <= config_.headers_ahead_max;
}

std::optional<ledger::BlockHash> CatchUp::last() const {
    if (road_.empty()) return std::nullopt;
    return road_.back().hash;
}

void CatchUp::extend(const ledger::BlockHash& hash, SealedHeader sealed) {
    ensure(road_.empty() || sealed.header.previous == road_.back().hash, "headers of one chain");
    places_[hash] = sealed.header.height;
    road_.push_back({.sealed = std::move(sealed), .hash = hash});
}

void CatchUp::note_headers(bool more) {
    asked_headers_.reset();
    more_headers_ = more;
    helpers_.try_emplace(guide_);
    auto& guide = helpers_.at(guide_);
    guide.height = std::max(guide.height, last_height());
}

// ---- bodies ---------------------------------------------------------------------------------------------------------

void CatchUp::note_height(PeerId peer, ledger::Height height) { helpers_[peer].height = height; }

void CatchUp::peer_gone(PeerId peer) {
    helpers_.erase(peer);
    for (const Question& question : questions_)
        if (question.peer == peer) take_back(question);
    std::erase_if(questions_, [&](const Question& question) { return question.peer == peer; });
}

CatchUp::Step* CatchUp::find(const ledger::BlockHash& hash) {
    const auto place = places_.find(hash);
    if (place == places_.end()) return nullptr;
    return &road_[place->second - road_.front().height()];
}

void CatchUp::take_back(const Question& question) {
    for (const ledger::BlockHash& hash : question.blocks)
        if (Step* step = find(hash); step != nullptr && !step->block) step->asked = false;
}

std::size_t CatchUp::open_of(PeerId peer) const {
    return static_cast<std::size_t>(std::count_if(questions_.begin(), questions_.end(),
                                                  [&](const Question& question) { return question.peer == peer; }));
}

std::optional<PeerId> CatchUp::helper_for(const Step& step) const {
    // Those who answered last time come first, then those with least to do.
    std::optional<PeerId> best;
    std::pair<std::uint32_t, std::size_t> least{};
    for (const auto& [id, helper] : helpers_) {
        const std::pair burden{helper.late, open_of(id)};
        if (helper.lacks || helper.height < step.height() || burden.second >= config_.asks_per_peer + helper.more)
            continue;
        if (best && burden >= least) continue;
        least = burden;
        best = id;
    }
    return best;
}

Time CatchUp::patience_with(PeerId peer, std::size_t bodies, Time now) const {
    for (const Question& question : questions_)
        if (question.peer == peer) bodies += question.blocks.size();
    return now + config_.body_timeout + milliseconds{bodies * bytes_each_ * 1'000 / kSlowBytesPerSecond};
}

std::vector<CatchUp::Ask> CatchUp::next_asks(Time now) {
    std::vector<Ask> asks;
    // The first answers show how large bodies are here: until then one at a time, then twice as many with each answer,
    // so that others who have them come to word as well.
    const std::size_t fit = bytes_each_ == 0 ? 1 : config_.ask_bodies_bytes / bytes_each_;
    const std::size_t each = std::clamp(std::min(fit, bodies_tried_), std::size_t{1}, config_.ask_bodies_max);
    const std::size_t window = std::min(road_.size(), config_.bodies_ahead_max);
    for (std::size_t at = 0; at < window; ++at) {
        if (road_[at].asked || road_[at].block) continue;
        // The next one in order is what everything waits for.
        if (at > 0 && held_bytes_ >= config_.bodies_ahead_bytes) break;
        const auto peer = helper_for(road_[at]);
        if (!peer) break;
        Ask ask{.peer = *peer};
        const ledger::Height highest = helpers_.at(*peer).height;
        for (; at < window && ask.blocks.size() < each; ++at) {
            Step& step = road_[at];
            if (step.asked || step.block || step.height() > highest) break;
            step.asked = true;
            ask.blocks.push_back(step.hash);
        }
        --at;
        questions_.push_back(
            {.peer = *peer, .until = patience_with(*peer, ask.blocks.size(), now), .blocks = ask.blocks});
        asks.push_back(std::move(ask));
    }
    return asks;
}

CatchUp::Taken CatchUp::take(PeerId from, const Body& body) {
    Step* step = find(body.block);
    if (step == nullptr || step->block) return Taken::Unknown;
    ledger::Block block{.header = step->sealed.header,
                        .signature = step->sealed.signature,
                        .txs = *body.txs,
                        .seal = step->sealed.seal};
    if (!ledger::is_whole(block)) {
        helpers_[from].lacks = true;
        return Taken::Mismatch;
    }
    const std::size_t bytes = ledger::encoded_size(block);
    // Follows what comes within some ten blocks, upwards at once: memory is what it guards.
    bytes_each_ = std::max(bytes, (7 * bytes_each_ + bytes) / 8);
    held_bytes_ += bytes;
    step->block = std::make_shared<const ledger::Block>(std::move(block));
    step->asked = false;
    helpers_[from].late = 0;
    return Taken::Good;
}

bool CatchUp::answered(PeerId from, const ledger::BlockHash& first, bool more) {
    const auto question = std::find_if(questions_.begin(), questions_.end(), [&](const Question& one) {
        return one.peer == from && one.blocks.front() == first;
    });
    if (question == questions_.end()) return true;  // late: others were asked meanwhile
    bool complete = true;
    for (const ledger::BlockHash& hash : question->blocks)
        if (const Step* step = find(hash); step != nullptr && !step->block) complete = false;
    take_back(*question);
    questions_.erase(question);
    if (complete) {
        std::size_t& open = helpers_[from].more;
        open = std::min(open + 1, kMoreAsksMax);
        bodies_tried_ = std::min(2 * bodies_tried_, config_.ask_bodies_max);
    }
    if (complete || more) return true;
    helpers_[from].lacks = true;
    return from != guide_;
}

SharedBlock CatchUp::next_block() {
    if (!has_next()) return nullptr;
    SharedBlock block = std::move(road_.front().block);
    held_bytes_ -= ledger::encoded_size(*block);
    places_.erase(road_.front().hash);
    road_.pop_front();
    return block;
}

// ---- time -----------------------------------------------------------------------------------------------------------

bool CatchUp::is_guide_silent(Time now) const { return asked_headers_ && now >= *asked_headers_ + patience_; }

bool CatchUp::is_late(Time now) const { return asked_headers_ && now >= *asked_headers_ + config_.answer_timeout; }

std::size_t CatchUp::look_at_time(Time now) {
    std::size_t again = 0;
    for (const Question& question : questions_) {
        if (now < question.until) continue;
        take_back(question);
        again += question.blocks.size();
        Helper& helper = helpers_[question.peer];
        helper.more = 0;
        if (++helper.late >= kLateMax) helper.lacks = true;
    }
    std::erase_if(questions_, [&](const Question& one) { return now >= one.until; });
    return again;
}

bool CatchUp::is_dead_end() const {
    if (road_.empty() || road_.front().asked || road_.front().block) return false;
    return std::none_of(helpers_.begin(), helpers_.end(), [&](const auto& one) {
        return !one.second.lacks && one.second.height >= road_.front().height();
    });
}

std::optional<Time> CatchUp::next_look() const {
    if (!is_active()) return std::nullopt;
    std::optional<Time> next;
    const auto consider = [&](Time when) { next = next ? std::min(*next, when) : when; };
    if (asked_headers_) consider(*asked_headers_ + patience_);
    for (const Question& question : questions_) consider(question.until);
    return next;
}

void CatchUp::reset_times(Time now) {
    if (asked_headers_) asked_headers_ = now;
    for (Question& question : questions_) question.until = patience_with(question.peer, 0, now);
}

}  // namespace rhizome::core::detail
