// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "core/config.h"
#include "core/effects.h"
#include "core/messages.h"

namespace rhizome::core::detail {

/// The way to a chain that is far ahead. One peer, the *guide*, shows the headers; the bodies come from everybody who
/// has them, several at a time, and leave here in order as whole blocks.
///
/// Knows nothing of rules and states: what leaves is judged like any other block. It only sees to it that whoever does
/// not answer, answers with something else or has nothing costs a few seconds and no more: a question moves on to
/// another peer, and a guide whose bodies nobody has is left.
///
/// Bounded: headers by `headers_ahead_max`, bodies by `bodies_ahead_max` and `bodies_ahead_bytes`, questions by
/// `asks_per_peer`. Nothing of it need survive a restart: what was taken is on the disk, and the way goes on from
/// there. Confined to the core strand.
class CatchUp {
public:
    explicit CatchUp(const Config& config) : config_(config) {}

    /// Follows this peer from now on; it was asked for headers.
    /// `patience`: how long an answer with headers may take.
    void begin(PeerId guide, Time now, milliseconds patience);
    /// Forgets all of it.
    void end();
    [[nodiscard]] bool is_active() const { return guide_ != PeerId{}; }
    [[nodiscard]] PeerId guide() const { return guide_; }

    // ---- headers ---------------------------------------------------------------------------------------------------

    /// Whether the guide owes an answer.
    [[nodiscard]] bool awaits_headers() const { return asked_headers_.has_value(); }
    /// Whether it is time to ask it for more.
    [[nodiscard]] bool wants_headers() const;
    void note_asked_headers(Time now) { asked_headers_ = now; }
    /// Its answer is here, and looked at as soon as its signatures are checked: that time is not its own.
    void note_answer_came(Time now) {
        if (asked_headers_) asked_headers_ = now;
    }
    /// Where the headers end: the next ones stand on it. None while there are none.
    [[nodiscard]] std::optional<ledger::BlockHash> last() const;
    [[nodiscard]] ledger::Height last_height() const {
        return road_.empty() ? ledger::Height{} : road_.back().height();
    }
    /// Puts a header behind the others, whose child it is.
    void extend(const ledger::BlockHash& hash, SealedHeader sealed);
    /// The guide has answered; `more`: it has more of them.
    void note_headers(bool more);

    // ---- bodies ----------------------------------------------------------------------------------------------------

    /// What a peer says of its height: it is asked for bodies up to there.
    void note_height(PeerId peer, ledger::Height height);
    void peer_gone(PeerId peer);

    struct Ask {
        PeerId peer{};
        std::vector<ledger::BlockHash> blocks{};
    };
    /// Whom to ask for what now; it is as good as asked.
    [[nodiscard]] std::vector<Ask> next_asks(Time now);

    enum class Taken : std::uint8_t {
        Good,
        Unknown,   ///< nobody asked for it, or it is here already
        Mismatch,  ///< these are not the header's transactions
    };
    Taken take(PeerId from, const Body& body);
    /// The question that began with `first` is answered, as far as it is going to be. False when the peer left out what
    /// it had offered itself.
    bool answered(PeerId from, const ledger::BlockHash& first, bool more);
    /// The next block in order, when it is here.
    [[nodiscard]] SharedBlock next_block();
    [[nodiscard]] bool has_next() const { return !road_.empty() && road_.front().block != nullptr; }

    // ---- time ------------------------------------------------------------------------------------------------------

    /// Takes questions back that were not answered in time, and says how many bodies must be asked for again.
    std::size_t look_at_time(Time now);
    /// The guide does not answer.
    [[nodiscard]] bool is_guide_silent(Time now) const;
    /// It takes longer to answer than most, whatever patience there is with it.
    [[nodiscard]] bool is_late(Time now) const;
    /// Nobody has the next body, or says so.
    [[nodiscard]] bool is_dead_end() const;
    /// When that should be done next.
    [[nodiscard]] std::optional<Time> next_look() const;
    /// The clock was set back.
    void reset_times(Time now);

    [[nodiscard]] std::size_t headers() const { return road_.size(); }
    [[nodiscard]] std::size_t held_bytes() const { return held_bytes_; }

private:
    struct Step {
        SealedHeader sealed{};
        ledger::BlockHash hash{};
        SharedBlock block{};  ///< once the body is here
        bool asked = false;
        [[nodiscard]] ledger::Height height() const { return sealed.header.height; }
    };
    struct Question {
        PeerId peer{};
        Time until{};  ///< then another peer is asked
        std::vector<ledger::BlockHash> blocks{};
    };
    struct Helper {
        ledger::Height height{};  ///< as it says
        bool lacks = false;       ///< it has not what this way needs, or does not answer
        std::uint32_t late = 0;   ///< questions that it did not answer, one after the other
        /// Questions that it may have open beside the first few: one more for each that it answered in time. So that
        /// there are always several blocks at hand: what follows one another is checked faster than each alone.
        std::size_t more = 0;
    };

    [[nodiscard]] Step* find(const ledger::BlockHash& hash);
    /// What of this question is still open may be asked of others.
    void take_back(const Question& question);
    [[nodiscard]] std::optional<PeerId> helper_for(const Step& step) const;
    [[nodiscard]] std::size_t open_of(PeerId peer) const;
    /// When an answer of so many bodies, behind those that are asked of this peer already, is late.
    [[nodiscard]] Time patience_with(PeerId peer, std::size_t bodies, Time now) const;

    Config config_;
    PeerId guide_{};
    std::optional<Time> asked_headers_{};
    milliseconds patience_{};
    bool more_headers_ = false;
    std::deque<Step> road_;
    std::map<ledger::BlockHash, ledger::Height> places_;  ///< of what is on the road
    std::map<PeerId, Helper> helpers_;
    std::vector<Question> questions_;
    std::size_t held_bytes_ = 0;
    std::size_t bytes_each_ = 0;    ///< of a body, by those that came; 0: none yet
    std::size_t bodies_tried_ = 1;  ///< so many may be asked for at once, by the answers that came
};

}  // namespace rhizome::core::detail
