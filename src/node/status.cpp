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
#include "node/room.h"
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
        case core::Condition::Starting: return "Starting";
        case core::Condition::ChainAhead: return "ChainAhead";
        case core::Condition::CopyRuns: return "CopyRuns";
    }
    unreachable("a Condition is one of these");
}

std::string caution_of(const core::Node::Reach& reach) {
    if (reach.is_quorum) return {};
    return fmt::format("included, not final: {} of {} voters reachable", reach.reachable, reach.voters);
}

std::string_view name(RecordsNeeded needed) {
    switch (needed) {
        case RecordsNeeded::None: return "nothing";
        case RecordsNeeded::OfTheOthers: return "votes";
        case RecordsNeeded::OwnSeal: return "seal";
        case RecordsNeeded::OfTheOwner: return "owner";
    }
    unreachable("a RecordsNeeded is one of these");
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

RecordsNeeded records_needed(const NodeView& view) {
    const ledger::Parameters parameters = ledger::parameters_of(view.state);
    const auto electorate = consensus::Electorate::of(view.state, parameters);
    const auto may_decide = [&](const std::vector<consensus::MemberKey>& voters) {
        const auto lost = static_cast<std::size_t>(std::count_if(
            voters.begin(), voters.end(), [&](const auto& key) { return view.records_begun.contains(key); }));
        return voters.size() - lost >= consensus::quorum_of(voters.size(), parameters.trust);
    };
    const bool any = std::any_of(view.records_begun.begin(), view.records_begun.end(),
                                 [&](const auto& one) { return electorate.is_voter(one.first); });
    if (!any) return RecordsNeeded::None;
    if (electorate.next.empty() && electorate.voters.size() == 1) return RecordsNeeded::OwnSeal;
    // Where machines have few links most of those that wait are not heard of here: that shows in what does not happen.
    const auto members = members_of(view);
    const auto heard = static_cast<std::size_t>(std::count_if(
        members.begin(), members.end(), [](const MemberStatus& one) { return one.is_voter && one.in_lease; }));
    const bool is_stuck = view.tip.time > view.final_time + 4 * parameters.lease() &&
                          heard >= consensus::quorum_of(electorate.voters.size(), parameters.trust);
    const bool enough = may_decide(electorate.voters) && (electorate.next.empty() || may_decide(electorate.next));
    return enough && !is_stuck ? RecordsNeeded::OfTheOthers : RecordsNeeded::OfTheOwner;
}

namespace {

/// "n1", "n1 and n2", "n1, n2 and n3".
std::string names_of(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i)
        text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
    return text;
}

std::optional<Warning> record_warning(const NodeView& view, const consensus::Electorate& electorate,
                                      const ledger::Parameters& parameters) {
    std::vector<std::string> names;
    for (const auto& [key, id] : view.records_begun)
        if (electorate.is_voter(key) || view.conditions.contains(core::Condition::VotesLost)) {
            const std::string name = node_name_of(key, view);
            names.push_back(name.empty() ? "this machine" : name);
        }
    if (names.empty()) return std::nullopt;
    std::sort(names.begin(), names.end());
    const std::string whose = fmt::format(
        "{} {} not know what {} signed before (a directory that was moved, copied or restored, or a new "
        "disk)",
        names_of(names), names.size() == 1 ? "does" : "do", names.size() == 1 ? "it" : "they");
    switch (records_needed(view)) {
        case RecordsNeeded::OfTheOwner:
            return Warning{fmt::format("{}, and without {} the voters are too few: nothing becomes final", whose,
                                       names.size() == 1 ? "it" : "them"),
                           "if no other directory with their keys will ever be used again, the owner of the cluster: "
                           "rhizome recover --moved"};
        case RecordsNeeded::OwnSeal:
            return Warning{fmt::format("{}; it seals and votes again when nobody has sealed for {}", whose,
                                       rhizome::to_text(parameters.lease())),
                           "nothing: it goes on by itself, if no other directory with its keys is used"};
        case RecordsNeeded::None:
        case RecordsNeeded::OfTheOthers: break;
    }
    return Warning{fmt::format("{}; {} when the others have made something final since", whose,
                               names.size() == 1 ? "it votes again" : "they vote again"),
                   "nothing: it goes on by itself once most of the voters are there"};
}

}  // namespace

