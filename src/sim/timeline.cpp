// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/core.h>

#include "sim/founding.h"

namespace rhizome::sim {
namespace {

struct KindText {
    std::string_view name;
    std::string_view about;
};
constexpr std::array<KindText, kKinds> kKindTexts{{
    {"network", "cuts, heals, links that go one way only"},
    {"power", "machines that start or lose power"},
    {"pauses", "machines that stand still for a while"},
    {"clocks", "clocks set wrong, or right again"},
    {"disks", "disks full, slow, new or restored"},
    {"liars", "members that begin to lie"},
    {"blocks", "blocks sealed"},
    {"tips", "every machine's next tip"},
    {"reorganisations", "tips that leave blocks behind"},
    {"finality", "every machine's final height"},
    {"refusals", "orders refused"},
    {"orders", "orders accepted, included and made final"},
    {"conditions", "what keeps a machine from doing its part"},
    {"blame", "who blames whom"},
}};
static_assert(static_cast<std::size_t>(Kind::Blame) + 1 == kKinds);

template <class... Cases>
struct Overloaded : Cases... {
    using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

std::string_view disk_text(DiskState state) {
    switch (state) {
        case DiskState::Low: return "its disk is nearly full";
        case DiskState::Roomy: return "its disk has room again";
        case DiskState::Slow: return "its disk becomes slow";
        case DiskState::Quick: return "its disk is quick again";
        case DiskState::Copied: return "its disk is backed up";
        case DiskState::Damaged: return "one of its blocks can no longer be read";
        case DiskState::New: return "gets a new, empty disk";
        case DiskState::Restored: return "its disk goes back to the backup";
    }
    return "";
}

std::string signed_text(microseconds duration) {
    return (duration.count() < 0 ? "" : "+") + rhizome::to_text(duration);
}

std::string plural(std::uint64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// Adds a line, or the machine to a line that says the same of others a moment before.
void add_shared(std::vector<TimelineLine>& lines, TimelineLine line) {
    constexpr std::size_t kLookBack = 32;
    for (std::size_t i = lines.size(); i-- > 0 && lines.size() - i <= kLookBack && line.at - lines[i].at <= seconds{1};)
        if (lines[i].kind == line.kind && lines[i].text == line.text && !lines[i].machines.empty() &&
            !line.machines.empty()) {
            lines[i].machines.push_back(line.machines.front());
            return;
        }
    lines.push_back(std::move(line));
}

/// Gathers the ordinary life of a cluster until something happens that deserves a line of its own.
class Quiet {
public:
    void sealed(Time at, const BlockKept& block) {
        begin(at);
        ++blocks_;
        transactions_ += block.transactions;
        proposers_.insert(block.proposer);
        lowest_ = std::min(lowest_, block.height);
        highest_ = std::max(highest_, block.height);
    }
    void made_final(Time at, std::uint64_t height) {
        if (height <= final_height_) return;
        begin(at);
        final_height_ = height;
        final_moved_ = true;
    }

    void refused(Time at) {
        begin(at);
        ++refused_;
    }

    void put(std::vector<TimelineLine>& lines) {
        if (!begun_) return;
        std::string text;
        if (blocks_ > 0) {
            text = plural(blocks_, "block") + " sealed by ";
            text +=
                proposers_.size() == 1 ? name_of(*proposers_.begin()) : fmt::format("{} machines", proposers_.size());
            text += lowest_ == highest_ ? fmt::format(" at height {}", lowest_)
                                        : fmt::format(" at heights {} to {}", lowest_, highest_);
            if (transactions_ > 0) text += ", " + plural(transactions_, "order");
        }
        const auto more = [&](std::string part) { text += (text.empty() ? "" : "; ") + std::move(part); };
        if (final_moved_) more(fmt::format("final up to height {}", final_height_));
        if (refused_ > 0) more(plural(refused_, "order") + " refused at once");
        const Kind kind = blocks_ > 0 ? Kind::Blocks : final_moved_ ? Kind::Finality : Kind::Refusals;
        lines.push_back({from_, {}, kind, std::move(text)});
        const std::uint64_t kept = final_height_;
        *this = {};
        final_height_ = kept;
    }

private:
    void begin(Time at) {
        if (!begun_) from_ = at;
        begun_ = true;
    }
    bool begun_ = false;
    Time from_{};
    std::uint64_t blocks_ = 0;
    std::uint64_t transactions_ = 0;
    std::uint64_t refused_ = 0;
    std::set<std::size_t> proposers_;
    std::uint64_t lowest_ = UINT64_MAX;
    std::uint64_t highest_ = 0;
    std::uint64_t final_height_ = 0;
    bool final_moved_ = false;
};

}  // namespace

std::string_view name(Kind kind) { return kKindTexts[static_cast<std::size_t>(kind)].name; }
std::string_view about(Kind kind) { return kKindTexts[static_cast<std::size_t>(kind)].about; }

std::optional<Kind> kind_named(std::string_view name) {
    for (std::size_t i = 0; i < kKinds; ++i)
        if (kKindTexts[i].name == name) return static_cast<Kind>(i);
    return {};
}

Kind kind_of(const Happening& what) {
    return std::visit(Overloaded{
                          [](const NetworkSplit&) { return Kind::Network; },
                          [](const NetworkHealed&) { return Kind::Network; },
                          [](const NetworkStorm&) { return Kind::Network; },
                          [](const OneWay&) { return Kind::Network; },
                          [](const Started&) { return Kind::Power; },
                          [](const PowerLost&) { return Kind::Power; },
                          [](const Paused&) { return Kind::Pauses; },
                          [](const ClockSet&) { return Kind::Clocks; },
                          [](const DiskChanged&) { return Kind::Disks; },
                          [](const BeganToLie&) { return Kind::Liars; },
                          [](const BlockKept&) { return Kind::Blocks; },
                          [](const TipChanged& tip) { return tip.undone > 0 ? Kind::Reorganisations : Kind::Tips; },
                          [](const FinalAdvanced&) { return Kind::Finality; },
                          [](const ConditionSeen&) { return Kind::Conditions; },
                          [](const Blamed&) { return Kind::Blame; },
                          [](const OrderAnswered& order) {
                              return order.stage == core::Stage::Refused ? Kind::Refusals : Kind::Orders;
                          },
                      },
                      what);
}

std::string_view name(core::Condition condition) {
    switch (condition) {
        case core::Condition::ClockOff: return "its clock is off";
        case core::Condition::VotesLost: return "what it voted is not known";
        case core::Condition::ConflictingFinals: return "two final blocks contradict each other";
        case core::Condition::DiskFull: return "its disk is full";
        case core::Condition::Accused: return "it stands accused";
        case core::Condition::OutOfReach: return "a recovery leads away from below what it keeps";
    }
    return "";
}

std::string short_hash(const ledger::BlockHash& hash) { return hash.hex().substr(0, 8); }

std::string to_text(const Happening& what) {
    return std::visit(
        Overloaded{
            [](const NetworkSplit& split) {
                std::string groups;
                for (const auto& group : split.groups) groups += (groups.empty() ? "" : " | ") + names_of(group);
                return fmt::format("the network splits: {}", groups);
            },
            [](const NetworkHealed&) { return std::string{"the network is whole again"}; },
            [](const NetworkStorm& storm) {
                return fmt::format("a storm: {} of {} directions carry nothing", storm.blocked, storm.directions);
            },
            [](const OneWay& way) {
                return fmt::format("what it sends to {} {}", name_of(way.to),
                                   way.blocked ? "no longer arrives" : "arrives again");
            },
            [](const Started&) { return std::string{"starts"}; },
            [](const PowerLost&) { return std::string{"loses power"}; },
            [](const Paused& pause) {
                return pause.duration.count() == 0
                           ? "goes on"
                           : fmt::format("stands still for {}", rhizome::to_text(pause.duration));
            },
            [](const ClockSet& clock) {
                return clock.ahead.count() == 0 ? "its clock is right again"
                                                : fmt::format("its clock is {} off", signed_text(clock.ahead));
            },
            [](const DiskChanged& disk) { return std::string{disk_text(disk.state)}; },
            [](const BeganToLie& lie) { return "begins to lie: " + lie.how; },
            [](const BlockKept& block) {
                return fmt::format("seals {} at height {} on {}, {}", short_hash(block.hash), block.height,
                                   short_hash(block.parent), plural(block.transactions, "order"));
            },
            [](const TipChanged& tip) {
                std::string text = fmt::format("follows {} at height {}", short_hash(tip.to), tip.height);
                if (tip.undone > 0)
                    text += fmt::format(": {} undone, {} applied", plural(tip.undone, "block"), tip.applied);
                return text;
            },
            [](const FinalAdvanced& moved) {
                return fmt::format("{} at height {} is final", short_hash(moved.block), moved.height);
            },
            [](const ConditionSeen& seen) {
                return fmt::format("{}{}", seen.holds ? "" : "no longer: ", name(seen.condition));
            },
            [](const Blamed& blame) { return fmt::format("blames {}: {}", name_of(blame.whom), blame.why); },
            [](const OrderAnswered& order) {
                switch (order.stage) {
                    case core::Stage::Accepted: return fmt::format("accepts order {}", order.order);
                    case core::Stage::Included: return fmt::format("order {} is in its chain", order.order);
                    case core::Stage::Final: return fmt::format("order {} is final", order.order);
                    case core::Stage::Refused: break;
                }
                return fmt::format("{} order {}: {}", order.was_accepted ? "takes back" : "refuses", order.order,
                                   order.why);
            },
        },
        what);
}

// ---- the record
// ------------------------------------------------------------------------------------------------------

void Timeline::note(Seen seen) {
    end_ = std::max(end_, seen.at);
    if (const auto* kept = std::get_if<BlockKept>(&seen.what)) {
        // A block is news once. A liar never writes down the second of two blocks: those it lied to do.
        if (by_hash_.contains(kept->hash)) return;
        if (seen_.size() < kSeenMax) {
            by_hash_.emplace(kept->hash, blocks_.size());
            blocks_.push_back({.hash = kept->hash,
                               .parent = find(kept->parent),
                               .height = kept->height,
                               .proposer = kept->proposer,
                               .transactions = kept->transactions,
                               .seen = seen.at});
        }
        seen.machine = kept->proposer;
    } else if (const auto* moved = std::get_if<FinalAdvanced>(&seen.what)) {
        for (auto at = find(moved->block); at && !blocks_[*at].final_since; at = blocks_[*at].parent)
            blocks_[*at].final_since = seen.at;
    }
    if (seen_.size() < kSeenMax) {
        seen_.push_back(std::move(seen));
    } else {
        ++left_out_;
    }
}

std::optional<std::size_t> Timeline::find(const ledger::BlockHash& hash) const {
    const auto known = by_hash_.find(hash);
    if (known == by_hash_.end()) return {};
    return known->second;
}

void Timeline::settle(Time end, const ledger::BlockHash& tip) {
    end_ = std::max(end_, end);
    std::vector<bool> survived(blocks_.size(), false);
    for (auto at = find(tip); at; at = blocks_[*at].parent) survived[*at] = true;
    // How many blocks the longest chain above each one has, so that a dead end keeps its number along its longest way.
    std::vector<std::size_t> above(blocks_.size(), 0);
    std::vector<std::size_t> heir(blocks_.size(), SIZE_MAX);
    for (std::size_t i = blocks_.size(); i-- > 0;) {
        const auto parent = blocks_[i].parent;
        if (!parent || survived[i]) continue;
        if (heir[*parent] == SIZE_MAX || above[i] + 1 >= above[*parent]) heir[*parent] = i;
        above[*parent] = std::max(above[*parent], above[i] + 1);
    }
    branches_ = 1;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
        const auto parent = blocks_[i].parent;
        if (survived[i]) {
            blocks_[i].branch = 0;
        } else if (parent && !survived[*parent] && heir[*parent] == i) {
            blocks_[i].branch = blocks_[*parent].branch;
        } else {
            blocks_[i].branch = branches_++;
        }
    }
}

std::vector<SplitStretch> Timeline::splits() const {
    std::vector<SplitStretch> stretches;
    bool open = false;
    for (const Seen& one : seen_) {
        const auto* split = std::get_if<NetworkSplit>(&one.what);
        const bool other =
            std::holds_alternative<NetworkHealed>(one.what) || std::holds_alternative<NetworkStorm>(one.what);
        if (open && (split != nullptr || other)) {
            stretches.back().until = one.at;
            open = false;
        }
        if (split == nullptr) continue;
        stretches.push_back({{one.at, end_}, split->groups});
        open = true;
    }
    return stretches;
}

std::vector<Stretch> Timeline::outages(std::size_t machine) const {
    std::vector<Stretch> stretches;
    bool open = false;
    for (const Seen& one : seen_) {
        if (one.machine != machine) continue;
        if (std::holds_alternative<PowerLost>(one.what) && !open) {
            stretches.push_back({one.at, end_});
            open = true;
        } else if (std::holds_alternative<Started>(one.what) && open) {
            stretches.back().until = one.at;
            open = false;
        }
    }
    return stretches;
}

std::vector<Stretch> Timeline::pauses(std::size_t machine) const {
    std::vector<Stretch> stretches;
    for (const Seen& one : seen_) {
        if (one.machine != machine) continue;
        const auto* pause = std::get_if<Paused>(&one.what);
        // A new pause takes the place of the one before, and a crash ends it.
        if ((pause != nullptr || std::holds_alternative<PowerLost>(one.what)) && !stretches.empty())
            stretches.back().until = std::min(stretches.back().until, one.at);
        if (pause != nullptr && pause->duration.count() > 0)
            stretches.push_back({one.at, std::min(one.at + pause->duration, end_)});
    }
    return stretches;
}

std::string names_of(std::vector<std::size_t> machines) {
    if (machines.empty()) return "-";
    std::sort(machines.begin(), machines.end());
    machines.erase(std::unique(machines.begin(), machines.end()), machines.end());
    std::string text;
    for (std::size_t i = 0; i < machines.size();) {
        std::size_t last = i;
        while (last + 1 < machines.size() && machines[last + 1] == machines[last] + 1) ++last;
        if (last == i + 1) last = i;  // two are as short one by one
        text += (text.empty() ? "" : ",") + name_of(machines[i]);
        if (last > i) text += fmt::format("-{}", machines[last]);
        i = last + 1;
    }
    return text;
}

std::vector<TimelineLine> lines_of(const Timeline& timeline, const TimelineFilter& filter) {
    const auto is_wanted = [&](const Seen& one) {
        return filter.machines.empty() || one.machine == kNobody ||
               std::find(filter.machines.begin(), filter.machines.end(), one.machine) != filter.machines.end();
    };
    std::vector<TimelineLine> lines;
    Quiet quiet;
    const auto line_of = [](const Seen& one, Kind kind) {
        TimelineLine line{one.at, {}, kind, to_text(one.what)};
        if (one.machine != kNobody) line.machines.push_back(one.machine);
        return line;
    };
    for (std::size_t i = filter.skipped; i < timeline.seen().size(); ++i) {
        const Seen& one = timeline.seen()[i];
        if (!is_wanted(one)) continue;
        const Kind kind = kind_of(one.what);
        if (!filter.kinds.empty()) {
            if (std::find(filter.kinds.begin(), filter.kinds.end(), kind) != filter.kinds.end())
                lines.push_back(line_of(one, kind));
            continue;
        }
        if (const auto* block = std::get_if<BlockKept>(&one.what)) {
            quiet.sealed(one.at, *block);
        } else if (const auto* moved = std::get_if<FinalAdvanced>(&one.what)) {
            quiet.made_final(one.at, moved->height);
        } else if (const auto* order = std::get_if<OrderAnswered>(&one.what);
                   order != nullptr && order->stage == core::Stage::Refused && !order->was_accepted) {
            quiet.refused(one.at);
        } else if (kind != Kind::Tips && kind != Kind::Orders) {
            quiet.put(lines);
            add_shared(lines, line_of(one, kind));
        }
    }
    quiet.put(lines);
    return lines;
}

}  // namespace rhizome::sim
