// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/time.h"
#include "core/effects.h"
#include "ledger/block.h"

/// What somebody who watches a simulation sees, as values: for people's eyes, for drawings, for tests. Nothing in a
/// simulation depends on being watched.
namespace rhizome::sim {

/// No machine: it happened to the world.
inline constexpr std::size_t kNobody = SIZE_MAX;

// ---- what can happen
// -------------------------------------------------------------------------------------------------

struct NetworkSplit {
    std::vector<std::vector<std::size_t>> groups{};
};
struct NetworkHealed {};
/// Many directions carry nothing, others than a moment before.
struct NetworkStorm {
    std::size_t blocked = 0;
    std::size_t directions = 0;
};
/// What the machine sends no longer arrives there, or does again.
struct OneWay {
    std::size_t to = 0;
    bool blocked = false;
};
struct Started {};
struct PowerLost {};
struct Paused {
    microseconds duration{};  ///< from now; 0 ends one
};
struct ClockSet {
    microseconds ahead{};  ///< of the true time
};
enum class DiskState : std::uint8_t { Low, Full, Roomy, Slow, Quick, Copied, Damaged, New, Restored };
struct DiskChanged {
    DiskState state = DiskState::Low;
};
struct BeganToLie {
    std::string how{};
};
/// A machine writes a block down: its own, or one it was sent.
struct BlockKept {
    ledger::BlockHash hash{};
    ledger::BlockHash parent{};
    std::uint64_t height = 0;
    std::size_t proposer = kNobody;
    std::size_t transactions = 0;
};
struct TipChanged {
    ledger::BlockHash from{};
    ledger::BlockHash to{};
    std::uint64_t height = 0;
    std::size_t undone = 0;  ///< blocks; more than none: a reorganisation
    std::size_t applied = 0;
};
struct FinalAdvanced {
    ledger::BlockHash block{};
    std::uint64_t height = 0;
};
struct ConditionSeen {
    core::Condition condition{};
    bool holds = false;
};
struct Blamed {
    std::size_t whom = 0;
    std::string why{};  ///< the name of the reason
};
struct OrderAnswered {
    std::size_t order = 0;
    core::Stage stage{};
    bool was_accepted = false;  ///< before: a refusal then takes back what somebody was told
    std::string why{};          ///< of a refusal
};

using Happening =
    std::variant<NetworkSplit, NetworkHealed, NetworkStorm, OneWay, Started, PowerLost, Paused, ClockSet, DiskChanged,
                 BeganToLie, BlockKept, TipChanged, FinalAdvanced, ConditionSeen, Blamed, OrderAnswered>;
struct Seen {
    Time at{};
    std::size_t machine = kNobody;
    Happening what{};
};

/// What people choose by. The names are those of `rhizome sim replay --kinds`.
enum class Kind : std::uint8_t {
    Network,
    Power,
    Pauses,
    Clocks,
    Disks,
    Liars,
    Blocks,
    Tips,
    Reorganisations,
    Finality,
    Refusals,
    Orders,
    Conditions,
    Blame,
};
inline constexpr std::size_t kKinds = 14;
std::string_view name(Kind kind);
std::string_view about(Kind kind);  ///< one line for help texts
std::optional<Kind> kind_named(std::string_view name);
Kind kind_of(const Happening& what);

std::string_view name(core::Condition condition);
/// One sentence without time and machine: `loses power`.
std::string to_text(const Happening& what);
/// The first digits: enough to tell blocks of one history apart.
std::string short_hash(const ledger::BlockHash& hash);

/// One span of time; `until` is the end of the record when it did not end before.
struct Stretch {
    Time from{};
    Time until{};
};
/// A time in which the network was in pieces.
struct SplitStretch : Stretch {
    std::vector<std::vector<std::size_t>> groups{};
};

/// One block of a history.
struct BlockRecord {
    ledger::BlockHash hash{};
    std::optional<std::size_t> parent{};  ///< index among the blocks; none for those that the history began with
    std::uint64_t height = 0;
    std::size_t proposer = kNobody;
    std::size_t transactions = 0;
    Time seen{};
    std::optional<Time> final_since{};  ///< when the first machine called it final
    std::size_t branch = 0;             ///< after `settle`: 0 is the chain that survived, every other number a dead end
};

/// Everything seen in one history, in order. Hand it to a simulation: `sim.watch = [&](const Seen& s) { t.note(s); }`.
///
/// At most `kSeenMax` things are kept; `left_out()` counts the rest, which a drawing then says.
class Timeline {
public:
    static constexpr std::size_t kSeenMax = 1'000'000;

    Timeline(std::size_t machines, Time start) : machines_(machines), start_(start), end_(start) {}

    void note(Seen seen);
    /// The history is over: its last moment, and the chain that everybody ended on (for the branches).
    void settle(Time end, const ledger::BlockHash& tip);

    [[nodiscard]] std::size_t machines() const { return machines_; }
    [[nodiscard]] Time start() const { return start_; }
    [[nodiscard]] Time end() const { return end_; }
    [[nodiscard]] const std::vector<Seen>& seen() const { return seen_; }
    [[nodiscard]] std::size_t left_out() const { return left_out_; }

    /// In the order of their first sight: parents before children.
    [[nodiscard]] const std::vector<BlockRecord>& blocks() const { return blocks_; }
    [[nodiscard]] std::optional<std::size_t> find(const ledger::BlockHash& hash) const;
    [[nodiscard]] std::size_t branches() const { return branches_; }  ///< after `settle`

    [[nodiscard]] std::vector<SplitStretch> splits() const;
    [[nodiscard]] std::vector<Stretch> outages(std::size_t machine) const;
    [[nodiscard]] std::vector<Stretch> pauses(std::size_t machine) const;

private:
    std::size_t machines_;
    Time start_;
    Time end_;
    std::vector<Seen> seen_;
    std::size_t left_out_ = 0;
    std::vector<BlockRecord> blocks_;
    std::map<ledger::BlockHash, std::size_t> by_hash_;
    std::size_t branches_ = 0;
};

// ---- for reading
// -----------------------------------------------------------------------------------------------------

/// Which happenings somebody wants to read about.
struct TimelineFilter {
    std::vector<Kind> kinds{};            ///< none: the digest, see below
    std::vector<std::size_t> machines{};  ///< none: all; what happens to the world is always shown
    std::size_t skipped = 0;              ///< so many of the first happenings are left out: they were shown before
};

struct TimelineLine {
    Time at{};
    std::vector<std::size_t> machines{};  ///< none: the world
    Kind kind{};
    std::string text{};
};

/// The lines to show. Without kinds, a digest: everything rare (cuts, crashes, pauses, clocks, lies, reorganisations,
/// orders refused after they were accepted) has a line of its own, which machines share when the same happens to them
/// within a second; the ordinary life in between (blocks sealed and made final, orders refused at once) is gathered.
std::vector<TimelineLine> lines_of(const Timeline& timeline, const TimelineFilter& filter);

/// `n0-4,n7`: machines in a few letters; `-` for none.
std::string names_of(std::vector<std::size_t> machines);

}  // namespace rhizome::sim
