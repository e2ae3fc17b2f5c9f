// SPDX-License-Identifier: Apache-2.0
#include "node/caller.h"

#include <utility>

#include "core/passing_messages.h"
#include "core/wire.h"
#include "p2p/address.h"
#include "p2p/peer_manager.h"
#include "runtime/clock.h"
#include "runtime/entropy.h"

namespace rhizome::node {

void Caller::linked(net::LinkNumber link, bool, const stream::Address& remote, const net::ChainKey&) {
    others_[link].remote = remote;
    p2p::Hello hello{.lowest = p2p::kVersionLowest, .highest = p2p::kVersionHighest, .chain = chain_};
    hello.nonce = runtime::random_number();
    hello.clock = runtime::now();
    send_bytes(link, p2p::encode(p2p::LinkMessage{hello}));
}

void Caller::dial_failed(const stream::Address&, const Error& why) { lost(std::nullopt, why); }

void Caller::closed(net::LinkNumber link, const std::string& why) { end(link, {ErrorKind::Unavailable, why}); }

void Caller::end(net::LinkNumber link, Error why) {
    if (others_.erase(link) > 0) lost(link, why);
}

void Caller::heard(net::LinkNumber link, Bytes payload) {
    const auto other = others_.find(link);
    if (other == others_.end()) return;
    const auto refuse = [&](const ledger::Reject& why) {
        close(link, why.why);
        end(link, {ErrorKind::Invalid, "it says what cannot be read: " + why.why});
    };
    if (payload[0] >= core::kFirstPassingType) return;  // who has no chain yet shows nobody events
    if (payload[0] < p2p::kFirstLinkType) {
        if (!other->second.is_met) return;
        auto message = core::decode_message(payload);
        if (!message) return refuse(message.error());
        return told(link, *std::move(message));
    }
    const auto message = p2p::decode_link_message(payload);
    if (!message) return refuse(message.error());
    if (std::holds_alternative<p2p::Hello>(*message)) {
        // Somebody who says it again is not met again: whoever derives from this counts whom it met.
        if (!std::exchange(other->second.is_met, true)) met(link);
    } else if (const auto* ping = std::get_if<p2p::Ping>(&*message)) {
        send_bytes(link, p2p::encode(p2p::LinkMessage{p2p::Pong{.nonce = ping->nonce, .clock = runtime::now()}}));
    } else if (const auto* peers = std::get_if<p2p::Peers>(&*message)) {
        const auto teller = p2p::Address::parse(other->second.remote.text());
        std::vector<stream::Address> addresses;
        for (const p2p::Address& address : peers->addresses) {
            // A stranger far away would have this machine knock at doors inside its own network.
            if (!teller || !address.is_routable() || address.scope() < teller->scope()) continue;
            if (const auto parsed = stream::Address::parse(p2p::to_text(address))) addresses.push_back(*parsed);
        }
        told_of(link, addresses);
    } else if (const auto* bye = std::get_if<p2p::Bye>(&*message)) {
        end(link, {bye->reason == p2p::ByeReason::WrongChain ? ErrorKind::Denied : ErrorKind::Unavailable,
                   "it does not want to talk: " + bye->text});
    }
}

void Caller::dial(const stream::Address& address) {
    if (links_ != nullptr) links_->dial(address, std::nullopt);
}

void Caller::close(net::LinkNumber link, std::string why) {
    if (links_ != nullptr) links_->close(link, std::move(why));
}

void Caller::send(net::LinkNumber link, const core::Message& message) { send_bytes(link, core::encode(message)); }

void Caller::ask_for_peers(net::LinkNumber link) { send_bytes(link, p2p::encode(p2p::LinkMessage{p2p::GetPeers{}})); }

void Caller::send_bytes(net::LinkNumber link, const Bytes& payload) {
    if (links_ != nullptr) links_->send(link, std::make_shared<const Bytes>(p2p::frame_of(payload)));
}

}  // namespace rhizome::node
