// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/ensure.h"
#include "core/wire.h"
#include "net/links.h"
#include "node/peers.h"
#include "p2p/link_messages.h"
#include "p2p/peer_manager.h"
#include "runtime/clock.h"
#include "stream/strand.h"
#include "support/fresh.h"
#include "support/waiting.h"

/// A link to a node, by somebody who says what he likes over it.
namespace rhizome::test {

class Stranger final : public net::LinkOwner {
public:
    /// With a key that nobody knows.
    static crypto::NodeKeys new_keys() {
        return crypto::derive(crypto::NodeSeed{crypto::sha256(fresh_bytes<32>()).view()});
    }

    /// The same key whenever it is asked for.
    static crypto::NodeKeys keys_named(std::string_view name) {
        return crypto::derive(crypto::NodeSeed{crypto::sha256(as_bytes(name)).view()});
    }

    /// Dials and says hello on this chain; answers pings.
    Stranger(stream::IoContext& io, const ledger::ChainId& chain, const stream::Address& peer,
             crypto::NodeKeys keys = new_keys())
        : chain_(chain), strand_(io.make_strand()), keys_(std::move(keys)) {
        auto links = net::Links::start(io, strand_, {}, keys_, node::frame_bytes_max, *this);
        ensure(links.has_value(), "links can be made");
        links_ = *std::move(links);
        strand_.post([this, peer] { links_->dial(peer, std::nullopt); });
    }
    ~Stranger() override { links_->stop(); }
    Stranger(const Stranger&) = delete;
    Stranger& operator=(const Stranger&) = delete;

    void tell(const core::Message& message) { tell_frame(p2p::frame_of(core::encode(message))); }
    /// Bytes as they are, behind the hello of both sides.
    void tell_frame(Bytes frame) {
        strand_.post([this, shared = std::make_shared<const Bytes>(std::move(frame))] {
            if (link_) links_->send(*link_, shared);
        });
    }

    struct Seen {
        bool up = false;                       ///< the other said hello
        bool ended = false;                    ///< the link is gone, or never was
        std::optional<p2p::ByeReason> bye{};   ///< what the other said last
        std::optional<core::Status> status{};  ///< where the other stands
    };
    /// Waits until it holds; false when that takes so long that something must be broken.
    template <class Holds>
    bool wait(const Holds& holds) {
        std::unique_lock hold{mutex_};
        return changed_.wait_for(hold, kTooLong, [&] { return holds(seen_); });
    }
    bool wait_up() {
        return wait([](const Seen& now) { return now.up || now.ended; }) && seen().up;
    }
    bool wait_ended() {
        return wait([](const Seen& now) { return now.ended; });
    }
    [[nodiscard]] Seen seen() {
        const std::lock_guard hold{mutex_};
        return seen_;
    }
    [[nodiscard]] std::string key() const { return to_hex(keys_.chain.public_key().bytes()); }

    void linked(net::LinkNumber link, bool, const stream::Address&, const net::ChainKey&) override {
        p2p::Hello hello{.lowest = p2p::kVersionLowest, .highest = p2p::kVersionHighest, .chain = chain_};
        const auto nonce = fresh_bytes<sizeof hello.nonce>();
        std::memcpy(&hello.nonce, nonce.data(), sizeof hello.nonce);
        hello.clock = runtime::now();
        say(link, hello);
    }
    void dial_failed(const stream::Address&, const Error&) override {
        note([](Seen& now) { now.ended = true; });
    }
    void heard(net::LinkNumber link, Bytes payload) override {
        if (payload[0] < p2p::kFirstLinkType) {
            const auto message = core::decode_message(payload);
            if (!message) return;
            if (const auto* status = std::get_if<core::Status>(&*message))
                note([&](Seen& now) { now.status = *status; });
            return;
        }
        const auto message = p2p::decode_link_message(payload);
        if (!message) return;
        if (std::holds_alternative<p2p::Hello>(*message)) {
            link_ = link;
            note([](Seen& now) { now.up = true; });
        } else if (const auto* ping = std::get_if<p2p::Ping>(&*message)) {
            say(link, p2p::Pong{ping->nonce, runtime::now()});
        } else if (const auto* bye = std::get_if<p2p::Bye>(&*message)) {
            note([&](Seen& now) { now.bye = bye->reason; });
        }
    }
    void closed(net::LinkNumber, const std::string&) override {
        link_.reset();
        note([](Seen& now) { now.ended = true; });
    }

private:
    void say(net::LinkNumber link, p2p::LinkMessage message) {
        links_->send(link, std::make_shared<const Bytes>(p2p::frame_of(p2p::encode(message))));
    }
    template <class Change>
    void note(const Change& change) {
        const std::lock_guard hold{mutex_};
        change(seen_);
        changed_.notify_all();
    }

    ledger::ChainId chain_;
    stream::Strand strand_;
    crypto::NodeKeys keys_;
    std::unique_ptr<net::Links> links_{};
    std::optional<net::LinkNumber> link_{};  ///< on the strand

    std::mutex mutex_{};
    std::condition_variable changed_{};
    Seen seen_{};
};

}  // namespace rhizome::test
