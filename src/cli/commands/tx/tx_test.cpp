// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/yaml.h"
#include "cli/commands/key/testing.h"
#include "ledger/codec.h"
#include "ledger/json_form.h"
#include "script/script.h"
#include "support/sample_state.h"
#include "support/temp_folder.h"
#include "support/vectors.h"

namespace rhizome::cli {
namespace {

using testing::has;
using testing::Ran;
using testing::read;

/// People with keys that are not encrypted, and the state of tests/vectors/ledger/state.json.
class TxCommand : public ::testing::Test {
protected:
    TxCommand() : state(test::source_root() / "tests/vectors/ledger/state.json") {
        for (const auto* person : {"creator", "alice", "bob", "carol", "mallory"})
            ensure(harness.store.add(person, test::key_of(person), {}, testing::kNow).has_value(), "a key can be kept");
    }

    Ran tx(std::vector<std::string> words) {
        words.insert(words.begin(), "tx");
        words.insert(words.begin() + 2, {"--keys", harness.store.folder().native()});
        if (words[1] != "decode") words.insert(words.begin() + 2, {"--state", state});
        return harness.run(command_tree(), words);
    }
    std::string write(std::string_view name, std::string_view text) const { return harness.write(name, text); }
    std::string out() const { return harness.folder / "tx.json"; }

    /// A draft in `out()`; what stood on stderr.
    std::string draft(std::vector<std::string> words) {
        words.insert(words.begin(), "new");
        words.insert(words.end(), {"--out", out()});
        const Ran ran = tx(words);
        EXPECT_EQ(ran.code, 0) << ran.err;
        EXPECT_EQ(ran.out, "");
        return ran.err;
    }
    Ran sign(const std::string& person) { return tx({"sign", out(), "--key", person, "--out", out()}); }
    Ran check(std::vector<std::string> more = {}) {
        more.insert(more.begin(), {"check", out()});
        return tx(more);
    }
    std::string pod(std::string_view name = "new", std::string_view name_space = "web") const {
        return write("pod.yaml", fmt::format("apiVersion: v1\nkind: Pod\nmetadata:\n  namespace: {}\n  name: {}\n",
                                             name_space, name));
    }

    test::TempFolder folder;
    testing::KeyHarness harness{folder.path()};
    std::string state;
};

TEST_F(TxCommand, ACreationIsWrittenSignedAndGood) {
    EXPECT_EQ(draft({pod(), "--lock", "p2pkh carol"}),
              "input 0 (authority of /namespaces/web): needs the signature of alice\n");
    const Ran early = check();
    EXPECT_EQ(early.code, 4);
    EXPECT_TRUE(has(early.err, "NotAuthorised: input 0")) << early.err;
    const Ran ran = sign("alice");
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.err, "input 0 (authority of /namespaces/web): complete (signed with alice)\n");
    const Ran good = check();
    EXPECT_EQ(good.code, 0) << good.err;
    EXPECT_EQ(good.out,
              "OK: good in the block of height 3 at 2027-01-15T08:00:03.000Z, 1 signature check\n"
              "  creates   /namespaces/web/core/Pod/new\n"
              "  by        /namespaces/web\n");
    const auto data = json::parse(check({"-o", "json"}).out);
    ASSERT_TRUE(data);
    EXPECT_EQ(data->find("creates")->if_array()->at(0), json::Value{"/namespaces/web/core/Pod/new"});
    EXPECT_EQ(data->find("inputs")->if_array()->at(0).text_at({"role"}), "authority");
    const auto made = ledger::tx_from_json(read(out())).value();
    EXPECT_EQ(made.outputs[0].value, R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"web","name":"new"}})");
    EXPECT_EQ(made.outputs[0].locking, test::lock_of("carol"));
    EXPECT_FALSE(has(read(out()), to_hex(test::key_of("alice").reveal()))) << "no secret leaves the key folder";
    EXPECT_EQ(sign("alice").err, "input 0 (authority of /namespaces/web): complete (nothing to add for alice)\n");
}

TEST_F(TxCommand, UpdatesKeepTheLockAndConsumeTheVersion) {
    draft({pod("db")});
    sign("bob");
    EXPECT_EQ(check().out,
              "OK: good in the block of height 3 at 2027-01-15T08:00:03.000Z, 1 signature check\n"
              "  updates   /namespaces/web/core/Pod/db\n"
              "  consumes  /namespaces/web/core/Pod/db\n");
    EXPECT_EQ(ledger::tx_from_json(read(out()))->outputs[0].locking, test::lock_of("bob"));
    EXPECT_EQ(draft({pod("db"), "--by", "/", "--lock", "none"}),
              "input 0 (version of /namespaces/web/core/Pod/db): nothing to sign\n"
              "input 1 (authority of /): needs the signature of creator\n");
    EXPECT_TRUE(ledger::tx_from_json(read(out()))->outputs[0].locking.empty());
    sign("creator");
    EXPECT_EQ(check().code, 0);
    EXPECT_EQ(tx({"sign", out(), "--key", "bob"}).code, 4) << "the version needs no signature";
    const Ran forced = tx({"sign", out(), "--key", "bob", "--input", "0", "--out", out()});
    EXPECT_EQ(forced.code, 0) << forced.err;
    EXPECT_EQ(check().code, 1) << "now nothing needs the creator's authority";
    EXPECT_EQ(tx({"sign", out(), "--key", "bob", "--input", "2"}).code, 2);
}

