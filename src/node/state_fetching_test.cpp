// SPDX-License-Identifier: Apache-2.0
#include "node/state_fetching.h"

#include <list>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "consensus/consensus_rules.h"
#include "node/peers.h"
#include "support/running_node.h"
#include "support/temp_folder.h"
#include "support/waiting.h"

/// Nodes on loopback, with everything in between that a user has.
namespace rhizome::node {
namespace {

crypto::NodeKeys keys_of(std::string_view name) {
    return crypto::derive(crypto::NodeSeed{crypto::sha256(as_bytes(name)).view()});
}

class StateFetching : public ::testing::Test {
protected:
    /// A node of a folder, listening on a port of its own.
    struct Running {
        std::unique_ptr<Host> host{};
        std::unique_ptr<Peers> peers{};
        ~Running() {
            if (peers) peers->stop();
            if (host) (void)host->stop();
        }
        [[nodiscard]] stream::Address address() const { return peers->addresses().front(); }
    };
    std::unique_ptr<Running> start(const std::filesystem::path& folder, crypto::NodeKeys given,
                                   std::vector<stream::Address> seeds = {}) {
        const crypto::NodeKeys& keys = all_keys.emplace_back(std::move(given));  // a host borrows them
        auto running = std::make_unique<Running>();
        running->host = Host::start(io, {.folder = folder}, keys).value();
        running->peers = Peers::start(io, *running->host, keys,
                                      {.listen = {{.host = "127.0.0.1", .port = 0}}, .seeds = std::move(seeds)})
                             .value();
        return running;
    }
    static void wait_for_height(Host& host, ledger::Height height) {
        test::Waited<ledger::Height> at;
        const auto watching = host.watch([&](const core::Notice&, const NodeView& view) {
            const auto hold = at.lock();
            at.value() = view.tip.height;
            at.notify();
        });
        host.inspect([&](const core::Node* node) {
            const auto hold = at.lock();
            at.value() = node->tip().height;
            at.notify();
        });
        EXPECT_TRUE(at.wait([&](ledger::Height now) { return now >= height; }));
    }
    void write(Host& host, std::string_view name) {
        test::Waited<bool> done;
        (void)host.submit(ledger::check_tx(test::make_namespace_tx(*host.view(), owner, name)).value(),
                          [&](const core::Answer& answer) {
                              const auto hold = done.lock();
                              done.value() = answer.stage == core::Stage::Final;
                              done.notify();
                          });
        EXPECT_TRUE(done.wait([](bool is) { return is; }));
    }
    StateWish wish(const Host& host, const stream::Address& address) const {
        const auto view = host.view();
        return {.trusted = {view->chain, view->final_block}, .address = address};
    }
    /// A data directory that begins with what was fetched.
    std::filesystem::path install(const core::StateFetch::Fetched& fetched, std::string_view name) {
        auto folder = temp.path() / name;
        const ledger::Rules kinds;
        const consensus::CurveSignatures signatures;
        const consensus::ConsensusRules rules{signatures, kinds};
        const consensus::Judge judge{signatures};
        const ledger::Block base{.header = fetched.manifest.header,
                                 .signature = fetched.manifest.signature,
                                 .txs = {},
                                 .seal = fetched.manifest.seal};
        auto chain = store::Chain::create_from_state(folder, fetched.manifest.chain, base, fetched.view, {rules, judge},
                                                     parallel);
        EXPECT_TRUE(chain && (*chain)->close());
        return folder;
    }

    test::TempFolder temp;
    std::list<crypto::NodeKeys> all_keys;
    crypto::SecretKey owner = *crypto::SecretKey::from_bytes(Bytes(32, 7));
    Inline parallel;
    stream::IoContext io{{.threads = 2}};
};

TEST_F(StateFetching, AStateFetchedFromOneNodeMakesAnotherThatFollowsAndServesAThird) {
    test::found_node(temp.path() / "n1", owner);
    const auto founder = start(temp.path() / "n1", std::move(load_identity(temp.path() / "n1").value().keys));
    write(*founder->host, "first");
    const StateWish wanted = wish(*founder->host, founder->address());
    write(*founder->host, "second");

    const auto fetched = fetch_state(io, wanted, keys_of("n2"), parallel);
    ASSERT_TRUE(fetched) << fetched.error().message;
    EXPECT_EQ(hash_of(fetched->manifest.header), wanted.trusted.block);
    EXPECT_EQ(fetched->view.root(), fetched->manifest.header.state_root);

    const auto second = start(install(*fetched, "n2"), keys_of("n2"), {founder->address()});
    wait_for_height(*second->host, founder->host->view()->tip.height);
    EXPECT_EQ(second->host->view()->state.root(), founder->host->view()->state.root());
    // Whoever brings blocks is told from who does not: such links are the last to be evicted.
    write(*founder->host, "third");
    wait_for_height(*second->host, founder->host->view()->tip.height);
    const json::Array links = second->peers->list();
    ASSERT_EQ(links.size(), 1u);
    EXPECT_NE(links.front().text_at({"useful"}), "");
    EXPECT_EQ(second->host->store().extent()->bodies_from, fetched->manifest.header.height + 1);
    EXPECT_EQ(second->host->store().info_at(ledger::Height{0}).error().message,
              fmt::format("block 0 is not kept here: this machine began with the state at {}\nask a node that has all "
                          "of the chain, with --node ADDRESS",
                          fetched->manifest.header.height));

    // It names the founder, so that there are two to ask; and it serves the block it began with itself.
    std::size_t peers = 0;
    StateWish again = wish(*second->host, second->address());
    again.trusted = wanted.trusted;
    again.progress = [&](const core::StateFetch::Progress& now) { peers = std::max(peers, now.peers); };
    const auto third = fetch_state(io, again, keys_of("n3"), parallel);
    ASSERT_TRUE(third) << third.error().message;
    EXPECT_EQ(third->view.root(), fetched->view.root());
    EXPECT_GE(peers, 1u);
}

TEST_F(StateFetching, WhereNobodyHasItThatIsSaid) {
    test::found_node(temp.path() / "n1", owner);
    const auto founder = start(temp.path() / "n1", std::move(load_identity(temp.path() / "n1").value().keys));
    StateWish wanted = wish(*founder->host, founder->address());
    wanted.trusted.block = ledger::BlockHash{crypto::sha256(as_bytes("elsewhere")).view()};
    const auto nobody = fetch_state(io, wanted, keys_of("n2"), parallel);
    ASSERT_FALSE(nobody);
    EXPECT_EQ(nobody.error().kind, ErrorKind::NotFound);
    EXPECT_EQ(nobody.error().message,
              fmt::format("none of the 1 nodes that were asked has the state after block {}", wanted.trusted.block));

    wanted.trusted.chain = ledger::ChainId{crypto::sha256(as_bytes("another chain")).view()};
    const auto other_chain = fetch_state(io, wanted, keys_of("n2"), parallel);
    ASSERT_FALSE(other_chain);
    EXPECT_EQ(other_chain.error().kind, ErrorKind::Denied) << other_chain.error().message;

    wanted.is_cancelled = [] { return true; };
    EXPECT_EQ(fetch_state(io, wanted, keys_of("n2"), parallel).error().message, "interrupted");
}

}  // namespace
}  // namespace rhizome::node
