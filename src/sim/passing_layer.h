// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/passing.h"
#include "sim/sim.h"

namespace rhizome::sim {

/// Documents off the chain in the simulated world: every machine that is up has a `core::Passing` beside its node, over
/// the same links, under the same weather, with the same clock. What a machine had is lost when its power fails.
///
/// Borrows the world, and is its host's half of `link_changed`. Members are those of each machine's own chain, looked
/// at once a second.
class PassingLayer {
public:
    explicit PassingLayer(Sim& sim, const core::PassingConfig& config = {});
    ~PassingLayer();
    PassingLayer(const PassingLayer&) = delete;
    PassingLayer& operator=(const PassingLayer&) = delete;

    /// A client of this machine writes an event, or deletes it.
    void write(std::size_t machine, const std::string& name, const std::string& message,
               microseconds lasts = std::chrono::hours{1});
    void erase(std::size_t machine, const std::string& name);

    /// What a client of this machine sees: messages by names.
    [[nodiscard]] const std::map<std::string, std::string>& shown(std::size_t machine) const {
        return hosts_[machine].shown;
    }
    [[nodiscard]] const core::Passing& machine(std::size_t machine) const { return *hosts_[machine].passing; }
    /// Whether all machines that are up show the same.
    [[nodiscard]] bool all_equal() const;
    /// Who was named for writing too much, by whom.
    [[nodiscard]] const std::vector<std::pair<std::size_t, std::size_t>>& floods() const { return floods_; }
    [[nodiscard]] std::uint64_t bytes_sent() const { return bytes_sent_; }

private:
    struct Host {
        std::unique_ptr<core::Passing> passing{};
        std::map<std::string, std::string> shown{};
        std::map<std::size_t, core::PeerId> peers{};
        std::uint64_t wakes = 0;
    };
    void look();
    void tell(std::size_t machine, core::PassingEventKind event);
    void perform(std::size_t machine, const core::PassingEffect& effect);

    Sim& sim_;
    core::PassingConfig config_;
    std::vector<Host> hosts_;
    std::vector<std::pair<std::size_t, std::size_t>> floods_;
    std::uint64_t peer_numbers_ = 0;
    std::uint64_t bytes_sent_ = 0;
    std::uint64_t looks_ = 0;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace rhizome::sim
