// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/node/nodes.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "cluster/object.h"

namespace rhizome::cli {
namespace {

constexpr std::string_view kRoleLabel = "node-role.kubernetes.io/";

bool is_true(const json::Value& value, std::string_view name) {
    const json::Value* found = value.find(name);
    return found != nullptr && found->if_boolean().value_or(false);
}

bool is_linked_to(std::string_view key, const json::Value& status) {
    const json::Value* peers = status.find("peers");
    return peers != nullptr && peers->is_array() &&
           std::any_of(peers->if_array()->begin(), peers->if_array()->end(),
                       [&](const json::Value& peer) { return peer.text_at({"key"}) == key; });
}

std::string roles_of(const json::Value& node, bool is_voter) {
    std::string roles = is_voter ? "voter" : "";
    if (const json::Value* labels = node.find_path({"metadata", "labels"}); labels != nullptr && labels->is_object())
        for (const auto& [key, value] : *labels->if_object())
            if (key.starts_with(kRoleLabel)) roles += (roles.empty() ? "" : ",") + key.substr(kRoleLabel.size());
    return roles.empty() ? "<none>" : roles;
}

/// The condition that Kubernetes' tools look for.
json::Object ready_condition(const NodeRow& row, std::int64_t silent) {
    return {{"type", "Ready"},
            {"status", row.is_ready ? "True" : "Unknown"},
            {"reason", row.is_ready ? "HeardOf" : "Silent"},
            {"message",
             row.is_ready ? "it attests, seals or reports" : fmt::format("nothing was heard of it for {} s", silent)}};
}

}  // namespace

std::vector<NodeRow> node_rows(std::span<const json::Value> entries, const json::Value& status) {
    std::vector<NodeRow> rows;
    std::map<std::string_view, const json::Value*> reports;  // what each machine says of itself, by its name
    for (const json::Value& entry : entries)
        if (entry.text_at({"kind"}) == "NodeReport") reports.emplace(entry.text_at({"name"}), &entry);
    for (const json::Value& entry : entries) {
        const json::Value* document = entry.find("document");
        if (entry.text_at({"kind"}) != "Node" || document == nullptr) continue;
        NodeRow row{.name = std::string{entry.text_at({"name"})}};
        row.since = from_rfc3339(entry.text_at({"born", "time"})).value_or(Time{});
        row.node = *document;
        std::int64_t silent = 0;
        if (const json::Value* members = status.find("members"); members != nullptr && members->is_array())
            for (const json::Value& member : *members->if_array()) {
                if (member.text_at({"node"}) != row.name) continue;
                row.is_member = true;
                row.is_voter = is_true(member, "voter");
                row.is_ready = is_true(member, "ready");
                row.is_accused = is_true(member, "accused");
                row.key = member.text_at({"key"});
                row.is_linked = row.key == status.text_at({"key"}) || is_linked_to(row.key, status);
                if (const json::Value* seconds = member.find("silentSeconds")) silent = seconds->if_int64().value_or(0);
            }
        row.status = !row.is_member ? "NotMember" : row.is_accused ? "Accused" : row.is_ready ? "Ready" : "NotReady";
        if (const json::Value* cordoned = row.node.find_path({"spec", "unschedulable"});
            cordoned != nullptr && cordoned->if_boolean().value_or(false))
            row.status += ",SchedulingDisabled";
        row.roles = roles_of(row.node, row.is_voter);
        if (const auto report = reports.find(row.name); report != reports.end())
            if (const json::Value* said = report->second->find_path({"document", "status"})) row.node["status"] = *said;
        cluster::object_in(row.node, "metadata")["creationTimestamp"] = to_rfc3339(row.since);
        if (row.is_member) {
            json::Array conditions;
            conditions.emplace_back(ready_condition(row, silent));
            cluster::object_in(row.node, "status")["conditions"] = std::move(conditions);
        }
        rows.push_back(std::move(row));
    }
    std::sort(rows.begin(), rows.end(),
              [](const NodeRow& left, const NodeRow& right) { return left.name < right.name; });
    return rows;
}

Result<void> check_removal(const std::vector<NodeRow>& rows, const NodeRow& gone, std::size_t quorum) {
    if (!gone.is_member) return ok();
    const auto others = std::count_if(rows.begin(), rows.end(),
                                      [&](const NodeRow& one) { return one.is_member && one.name != gone.name; });
    if (others == 0)
        return fail(ErrorKind::Denied, fmt::format("{} is the cluster's last member: without it nobody could write "
                                                   "anything, not even the return of one\nto end the cluster, stop its "
                                                   "node ('down') and delete its data directory",
                                                   gone.name));
    const auto ready = static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), [&](const NodeRow& one) {
        return one.is_voter && one.is_ready && one.name != gone.name;
    }));
    if (gone.is_voter && ready < quorum)
        return fail(
            ErrorKind::Conflict,
            fmt::format("without {} nothing could become final: of the other voters {} can be heard, and it takes {} "
                        "to agree on its removal\nstart the missing machines first; --force removes it all the "
                        "same; if they are lost for good, 'recover' names new voters",
                        gone.name, ready, quorum));
    return ok();
}

std::vector<std::string> removal_warnings(const std::vector<NodeRow>& rows, const NodeRow& gone,
                                          std::string_view self) {
    std::vector<std::string> warnings;
    const auto voters = std::count_if(rows.begin(), rows.end(),
                                      [&](const NodeRow& one) { return one.is_voter && one.name != gone.name; });
    if (gone.is_voter && voters == 2)
        warnings.emplace_back("two voters stay, and both are needed then: let a third machine join");
    if (gone.name == self)
        warnings.emplace_back("it is the machine you are on: its node goes on as one that only follows");
    if (gone.is_ready)
        warnings.emplace_back("it still runs: stop its node there ('down'), or it goes on asking to be let in");
    return warnings;
}

}  // namespace rhizome::cli
