// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/node/recovery.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/similar.h"
#include "cli/text.h"

namespace rhizome::cli {
namespace {

std::uint64_t count_at(const json::Value& value, std::initializer_list<std::string_view> path) {
    const json::Value* found = value.find_path(path);
    return found == nullptr ? 0 : static_cast<std::uint64_t>(found->if_int64().value_or(0));
}

const NodeRow* find_row(const std::vector<NodeRow>& rows, const std::string& name) {
    const auto at = std::find_if(rows.begin(), rows.end(), [&](const NodeRow& row) { return row.name == name; });
    return at == rows.end() ? nullptr : &*at;
}

Result<void> check_voter(const std::vector<NodeRow>& rows, const std::string& name) {
    const NodeRow* row = find_row(rows, name);
    if (row == nullptr) {
        std::vector<std::string> names;
        for (const NodeRow& one : rows) names.push_back(one.name);
        const auto meant = did_you_mean(nearest(name, names));
        return fail(ErrorKind::NotFound, fmt::format("there is no node {}{}\n'node list' shows those there are",
                                                     printable(name), meant.empty() ? "" : "\n" + meant));
    }
    if (!row->is_member)
        return fail(ErrorKind::Denied, fmt::format("{} is no member: it has no keys to vote with", name));
    if (row->is_accused)
        return fail(ErrorKind::Denied, fmt::format("{} signed two things that contradict each other and may not vote\n"
                                                   "'node approve {}' gives it its rights back",
                                                   name, name));
    return ok();
}

/// In reach of this node now, or heard of on the chain a moment ago.
bool is_heard(const NodeRow& row) { return row.is_ready || row.is_linked; }

/// Above the newest that anybody linked has begun: of two histories of one generation neither takes the other back.
/// But whoever only says that it is far ahead cannot use up the numbers there are.
constexpr std::uint64_t kGenerationsAhead = 1'000;

std::uint64_t next_generation(const json::Value& status) {
    const std::uint64_t here = count_at(status, {"generation"});
    const std::uint64_t heard = count_at(status, {"generationHeard"});
    return (heard > here && heard - here <= kGenerationsAhead ? heard : here) + 1;
}

bool finals_conflict(const json::Value& status) {
    const json::Value* conditions = status.find("conditions");
    return conditions != nullptr && conditions->is_array() &&
           std::any_of(conditions->if_array()->begin(), conditions->if_array()->end(), [](const json::Value& one) {
               return one.if_string() != nullptr && *one.if_string() == "ConflictingFinals";
           });
}

std::string names_of(const std::vector<std::string>& names) { return names.empty() ? "none" : join(names, ", "); }

}  // namespace

Result<RecoveryPlan> plan_recovery(const std::vector<NodeRow>& rows, const json::Value& status,
                                   std::vector<std::string> wanted) {
    RecoveryPlan plan{.generation = next_generation(status)};
    if (wanted.empty())
        for (const NodeRow& row : rows)
            if (row.is_member && is_heard(row) && !row.is_accused) wanted.push_back(row.name);
    for (const std::string& name : wanted) TRY(check_voter(rows, name));
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    if (wanted.empty())
        return fail(ErrorKind::Unavailable,
                    "no member is linked or heard of, and this node is none\nask a node that is a member, with --node "
                    "ADDRESS, or name one with --voter");
    plan.voters = wanted;

    std::vector<std::string> heard;
    std::vector<std::string> silent;
    for (const NodeRow& row : rows)
        if (row.is_voter) (is_heard(row) ? heard : silent).push_back(row.name);
    const std::uint64_t quorum = count_at(status, {"quorum"});
    const std::uint64_t height = count_at(status, {"height"});
    const std::uint64_t final_height = count_at(status, {"final", "height"});
    plan.story = fmt::format(
        "voters now       {} heard of: {}; {} silent: {}; {} make a quorum\n"
        "voters then      {}\n"
        "stays            everything in this node's chain: {} blocks, of which {} are final\n"
        "may be lost      what became final after height {} among the silent ones, without this node: nobody here can\n"
        "                 say whether there is any. They discard it when they return, and so do their clients' "
        "answers.\n",
        heard.size(), names_of(heard), silent.size(), names_of(silent), quorum, names_of(plan.voters), height,
        final_height, final_height);

    const auto new_quorum_ready = std::count_if(plan.voters.begin(), plan.voters.end(), [&](const std::string& name) {
        return is_heard(*find_row(rows, name));
    });
    // The smallest quorum there is, whatever the cluster's trust: fewer can never be enough.
    const std::size_t least = plan.voters.size() / 2 + 1;
    if (heard.size() >= quorum && !finals_conflict(status))
        plan.doubt = fmt::format("nothing needs to be recovered: {} of {} voters are heard of, {} are enough",
                                 heard.size(), heard.size() + silent.size(), quorum);
    else if (static_cast<std::size_t>(new_quorum_ready) < least)
        plan.doubt = fmt::format("the new voters could not agree on anything either: {} of {} are heard of",
                                 new_quorum_ready, plan.voters.size());
    return plan;
}

}  // namespace rhizome::cli
