// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "cli/commands/playground/record.h"
#include "node/rpc_client.h"

/// A cluster of real nodes on one machine, to be cut, killed and healed: what `rhizome playground` is, for its
/// commands, the chaos test and the benchmark alike. docs/operating/playground.md tells what it looks like from
/// outside.
namespace rhizome::cli::playground {

/// More take more memory and ports than a machine that people play on has to spare: 32 × 48 MB.
inline constexpr unsigned kNodesMax = 32;

struct Wish {
    std::filesystem::path folder{};
    unsigned nodes = 3;
    Apart apart = Apart::Ports;
    std::filesystem::path program = "/proc/self/exe";  ///< this binary; tests name it
    std::vector<std::string> more{};                   ///< words for the command that founds the cluster
    bool ends_with_us = false;  ///< no process outlives the thread that starts it: for tests and benchmarks
    std::function<void(const std::string& line)> told{};
    std::function<bool()> stop_asked{};  ///< then everything is taken back
};

/// Everything blocks. Each change reads the record anew under a lock, so that commands in several terminals do not
/// undo each other's.
class Playground {
public:
    /// Founds a cluster, starts the nodes, and returns when all of them are members and vote. When it fails or is
    /// stopped nothing is left. Conflict when there is a playground in the folder already, or leftovers of one.
    static Result<Playground> up(const Wish& wish);
    /// The one in the folder. NotFound when there is none.
    static Result<Playground> open(const std::filesystem::path& folder);
    /// Ends its processes and deletes its folder, in whatever state it is; says how many processes there were.
    static Result<unsigned> down(const std::filesystem::path& folder);

    [[nodiscard]] const Record& record() const { return record_; }
    [[nodiscard]] std::filesystem::path data_of(unsigned node) const;
    [[nodiscard]] std::filesystem::path keys() const { return folder_ / "keys"; }
    [[nodiscard]] bool is_up(unsigned node) const;
    [[nodiscard]] std::set<unsigned> nodes_up() const;
    /// What a node says. Unavailable when it does not run or does not answer.
    [[nodiscard]] Result<std::unique_ptr<node::RpcClient>> client(unsigned node) const;

    Result<void> cut(const std::vector<std::string>& texts);
    /// These cuts, or all when none are named. NotFound for one that does not stand.
    Result<void> heal(const std::vector<std::string>& texts);
    /// With SIGKILL, as a power failure does it. Conflict when it does not run.
    Result<void> kill(unsigned node);
    /// One that was killed or died; returns when it answers. Conflict when it runs.
    Result<void> start(unsigned node);
    /// To its process: SIGSTOP, SIGCONT.
    Result<void> signal(unsigned node, int number) const;

    /// What all nodes say of themselves and how they are cut, as `status -o json` prints it.
    [[nodiscard]] json::Value look() const;

private:
    Playground(std::filesystem::path folder, std::filesystem::path program, bool ends_with_us, Record record)
        : folder_(std::move(folder)),
          program_(std::move(program)),
          ends_with_us_(ends_with_us),
          record_(std::move(record)) {}
    static Result<unsigned> sweep(const std::filesystem::path& folder);
    Result<void> bring_up(const Wish& wish);
    Result<void> lay_networks();
    Result<void> choose_ports();
    Result<void> begin_node(unsigned node, std::vector<std::string> words);
    Result<void> wait_for(const std::set<unsigned>& nodes, const std::function<bool()>& stop_asked,
                          const std::function<bool(const json::Value& status)>& holds);
    Result<std::string> new_token();
    Result<void> apply_cuts();
    [[nodiscard]] std::string last_words(unsigned node) const;
    Result<void> check_node(unsigned node) const;
    Result<void> save() { return write_record(folder_, record_); }

    std::filesystem::path folder_;
    std::filesystem::path program_;
    bool ends_with_us_;
    Record record_;
};

}  // namespace rhizome::cli::playground