TEST_F(TxCommand, AStrangersSignatureIsRefusedWithTheTrace) {
    draft({pod()});
    const Ran stranger = sign("mallory");
    EXPECT_EQ(stranger.code, 4);
    EXPECT_EQ(stranger.err,
              "error: the key mallory opens no input of this transaction\n"
              "hint: input 0 (authority of /namespaces/web): needs the signature of alice\n");
    // By hand: a good signature, but mallory's.
    auto forged = ledger::tx_from_json(read(out())).value();
    sign("alice");
    const auto honest = ledger::tx_from_json(read(out())).value();
    script::ScriptBuilder unlocking;
    unlocking.data(ByteView{honest.inputs[0].unlocking}.subspan(1, honest.inputs[0].unlocking[0]));
    unlocking.data(test::key_of("mallory").public_key().bytes());
    forged.inputs[0].unlocking = std::move(unlocking).take();
    const auto file = write("forged.json", json::print(ledger::to_json(forged)));
    const Ran plain = tx({"check", file});
    EXPECT_EQ(plain.code, 4);
    EXPECT_EQ(plain.out, "NotAuthorised\n");
    EXPECT_TRUE(has(plain.err, "script: EQUALVERIFY at byte 23")) << plain.err;
    EXPECT_TRUE(has(plain.err, "hint: --trace shows")) << plain.err;
    const Ran traced = tx({"check", file, "--trace"});
    EXPECT_EQ(traced.code, 4);
    EXPECT_TRUE(has(traced.out, "OP_EQUALVERIFY")) << traced.out;
    EXPECT_TRUE(has(traced.out, "<hash of mallory> <hash of alice>")) << traced.out;
    EXPECT_FALSE(has(traced.err, "--trace")) << traced.err;
    const auto data = json::parse(tx({"check", file, "--trace", "-o", "json"}).out);
    ASSERT_TRUE(data);
    EXPECT_EQ(data->text_at({"code"}), "NotAuthorised");
    EXPECT_EQ(data->text_at({"scriptError"}), "EQUALVERIFY");
    EXPECT_EQ(data->find_path({"trace", "steps"})->if_array()->size(), 6u);
}

TEST_F(TxCommand, AMultisigIsSignedByTwoInAnyOrder) {
    for (const auto& [first, second] :
         {std::pair{"carol", "alice"}, std::pair{"alice", "carol"}, std::pair{"alice", "bob"}}) {
        EXPECT_EQ(draft({pod("p", "team")}),
                  "input 0 (authority of /namespaces/team): needs 2 more of alice, bob, carol\n");
        const Ran one = sign(first);
        EXPECT_TRUE(has(one.err, "needs 1 more of ")) << one.err;
        EXPECT_TRUE(has(one.err, fmt::format("(signed with {})", first))) << one.err;
        EXPECT_TRUE(has(sign(first).err, fmt::format("({} has signed already)", first)));
        EXPECT_EQ(check().code, 4);
        EXPECT_TRUE(has(sign(second).err, "complete")) << second;
        EXPECT_EQ(check().code, 0) << first << second;
    }
}

TEST_F(TxCommand, WhatIsStaleOrLateIsSaid) {
    draft({pod("db")});
    sign("bob");
    test::TestChain later;
    test::fill_sample(later);
    later.mine_all({later.update("/namespaces/web/core/Pod/db", "bob",
                                 test::document("v1", "Pod", "web", "db", "second"), test::lock_of("bob"))});
    const std::string before = state;
    state = write("later.json", ledger::export_state(test::exported(later)));
    Ran ran = check();
    EXPECT_EQ(ran.code, 5);
    EXPECT_EQ(ran.out, "StaleInput\n");
    state = before;

    draft({pod(), "--expires", "1h"});
    sign("alice");
    EXPECT_EQ(check({"--at", "59m"}).code, 0);
    ran = check({"--at", "2h"});
    EXPECT_EQ(ran.code, 1);
    EXPECT_EQ(ran.out, "Expired\n");
    EXPECT_TRUE(has(ran.err, "it expired at 2027-01-15T09:00:02Z")) << ran.err;
    EXPECT_EQ(check({"--at", "2027-02-01"}).out, "Expired\n");
    EXPECT_EQ(check({"--at", "2026-02-01"}).code, 2);
    EXPECT_EQ(check({"--at", "soon"}).code, 2);

    draft({pod(), "--lock-time", "10"});
    sign("alice");
    EXPECT_EQ(check().out, "NonFinal\n");
    EXPECT_EQ(check().code, 1);
    draft({pod(), "--expires", "never"});
    sign("alice");
    EXPECT_EQ(check().out, "Expired\n") << "it consumes nothing, so it has to expire";
    draft({pod("db"), "--sequence", "1d"});
    sign("bob");
    EXPECT_EQ(check().out, "NonFinal\n");
    EXPECT_EQ(check({"--at", "25h"}).code, 0);
}

