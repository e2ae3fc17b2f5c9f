// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <mutex>
#include <gtest/gtest.h>

#include "cli/commands/node/change.h"
#include "cli/commands/tx/shared.h"
#include "ledger/signing.h"
#include "node/keystore.h"
#include "runtime/clock.h"
#include "support/cluster_processes.h"

namespace rhizome::cli {
namespace {

/// A cluster of three under load.
class LoadKill : public test::ClusterProcesses {
protected:
    struct Written {
        std::string node;
        std::string txid;
        runtime::Instant included;
    };

    /// A signed order for a new Namespace, drafted by that node.
    Result<ledger::Tx> draft(node::RpcClient& client, const node::Keystore::Loaded& owner, const std::string& name) {
        node::WishForm form;
        form.changes.push_back(
            {.document = R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")" + name + "\"}}"});
        TRY(auto drafted, tx::draft_at(client, form, runtime::now()));
        const ledger::LedgerState& state = drafted.world.state;
        TRY(const auto checked, ledger::check_tx(drafted.tx));
        const ledger::Signer signer{owner.secret, owner.info.public_key};
        const auto uses = ledger::uses_of_inputs(*checked, state);
        for (std::size_t i = 0; i < uses.size(); ++i)
            drafted.tx.inputs[i].unlocking =
                ledger::advance(*checked, i, uses[i], drafted.world.at.chain, state, &signer).unlocking;
        return std::move(drafted.tx);
    }
    /// Writes at one node, one order after the other, until it is told to stop or its node is gone.
    void write_at(const std::string& node) {
        const node::Keystore keys{temp_.path() / ".local" / "share" / "rhizome" / "keys"};
        const auto owner = keys.load("admin", std::nullopt);
        ASSERT_TRUE(owner) << owner.error().message;
        auto client = node::RpcClient::connect(data(node));
        for (std::size_t number = 0; client && !stop_; ++number) {
            const auto order = draft(**client, *owner, node + "-" + std::to_string(number));
            const auto answer =
                order ? submit_tx(**client, *order, "included") : Result<json::Value>{Fail{order.error()}};
            if (!answer && answer.error().kind == ErrorKind::Unavailable) return;
            ASSERT_TRUE(answer) << node << ": " << answer.error().message;
            const std::lock_guard hold{mutex_};
            written_.push_back({node, std::string{answer->text_at({"txid"})}, runtime::instant_now()});
        }
    }
    std::size_t written() {
        const std::lock_guard hold{mutex_};
        return written_.size();
    }

    std::mutex mutex_;
    std::vector<Written> written_;
    std::atomic<bool> stop_ = false;
};

TEST_F(LoadKill, WhenTheProposerIsKilledTheOthersGoOnAndNothingThatWasAcceptedIsLost) {
    found("n1");
    join("n2", "n1");
    join("n3", "n1");
    ASSERT_TRUE(eventually([&] { return number(status("n1"), {"voters"}) == 3; }));
    std::vector<std::thread> writers;
    for (const auto* name : {"n1", "n2", "n3"}) writers.emplace_back([this, name] { write_at(name); });
    ASSERT_TRUE(eventually([&] { return written() >= 60; }));

    // Whoever has sealed the newest block, at this moment.
    auto client = node::RpcClient::connect(data("n1"));
    ASSERT_TRUE(client);
    const auto newest = (*client)->get("/rhizome/v1/headers/latest");
    ASSERT_TRUE(newest) << newest.error().message;
    const std::string victim{newest->text_at({"sealedBy"})};
    const auto killed = runtime::instant_now();
    kill_node(victim, SIGKILL);
    const std::size_t at_kill = written();
    EXPECT_TRUE(eventually([&] { return written() >= at_kill + 60; }));
    stop_ = true;
    for (std::thread& writer : writers) writer.join();

    std::erase_if(written_, [&](const Written& one) { return one.node == victim; });
    microseconds gap{0};
    microseconds around{0};
    for (std::size_t i = 1; i < written_.size(); ++i) {
        const auto between = std::chrono::duration_cast<microseconds>(written_[i].included - written_[i - 1].included);
        gap = std::max(gap, between);
        if (written_[i].included > killed && written_[i - 1].included <= killed + milliseconds{500})
            around = std::max(around, between);
    }
    // A figure to look at: how long a busy machine takes is no test; the simulator bounds it in its own time.
    std::printf("longest gap between included writes at the survivors: %lld ms; around the kill: %lld ms\n",
                static_cast<long long>(gap.count() / 1'000), static_cast<long long>(around.count() / 1'000));

    // What the survivors have accepted is final in the end, on both.
    for (const auto* name : {"n1", "n2", "n3"}) {
        if (name == victim) continue;
        auto survivor = node::RpcClient::connect(data(name));
        ASSERT_TRUE(survivor);
        for (const Written& one : written_)
            EXPECT_TRUE(eventually([&] {
                const auto fate = (*survivor)->get("/rhizome/v1/txs/" + one.txid);
                return fate && (fate->text_at({"status"}) == "final" || fate->text_at({"status"}) == "refused");
            })) << one.txid;
    }
}

}  // namespace
}  // namespace rhizome::cli
