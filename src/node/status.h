// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "node/host.h"

/// What a node says of itself and its cluster, as data: for `status`, the RPC and metrics alike.
namespace rhizome::node {

/// A member as the chain knows it.
struct MemberStatus {
    std::string node{};
    consensus::MemberKey key{};
    bool is_voter = false;
    bool is_accused = false;
    bool in_lease = false;  ///< heard of lately
    microseconds silent_for{0};
};
std::vector<MemberStatus> members_of(const NodeView& view);

/// The name under which the chain knows this key; empty when it is no member.
std::string node_name_of(const consensus::MemberKey& key, const NodeView& view);
std::string cluster_name_of(const NodeView& view);

/// What the voters that do not know what they signed before wait for, as far as this node hears.
enum class RecordsNeeded : std::uint8_t {
    None,         ///< all know, or say nothing
    OfTheOthers,  ///< votes: enough know, and whoever hears what they decide may vote as well
    OwnSeal,      ///< there is one voter, which goes on when nobody else has sealed for a lease
    OfTheOwner,   ///< too few know: the owner says that these directories are the only ones
};
RecordsNeeded records_needed(const NodeView& view);
std::string_view name(RecordsNeeded needed);

/// Something that keeps the node from doing its part, with what mends it.
struct Warning {
    std::string what{};
    std::string hint{};
};
std::vector<Warning> warnings_of(const NodeView& view, Time now);

/// `{cluster, chainId, node, key, isMember, height, tip, time, final{…}, pending, voters, members[…], warnings[…], …}`
json::Object status_json(const NodeView& view, const consensus::MemberKey& self, Time now);

std::string_view name(core::Condition condition);

/// What whoever is answered `included` should know; empty while a quorum is there.
std::string caution_of(const core::Node::Reach& reach);

}  // namespace rhizome::node
