// SPDX-License-Identifier: Apache-2.0
#include "node/caller.h"

#include <gtest/gtest.h>

#include "p2p/peer_manager.h"

namespace rhizome::node {
namespace {

class Counting final : public Caller {
public:
    Counting() : Caller(ledger::ChainId{}) {}
    std::size_t times_met = 0;

private:
    void met(net::LinkNumber) override { ++times_met; }
    void told(net::LinkNumber, core::Message) override {}
    void lost(std::optional<net::LinkNumber>, const Error&) override {}
};

TEST(Caller, MeetsSomebodyOnceHoweverOftenHeSaysHello) {
    Counting caller;
    const net::LinkNumber link{1};
    caller.linked(link, true, *stream::Address::parse("127.0.0.1:7700"), {});
    const Bytes hello =
        p2p::encode(p2p::LinkMessage{p2p::Hello{.lowest = p2p::kVersionLowest, .highest = p2p::kVersionHighest}});
    for (int i = 0; i < 3; ++i) caller.heard(link, hello);
    EXPECT_EQ(caller.times_met, 1u);
}

}  // namespace
}  // namespace rhizome::node
