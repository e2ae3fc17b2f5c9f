// SPDX-License-Identifier: Apache-2.0
#include "node/reporter.h"

#include <gtest/gtest.h>

#include "consensus/judge.h"
#include "ledger/special_kinds.h"
#include "node/founding.h"
#include "runtime/clock.h"
#include "support/temp_folder.h"
#include "support/waiting.h"

namespace rhizome::node {
namespace {

/// A cluster of one real machine, reporting to itself.
class ReporterTest : public ::testing::Test {
protected:
    ReporterTest() {
        const ledger::Rules rules;
        Inline parallel;
        const auto founded = found_cluster({.cluster = "demo",
                                            .spec = {},
                                            .node = "n1",
                                            .now = runtime::now() - seconds{10},
                                            .owner = owner,
                                            .node_keys = keys,
                                            .traits = {.arch = "amd64"}},
                                           rules, parallel)
                                 .value();
        const consensus::CurveSignatures signatures;
        const consensus::Judge judge{signatures};
        auto chain = store::Chain::create(temp.path() / "data", founded.genesis, {rules, judge}, parallel).value();
        EXPECT_TRUE(chain->add_made(founded.first, founded.first_applied));
        EXPECT_TRUE(chain->store().mark_final(hash_of(chain->tip())));
        EXPECT_TRUE(chain->close());
        host = Host::start(io, {.folder = temp.path() / "data"}, keys).value();
    }
    /// The document at a path once it is as wanted; null when it never comes to be.
    template <class Wanted>
    json::Value once(const char* path, const Wanted& wanted) {
        test::Waited<json::Value> found;
        const auto look = [&](const NodeView& view) {
            const state::Entry* entry = view.state.get(*state::Path::parse(path));
            if (entry == nullptr) return;
            json::Value document = ledger::parse_checked(entry->document());
            if (!wanted(document)) return;
            const auto hold = found.lock();
            found.value() = std::move(document);
            found.notify();
        };
        auto watching = host->watch([&](const core::Notice&, const NodeView& view) { look(view); });
        look(*host->view());
        EXPECT_TRUE(found.wait([](const json::Value& value) { return !value.is_null(); })) << path;
        watching.reset();
        stream::run_on(host->strand(), [] {});  // nobody is being told any more
        return found.copy();
    }

    test::TempFolder temp;
    crypto::SecretKey owner = *crypto::SecretKey::from_bytes(Bytes(32, 7));
    crypto::NodeKeys keys = crypto::derive(crypto::NodeSeed{crypto::sha256(as_bytes("host")).view()});
    stream::IoContext io{{.threads = 2}};
    std::unique_ptr<Host> host;
};

TEST_F(ReporterTest, TellsTheClusterWhatTheMachineIsAndThenIsSilent) {
    const ReporterOptions options{.data = temp.path(),
                                  .traits = {.arch = "amd64"},
                                  .capacity = {{"cpu", 3'000}},
                                  .listens = {{.host = "127.0.0.1", .port = 7700}},
                                  .version = "1.2.3"};
    json::Value report;
    {
        const Reporter reporter{io, *host, keys, options};
        report = once("/nodes/n1/report", [](const json::Value&) { return true; });
    }
    EXPECT_EQ(report.text_at({"status", "capacity", "cpu"}), "3");
    EXPECT_EQ(report.text_at({"status", "nodeInfo", "rhizomeVersion"}), "1.2.3");
    EXPECT_EQ(json::print(*report.find_path({"status", "links"})), R"(["127.0.0.1:7700"])");
    // The same machine has nothing to say; another version has.
    const auto view = host->view();
    ReportWish wish{.name = "n1",
                    .traits = options.traits,
                    .capacity = options.capacity,
                    .links = options.listens,
                    .version = options.version};
    const Machine machine = look_at_machine(temp.path());
    EXPECT_EQ(make_report_tx(*view, wish, machine, keys, runtime::now()).value(), std::nullopt);
    wish.version = "1.2.4";
    EXPECT_NE(make_report_tx(*view, wish, machine, keys, runtime::now()).value(), std::nullopt);
    const auto stranger = crypto::derive(crypto::NodeSeed{crypto::sha256(as_bytes("stranger")).view()});
    EXPECT_EQ(make_report_tx(*view, wish, machine, stranger, runtime::now()).error().kind, ErrorKind::Denied);
}

TEST_F(ReporterTest, AMemberThatStopsHostingSaysSoInItsNode) {
    const auto tainted = [](const json::Value& node) { return node.find_path({"spec", "taints"}) != nullptr; };
    {
        const Reporter reporter{
            io, *host, keys, {.data = temp.path(), .traits = {.arch = "amd64", .has_agent = false}}};
        const json::Value node = once("/nodes/n1", tainted);
        EXPECT_EQ(node.text_at({"metadata", "labels", "kubernetes.io/arch"}), "amd64");
        EXPECT_NE(node.find_path({"metadata", "annotations", "rhizome.dev/possession"}), nullptr) << "still a member";
        EXPECT_EQ(once("/nodes/n1/report", [](const json::Value&) { return true; })
                      .text_at({"status", "allocatable", "pods"}),
                  "0");
    }
    const Reporter reporter{io, *host, keys, {.data = temp.path(), .traits = {.arch = "amd64"}}};
    const json::Value node = once("/nodes/n1", [&](const json::Value& one) { return !tainted(one); });
    EXPECT_EQ(node.find_path({"metadata", "labels", "node-role.kubernetes.io/control-plane"}), nullptr);
}

}  // namespace
}  // namespace rhizome::node
