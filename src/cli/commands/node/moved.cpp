// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/node/moved.h"

#include <algorithm>

#include <fmt/core.h>

#include "cli/text.h"

namespace rhizome::cli {
namespace {

/// By name: who does not know what it signed before.
std::map<std::string, std::string> waiting_in(const json::Value& status) {
    std::map<std::string, std::string> waiting;
    const json::Value* begun = status.find("recordsBegun");
    if (begun == nullptr || !begun->is_array()) return waiting;
    for (const json::Value& one : *begun->if_array())
        if (const std::string name{one.text_at({"node"})}; !name.empty()) waiting[name] = one.text_at({"record"});
    return waiting;
}

bool names_all(const json::Value& cluster, const std::map<std::string, std::string>& waiting) {
    return std::all_of(waiting.begin(), waiting.end(), [&](const auto& one) {
        return cluster.text_at({"spec", "recovery", "records", one.first}) == one.second;
    });
}

std::vector<std::string> names_in(const std::map<std::string, std::string>& waiting) {
    std::vector<std::string> names;
    for (const auto& [name, record] : waiting) names.push_back(name);
    return names;
}

std::string or_none(const std::vector<std::string>& names) { return names.empty() ? "none" : join(names, ", "); }

Result<void> check_moved_voter(const std::vector<NodeRow>& rows, const std::string& name) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const NodeRow& one) { return one.name == name; });
    if (row == rows.end())
        return fail(ErrorKind::NotFound,
                    fmt::format("there is no node {}\n'node list' shows those there are", printable(name)));
    if (!row->is_member)
        return fail(ErrorKind::Denied, fmt::format("{} is no member: it has no keys to vote with", name));
    return ok();
}

}  // namespace

Result<MovedPlan> plan_moved(const std::vector<NodeRow>& rows, const json::Value& status, const json::Value& cluster,
                             std::vector<std::string> wanted) {
    MovedPlan plan;
    const auto waiting = waiting_in(status);
    if (waiting.empty()) {
        plan.is_done = true;
        plan.story =
            "every machine that this one hears knows what it signed: there is nothing to do\n"
            "(a machine that is not heard yet is not seen here: 'peers' shows the links)\n";
        return plan;
    }
    if (names_all(cluster, waiting)) {
        plan.is_done = true;
        plan.story = fmt::format(
            "recovery {} names {} already: they vote as soon as its block has reached them ('status' shows it)\n",
            cluster.number_at({"spec", "recovery", "generation"}), join(names_in(waiting), ", "));
        return plan;
    }
    plan.records = waiting;
    const auto number = [&](std::initializer_list<std::string_view> path) {
        return static_cast<std::uint64_t>(std::max<std::int64_t>(0, status.number_at(path)));
    };
    const auto written = std::max<std::int64_t>(0, cluster.number_at({"spec", "recovery", "generation"}));
    plan.generation =
        std::max({number({"generation"}), number({"generationHeard"}), static_cast<std::uint64_t>(written)}) + 1;

    std::vector<std::string> voters;
    std::vector<std::string> heard;
    std::vector<std::string> silent;
    for (const NodeRow& row : rows) {
        if (!row.is_voter) continue;
        voters.push_back(row.name);
        (row.is_ready || row.is_linked || waiting.contains(row.name) ? heard : silent).push_back(row.name);
    }
    for (const std::string& name : wanted) TRY(check_moved_voter(rows, name));
    // Who is silent now stays a voter, unless nothing could be decided without it.
    const std::size_t quorum = number({"quorum"});
    plan.voters = !wanted.empty() ? std::move(wanted) : heard.size() >= quorum ? voters : heard;
    std::sort(plan.voters.begin(), plan.voters.end());
    plan.voters.erase(std::unique(plan.voters.begin(), plan.voters.end()), plan.voters.end());
    const auto who = names_in(waiting);
    plan.story = fmt::format(
        "without a record  {}: what they signed before is not known in their directories\n"
        "voters now        {}; {} make a quorum; not heard of: {}\n"
        "voters then       {}\n"
        "stays             everything in this node's chain: {} blocks, of which {} are final\n"
        "you say           that no other directory with the keys of {} is ever used again: not the one that\n"
        "                  these were copied from, and no older backup. One that is used all the same would sign\n"
        "                  against them: two histories could become final, and it would be held against the machine.\n"
        "may be lost       what became final after the copies were made and is on none of these machines\n",
        join(who, ", "), or_none(voters), quorum, or_none(silent), or_none(plan.voters), number({"height"}),
        number({"final", "height"}), join(who, ", "));

    const std::string_view need = status.text_at({"recordsNeed"});
    if (need == "votes" || need == "nothing")
        plan.doubt = fmt::format(
            "this is not needed: the other voters are enough, and {} {} again by {} when they have "
            "made something final",
            join(who, ", "), who.size() == 1 ? "votes" : "vote", who.size() == 1 ? "itself" : "themselves");
    else if (need == "seal")
        plan.doubt = fmt::format(
            "this is not needed: {} is the only voter, and goes on when nobody else has sealed for "
            "a while",
            join(who, ", "));
    else if (heard.size() < quorum && quorum > 0 && !silent.empty() && plan.voters.size() < voters.size())
        plan.doubt = fmt::format("{} {} not heard of, and would vote no more: start what can be started first",
                                 join(silent, ", "), silent.size() == 1 ? "is" : "are");
    return plan;
}

}  // namespace rhizome::cli
