// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/yaml.h"
#include "ledger/proof_files.h"
#include "ledger/state_export.h"
#include "support/chain_harness.h"

namespace rhizome::cli {
namespace {

using testing::has;
using testing::Ran;
using testing::read;

/// Heights: 1 the machine, 2 ConfigMap one, 3 ConfigMap two, 4 one changed.
class StateCommand : public ::testing::Test {
protected:
    StateCommand() {
        harness.init();
        harness.grow("one", "{a: 1, list: [x, z]}");
        harness.grow("two");
        harness.grow("one", "{a: 2, list: [x], b: true}");
    }
    std::string file(const std::string& name) const { return folder / name; }

    test::TempFolder folder;
    testing::ChainHarness harness{folder.path()};
    const std::string one = "/namespaces/default/core/ConfigMap/one";
};

TEST_F(StateCommand, GetShowsADocumentNowAndThen) {
    EXPECT_EQ(harness.data_of({"state", "get", "configmap/one"}).find_path({"spec", "a"})->if_int64(), 2);
    EXPECT_EQ(harness.data_of({"state", "get", one, "--at", "3"}).find_path({"spec", "a"})->if_int64(), 1);
    const std::string text = harness.good({"state", "get", one});
    EXPECT_TRUE(has(text, "path       " + one + "\nkind       ConfigMap\ncreated    height 2, ")) << text;
    EXPECT_TRUE(has(text, "version    height 4, ")) << text;
    EXPECT_TRUE(has(text, "lock       as /\n")) << text;
    EXPECT_TRUE(has(text, "\nspec:\n  a: 2\n")) << text;
    EXPECT_TRUE(has(harness.good({"state", "get", "/"}), "lock       admin\n"));
    EXPECT_TRUE(has(harness.good({"state", "get", "/chain/history"}), "bytes   04000000"));
    EXPECT_EQ(harness.rhizome({"state", "get", "configmap/two", "--at", "2"}).code, 3);
    EXPECT_EQ(harness.rhizome({"state", "get", "configmap/one", "-n", "other"}).code, 3);
    EXPECT_EQ(harness.rhizome({"state", "get", "one"}).code, 2);
    EXPECT_EQ(harness.rhizome({"state", "get", one, "--at", "5"}).code, 3);
    EXPECT_EQ(harness.rhizome({"state", "get", one, "--at", "-1"}).code, 2);
    EXPECT_EQ(harness.rhizome({"state", "get", "//"}).code, 2);
}

TEST_F(StateCommand, ListShowsPathsLocksAndAges) {
    const std::string text = harness.good({"state", "list", "/namespaces/default"});
    EXPECT_TRUE(text.starts_with("PATH ")) << text;
    EXPECT_TRUE(has(text, one + "   ConfigMap   4        2s    as /\n")) << text;
    EXPECT_FALSE(has(text, "/chain/")) << text;
    const auto at = harness.data_of({"state", "list", "/namespaces/default/core/ConfigMap", "--at", "2"});
    ASSERT_EQ(at.find("items")->if_array()->size(), 1u);
    EXPECT_EQ(at.find("items")->if_array()->at(0).text_at({"name"}), "one");
    EXPECT_EQ(at.find("items")->if_array()->at(0).find("height")->if_int64(), 2);
    EXPECT_TRUE(has(harness.good({"state", "list", "/chain"}), "/chain/voters "));
    const Ran empty = harness.rhizome({"state", "list", "/namespaces/no"});
    EXPECT_EQ(empty.code, 0);
    EXPECT_EQ(empty.out, "");
    EXPECT_TRUE(has(empty.err, "nothing stands below /namespaces/no at height 4")) << empty.err;
    EXPECT_EQ(harness.data_of({"state", "list", "/namespaces/no"}).find("items")->if_array()->size(), 0u);
    EXPECT_EQ(harness.rhizome({"state", "list", "pods"}).code, 2);
    EXPECT_EQ(harness.rhizome({"state", "list", "/a//b"}).code, 2);
}

TEST_F(StateCommand, DiffNamesFields) {
    EXPECT_EQ(harness.good({"state", "diff", "3", "latest"}), "updated   " + one +
                                                                  "\n"
                                                                  "            spec.a: 1 -> 2\n"
                                                                  "            spec.list[1]: \"z\" -> (nothing)\n"
                                                                  "            spec.b: (nothing) -> true\n");
    const std::string back = harness.good({"state", "diff", "4", "1"});
    EXPECT_EQ(back, "deleted   " + one + "\ndeleted   /namespaces/default/core/ConfigMap/two\n");
    const auto data = harness.data_of({"state", "diff", "1", "4"});
    ASSERT_EQ(data.find("changes")->if_array()->size(), 2u);
    EXPECT_EQ(data.find("changes")->if_array()->at(0).text_at({"verb"}), "created");
    EXPECT_TRUE(has(harness.good({"state", "diff", "3", "4", "--records"}), "/chain/history"));
    const Ran same = harness.rhizome({"state", "diff", "2", "2"});
    EXPECT_EQ(same.code, 0);
    EXPECT_TRUE(has(same.err, "no document differs")) << same.err;
    EXPECT_EQ(harness.rhizome({"state", "diff", "2", "7"}).code, 3);
    EXPECT_EQ(harness.rhizome({"state", "diff", "2", "x"}).code, 2);
}

TEST_F(StateCommand, ProofsOfPresenceAndAbsenceAreCheckedWithoutTheChain) {
    harness.good({"state", "proof", one, "--at", "3", "--out", file("p.json")});
    harness.good({"state", "proof", "/namespaces/no", "--out", file("absent.json")});
    harness.good({"state", "proof", "/chain/id", "--out", file("record.json")});
    harness.good({"chain", "anchor", "--at", "3", "--out", file("a.json")});
    harness.data = file("nothing");
    const std::string text = harness.good({"state", "proof", "--check", file("p.json"), "--anchor", file("a.json")});
    EXPECT_TRUE(has(text, "OK: this stood there after the block\n")) << text;
    EXPECT_TRUE(has(text, "(the one you trust)")) << text;
    EXPECT_TRUE(has(text, "\"a\":1")) << text;
    EXPECT_TRUE(has(harness.good({"state", "proof", "--check", file("absent.json")}), "OK: nothing stood there"));
    EXPECT_EQ(harness.data_of({"state", "proof", "--check", file("record.json")}).find("present")->if_boolean(), true);
    EXPECT_EQ(harness.rhizome({"state", "proof", "--check", file("absent.json"), "--anchor", file("a.json")}).code, 4);
    auto forged = ledger::state_proof_from_json(read(file("p.json"))).value();
    forged.content->document[20] ^= 1;
    const Ran bad =
        harness.rhizome({"state", "proof", "--check", harness.write("f", json::print(ledger::to_json(forged)))});
    EXPECT_EQ(bad.code, 1);
    EXPECT_TRUE(has(bad.err, "is not what its proof is for")) << bad.err;
    EXPECT_EQ(harness.rhizome({"state", "proof"}).code, 2);
    EXPECT_EQ(harness.rhizome({"state", "proof", "pod/x"}).code, 2);
}

TEST_F(StateCommand, TheExportedStateServesTheTransactionTools) {
    harness.good({"state", "export", "--out", file("s.json")});
    const auto state = ledger::import_state(read(file("s.json")));
    ASSERT_TRUE(state) << state.error().message;
    EXPECT_EQ(state->height, ledger::Height{4});
    const auto then = ledger::import_state(harness.good({"state", "export", "--at", "0"}));
    ASSERT_TRUE(then) << then.error().message;
    EXPECT_EQ(then->height, ledger::Height{0});
    const auto data = harness.data;
    harness.data = file("nothing");
    const auto document = harness.document("three", "ConfigMap", "default");
    harness.good({"tx", "new", document, "--state", file("s.json"), "--out", file("t.json")});
    harness.good({"tx", "sign", file("t.json"), "--state", file("s.json"), "--key", "admin", "--out", file("t.json")});
    EXPECT_TRUE(has(harness.good({"tx", "check", file("t.json"), "--state", file("s.json")}), "OK: good in the block"));
    const Ran neither = harness.rhizome({"tx", "check", file("t.json")});
    EXPECT_EQ(neither.code, 3);
    EXPECT_TRUE(has(neither.err, "--state takes an exported state")) << neither.err;
    harness.data = data;
    harness.good({"tx", "submit", file("t.json"), "--offline"});
}

}  // namespace
}  // namespace rhizome::cli