TEST_F(TxCommand, DeletesByKindAndNameOrByPath) {
    for (const auto& words : std::vector<std::vector<std::string>>{{"--delete", "pod/db", "-n", "web"},
                                                                   {"-d", "Pod/db", "-n", "web"},
                                                                   {"-d", "/namespaces/web/core/Pod/db"}}) {
        draft(words);
        sign("bob");
        EXPECT_EQ(check().out,
                  "OK: good in the block of height 3 at 2027-01-15T08:00:03.000Z, 1 signature check\n"
                  "  deletes   /namespaces/web/core/Pod/db, and all below it\n"
                  "  consumes  /namespaces/web/core/Pod/db\n");
    }
    draft({"-d", "namespace/web", "-d", "namespace/team", "--by", "/"});
    sign("creator");
    EXPECT_TRUE(has(check().out, "deletes   /namespaces/web")) << check().out;
    EXPECT_EQ(tx({"new", "-d", "pod/db"}).code, 3) << "in another namespace";
    EXPECT_EQ(tx({"new", "-d", "pod.apps/db", "-n", "web"}).code, 3);
    EXPECT_EQ(tx({"new", "-d", "/namespaces/no"}).code, 3);
    EXPECT_EQ(tx({"new", "-d", "namespaces/"}).code, 2);
    EXPECT_EQ(tx({"new", "-d", "//"}).code, 2);
    EXPECT_EQ(tx({"new"}).code, 2);
}

TEST_F(TxCommand, SeveralDocumentsMakeSeveralOutputs) {
    const auto file =
        write("two.yaml",
              "apiVersion: v1\nkind: Namespace\nmetadata: {name: fresh}\n---\n"
              "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: fresh}\ndata: {a: \"1\"}\n");
    const auto more =
        write("three.json", R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"fresh","name":"x"}})");
    draft({file, more});
    sign("creator");
    const Ran ran = check();
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_TRUE(has(ran.out,
                    "  creates   /namespaces/fresh\n"
                    "  creates   /namespaces/fresh/core/ConfigMap/c\n"
                    "  creates   /namespaces/fresh/core/Pod/x\n"
                    "  by        /\n"))
        << ran.out;
    harness.in.str(read(more));
    EXPECT_EQ(tx({"new", "-"}).code, 3) << "there is no such namespace";
}

TEST_F(TxCommand, TransactionsGoThroughPipes) {
    harness.in.str(read(pod()));
    const Ran drafted = tx({"new", "-"});
    ASSERT_EQ(drafted.code, 0) << drafted.err;
    harness.in.clear();
    harness.in.str(drafted.out);
    const Ran signed_now = tx({"sign", "-", "--key", "alice"});
    ASSERT_EQ(signed_now.code, 0) << signed_now.err;
    harness.in.clear();
    harness.in.str(signed_now.out);
    EXPECT_EQ(tx({"check", "-"}).code, 0);
}

TEST_F(TxCommand, AnEncryptedKeyAsksForItsPassphrase) {
    ensure(harness.store
               .add("safe", test::key_of("alice"), as_bytes(testing::kPassphrase), testing::kNow, crypto::kKdfCostMin)
               .has_value(),
           "a key can be kept");
    draft({pod()});
    harness.answers.emplace_back(testing::kPassphrase);
    EXPECT_EQ(sign("safe").code, 0);
    EXPECT_EQ(harness.prompts.size(), 1u);
    EXPECT_EQ(check().code, 0);
    draft({pod("p", "team"), "--by", "/"});
    EXPECT_EQ(sign("safe").code, 4);
    EXPECT_EQ(harness.prompts.size(), 1u) << "a key of no use is not asked for";
    EXPECT_EQ(sign("nobody").code, 3);
}

