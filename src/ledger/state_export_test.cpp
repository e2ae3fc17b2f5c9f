// SPDX-License-Identifier: Apache-2.0
#include "ledger/state_export.h"

#include <gtest/gtest.h>

#include "support/bad_forms.h"
#include "support/golden.h"
#include "support/sample_state.h"

namespace rhizome::ledger {
namespace {

using test::exported;
using test::TestChain;
using test::with;

TEST(StateExport, TheSampleClusterIsAsReviewed) {
    TestChain chain;
    test::fill_sample(chain);
    test::expect_golden("ledger/state.json", export_state(exported(chain)));
}

TEST(StateExport, AStateSurvives) {
    TestChain chain;
    for (int step = 0; step < 3; ++step) {
        const ExportedState before = exported(chain);
        const auto after = import_state(export_state(before));
        ASSERT_TRUE(after) << after.error().message;
        EXPECT_EQ(after->view.root(), before.view.root());
        EXPECT_EQ(after->view.size(), before.view.size());
        EXPECT_EQ(after->chain, before.chain);
        EXPECT_EQ(after->height, before.height);
        EXPECT_EQ(after->time, before.time);
        EXPECT_EQ(after->tip, before.tip);
        if (step == 0) test::fill_sample(chain);
        if (step == 1)
            chain.mine_all({chain.create(
                "/namespaces/web", "alice",
                "{ \"apiVersion\": \"v1\", \"kind\":\"ConfigMap\",\n"
                "\"metadata\":{\"namespace\":\"web\",\"name\":\"odd\"}, \"data\": {\"é\": \"\\u0041\"}} ")});
    }
}

TEST(StateExport, WhatWasDecidedIsDecidedTheSameOnTheCopy) {
    TestChain chain;
    test::fill_sample(chain);
    const auto copy = import_state(export_state(exported(chain)));
    ASSERT_TRUE(copy);
    const LedgerState state{copy->view};
    const auto tx = chain.update("/namespaces/web/core/Pod/db", "bob",
                                 test::document("v1", "Pod", "web", "db", "second"), test::lock_of("bob"));
    SignatureCache cache;
    const Rules rules;
    const NextBlock next = chain.next();
    const auto effects =
        decide(tx, WorkingState{state.view(), state.index()}, place_of(state, next), rules, cache, 20'000);
    ASSERT_TRUE(effects) << to_text(effects.error());
    EXPECT_EQ(effects->consumed.size(), 1u);
}

TEST(StateExport, AChangedFileIsNotTaken) {
    TestChain chain;
    test::fill_sample(chain);
    const std::string good = export_state(exported(chain));
    ASSERT_TRUE(import_state(good));
    const std::string zeros(64, '0');
    const test::BadForm forms[] = {
        {"", "line 1"},
        {"{}", "kind: is missing"},
        {with(good, "rhizome-state", "rhizome-stats"), "kind: this is no exported state"},
        {with(good, "\"version\": 1", "\"version\": 2"), "version: 2", ErrorKind::Unsupported},
        {with(good, "\"height\": 2", "\"height\": 1"), "entries["},
        {with(good, "\"height\": 2", "\"height\": 18446744073709551615"), "height: no chain"},
        {with(good, "\"height\": 2", "\"hight\": 2"), "height: is missing"},
        {with(good, "first", "other"), "the state's root is", ErrorKind::Corrupt},
        {with(good, exported(chain).view.root().hex(), zeros), "the state's root is", ErrorKind::Corrupt},
        {with(good, "\"chainId\": \"" + chain.chain_id().hex(), "\"chainId\": \"" + zeros),
         "chainId:", ErrorKind::Corrupt},
        {with(good, "\"path\":\"/namespaces/web\"", "\"path\":\"/namespaces/wab\""),
         "entries[9].document: BadEncoding: the document does not belong to this path"},
        {with(good, "\"path\":\"/chain/clock\"", "\"path\":\"/chain/\""), "entries[0].path"},
        {with(good, "\"path\":\"/chain/clock\"", "\"path\":\"/chain/zebra\""), "entries[1]: its path"},
        {with(good, "\"path\":\"/chain/clock\",\"bytes\":\"", "\"path\":\"/chain/clock\",\"bytes\":\"00"),
         "entries[0].bytes: no record of /chain/clock"},
        {with(good, "\"script\":\"OP_DUP", "\"script\":\"OP_DUPE"), "entries["},
        {with(good, "\"entries\"", "\"entrys\""), "entries: is missing"},
    };
    test::expect_refused(forms, [](const std::string& text) { return import_state(text); });
}

TEST(StateExport, RecordsThatTheLedgerReliesOnAreChecked) {
    TestChain chain;
    const auto record = [&](std::string_view path, std::string_view hex) {
        return "{\"path\":\"" + std::string{path} + "\",\"bytes\":\"" + std::string{hex} + "\"}";
    };
    const std::string frame = R"({"kind":"rhizome-state","version":1,"chainId":")" + std::string(64, '0') +
                              R"(","height":1,"time":"2027-01-01T00:00:00.000Z","tip":")" + std::string(64, '0') +
                              R"(","root":")" + std::string(64, '0') + R"(","entries":[)";
    const std::string key = "02" + std::string(64, 'a');
    const std::pair<std::string, std::string> bad[] = {
        {"/chain/id", "00"},
        {"/chain/parameters", "00"},
        {"/chain/parameters", "7b2261223a317d"},
        {"/chain/clock", ""},
        {"/chain/clock", "ffffffffffffff7f"},
        {"/chain/history", "01"},
        {"/chain/leases/x", "0000000000000000"},
        {"/chain/leases/" + key, "00"},
        {"/chain/members/" + key, "00"},
        {"/chain/nodes/n1", "02"},
        {"/chain/voters", "02"},
        {"/chain/pardons/" + key, "00"},
        {"/chain/pardons/" + key, "ffffffffffffff7f"},
        {"/chain/definitions/a/B", ""},
        {"/chain/leases", "0000000000000000"},
        {"/chain/replay", ""},
        {"/chain/replay/zz", ""},
        {"/chain/replay/00000001/" + std::string(64, 'g'), ""},
        {"/chain/replay/00000001-" + std::string(64, 'a'), ""},
        {"/chain/replay/00000001/" + std::string(64, 'a'), "00"},
    };
    for (const auto& [path, hex] : bad) {
        const auto read = import_state(frame + record(path, hex) + "]}");
        ASSERT_FALSE(read);
        EXPECT_EQ(read.error().message, "entries[0].bytes: no record of " + path);
    }
    EXPECT_EQ(import_state(frame + record("/chain/seed", "00") + "]}").error().kind, ErrorKind::Corrupt)
        << "consensus' own records are taken as they are; here only the root is wrong";
}

}  // namespace
}  // namespace rhizome::ledger
