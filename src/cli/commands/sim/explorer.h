// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "cli/style.h"
#include "sim/sim.h"

/// A simulated cluster that obeys commands: what is behind `rhizome sim explore`, without the terminal.
namespace rhizome::cli::simulate {

class Explorer {
public:
    static constexpr std::size_t kMachinesMax = 100;
    static constexpr std::size_t kLineMax = 4'096;

    struct Setup {
        std::uint64_t seed = 1;
        std::size_t machines = 5;
        std::string trust = "crash";
    };
    /// `stop` is asked now and then while time passes: true ends a `run` early, with nothing lost.
    explicit Explorer(const Setup& setup, std::function<bool()> stop = {});
    ~Explorer();
    Explorer(const Explorer&) = delete;
    Explorer& operator=(const Explorer&) = delete;

    /// Does what a line says and gives the text to show, which ends with a newline unless it is empty. Empty lines and
    /// those that begin with # do nothing. Usage for what makes no sense, with what to try; the cluster is then as
    /// before.
    Result<std::string> perform(std::string_view line, const Style& style, std::optional<unsigned> width);

    [[nodiscard]] bool has_quit() const { return quit_; }
    [[nodiscard]] microseconds elapsed() const { return sim_.elapsed(); }
    /// Promises broken so far; none may be.
    [[nodiscard]] const std::vector<std::string>& faults() { return sim_.checks().faults(); }
    /// What can be typed, for help texts: name with arguments, and what it does.
    static std::vector<Candidate> verbs();

private:
    struct Verb;
    using Words = std::vector<std::string>;
    struct Out {
        const Style& style;
        std::optional<unsigned> width;
    };
    static const std::vector<Verb>& table();

    Result<std::string> run(const Words& words, const Out& out);
    Result<std::string> settle(const Words& words, const Out& out);
    Result<std::string> cut(const Words& words, const Out& out);
    Result<std::string> heal(const Words& words, const Out& out);
    Result<std::string> block(const Words& words, const Out& out);
    Result<std::string> unblock(const Words& words, const Out& out);
    Result<std::string> link(const Words& words, const Out& out);
    Result<std::string> crash(const Words& words, const Out& out);
    Result<std::string> start(const Words& words, const Out& out);
    Result<std::string> pause(const Words& words, const Out& out);
    Result<std::string> clock(const Words& words, const Out& out);
    Result<std::string> disk(const Words& words, const Out& out);
    Result<std::string> lie(const Words& words, const Out& out);
    Result<std::string> load(const Words& words, const Out& out);
    Result<std::string> submit(const Words& words, const Out& out);
    Result<std::string> leave(const Words& words, const Out& out);
    Result<std::string> join(const Words& words, const Out& out);
    Result<std::string> recover(const Words& words, const Out& out);
    Result<std::string> show(const Words& words, const Out& out);
    Result<std::string> orders(const Words& words, const Out& out);
    Result<std::string> chain(const Words& words, const Out& out);
    Result<std::string> timeline(const Words& words, const Out& out);
    Result<std::string> html(const Words& words, const Out& out);
    Result<std::string> help(const Words& words, const Out& out);
    Result<std::string> quit(const Words& words, const Out& out);

    /// Machines as people list them: `0,2-4`. Every one exists, none twice.
    [[nodiscard]] Result<std::vector<std::size_t>> machines_in(std::string_view text) const;
    [[nodiscard]] Result<std::size_t> machine(const Words& words, std::size_t at) const;
    [[nodiscard]] Result<std::size_t> running(const Words& words, std::size_t at) const;
    [[nodiscard]] Result<std::size_t> some_running() const;
    std::string pass(microseconds duration, const std::function<bool()>& done);
    [[nodiscard]] std::string group_of(std::size_t machine) const;
    void keep_lying(std::size_t machine);
    /// The record as it would be if it ended now.
    [[nodiscard]] sim::Timeline settled() const;

    std::function<bool()> stop_;
    sim::Sim sim_;
    sim::Timeline timeline_;
    std::vector<std::vector<std::size_t>> groups_;  ///< of the cut; none: the network is whole
    std::vector<Time> paused_until_;
    std::vector<microseconds> clocks_;
    std::uint64_t names_ = 0;
    bool quit_ = false;
};

}  // namespace rhizome::cli::simulate