std::vector<Warning> warnings_of(const NodeView& view, Time now) {
    std::vector<Warning> warnings;
    for (const core::Condition condition : view.conditions) {
        switch (condition) {
            case core::Condition::ClockOff:
                warnings.push_back(
                    {"this machine's clock is ahead of the other members' or too far from the chain's "
                     "time: it neither seals nor votes",
                     "set the clock: chronyc makestep, or timedatectl set-ntp true"});
                break;
            case core::Condition::VotesLost: break;  // said below, of all machines together
            case core::Condition::CopyRuns:
                warnings.push_back(
                    {"a copy of this machine runs: its key signed something that it did not sign; it neither seals nor "
                     "votes any more",
                     "find the other one (a data directory or its keys were copied) and end it for good, then start "
                     "this one again: systemctl restart rhizome"});
                break;
            case core::Condition::ConflictingFinals:
                warnings.push_back(
                    {"two conflicting blocks are final: more voters signed both than the cluster allows for (a copy of "
                     "a machine that ran beside a cut does this); nothing is sealed or voted any more",
                     "find the copy and stop it; then the owner of the cluster decides which history holds, on a "
                     "machine that has it: rhizome recover --force"});
                break;
            case core::Condition::DiskFull:
                warnings.push_back(
                    {fmt::format("the disk of this machine is nearly full: it takes no changes and follows nobody, and "
                                 "answers reads as of block {}",
                                 view.tip.height),
                     fmt::format("delete other files until {} MiB are free: it goes on by itself then, and fetches "
                                 "what it missed; or stop it and let go of old blocks: rhizome chain prune",
                                 kDiskRoomy >> 20)});
                break;
            case core::Condition::Accused:
                warnings.push_back({"this machine is under evidence: it signed two things that contradict each other",
                                    "find out why (a copied data directory does this), then the owner of the cluster: "
                                    "rhizome node approve NAME"});
                break;
            case core::Condition::Starting:
                warnings.push_back(
                    {"this machine has just started and has not compared its chain with another's: orders "
                     "wait",
                     "nothing: without a link it goes on alone after a heartbeat; rhizome peers shows the "
                     "links"});
                break;
            case core::Condition::ChainAhead:
                warnings.push_back(
                    {fmt::format("chain time is {} ahead of this machine's clock: clocks were ahead and have been set "
                                 "right, or this one is behind; blocks and votes go on at half pace",
                                 to_text(std::chrono::round<seconds>(view.chain_ahead))),
                     "where only this machine says so, set its clock: chronyc makestep; else nothing: it ends when the "
                     "clocks have caught up"});
                break;
        }
    }
    const ledger::Parameters parameters = ledger::parameters_of(view.state);
    const auto electorate = consensus::Electorate::of(view.state, parameters);
    const auto members = members_of(view);
    if (auto warning = record_warning(view, electorate, parameters)) warnings.push_back(*std::move(warning));
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
    json::Array begun;
    for (const auto& [key, id] : view.records_begun)
        begun.push_back(json::Object{{"node", node_name_of(key, view)},
                                     {"key", to_hex(key)},
                                     {"voter", electorate.is_voter(key)},
                                     {"record", to_hex(id)}});
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
            {"recordsBegun", std::move(begun)},
            {"recordsNeed", name(records_needed(view))},
            {"secrets", secrets_json(view, self)},
            {"warnings", std::move(warnings)},
            {"unusual", to_json(*view.unusual)},
            {"now", to_rfc3339(now, Precision::Millis)}};
}

}  // namespace rhizome::node
