// SPDX-License-Identifier: Apache-2.0
#include "sim/passing_layer.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/ensure.h"

namespace rhizome::sim {
namespace {

constexpr std::chrono::seconds kLook{1};

state::Path path_of(const std::string& name) { return *state::Path::namespaced("default", "", "Event", name); }

}  // namespace

PassingLayer::PassingLayer(Sim& sim, const core::PassingConfig& config)
    : sim_(sim), config_(config), hosts_(sim.size()) {
    look();
    sim.link_changed = [this](std::size_t machine, std::size_t other, bool linked) {
        look();
        Host& host = hosts_[machine];
        if (!host.passing) return;
        if (const auto before = host.peers.extract(other); !before.empty())
            tell(machine, core::PeerDown{before.mapped()});
        if (!linked) return;
        const core::PeerId id{++peer_numbers_};
        host.peers[other] = id;
        tell(machine, core::PeerUp{id});
    };
    // Links that stood before anybody looked.
    for (std::size_t i = 0; i < sim.size(); ++i)
        for (const std::size_t other : sim.linked(i)) sim.link_changed(i, other, true);
}

PassingLayer::~PassingLayer() {
    *alive_ = false;
    sim_.link_changed = nullptr;
}

/// Machines start and die, and members come and go, without anybody saying so here.
void PassingLayer::look() {
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
        Host& host = hosts_[i];
        if (!sim_.is_up(i)) {
            if (host.passing) host = {.wakes = host.wakes + 1};
            continue;
        }
        if (!host.passing)
            host.passing = std::make_unique<core::Passing>(sim_.chain(), config_,
                                                           core::PassingPorts{sim_.signatures(), &sim_.signer(i), {}});
        tell(i, core::members_in(sim_.node(i).state().view()));
    }
    sim_.after(kLook, [this, alive = std::weak_ptr{alive_}, wanted = ++looks_] {
        if (!alive.expired() && looks_ == wanted) look();
    });
}

void PassingLayer::write(std::size_t machine, const std::string& name, const std::string& message, microseconds lasts) {
    const Time now = Time::from_unix_millis(sim_.now().unix_millis());
    const state::Mark mark{.output = {.change = crypto::sha256(as_bytes(name + message))}, .height = {}, .time = now};
    const auto entry = state::Entry::written(
        path_of(name), {.born = mark, .latest = mark, .lock = mark}, {},
        fmt::format(
            R"({{"apiVersion":"v1","kind":"Event","message":"{}","metadata":{{"name":"{}","namespace":"default"}}}})",
            message, name));
    tell(machine, core::PassingWritten{path_of(name), *entry, sim_.now() + lasts});
}

void PassingLayer::erase(std::size_t machine, const std::string& name) {
    tell(machine, core::PassingWritten{path_of(name), {}, {}});
}

bool PassingLayer::all_equal() const {
    const std::map<std::string, std::string>* first = nullptr;
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
        // Who lies may be banned by all others, and hears of nothing then.
        if (!sim_.is_up(i) || !sim_.is_honest(i) || !hosts_[i].passing) continue;
        if (first == nullptr) first = &hosts_[i].shown;
        if (*first != hosts_[i].shown) return false;
    }
    return true;
}

void PassingLayer::tell(std::size_t machine, core::PassingEventKind event) {
    if (!hosts_[machine].passing) return;
    const Time now = sim_.now() + sim_.clock_ahead(machine);
    for (const core::PassingEffect& effect : hosts_[machine].passing->step({now, std::move(event)}))
        perform(machine, effect);
}

void PassingLayer::perform(std::size_t machine, const core::PassingEffect& effect) {
    Host& host = hosts_[machine];
    if (const auto* send = std::get_if<core::PassingSend>(&effect)) {
        const auto to =
            std::find_if(host.peers.begin(), host.peers.end(), [&](const auto& one) { return one.second == send->to; });
        if (to == host.peers.end()) return;
        const Bytes bytes = core::encode(*send->message);
        ensure(bytes.size() <= core::passing_bytes_max(bytes[0]), "what is said fits its frame");
        bytes_sent_ += bytes.size();
        sim_.carry(machine, to->first, [this, alive = std::weak_ptr{alive_}, from = machine, other = to->first, bytes] {
            if (alive.expired()) return;
            const auto peer = hosts_[other].peers.find(from);
            if (peer == hosts_[other].peers.end()) return;
            auto message = core::decode_passing(bytes);
            ensure(message.has_value(), "what is said can be read");
            tell(other,
                 core::PassingHeard{peer->second, std::make_shared<const core::PassingMessage>(*std::move(message))});
        });
    } else if (const auto* stands = std::get_if<core::PassingStands>(&effect)) {
        const std::string name{stands->path.name()};
        if (stands->entry) {
            host.shown[name] = json::parse(stands->entry->document())->text_at({"message"});
        } else {
            host.shown.erase(name);
        }
    } else if (const auto* flood = std::get_if<core::PassingFlood>(&effect)) {
        for (std::size_t i = 0; i < sim_.size(); ++i)
            if (sim_.key(i) == flood->writer) floods_.emplace_back(machine, i);
    } else if (const auto* blame = std::get_if<core::Blame>(&effect)) {
        sim_.checks().fault(
            fmt::format("machine {} blames another for what it passed on: {}", machine, to_text(blame->why)));
    } else if (const auto* wake = std::get_if<core::Wake>(&effect)) {
        const std::uint64_t number = ++host.wakes;
        const Time when = std::max(wake->at - sim_.clock_ahead(machine), sim_.now());
        sim_.at(when, [this, alive = std::weak_ptr{alive_}, machine, number] {
            if (!alive.expired() && hosts_[machine].wakes == number) tell(machine, core::Tick{});
        });
    }
}

}  // namespace rhizome::sim
