// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <gtest/gtest.h>

#include "sim/liars.h"
#include "sim/peer_layer.h"
#include "sim/testing.h"

/// Nodes with their peer layer among strangers who want them alone, or want them gone.
namespace rhizome::sim {
namespace {

using namespace std::chrono_literals;

/// Addresses of an attacker who has these many networks, with so many in each.
std::vector<p2p::Address> attacker_addresses(std::uint8_t networks, std::uint8_t each) {
    std::vector<p2p::Address> addresses;
    for (std::uint8_t network = 0; network < networks; ++network)
        for (std::uint8_t i = 0; i < each; ++i)
            addresses.push_back(p2p::Address::v4(66, static_cast<std::uint8_t>(network + 1), 1,
                                                 static_cast<std::uint8_t>(i + 1), 9'000));
    std::sort(addresses.begin(), addresses.end());
    return addresses;
}

bool all_linked(const PeerLayer& layer, std::size_t machines, std::size_t least) {
    for (std::size_t i = 0; i < machines; ++i)
        if (layer.linked_machines(i) < least) return false;
    return true;
}

TEST(HostilePeersSim, FromOneAddressMachinesFindEachOtherAndAgree) {
    Sim sim{{.seed = 2, .machines = 6, .links_by_hand = true}};
    const PeerLayer layer{sim};
    EXPECT_TRUE(sim.run_until([&] { return all_linked(layer, 6, 5); }, 300s));
    sim.load(10, {0, 1, 2, 3, 4, 5});
    sim.run(10s);
    sim.load(0, {});
    EXPECT_TRUE(sim.run_until([&] { return sim.open_orders() == 0 && sim.distinct_tips() == 1; }, 20s));
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(HostilePeersSim, StrangersWhoTakeEverySlotDoNotCutAMemberOff) {
    Sim sim{{.seed = 3, .machines = 5, .links_by_hand = true}};
    PeerLayer layer{sim};
    ASSERT_TRUE(sim.run_until([&] { return all_linked(layer, 5, 3); }, 120s));
    // Two hundred addresses in ten networks, all of which knock at one machine and name each other to it.
    const auto addresses = attacker_addresses(10, 20);
    std::vector<p2p::Address> told{addresses.begin(), addresses.begin() + 64};
    std::vector<std::size_t> phantoms;
    for (const p2p::Address& address : addresses) phantoms.push_back(layer.add_phantom(address, told));
    for (int round = 0; round < 4; ++round) {
        for (const std::size_t phantom : phantoms) {
            layer.knock(phantom, 4);
            sim.run(50ms);
        }
        sim.run(10s);
    }
    EXPECT_GT(layer.linked_phantoms(4), 0u) << "it is open to strangers";
    EXPECT_LE(layer.linked_phantoms(4), 16u + 8u) << "as far as their slots go";
    EXPECT_GE(layer.linked_machines(4), 3u);
    // The moment they wait for: it restarts, and they knock before it has found anybody.
    layer.crash(4);
    sim.run(5s);
    layer.start(4);
    for (const std::size_t phantom : phantoms) layer.knock(phantom, 4);
    EXPECT_TRUE(sim.run_until([&] { return layer.linked_machines(4) >= 2; }, 60s));
    const std::size_t order = sim.submit_new(4, "after-the-siege");
    EXPECT_TRUE(sim.run_until([&] { return sim.orders()[order].stage == core::Stage::Final; }, 30s));
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(HostilePeersSim, AFloodOfAddressesIsAnsweredWithABanAndTheBookStaysUseful) {
    Sim sim{{.seed = 4, .machines = 5, .links_by_hand = true}};
    PeerLayer layer{sim};
    ASSERT_TRUE(sim.run_until([&] { return all_linked(layer, 5, 3); }, 120s));
    const auto addresses = attacker_addresses(40, 60);
    const std::size_t phantom = layer.add_phantom(p2p::Address::v4(66, 1, 1, 1, 9'000), {});
    const std::size_t before = layer.manager(4).book().size();
    for (std::size_t first = 0; first + 64 <= addresses.size(); first += 64) {
        layer.knock(phantom, 4);
        sim.run(1s);
        EXPECT_EQ(layer.linked_phantoms(4), first < 128 ? 1u : 0u) << "twice is once too often";
        layer.shout(phantom, {addresses.begin() + static_cast<std::ptrdiff_t>(first),
                              addresses.begin() + static_cast<std::ptrdiff_t>(first + 64)});
        sim.run(100ms);
    }
    EXPECT_EQ(layer.linked_phantoms(4), 0u);
    EXPECT_EQ(layer.manager(4).bans().size(), 1u);
    EXPECT_LE(layer.manager(4).book().size(), before + 1) << "nothing that nobody asked for is kept";
    layer.crash(4);
    sim.run(2s);
    layer.start(4);
    EXPECT_TRUE(sim.run_until([&] { return layer.linked_machines(4) >= 3; }, 60s)) << layer.linked_machines(4);
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(HostilePeersSim, AMemberThatLiesAboutItsTipIsBannedAndTheOthersGoOn) {
    Sim sim{{.seed = 5, .machines = 5, .links_by_hand = true}};
    PeerLayer layer{sim};
    ASSERT_TRUE(sim.run_until([&] { return all_linked(layer, 5, 4); }, 300s));
    sim.corrupt(3, make_liar(Lie::FalseTip, 1));
    sim.load(10, {0, 1, 2, 4});
    const auto is_banned = [&] {
        for (const std::size_t machine : {0u, 1u, 2u, 4u})
            if (layer.manager(machine).bans().empty() || layer.is_linked(machine, 3)) return false;
        return true;
    };
    EXPECT_TRUE(sim.run_until(is_banned, 300s));
    sim.load(0, {});
    EXPECT_TRUE(sim.run_until([&] { return sim.open_orders() == 0; }, 60s));
    EXPECT_EQ(testing::first_fault(sim), "");
}

}  // namespace
}  // namespace rhizome::sim