TEST_F(TxCommand, DecodesBytesDigitsAndJson) {
    draft({pod(), "--lock", "p2pkh carol"});
    sign("alice");
    const Ran table = tx({"decode", out()});
    EXPECT_EQ(table.code, 0) << table.err;
    const auto made = ledger::tx_from_json(read(out())).value();
    EXPECT_TRUE(has(table.out, "txid       " + ledger::id_of(made).hex())) << table.out;
    EXPECT_TRUE(has(table.out, "wire id    " + ledger::wire_id_of(made).hex())) << table.out;
    EXPECT_TRUE(has(table.out, "expires    2027-01-22T08:00:02Z")) << table.out;
    EXPECT_TRUE(has(table.out, "write    Pod web/new")) << table.out;
    EXPECT_TRUE(has(table.out, "carol")) << table.out;
    const Ran hex = tx({"decode", out(), "--hex"});
    EXPECT_EQ(hex.out, to_hex(ledger::encode(made)) + "\n");
    const std::string digits = hex.out.substr(0, hex.out.size() - 1);
    const auto raw = ledger::encode(made);
    for (const std::string& given : {digits, write("hex", hex.out), write("raw", as_text(raw))}) {
        const Ran ran = tx({"decode", given, "-o", "json"});
        ASSERT_EQ(ran.code, 0) << ran.err;
        const auto again = ledger::tx_from_json(ran.out);
        ASSERT_TRUE(again) << again.error().message;
        EXPECT_EQ(*again, made);
        EXPECT_EQ(json::parse(ran.out)->find_path({"about", "outputs"})->if_array()->at(0).text_at({"path"}),
                  "/namespaces/web/core/Pod/new");
    }
    const auto yaml = yaml::parse(tx({"decode", out(), "-o", "yaml"}).out);
    ASSERT_TRUE(yaml);
    EXPECT_EQ(yaml->text_at({"txid"}), ledger::id_of(made).hex());
}

TEST_F(TxCommand, MalformedFilesAreNamed) {
    const struct {
        std::string text;
        const char* error;
    } rows[] = {
        {"", "there is no transaction in it"},
        {"{}", "version: is missing"},
        {"0100", "BadEncoding"},
        {"010", "3 hexadecimal digits; two make a byte"},
        {"not a transaction", "BadEncoding"},
        {"{\"version\":1", "line 1"},
    };
    for (const auto& row : rows) {
        const auto file = write("bad", row.text);
        for (const auto& words : std::vector<std::vector<std::string>>{
                 {"decode", file}, {"check", file}, {"sign", file, "--key", "alice"}}) {
            const Ran ran = tx(words);
            EXPECT_EQ(ran.code, 1) << row.text;
            EXPECT_TRUE(has(ran.err, "bad: ") && has(ran.err, row.error)) << ran.err;
            EXPECT_EQ(ran.out, "");
        }
    }
    EXPECT_EQ(tx({"decode", harness.folder / "absent"}).code, 3);
    EXPECT_EQ(tx({"new", write("bad", "a: [")}).code, 1);
    EXPECT_EQ(tx({"new", write("bad", "")}).code, 1);
    EXPECT_EQ(tx({"new", write("bad", "{\"kind\":1,\"kind\":2}")}).code, 1);
    EXPECT_EQ(tx({"new", write("bad", "kind: Pod")}).code, 1);
    EXPECT_EQ(tx({"new", pod(), "--by", "web"}).code, 2);
    EXPECT_EQ(tx({"new", pod(), "--by", "/namespaces/team"}).code, 4);
    EXPECT_EQ(tx({"new", pod(), "--expires", "soon"}).code, 2);
    EXPECT_EQ(tx({"new", pod(), "--sequence", "soon"}).code, 2);
    const Ran lock = tx({"new", pod(), "--lock", "p2pkh alcie"});
    EXPECT_EQ(lock.code, 1);
    EXPECT_TRUE(has(lock.err, "did you mean alice?")) << lock.err;
    draft({pod()});
    state = write("state.json", "{\"kind\":\"rhizome-state\"}");
    EXPECT_TRUE(has(check().err, "state.json: version: is missing"));
    state = harness.folder / "absent";
    EXPECT_EQ(check().code, 3);
}

TEST_F(TxCommand, AFormThatNoNodeWouldTakeIsRefused) {
    draft({pod()});
    auto made = ledger::tx_from_json(read(out())).value();
    made.outputs.push_back(made.outputs[0]);
    const auto file = write("twice.json", json::print(ledger::to_json(made)));
    const Ran ran = tx({"check", file});
    EXPECT_EQ(ran.code, 1);
    EXPECT_EQ(ran.out, "DuplicateOutput\n");
    made.outputs.pop_back();
    made.inputs[0].previous.index = 99;
    const auto nowhere = write("nowhere.json", json::print(ledger::to_json(made)));
    EXPECT_EQ(tx({"check", nowhere}).out, "MissingInput\n");
    EXPECT_EQ(tx({"check", nowhere}).code, 3);
}

}  // namespace
}  // namespace rhizome::cli
