// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <set>

#include <gtest/gtest.h>

#include "crypto/hash.h"
#include "p2p/peer_manager.h"

namespace rhizome::p2p {
namespace {

const Time kNetworkStart = Time::from_unix_seconds(1'800'000'000);

/// Peer managers in virtual time, with connections that are slow, break, and cannot always be made.
class Network {
public:
    struct Quality {
        milliseconds delay_min{1};
        milliseconds delay_max{150};
        std::uint64_t dials_lost = 50;  ///< of a thousand: nobody answers
        std::uint64_t broken = 0;       ///< of a hundred thousand messages: the connection breaks instead
    };

    Network(std::size_t count, std::uint64_t seed, Quality quality) : quality_(quality), random_(seed) {
        for (std::size_t i = 0; i < count; ++i) nodes_.push_back(std::make_unique<Node>(config(i), seed * 1'000 + i));
    }

    static Address address(std::size_t index) {
        return Address::v4(static_cast<std::uint8_t>(20 + index), 1, 1, 1, 7700);
    }
    static ledger::MemberKey key(std::size_t index) {
        ledger::MemberKey identity{2};
        const auto hash = crypto::sha256(Bytes(1, static_cast<std::uint8_t>(index)));
        std::copy(hash.view().begin(), hash.view().end(), identity.begin() + 1);
        return identity;
    }

    void tell(std::size_t index, EventKind kind) {
        Node& node = *nodes_[index];
        if (!node.alive) return;
        for (Effect& effect : node.manager.step({now_, std::move(kind)}))
            std::visit([&](auto& one) { carry_out(index, one); }, effect);
    }
    void run(microseconds duration) {
        const Time end = now_ + duration;
        while (!queue_.empty() && queue_.top().at <= end) {
            const Item item = queue_.top();
            queue_.pop();
            now_ = item.at;
            (*item.what)();
        }
        now_ = end;
    }
    template <class Done>
    bool run_until(Done done, microseconds most) {
        for (const Time end = now_ + most; now_ < end; run(seconds{1}))
            if (done()) return true;
        return done();
    }
    /// Half of the others notice at once, half only by the silence.
    void crash(std::size_t index) {
        nodes_[index]->alive = false;
        for (auto& [id, end] : ends_)
            if (end.node == index && random_.chance(1, 2)) later(end.other, [this, id = end.other] { lose(id); });
    }

    [[nodiscard]] const PeerManager& manager(std::size_t index) const { return nodes_[index]->manager; }
    [[nodiscard]] Time now() const { return now_; }
    [[nodiscard]] std::size_t size() const { return nodes_.size(); }
    [[nodiscard]] bool alive(std::size_t index) const { return nodes_[index]->alive; }
    /// Whom this node is linked to, with the links.
    [[nodiscard]] std::map<ledger::MemberKey, std::vector<PeerStatus>> linked(std::size_t index) const {
        std::map<ledger::MemberKey, std::vector<PeerStatus>> all;
        for (const PeerStatus& peer : nodes_[index]->manager.peers())
            if (peer.up) all[peer.identity].push_back(peer);
        return all;
    }
    /// Links that the core was told of.
    [[nodiscard]] const std::set<LinkId>& core_peers(std::size_t index) const { return nodes_[index]->up; }
    [[nodiscard]] LinkId other_end(LinkId id) const { return ends_.at(id).other; }
    /// How many living nodes can be reached from the first living one.
    [[nodiscard]] std::size_t reachable() const {
        std::set<std::size_t> seen;
        std::vector<std::size_t> open;
        for (std::size_t i = 0; i < nodes_.size() && open.empty(); ++i)
            if (alive(i)) open.push_back(i);
        while (!open.empty()) {
            const std::size_t at = open.back();
            open.pop_back();
            if (!seen.insert(at).second) continue;
            const auto peers = linked(at);
            for (std::size_t i = 0; i < nodes_.size(); ++i)
                if (alive(i) && peers.contains(key(i))) open.push_back(i);
        }
        return seen.size();
    }

private:
    struct Node {
        Node(const PeerConfig& config, std::uint64_t seed) : manager(config, AddrBook{book_key(seed)}, seed) {}
        static AddrBook::Key book_key(std::uint64_t seed) {
            AddrBook::Key key;
            Random{seed}.fill(key);
            return key;
        }
        PeerManager manager;
        bool alive = true;
        std::uint64_t wakes = 0;
        std::set<LinkId> up;
    };
    struct End {
        std::size_t node = 0;
        LinkId other{};
        Time busy{};  ///< bytes arrive in order
        bool open = true;
    };
    struct Item {
        Time at{};
        std::uint64_t order = 0;
        std::shared_ptr<std::function<void()>> what;
        bool operator<(const Item& right) const {
            return std::tie(right.at, right.order) < std::tie(at, order);  // the earliest on top
        }
    };

    static PeerConfig config(std::size_t index) {
        return {.chain = ledger::ChainId{crypto::sha256(as_bytes("c")).view()}, .self = key(index), .port = 7700};
    }
    void at(Time when, std::function<void()> what) {
        queue_.push({when, ++order_, std::make_shared<std::function<void()>>(std::move(what))});
    }
    microseconds delay() {
        return microseconds{
            random_.between(microseconds{quality_.delay_min}.count(), microseconds{quality_.delay_max}.count())};
    }
    /// Something arrives at this end, after all that was sent there before.
    void later(LinkId end, std::function<void()> what) {
        End& there = ends_.at(end);
        there.busy = std::max(there.busy + microseconds{1}, now_ + delay());
        at(there.busy, std::move(what));
    }
    void lose(LinkId id) {
        End& end = ends_.at(id);
        if (!std::exchange(end.open, false)) return;
        nodes_[end.node]->up.erase(id);
        tell(end.node, Closed{id});
    }

    void carry_out(std::size_t from, Dial& dial) {
        std::size_t to = nodes_.size();
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            if (address(i) == dial.address) to = i;
        at(now_ + delay(), [this, from, to, dial] {
            if (to == nodes_.size() || !alive(to) || random_.chance(quality_.dials_lost, 1'000) ||
                (dial.expected && *dial.expected != key(to)))
                return at(now_ + seconds{3}, [this, from, dial] { tell(from, LinkFailed{dial.address, "no answer"}); });
            const LinkId out{++links_};
            const LinkId in{++links_};
            ends_[out] = {from, in, now_};
            ends_[in] = {to, out, now_};
            const Address seen{address(from).ip, static_cast<std::uint16_t>(40'000 + out.number() % 20'000)};
            later(out, [=, this] { tell(from, Linked{out, Direction::Out, dial.address, key(to)}); });
            tell(to, Linked{in, Direction::In, seen, key(from)});
        });
    }
    void carry_out(std::size_t, Send& send) {
        const LinkId there = ends_.at(send.to).other;
        if (random_.chance(quality_.broken, 100'000)) {
            later(there, [this, there] { lose(there); });
            return later(send.to, [this, id = send.to] { lose(id); });
        }
        later(there, [this, there, message = decode_link_message(send.payload).value()] {
            if (ends_.at(there).open) tell(ends_.at(there).node, Heard{there, message});
        });
    }
    void carry_out(std::size_t node, Up& up) { EXPECT_TRUE(nodes_[node]->up.insert(up.link).second); }
    void carry_out(std::size_t node, Down& down) {
        // `lose` has taken it out already when the other side ended it.
        nodes_[node]->up.erase(down.link);
    }
    void carry_out(std::size_t node, Close& close) {
        EXPECT_FALSE(nodes_[node]->up.contains(close.link)) << "a Down comes before";
        const LinkId there = ends_.at(close.link).other;
        ends_.at(close.link).open = false;
        later(there, [this, there] { lose(there); });
    }
    void carry_out(std::size_t node, Wake& wake) {
        const std::uint64_t number = ++nodes_[node]->wakes;
        at(wake.at, [this, node, number] {
            if (nodes_[node]->wakes == number) tell(node, Tick{});
        });
    }
    void carry_out(std::size_t, Save&) {}
    void carry_out(std::size_t, Measured&) {}

    Quality quality_;
    Random random_;
    Time now_ = kNetworkStart;
    std::vector<std::unique_ptr<Node>> nodes_;
    std::map<LinkId, End> ends_;
    std::priority_queue<Item> queue_;
    std::uint64_t order_ = 0;
    std::uint64_t links_ = 0;
};

/// Whatever happened, when nothing is on its way any more: one link for each pair, and both ends know it.
void expect_agreement(const Network& network) {
    for (std::size_t i = 0; i < network.size(); ++i) {
        if (!network.alive(i)) continue;
        std::size_t links = 0;
        for (const auto& [identity, peers] : network.linked(i)) {
            EXPECT_EQ(peers.size(), 1u) << "of node " << i;
            links += peers.size();
            for (const PeerStatus& peer : peers) EXPECT_TRUE(network.core_peers(i).contains(peer.link));
            for (std::size_t j = 0; j < network.size(); ++j) {
                if (Network::key(j) != identity || !network.alive(j)) continue;
                const auto back = network.linked(j);
                ASSERT_TRUE(back.contains(Network::key(i))) << i << " to " << j;
                EXPECT_EQ(network.other_end(peers[0].link), back.at(Network::key(i))[0].link) << i << " to " << j;
            }
        }
        EXPECT_EQ(links, network.core_peers(i).size());
    }
}

bool all_have(const Network& network, std::size_t count) {
    for (std::size_t i = 0; i < network.size(); ++i)
        if (network.alive(i) && network.linked(i).size() < count) return false;
    return true;
}

TEST(PeerNetworkSim, TwoThatDialEachOtherKeepTheSameLink) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        Network network{2, seed, {.delay_min = milliseconds{1}, .delay_max = milliseconds{200}, .dials_lost = 0}};
        network.tell(0, AddSeeds{{Network::address(1)}});
        network.tell(1, AddSeeds{{Network::address(0)}});
        network.run(seconds{3});
        ASSERT_EQ(network.linked(0).size(), 1u) << "seed " << seed;
        ASSERT_EQ(network.linked(1).size(), 1u) << "seed " << seed;
        expect_agreement(network);
        const std::size_t smaller = Network::key(0) < Network::key(1) ? 0 : 1;
        EXPECT_EQ(network.linked(smaller).begin()->second[0].direction, Direction::Out) << "seed " << seed;
        network.run(minutes{10});
        expect_agreement(network);
        EXPECT_TRUE(all_have(network, 1)) << "and it stays, seed " << seed;
    }
}

TEST(PeerNetworkSim, FromOneSeedAllFindEnoughAndAThirdMayCrash) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        Network network{20, seed, {}};
        for (std::size_t i = 1; i < network.size(); ++i) network.tell(i, AddSeeds{{Network::address(0)}});
        network.tell(0, Tick{});
        EXPECT_TRUE(network.run_until([&] { return all_have(network, 8); }, minutes{3})) << "seed " << seed;
        network.run(minutes{5});
        expect_agreement(network);
        EXPECT_EQ(network.reachable(), 20u);

        // The seed node among them, so that nobody can start anew from it.
        for (std::size_t i = 0; i < 7; ++i) network.crash(i);
        EXPECT_TRUE(network.run_until([&] { return network.reachable() == 13; }, seconds{1}))
            << "still one network, seed " << seed;
        network.run(seconds{50});  // until the silent ones are noticed
        EXPECT_TRUE(network.run_until([&] { return all_have(network, 8); }, minutes{3})) << "seed " << seed;
        network.run(minutes{1});
        expect_agreement(network);
        EXPECT_EQ(network.reachable(), 13u) << "seed " << seed;
        for (std::size_t i = 7; i < 20; ++i)
            for (std::size_t dead = 0; dead < 7; ++dead)
                EXPECT_FALSE(network.linked(i).contains(Network::key(dead))) << i << ' ' << dead;
    }
}

TEST(PeerNetworkSim, BreakingLinksAreReplaced) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        Network network{12, seed, {.dials_lost = 200, .broken = 300}};
        for (std::size_t i = 1; i < network.size(); ++i) network.tell(i, AddSeeds{{Network::address(0)}});
        network.run(minutes{10});
        std::size_t good = 0;
        for (int i = 0; i < 60; ++i) {
            network.run(minutes{1});
            if (network.reachable() == 12 && all_have(network, 6)) ++good;
        }
        EXPECT_GE(good, 55u) << "of 60 looks, seed " << seed;
    }
}

}  // namespace
}  // namespace rhizome::p2p
