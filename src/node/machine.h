// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "crypto/derive.h"
#include "ledger/tx.h"
#include "stream/address.h"

/// What this machine is, and the documents that say so to the cluster: its Node, written when it joins, and its
/// NodeReport, which it keeps true by its own key (docs/spec/chain.md section 2).
namespace rhizome::node {

/// Looked up anew whenever a report is made; nothing of it needs rights.
struct Machine {
    std::string arch{};      ///< as Go and Kubernetes call it: `amd64`, `arm64`
    std::string kernel{};    ///< `6.1.0-18-amd64`
    std::string os_image{};  ///< `Debian GNU/Linux 12 (bookworm)`
    std::string machine_id{};
    std::string boot_id{};
    std::string host_name{};
    std::vector<std::string> addresses{};  ///< numbers, IPv6 without brackets
    /// Thousandths of a core for `cpu`, bytes for `memory` and `ephemeral-storage`, a count for `pods`.
    std::map<std::string, std::uint64_t> capacity{};
};
/// `data`: whose disk counts as storage.
Machine look_at_machine(const std::filesystem::path& data);
/// `x86_64` → `amd64`; others as Kubernetes calls them, unknown ones as they are.
std::string architecture_name(std::string_view machine);
std::string machine_architecture();

/// What the operator wants the machine to be.
struct NodeTraits {
    std::string arch{};     ///< empty: not said
    bool has_agent = true;  ///< hosts pods
};

/// The taint of a member that hosts nothing: no pod is placed there, none stays.
inline constexpr std::string_view kNoAgentTaint = "rhizome.dev/no-agent";
/// The label that makes such a member's role, as on machines of Kubernetes that only run the control plane.
inline constexpr std::string_view kNoAgentRole = "node-role.kubernetes.io/control-plane";

/// The Node of a new member: its keys with their proof, labels, and for one without an agent taint and role.
json::Object node_document(const std::string& name, const crypto::NodeKeys& keys, const ledger::ChainId& chain,
                           const NodeTraits& traits);
/// Makes a Node that exists say the same of the traits; whether that changed anything. All else stays as it is.
bool apply_traits(json::Value& node, const std::string& name, const NodeTraits& traits);

struct ReportWish {
    std::string name{};
    NodeTraits traits{};
    std::map<std::string, std::uint64_t> capacity{};     ///< said instead of what the machine has
    std::map<std::string, std::uint64_t> allocatable{};  ///< said instead of the capacity
    std::vector<stream::Address> links{};                ///< where other nodes reach it
    std::string version{};
    Bytes api_authority{};  ///< DER of the certificate that its Kubernetes API vouches with; empty: it serves none
};
/// `{"apiVersion":"rhizome.dev/v1","kind":"NodeReport","metadata":{"name"},"status":{"capacity","allocatable",
/// "addresses","nodeInfo","links","apiAuthority"},"pods":[]}`, the status as a Kubernetes Node has it, `links` and
/// `apiAuthority` (in base64) besides.
json::Object report_document(const ReportWish& wish, const Machine& machine);

/// Where others reach a node that listens there: numbers instead of "everywhere".
std::vector<stream::Address> reachable_addresses(const std::vector<stream::Address>& listens,
                                                 const std::vector<std::string>& host_addresses);

/// `1500` → `1500m`, `2000` → `2`.
std::string cpu_text(std::uint64_t millis);

}  // namespace rhizome::node
