// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/json.h"
#include "base/parallel.h"
#include "base/time.h"
#include "crypto/derive.h"
#include "ledger/apply.h"
#include "ledger/seal_judge.h"
#include "node/machine.h"

/// How a cluster begins: the two blocks that every chain of ours starts with. Touches no disk.
namespace rhizome::node {

struct FoundingWish {
    std::string cluster{};  ///< its name
    json::Object spec{};    ///< of the Cluster document: docs/spec/chain.md section 6
    std::string node{};     ///< what this machine is called
    Time now{};
    const crypto::SecretKey& owner;     ///< whoever holds it decides about everything in the cluster
    const crypto::NodeKeys& node_keys;  ///< this machine's; it seals both blocks and is the first voter
    NodeTraits traits{};
};

struct Founded {
    ledger::GenesisBlock genesis{};
    ledger::Block first{};
    ledger::Applied first_applied{};
    ledger::ChainId chain{};
};

/// Genesis with the Cluster, locked to the owner's address; then a block, signed by the owner, that makes this machine
/// a member (its Node is locked to its own key or the owner's) and writes the first Namespaces and roles
/// (first_documents.h).
/// Invalid, with the member's name, for a spec that the ledger refuses.
Result<Founded> found_cluster(const FoundingWish& wish, const ledger::Rules& rules, Parallel& parallel);

/// Whether Kubernetes takes it as a name of a Node or a cluster: letters a–z, digits, `-` and `.`, at most 253.
[[nodiscard]] bool is_subdomain(std::string_view name);

}  // namespace rhizome::node
