// SPDX-License-Identifier: Apache-2.0
#include "node/host.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "consensus/judge.h"
#include "ledger/draft.h"
#include "ledger/signing.h"
#include "node/founding.h"
#include "node/identity.h"
#include "node/metrics.h"
#include "node/status.h"
#include "runtime/clock.h"
#include "support/temp_folder.h"
#include "support/waiting.h"

namespace rhizome::node {
namespace {

/// A cluster of one machine in a folder of its own.
class HostTest : public ::testing::Test {
protected:
    void found(json::Object spec = {}) {
        const ledger::Rules rules;
        Inline parallel;
        const auto founded = found_cluster({.cluster = "demo",
                                            .spec = std::move(spec),
                                            .node = "n1",
                                            .now = runtime::now() - seconds{10},
                                            .owner = owner,
                                            .node_keys = keys},
                                           rules, parallel)
                                 .value();
        const consensus::CurveSignatures signatures;
        const consensus::Judge judge{signatures};
        auto chain = store::Chain::create(folder(), founded.genesis, {rules, judge}, parallel).value();
        ASSERT_TRUE(chain->add_made(founded.first, founded.first_applied));
        ASSERT_TRUE(chain->store().mark_final(hash_of(chain->tip())));
        ASSERT_TRUE(chain->close());
    }
    std::filesystem::path folder() const { return temp.path() / "data"; }
    std::unique_ptr<Host> start() {
        auto host = Host::start(io, {.folder = folder()}, keys);
        EXPECT_TRUE(host) << host.error().message;
        return host ? *std::move(host) : nullptr;
    }
    ledger::SharedTx namespace_tx(const Host& host, std::string_view name, std::string_view label = "x") {
        ledger::DraftWish wish{.now = runtime::now()};
        wish.changes = {{.document = namespace_text(name, label)}};
        return signed_tx(host, wish);
    }
    static std::string namespace_text(std::string_view name, std::string_view label) {
        return fmt::format(
            R"({{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"{}","labels":{{"is":"{}"}}}}}})", name,
            label);
    }
    ledger::SharedTx signed_tx(const Host& host, const ledger::DraftWish& wish) {
        const auto view = host.view();
        const ledger::LedgerState state{view->state};
        ledger::Tx tx = ledger::make_draft(wish, state.view()).value();
        const auto draft = ledger::check_tx(tx).value();
        const auto uses = ledger::uses_of_inputs(*draft, state);
        const ledger::Signer signer{owner, owner.public_key()};
        for (std::size_t i = 0; i < uses.size(); ++i)
            tx.inputs[i].unlocking = ledger::advance(*draft, i, uses[i], view->chain, state, &signer).unlocking;
        return ledger::check_tx(tx).value();
    }
    /// What became of it, in order, up to the end.
    std::vector<core::Answer> submit(Host& host, const ledger::SharedTx& tx) {
        test::Waited<std::vector<core::Answer>> told;
        (void)host.submit(tx, [&](const core::Answer& answer) {
            const auto hold = told.lock();
            told.value().push_back(answer);
            told.notify();
        });
        EXPECT_TRUE(told.wait([](const auto& answers) {
            return !answers.empty() &&
                   (answers.back().stage == core::Stage::Final || answers.back().stage == core::Stage::Refused);
        }));
        return told.copy();
    }

    test::TempFolder temp;
    crypto::SecretKey owner = *crypto::SecretKey::from_bytes(Bytes(32, 7));
    crypto::NodeKeys keys = crypto::derive(crypto::NodeSeed{crypto::sha256(as_bytes("host")).view()});
    stream::IoContext io{{.threads = 2}};
};

TEST_F(HostTest, AMachineAloneTakesOrdersAndKeepsThemOverARestart) {
    found();
    auto host = start();
    ASSERT_NE(host, nullptr);
    const auto answers = submit(*host, namespace_tx(*host, "shop"));
    ASSERT_EQ(answers.back().stage, core::Stage::Final) << to_text(*answers.back().refused);
    const auto view = host->view();
    EXPECT_GE(view->tip.height.number(), 2u);
    EXPECT_NE(view->state.get(state::Path::parse("/namespaces/shop").value()), nullptr);
    ASSERT_TRUE(host->stop());
    host = start();
    ASSERT_NE(host, nullptr);
    EXPECT_NE(host->view()->state.get(state::Path::parse("/namespaces/shop").value()), nullptr);
    // Of two who create the same the second is refused, by a reason.
    const auto one = namespace_tx(*host, "twin", "1");
    const auto other = namespace_tx(*host, "twin", "2");
    EXPECT_EQ(submit(*host, one).back().stage, core::Stage::Final);
    const auto refused = submit(*host, other).back();
    ASSERT_EQ(refused.stage, core::Stage::Refused);
    EXPECT_EQ(refused.refused->code, ledger::RejectCode::AlreadyExists) << to_text(*refused.refused);
}

TEST_F(HostTest, AMachineThatWorksMinesWhatItIsGiven) {
    found(
        {{"consensus", "work"}, {"work", json::Object{{"hashRate", 20'000}, {"blockTime", "100ms"}, {"period", 16}}}});
    auto host = start();
    ASSERT_NE(host, nullptr);
    const auto answers = submit(*host, namespace_tx(*host, "shop"));
    EXPECT_EQ(answers.back().stage, core::Stage::Final);
}

TEST_F(HostTest, AFloodOfChangesShowsInStatusAndMetrics) {
    found();
    auto host = start();
    ASSERT_NE(host, nullptr);
    ledger::DraftWish wish{.now = runtime::now()};
    for (int i = 0; i < 600; ++i) wish.changes.push_back({.document = namespace_text(fmt::format("n{}", i), "flood")});
    ASSERT_EQ(submit(*host, signed_tx(*host, wish)).back().stage, core::Stage::Final);
    const auto view = host->view();
    ASSERT_EQ(view->unusual->last.size(), 1u);
    EXPECT_EQ(view->unusual->last[0].what, "more than 500 changes below /namespaces within 10 s; 0 are usual");
    EXPECT_NE(metrics_text(*view, host->store(), runtime::now()).find("rhizome_anomalies_total{kind=\"rate\"} 1\n"),
              std::string::npos);
    EXPECT_EQ(status_json(*view, host->key(), runtime::now()).find("unusual")->find("rate")->if_int64(), 1);
}

TEST_F(HostTest, WatchersSeeBlocksAndFinality) {
    found();
    auto host = start();
    ASSERT_NE(host, nullptr);
    struct Seen {
        std::uint64_t moved = 0;
        std::uint64_t final_height = 0;
    };
    test::Waited<Seen> seen;
    const auto handle = host->watch([&](const core::Notice& notice, const NodeView&) {
        const auto hold = seen.lock();
        if (std::holds_alternative<core::TipMoved>(notice)) ++seen.value().moved;
        if (const auto* final_block = std::get_if<core::FinalMoved>(&notice))
            seen.value().final_height = final_block->height.number();
        seen.notify();
    });
    (void)submit(*host, namespace_tx(*host, "shop"));
    EXPECT_TRUE(seen.wait([](const Seen& now) { return now.moved > 0 && now.final_height >= 2; }));
    ASSERT_TRUE(host->stop());
}

}  // namespace
}  // namespace rhizome::node
