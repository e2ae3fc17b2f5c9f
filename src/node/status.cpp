// SPDX-License-Identifier: Apache-2.0
#include "node/status.h"

#include <algorithm>

#include <fmt/core.h>

#include "api/only_stored.h"
#include "base/ensure.h"
#include "consensus/electorate.h"
#include "consensus/evidence.h"
#include "ledger/block_json.h"
#include "ledger/chain_records.h"
#include "ledger/special_kinds.h"
#include "node/secrets/cluster_keys.h"

namespace rhizome::node {
namespace {

/// More than a cluster may have; a state from elsewhere has what it has.
constexpr std::size_t kMembersShown = 10'000;

std::uint64_t number_at(const state::StateView& view, const state::Path& path) {
    const state::Entry* entry = view.get(path);
    return entry == nullptr || entry->bytes().size() != 8 ? 0 : ledger::records::decode_number(entry->bytes());
}

}  // namespace

std::string_view name(core::Condition condition) {
    switch (condition) {
        case core::Condition::ClockOff: return "ClockOff";
        case core::Condition::VotesLost: return "VotesLost";
        case core::Condition::ConflictingFinals: return "ConflictingFinals";
        case core::Condition::DiskFull: return "DiskFull";
        case core::Condition::Accused: return "Accused";
        case core::Condition::OutOfReach: return "OutOfReach";
    }
    unreachable("a Condition is one of these");
}

std::vector<MemberStatus> members_of(const NodeView& view) {
    const ledger::Parameters parameters = ledger::parameters_of(view.state);
    const auto electorate = consensus::Electorate::of(view.state, parameters);
    const auto clock = number_at(view.state, ledger::records::clock());
    std::vector<MemberStatus> members;
    for (const state::Entry* entry :
         view.state.list(ledger::records::all_members(), std::nullopt, kMembersShown).entries) {
        const auto member = ledger::decode_member(entry->bytes());
        if (!member) continue;
        const auto heard = number_at(view.state, ledger::records::lease(member->chain));
        const auto silent = milliseconds{static_cast<std::int64_t>(clock > heard ? clock - heard : 0)};
        members.push_back({.node = member->node,
                           .key = member->chain,
                           .is_voter = electorate.is_voter(member->chain),
                           .is_accused = consensus::is_accused(member->chain, view.state),
                           .in_lease = silent <= parameters.lease(),
                           .silent_for = silent});
    }
    std::sort(members.begin(), members.end(),
              [](const MemberStatus& left, const MemberStatus& right) { return left.node < right.node; });
    return members;
}

std::string node_name_of(const consensus::MemberKey& key, const NodeView& view) {
    const state::Entry* entry = view.state.get(ledger::records::member(key));
    if (entry == nullptr) return "";
    const auto member = ledger::decode_member(entry->bytes());
    return member ? member->node : "";
}

std::string cluster_name_of(const NodeView& view) {
    const state::Entry* entry = view.state.get(state::Path::cluster());
    if (entry == nullptr) return "";
    return std::string{ledger::parse_checked(entry->document()).text_at({"metadata", "name"})};
}

std::vector<Warning> warnings_of(const NodeView& view, Time now) {
    std::vector<Warning> warnings;
    for (const core::Condition condition : view.conditions) {
        switch (condition) {
            case core::Condition::ClockOff:
                warnings.push_back({"this machine's clock is not that of the other members: it neither seals nor votes",
                                    "set the clock: chronyc makestep, or timedatectl set-ntp true"});
                break;
            case core::Condition::VotesLost:
                warnings.push_back(
                    {"what this machine signed before is not known here (a new disk, a copy or a restored "
                     "backup): it does not vote until the others have shown that it may",
                     "nothing: it goes on by itself once most of the voters are there"});
                break;
            case core::Condition::ConflictingFinals:
                warnings.push_back(
                    {"two conflicting blocks are final: more voters lied than the cluster allows for; "
                     "nothing is sealed or voted any more",
                     "the owner of the cluster decides which history holds, on a machine that has it: rhizome recover "
                     "--force"});
                break;
            case core::Condition::DiskFull:
                warnings.push_back({"the disk is nearly full: no orders are taken",
                                    "make room, or stop it and prune old blocks: rhizome chain prune"});
                break;
            case core::Condition::Accused:
                warnings.push_back({"this machine is under evidence: it signed two things that contradict each other",
                                    "find out why (a copied data directory does this), then the owner of the cluster: "
                                    "rhizome node approve NAME"});
                break;
            case core::Condition::OutOfReach:
                warnings.push_back(
                    {"a recovery leads the chain away from a block that is older than what this machine keeps: it "
                     "cannot follow",
                     "stop it ('rhizome down'), move its data directory away, and let it join again as a new machine: "
                     "rhizome token new, then rhizome join"});
                break;
        }
    }
    const ledger::Parameters parameters = ledger::parameters_of(view.state);
    const auto electorate = consensus::Electorate::of(view.state, parameters);
    const auto members = members_of(view);
    const auto reachable = static_cast<std::size_t>(std::count_if(
        members.begin(), members.end(), [](const MemberStatus& one) { return one.is_voter && one.in_lease; }));
    const std::size_t quorum = consensus::quorum_of(electorate.voters.size(), parameters.trust);
    if (now > view.final_time + 4 * parameters.heartbeat && reachable < quorum)
        warnings.push_back(
            {"nothing becomes final: " + std::to_string(reachable) + " of " + std::to_string(electorate.voters.size()) +
                 " voters are heard of, " + std::to_string(quorum) + " are needed; orders are taken all the same",
             "start the missing machines; if they are lost for good, the owner of the cluster: rhizome recover"});
    for (const Exposure& one : exposures_of(view.state, cluster_keys_of(view.state)))
        warnings.push_back(
            {fmt::format("{} is no member any more, and knew {} Secret{} that {} still as {} then", one.node,
                         one.secrets.size(), one.secrets.size() == 1 ? "" : "s", one.secrets.size() == 1 ? "is" : "are",
                         one.secrets.size() == 1 ? "it was" : "they were"),
             "replace their values where they are used, then seal them anew: rhizome secret rotate"});
    if (now > view.tip.time + 3 * parameters.heartbeat)
        warnings.push_back({"the newest block is old: this machine may be cut off from the others",
                            "look at the links: rhizome peers"});
    return warnings;
}

namespace {

/// Names that a status shows of what somebody knew; `rhizome secret status` shows all.
constexpr std::size_t kSecretsShown = 20;

json::Object secrets_json(const NodeView& view, const consensus::MemberKey& self) {
    const ClusterKeys keys = cluster_keys_of(view.state);
    bool waits = false;
    if (const state::Entry* record = view.state.get(ledger::records::member(self)))
        if (const auto member = ledger::decode_member(record->bytes()))
            waits = std::any_of(keys.keys.begin(), keys.keys.end(), [&](const auto& one) {
                return !one.second.holders.contains(crypto::X25519Public{member->wireguard});
            });
    json::Array exposed;
    for (const Exposure& one : exposures_of(view.state, keys)) {
        json::Array secrets;
        for (std::size_t i = 0; i < std::min(one.secrets.size(), kSecretsShown); ++i)
            secrets.emplace_back(one.secrets[i]);
        exposed.emplace_back(
            json::Object{{"node", one.node}, {"count", one.secrets.size()}, {"secrets", std::move(secrets)}});
    }
    return {{"generation", keys.newest_generation()}, {"waits", waits}, {"exposed", std::move(exposed)}};
}

}  // namespace

json::Object status_json(const NodeView& view, const consensus::MemberKey& self, Time now) {
    const ledger::Parameters parameters = ledger::parameters_of(view.state);
    const auto electorate = consensus::Electorate::of(view.state, parameters);
    json::Array members;
    for (const MemberStatus& one : members_of(view))
        members.push_back(json::Object{{"node", one.node},
                                       {"key", to_hex(one.key)},
                                       {"voter", one.is_voter},
                                       {"accused", one.is_accused},
                                       {"ready", one.in_lease},
                                       {"silentSeconds", one.silent_for.count() / 1'000'000}});
    json::Array warnings;
    for (const Warning& one : warnings_of(view, now))
        warnings.push_back(json::Object{{"what", one.what}, {"hint", one.hint}});
    static const cluster::Kinds kinds;
    json::Array only_stored;
    for (const api::KindInUse& one : api::only_stored_in(view.state, kinds))
        only_stored.push_back(json::Object{{"resource", one.resource}, {"count", one.count}});
    json::Array conditions;
    for (const core::Condition one : view.conditions) conditions.push_back(name(one));
    const std::string node = node_name_of(self, view);
    return {{"cluster", cluster_name_of(view)},
            {"chainId", view.chain.hex()},
            {"consensus", ledger::name(parameters.consensus)},
            {"node", node},
            {"key", to_hex(self)},
            {"member", !node.empty()},
            {"height", view.tip.height.number()},
            {"tip", view.tip_hash.hex()},
            {"time", to_rfc3339(view.tip.time, Precision::Millis)},
            {"stateRoot", view.state.root().hex()},
            {"final", json::Object{{"height", view.final_height.number()},
                                   {"hash", view.final_block.hex()},
                                   {"time", to_rfc3339(view.final_time, Precision::Millis)}}},
            {"generation", electorate.generation},
            {"generationHeard", view.generation_heard},
            {"justifiedEpoch", view.justified.epoch.number()},
            {"pending", view.pending},
            {"voters", electorate.voters.size()},
            {"votersToCome", electorate.next.size()},
            {"quorum", consensus::quorum_of(electorate.voters.size(), parameters.trust)},
            {"documents", view.state.totals(state::Prefix::documents()).count},
            {"onlyStored", std::move(only_stored)},
            {"members", std::move(members)},
            {"conditions", std::move(conditions)},
            {"secrets", secrets_json(view, self)},
            {"warnings", std::move(warnings)},
            {"unusual", to_json(*view.unusual)},
            {"now", to_rfc3339(now, Precision::Millis)}};
}

}  // namespace rhizome::node
