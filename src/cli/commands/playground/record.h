// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "cli/commands/playground/cuts.h"
#include "runtime/background_process.h"

/// What a playground has started and changed, in a file that is written before anything begins: whatever happens to
/// the commands in between, `down` finds it all, and ends no process that is not its own.
namespace rhizome::cli::playground {

/// How nodes are kept apart.
enum class Apart : std::uint8_t {
    Networks,  ///< each in a network namespace of its own; cuts are lost packets
    Ports,     ///< on ports of the loopback; cuts are peers that a node is told to refuse
};

enum class Wanted : std::uint8_t { Up, Killed };

struct NodeRecord {
    std::string address{};         ///< where the others reach it
    std::string api{};             ///< where kubectl asks it, on this machine's loopback; none before its first start
    runtime::ProcessId process{};  ///< none has run yet: 0
    Wanted wanted = Wanted::Up;    ///< one that should be up and is not has died by itself
    std::string key{};             ///< its chain key; none before it was a member
    int network = -1;              ///< the holder's descriptor of its namespace
};

struct Record {
    Apart apart = Apart::Ports;
    bool ready = false;  ///< `up` came to its end
    std::vector<NodeRecord> nodes{};
    runtime::ProcessId holder{};  ///< keeps the networks while no node is in them
    int router = -1;              ///< its descriptor of the network between them
    std::vector<Cut> cuts{};

    [[nodiscard]] unsigned count() const { return static_cast<unsigned>(nodes.size()); }
    [[nodiscard]] std::string text() const;
    /// Corrupt when it is not what `text` writes.
    static Result<Record> parse(std::string_view text);
};

/// `FOLDER/playground.json`.
std::filesystem::path record_file(const std::filesystem::path& folder);
/// NotFound when there is none.
Result<Record> read_record(const std::filesystem::path& folder);
Result<void> write_record(const std::filesystem::path& folder, const Record& record);

}  // namespace rhizome::cli::playground
