// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/playground/chaos.h"

#include <set>

#include <fmt/core.h>

#include "base/random.h"

namespace rhizome::cli::playground::testing {
namespace {

/// Between two disasters: shorter than a heartbeat most of the time, so that they meet each other half done.
constexpr std::int64_t kPauseLeast = 200;
constexpr std::int64_t kPauseMost = 2'500;

unsigned any_of(const std::set<unsigned>& nodes, Random& random) {
    auto at = nodes.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(random.below(nodes.size())));
    return *at;
}

std::string draw_cut(unsigned nodes, Random& random) {
    if (random.chance(1, 3)) {
        const auto from = static_cast<unsigned>(random.below(nodes)) + 1;
        const auto step = static_cast<unsigned>(random.below(nodes - 1)) + 1;
        return fmt::format("{}>{}", from, (from - 1 + step) % nodes + 1);
    }
    std::set<unsigned> side;
    const std::size_t size = random.below(nodes - 1) + 1;
    while (side.size() < size) side.insert(static_cast<unsigned>(random.below(nodes)) + 1);
    std::string text;
    for (const unsigned node : side) text += fmt::format("{}{}", text.empty() ? "" : ",", node);
    return text;
}

}  // namespace

std::string Disaster::text() const {
    std::string when = fmt::format("{:>6} ms  ", at.count());
    switch (kind) {
        case Kind::Cut: return when + "cut " + cut;
        case Kind::Heal: return when + "heal";
        case Kind::Kill: return fmt::format("{}kill n{}", when, node);
        case Kind::Start: return fmt::format("{}start n{}", when, node);
        case Kind::Pause: return fmt::format("{}pause n{}", when, node);
        case Kind::Wake: return fmt::format("{}wake n{}", when, node);
    }
    return when;
}

std::vector<Disaster> draw_disasters(std::uint64_t seed, unsigned nodes, milliseconds lasts) {
    Random random{seed};
    std::vector<Disaster> all;
    std::set<unsigned> dead;
    std::set<unsigned> paused;
    unsigned cuts = 0;
    milliseconds now{0};
    for (;;) {
        now += milliseconds{random.between(kPauseLeast, kPauseMost)};
        if (now >= lasts) return all;
        std::set<unsigned> running;
        for (unsigned node = 1; node <= nodes; ++node)
            if (!dead.contains(node) && !paused.contains(node)) running.insert(node);
        Disaster next{.at = now};
        switch (random.below(8)) {
            case 0:
            case 1:
            case 2:
                if (cuts == 2) continue;
                next.kind = Disaster::Kind::Cut;
                next.cut = draw_cut(nodes, random);
                ++cuts;
                break;
            case 3:
            case 4:
                if (cuts == 0) continue;
                next.kind = Disaster::Kind::Heal;
                cuts = 0;
                break;
            case 5:
                if (dead.size() == 2) continue;
                next.kind = Disaster::Kind::Kill;
                next.node = any_of(running, random);
                dead.insert(next.node);
                break;
            case 6:
                if (dead.empty()) continue;
                next.kind = Disaster::Kind::Start;
                next.node = any_of(dead, random);
                dead.erase(next.node);
                break;
            default:
                next.kind = paused.empty() ? Disaster::Kind::Pause : Disaster::Kind::Wake;
                next.node = paused.empty() ? any_of(running, random) : *paused.begin();
                if (paused.empty()) {
                    paused.insert(next.node);
                } else {
                    paused.clear();
                }
        }
        all.push_back(std::move(next));
    }
}

}  // namespace rhizome::cli::playground::testing
