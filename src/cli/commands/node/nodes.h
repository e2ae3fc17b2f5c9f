// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"

/// The machines of a cluster as `rhizome node` shows them: what their Nodes, their reports and the chain say together.
namespace rhizome::cli {

struct NodeRow {
    std::string name{};
    std::string status{};  ///< `Ready`, `NotReady`, `Accused` or `NotMember`, with `,SchedulingDisabled`
    std::string roles{};   ///< `voter`, and those of its labels; `<none>`
    Time since{};
    json::Value node{};  ///< its document with the report's status, as Kubernetes shows a Node
    bool is_member = false;
    bool is_voter = false;
    bool is_ready = false;
    bool is_linked = false;  ///< with the node that was asked, or that one itself
    bool is_accused = false;
    std::string key{};  ///< of a member, in hexadecimal
};

/// By name. `entries` is what `GET state/list` says of `/nodes` with the documents, `status` what `GET status` says.
std::vector<NodeRow> node_rows(std::span<const json::Value> entries, const json::Value& status);

/// What speaks against removing a machine: Denied when that can never be meant, Conflict when `--force` may mean it.
Result<void> check_removal(const std::vector<NodeRow>& rows, const NodeRow& gone, std::size_t quorum);
/// What the owner should know although nothing speaks against it; empty for nothing.
std::vector<std::string> removal_warnings(const std::vector<NodeRow>& rows, const NodeRow& gone, std::string_view self);

}  // namespace rhizome::cli
