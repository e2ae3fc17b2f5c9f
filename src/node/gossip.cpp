// SPDX-License-Identifier: Apache-2.0
#include "node/gossip.h"

#include <deque>
#include <mutex>

#include "cluster/decode.h"
#include "cluster/kinds.h"
#include "ledger/chain_records.h"
#include "node/status.h"
#include "runtime/clock.h"
#include "stream/timers.h"

namespace rhizome::node {
namespace {

/// A document of a kind that lives off the chain, as the API of this node would have taken it.
bool may_stand(const cluster::Kinds& kinds, const state::Entry& entry) {
    const state::Path path = entry.path();
    const cluster::Kind* kind = kinds.preferred(path.group(), path.kind());
    if (kind == nullptr || kind->keeping != cluster::Keeping::Gossip) return false;
    auto document = cluster::parse_json(entry.document());
    if (!document) return false;
    const std::string_view version = document->text_at({"apiVersion"});
    const std::size_t slash = version.find('/');
    kind = kinds.find_kind(path.group(), slash == std::string_view::npos ? version : version.substr(slash + 1),
                           path.kind());
    return kind != nullptr &&
           cluster::decode(*std::move(document), *kind, cluster::FieldValidation::Ignore).has_value();
}

}  // namespace

struct Gossip::Inside : std::enable_shared_from_this<Gossip::Inside> {
    Inside(Host& host_in, const crypto::NodeKeys& keys, bool takes_part, Log log_in)
        : host(host_in),
          log(std::move(log_in)),
          signer(keys),
          machine(host.view()->chain, {},
                  {.signatures = signatures,
                   .signer = takes_part ? &signer : nullptr,
                   .may_stand = [this](const state::Entry& entry) { return may_stand(kinds, entry); }}) {}

    Host& host;
    Log log;
    consensus::CurveSignatures signatures{};
    consensus::KeySigner signer;
    cluster::Kinds kinds{};
    core::Passing machine;
    Carrier* carrier = nullptr;
    std::shared_ptr<void> watching{};
    std::unique_ptr<stream::Timer> wake{};
    using Shown = std::function<void(const core::PassingStands&)>;
    std::vector<std::weak_ptr<Shown>> shown_to{};
    std::deque<core::PassingEventKind> events{};
    bool is_stepping = false;
    bool stopped = false;
    mutable std::mutex mutex{};
    core::Passing::Usage usage{};

    /// The effects of one step are carried out before the next begins.
    void step(core::PassingEventKind event) {
        events.push_back(std::move(event));
        if (is_stepping) return;
        is_stepping = true;
        while (!events.empty() && !stopped) {
            const core::PassingEventKind next = std::move(events.front());
            events.pop_front();
            for (const core::PassingEffect& effect : machine.step({runtime::now(), next})) perform(effect);
        }
        events.clear();
        is_stepping = false;
        const std::lock_guard hold{mutex};
        usage = machine.usage();
    }

    void perform(const core::PassingEffect& effect) {
        if (const auto* send = std::get_if<core::PassingSend>(&effect)) {
            if (carrier != nullptr) carrier->pass(send->to, send->message);
        } else if (const auto* stands = std::get_if<core::PassingStands>(&effect)) {
            std::erase_if(shown_to, [](const auto& one) { return one.expired(); });
            for (const auto& one : shown_to)
                if (const auto told = one.lock()) (*told)(*stands);
        } else if (const auto* flood = std::get_if<core::PassingFlood>(&effect)) {
            const std::string name = node_name_of(flood->writer, *host.view());
            log.warn("a member writes more events and leases than are taken of one; the rest waits",
                     {{"node", name.empty() ? to_hex(flood->writer) : name}, {"left_out", flood->left_out}});
        } else if (const auto* blame = std::get_if<core::Blame>(&effect)) {
            if (carrier != nullptr) carrier->blame(blame->peer, blame->why);
        } else if (const auto* wanted = std::get_if<core::Wake>(&effect)) {
            wake->set(stream::after(wanted->at - runtime::now()));
        }
    }

    void tell_members() { step(core::members_in(host.view()->state)); }
};

Gossip::Gossip(Host& host, const crypto::NodeKeys& keys, bool takes_part, Log log)
    : inside_(std::make_shared<Inside>(host, keys, takes_part, std::move(log))) {
    Inside& in = *inside_;
    in.wake = std::make_unique<stream::Timer>(host.strand(), [&in] { in.step(core::Tick{}); });
    in.watching = host.watch([weak = std::weak_ptr{inside_}](const core::Notice& notice, const NodeView&) {
        const auto* moved = std::get_if<core::TipMoved>(&notice);
        const auto self = weak.lock();
        if (moved == nullptr || !self || self->stopped) return;
        const auto members = ledger::records::all_members();
        for (const state::Change& one : moved->change.changes())
            if (members.covers(one.key())) return self->tell_members();
    });
    host.strand().post([self = inside_] {
        if (!self->stopped) self->tell_members();
    });
}

Gossip::~Gossip() {
    stream::run_on(inside_->host.strand(), [in = inside_.get()] {
        in->stopped = true;
        in->wake.reset();
        in->watching.reset();
    });
}

void Gossip::write(const state::Path& path, state::EntryPtr entry, Time until,
                   std::function<void(const std::optional<core::PassingStands>& stands)> settled) {
    inside_->host.strand().post([in = inside_, path, entry = std::move(entry), until, settled = std::move(settled)] {
        if (in->stopped) return;
        in->step(core::PassingWritten{path, entry, until});
        settled(in->machine.standing_at(path));
    });
}

std::shared_ptr<void> Gossip::show_to(std::function<void(const core::PassingStands&)> told) {
    auto held = std::make_shared<Inside::Shown>(std::move(told));
    inside_->host.strand().post([in = inside_, weak = std::weak_ptr{held}] {
        const auto shown = weak.lock();
        if (in->stopped || !shown) return;
        for (const core::PassingStands& one : in->machine.standing()) (*shown)(one);
        in->shown_to.push_back(weak);
    });
    return held;
}

core::Passing::Usage Gossip::usage() const {
    const std::lock_guard hold{inside_->mutex};
    return inside_->usage;
}

void Gossip::peer_up(core::PeerId peer) { inside_->step(core::PeerUp{peer}); }
void Gossip::peer_down(core::PeerId peer) { inside_->step(core::PeerDown{peer}); }
void Gossip::heard(core::PeerId from, core::PassingMessage message) {
    inside_->step(core::PassingHeard{from, std::make_shared<const core::PassingMessage>(std::move(message))});
}

void Gossip::set_carrier(Carrier* carrier) { inside_->carrier = carrier; }

}  // namespace rhizome::node
