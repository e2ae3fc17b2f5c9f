// SPDX-License-Identifier: Apache-2.0
// What newcomers ask for instead of the blocks before it. The host looks it up: that may take longer than a step
// should.
#include "core/detail/inside.h"

namespace rhizome::core {
namespace {

using ledger::RejectCode;

ledger::Reject unasked() {
    return {.code = RejectCode::BadEncoding, .why = "a state, or a part of one, that nobody asked for"};
}

}  // namespace

void Node::Inside::heard(PeerId from, const WantManifest& message) { look_up_state({.to = from, .wanted = message}); }
void Node::Inside::heard(PeerId from, const WantPart& message) { look_up_state({.to = from, .wanted = message}); }

// A node that runs has a state: it asks for none (`StateFetch` does, before there is a node).
void Node::Inside::heard(PeerId from, const StateManifest&) { blame(from, unasked()); }
void Node::Inside::heard(PeerId from, const StatePart&) { blame(from, unasked()); }

void Node::Inside::look_up_state(LookUpState wanted) {
    const auto peer = peers.find(wanted.to);
    // Whoever asks for more than this at a time asks again, here or elsewhere.
    if (peer == peers.end() || peer->second.states_open >= config.states_open_per_peer ||
        states_open >= config.states_open_max)
        return;
    ++peer->second.states_open;
    ++states_open;
    effects.emplace_back(wanted);
}

void Node::Inside::state_found(const StateFound& event) {
    --states_open;
    const auto peer = peers.find(event.to);
    if (peer == peers.end()) return;
    --peer->second.states_open;
    effects.emplace_back(Send{event.to, event.message});
}

}  // namespace rhizome::core
