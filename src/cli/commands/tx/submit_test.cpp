// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ledger/json_form.h"
#include "node/identity.h"
#include "support/chain_harness.h"

namespace rhizome::cli {
namespace {

using testing::has;
using testing::Ran;
using testing::read;

class SubmitCommand : public ::testing::Test {
protected:
    SubmitCommand() { harness.init(); }
    std::int64_t height() { return *harness.data_of({"chain", "show"}).find("height")->if_int64(); }

    test::TempFolder folder;
    testing::ChainHarness harness{folder.path()};
};

TEST_F(SubmitCommand, SeveralFilesGoIntoOneBlock) {
    const auto a = harness.signed_tx("a.json", {harness.document("a", "ConfigMap", "default")});
    const auto b = harness.signed_tx("b.json", {harness.document("b", "ConfigMap", "default")});
    const std::string text = harness.good({"tx", "submit", a, b, "--offline"});
    EXPECT_TRUE(text.starts_with("FILE ")) << text;
    EXPECT_TRUE(has(text, "b.json   accepted   2 ")) << text;
    EXPECT_EQ(height(), 2);
    EXPECT_EQ(harness.data_of({"chain", "block", "2"}).find("transactions")->if_array()->size(), 2u);
    EXPECT_EQ(harness.rhizome({"chain", "verify"}).code, 0);
    EXPECT_EQ(harness.data_of({"chain", "show"}).find("final")->if_int64(), 2);
}

TEST_F(SubmitCommand, WhatNeedsAnotherGoesInWhateverTheOrder) {
    // The second needs a namespace that the first makes: it is written against a copy in which that exists.
    const auto name_space = harness.signed_tx(
        "ns.json", {harness.write("ns.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: web}\n")});
    const auto data = harness.data;
    std::filesystem::copy(data, folder / "copy", std::filesystem::copy_options::recursive);
    harness.data = folder / "copy";
    harness.good({"tx", "submit", name_space, "--offline"});
    const auto pod = harness.signed_tx("pod.json", {harness.document("p", "Pod", "web")});
    harness.data = data;
    const auto done = harness.data_of({"tx", "submit", pod, name_space, "--offline"});
    for (const auto& row : *done.find("transactions")->if_array())
        EXPECT_EQ(row.find("ok")->if_boolean(), true) << json::print(row);
    EXPECT_EQ(harness.rhizome({"chain", "verify"}).code, 0);
}

TEST_F(SubmitCommand, RefusalsAreToldWithWhatToTry) {
    const auto good = harness.signed_tx("good.json", {harness.document("g", "ConfigMap", "default")});
    auto tx = ledger::tx_from_json(read(good)).value();
    tx.inputs[0].unlocking.clear();
    const auto naked = harness.write("naked.json", json::print(ledger::to_json(tx)));
    const Ran denied = harness.rhizome({"tx", "submit", naked, "--offline"});
    EXPECT_EQ(denied.code, 4);
    EXPECT_TRUE(has(denied.err, "naked.json: NotAuthorised: input 0")) << denied.err;
    EXPECT_TRUE(has(denied.err, "hint: 'rhizome tx check " + naked + " --trace' shows why")) << denied.err;
    EXPECT_EQ(height(), 1) << "no block for nothing";

    const auto other = harness.signed_tx("other.json", {harness.document("o", "ConfigMap", "default")});
    const auto same = harness.signed_tx("same.json", {harness.document("o", "ConfigMap", "default", "{x: 1}")});
    const Ran mixed = harness.rhizome({"tx", "submit", good, other, same, "--offline", "-o", "json"});
    EXPECT_EQ(mixed.code, 5) << mixed.err;
    EXPECT_TRUE(has(mixed.err, "AlreadyExists")) << mixed.err;
    const auto data = json::parse(mixed.out).value();
    const auto& rows = *data.find("transactions")->if_array();
    EXPECT_EQ(rows.at(0).find("ok")->if_boolean(), true);
    EXPECT_EQ(rows.at(1).find("ok")->if_boolean(), true);
    EXPECT_EQ(rows.at(2).text_at({"code"}), "AlreadyExists");
    EXPECT_EQ(height(), 2) << "the good ones are in";
    EXPECT_EQ(harness.rhizome({"tx", "submit", good, "--offline"}).code, 5) << "a second time";

    tx.outputs.push_back(tx.outputs[0]);
    const auto twice = harness.write("twice.json", json::print(ledger::to_json(tx)));
    const Ran malformed = harness.rhizome({"tx", "submit", twice, "--offline"});
    EXPECT_EQ(malformed.code, 1);
    EXPECT_TRUE(has(malformed.err, "DuplicateOutput")) << malformed.err;
}

TEST_F(SubmitCommand, WordsThatDoNotFitAreRefused) {
    const auto good = harness.signed_tx("good.json", {harness.document("g", "ConfigMap", "default")});
    const Ran online = harness.rhizome({"tx", "submit", good});
    EXPECT_EQ(online.code, 3);
    EXPECT_TRUE(has(online.err, "hint: --offline puts it into a block")) << online.err;
    EXPECT_EQ(harness.rhizome({"tx", "submit", good, good, "--offline"}).code, 2);
    EXPECT_EQ(harness.rhizome({"tx", "submit", "--offline"}).code, 2);
    EXPECT_EQ(harness.rhizome({"tx", "submit", "/nowhere", "--offline"}).code, 3);
    EXPECT_EQ(height(), 1);
}

TEST_F(SubmitCommand, OnlyMembersSeal) {
    const auto good = harness.signed_tx("good.json", {harness.document("g", "ConfigMap", "default")});
    harness.good({"chain", "export", "--out", folder / "all"});
    harness.data = folder / "copy";
    harness.good({"chain", "import", folder / "all"});
    const Ran nobody = harness.rhizome({"tx", "submit", good, "--offline"});
    EXPECT_EQ(nobody.code, 4);
    EXPECT_TRUE(has(nobody.err, "this machine has no keys in")) << nobody.err;
    ASSERT_TRUE(node::make_identity(harness.data));
    const Ran stranger = harness.rhizome({"tx", "submit", good, "--offline"});
    EXPECT_EQ(stranger.code, 4);
    EXPECT_TRUE(has(stranger.err, "this machine may not seal blocks of this chain: NotYourTurn")) << stranger.err;
    EXPECT_EQ(height(), 1);
}

TEST_F(SubmitCommand, AChainThatSleptForMonthsGoesOn) {
    harness.now = harness.now + hours{24 * 90};
    harness.grow("late");
    EXPECT_EQ(height(), 2);
    harness.now = testing::kNow;  // the clock went back: time on the chain does not
    harness.grow("early");
    EXPECT_EQ(height(), 3);
    EXPECT_EQ(harness.rhizome({"chain", "verify"}).code, 0);
}

}  // namespace
}  // namespace rhizome::cli
