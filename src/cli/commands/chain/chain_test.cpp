// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/yaml.h"
#include "cli/offline_chain.h"
#include "ledger/block_json.h"
#include "ledger/proof_files.h"
#include "node/hand_sealing.h"
#include "node/identity.h"
#include "support/chain_harness.h"

namespace rhizome::cli {
namespace {

namespace fs = std::filesystem;
using testing::has;
using testing::Ran;
using testing::read;

/// A chain of four blocks: genesis, the machine's Node, two ConfigMaps.
class ChainCommand : public ::testing::Test {
protected:
    ChainCommand() {
        harness.init();
        harness.grow("one");
        const auto grown = harness.grow("two", "{a: 1}");
        const auto& row = grown.find("transactions")->if_array()->at(0);
        txid = row.text_at({"txid"});
        tip = row.text_at({"block"});
    }
    std::string file(const std::string& name) const { return folder / name; }
    /// Changes one byte of the log where this text stands.
    void damage(std::string_view text) const {
        const auto log = fs::path{harness.data} / "log" / "0000000001.log";
        auto bytes = runtime::read_file(log, 64u << 20).value();
        const auto at = bytes.find(text);
        ASSERT_NE(at, std::string::npos) << text;
        std::fstream stream{log, std::ios::in | std::ios::out | std::ios::binary};
        stream.seekp(static_cast<std::streamoff>(at));
        stream.put(static_cast<char>(bytes[at] ^ 1));
    }
    /// The same machine with another history from this height on.
    void rewrite_from(const std::string& height) {
        harness.good({"chain", "export", "--to", height, "--out", file("stem")});
        const auto seed = read(node::seed_file(harness.data));
        harness.data = file("rewritten");
        harness.good({"chain", "import", file("stem")});
        fs::create_directories(node::seed_file(harness.data).parent_path());
        ensure(runtime::write_new_file(node::seed_file(harness.data), seed, 0600).has_value(), "a seed is copied");
        harness.grow("three");
        harness.grow("four");
    }

    test::TempFolder folder;
    testing::ChainHarness harness{folder.path()};
    std::string txid;
    std::string tip;
};

TEST_F(ChainCommand, ShowGivesAnOverview) {
    const auto data = harness.data_of({"chain", "show", "--last", "2"});
    EXPECT_EQ(data.text_at({"cluster"}), "demo");
    EXPECT_EQ(data.find("height")->if_int64(), 3);
    EXPECT_EQ(data.text_at({"tip"}), tip);
    EXPECT_EQ(data.find("blocks")->if_int64(), 4);
    EXPECT_EQ(data.find("transactions")->if_int64(), 5);
    EXPECT_EQ(data.find("documents")->if_int64(), 25) << "with the first namespaces and roles";
    EXPECT_EQ(data.find("final")->if_int64(), 3);
    EXPECT_EQ(data.find("prunedBelow")->if_int64(), 0);
    EXPECT_EQ(data.find("last")->if_array()->size(), 2u);
    EXPECT_EQ(data.find("last")->if_array()->at(0).text_at({"sealedBy"}), "n1");
    const std::string text = harness.good({"chain", "show"});
    for (const auto* part : {"cluster      demo\n", "height       3\n", "blocks       4 with 5 transactions\n",
                             "pruned       nothing\n", "\nHEIGHT   AGE   TXS   SIZE ", "\n0        2s    1     "})
        EXPECT_TRUE(has(text, part)) << part << "\n" << text;
    EXPECT_EQ(harness.rhizome({"chain", "show", "--last", "x"}).code, 2);
}

TEST_F(ChainCommand, WithoutAChainItSaysWhatToDo) {
    for (const auto& words : std::vector<std::vector<std::string>>{
             {"chain", "show"}, {"chain", "verify"}, {"state", "list"}, {"chain", "export"}, {"chain", "block", "0"}}) {
        harness.data = file("nothing");
        const Ran ran = harness.rhizome(words);
        EXPECT_EQ(ran.code, 3);
        EXPECT_EQ(ran.err, "error: there is no chain in " + harness.data +
                               "\nhint: 'rhizome init' makes one; --data names another directory\n");
        EXPECT_FALSE(fs::exists(harness.data)) << "looking made a directory";
    }
}

TEST_F(ChainCommand, ADirectoryInUseIsLeftAlone) {
    const ledger::Rules rules;
    const consensus::CurveSignatures signatures;
    const consensus::Judge judge{signatures};
    Inline parallel;
    const auto held = store::Chain::open(harness.data, {rules, judge}, parallel);
    ASSERT_TRUE(held) << held.error().message;
    const Ran ran = harness.rhizome({"chain", "show"});
    EXPECT_EQ(ran.code, 5);
    EXPECT_TRUE(has(ran.err, "in use by another process")) << ran.err;
}

TEST_F(ChainCommand, BlockShowsOneByHeightHashOrLatest) {
    const std::string latest = harness.good({"chain", "block", "latest", "-o", "json"});
    EXPECT_EQ(harness.good({"chain", "block", "3", "-o", "json"}), latest);
    EXPECT_EQ(harness.good({"chain", "block", tip, "-o", "json"}), latest);
    const auto block = ledger::block_from_json(latest);
    ASSERT_TRUE(block) << block.error().message;
    EXPECT_EQ(hash_of(block->header).hex(), tip);
    const std::string text = harness.good({"chain", "block", "3"});
    EXPECT_TRUE(has(text, "sealed by     n1\n")) << text;
    EXPECT_TRUE(has(text, txid)) << text;
    EXPECT_TRUE(has(text, "write ConfigMap default/two")) << text;
    EXPECT_EQ(yaml::parse(harness.good({"chain", "block", "0", "-o", "yaml"}))->find("height")->if_int64(), 0);
    EXPECT_EQ(harness.rhizome({"chain", "block", "4"}).code, 3);
    EXPECT_EQ(harness.rhizome({"chain", "block", std::string(64, '0')}).code, 3);
    EXPECT_EQ(harness.rhizome({"chain", "block", "newest"}).code, 2);
}

TEST_F(ChainCommand, TxSaysWhereWhenAndWhatItDid) {
    const std::string text = harness.good({"chain", "tx", txid});
    EXPECT_TRUE(has(text, "block        height 3, transaction 1 of 1\n")) << text;
    EXPECT_TRUE(has(text, "created   /namespaces/default/core/ConfigMap/two   ConfigMap\n")) << text;
    const auto form = harness.data_of({"chain", "tx", txid});
    EXPECT_EQ(form.text_at({"txid"}), txid);
    EXPECT_EQ(form.text_at({"about", "block"}), tip);
    EXPECT_EQ(harness.good({"tx", "decode", harness.write("t", json::print(form)), "--hex"}),
              harness.good({"tx", "decode", file("two.json"), "--hex"}));
    const auto deleted = harness.data_of(
        {"tx", "submit", harness.signed_tx("delete.json", {"-d", "configmap/one", "--by", "/"}), "--offline"});
    const std::string gone{deleted.find("transactions")->if_array()->at(0).text_at({"txid"})};
    EXPECT_TRUE(has(harness.good({"chain", "tx", gone}), "deleted   /namespaces/default/core/ConfigMap/one"));
    const Ran absent = harness.rhizome({"chain", "tx", std::string(64, 'a')});
    EXPECT_EQ(absent.code, 3);
    EXPECT_TRUE(has(absent.err, "there is no transaction aaaa")) << absent.err;
    EXPECT_EQ(harness.rhizome({"chain", "tx", "abc"}).code, 2);
}

TEST_F(ChainCommand, AProofIsCheckedWithoutTheChain) {
    harness.good({"chain", "proof", txid, "--out", file("p.json")});
    harness.good({"chain", "anchor", "--out", file("a.json")});
    harness.good({"chain", "anchor", "--at", "1", "--out", file("a1.json")});
    harness.data = file("nothing");
    const std::string plain = harness.good({"chain", "proof", "--check", file("p.json")});
    EXPECT_TRUE(has(plain, "OK: the block holds the transaction\n")) << plain;
    EXPECT_TRUE(has(plain, tip + " (compare it with one you trust)")) << plain;
    EXPECT_TRUE(
        has(harness.good({"chain", "proof", "--check", file("p.json"), "--block", tip}), "(the one you trust)"));
    const auto data = harness.data_of({"chain", "proof", "--check", file("p.json"), "--anchor", file("a.json")});
    EXPECT_EQ(data.find("trusted")->if_boolean(), true);
    EXPECT_EQ(harness.rhizome({"chain", "proof", "--check", file("p.json"), "--block", txid}).code, 4);
    EXPECT_EQ(harness.rhizome({"chain", "proof", "--check", file("p.json"), "--block", "x"}).code, 2);
    const Ran other = harness.rhizome({"chain", "proof", "--check", file("p.json"), "--anchor", file("a1.json")});
    EXPECT_EQ(other.code, 4);
    EXPECT_TRUE(has(other.err, "the anchor is of height 1, the proof of 3")) << other.err;
    auto forged = ledger::tx_proof_from_json(read(file("p.json"))).value();
    forged.tx.expiry += 1;
    const Ran bad =
        harness.rhizome({"chain", "proof", "--check", harness.write("f", json::print(ledger::to_json(forged)))});
    EXPECT_EQ(bad.code, 1);
    EXPECT_TRUE(has(bad.err, "is not shown to be in block")) << bad.err;
    EXPECT_EQ(harness.rhizome({"chain", "proof"}).code, 2);
    EXPECT_EQ(harness.rhizome({"chain", "proof", txid, "--check", file("p.json")}).code, 2);
}

TEST_F(ChainCommand, VerifyExecutesEverything) {
    EXPECT_EQ(harness.good({"chain", "verify"}), "OK: 4 blocks with 5 transactions executed, of heights 0 to 3\n");
    const auto data = harness.data_of({"chain", "verify"});
    EXPECT_EQ(data.find("ok")->if_boolean(), true);
    EXPECT_EQ(data.find("blocks")->if_int64(), 4);
    EXPECT_EQ(data.find("fault"), nullptr);
}

TEST_F(ChainCommand, VerifyNamesADamagedBlock) {
    damage("kube-system");
    const Ran ran = harness.rhizome({"chain", "verify"});
    EXPECT_EQ(ran.code, 1);
    EXPECT_TRUE(has(ran.out, "BAD: 1 block with 1 transaction executed")) << ran.out;
    EXPECT_TRUE(has(ran.out, "  height   1\n  rule     Corrupt\n")) << ran.out;
    EXPECT_TRUE(has(ran.err, "error: the chain does not hold from height 1 on: Corrupt\n")) << ran.err;
    EXPECT_TRUE(has(ran.err, "chain export --to 0")) << ran.err;
    const Ran json = harness.rhizome({"chain", "verify", "-o", "json"});
    EXPECT_EQ(json::parse(json.out)->find_path({"fault", "height"})->if_int64(), 1);
    EXPECT_EQ(harness.rhizome({"chain", "block", "1"}).code, 1);
    EXPECT_EQ(harness.rhizome({"chain", "export", "--to", "0", "--out", file("rest")}).code, 0);
    EXPECT_EQ(harness.rhizome({"chain", "export", "--out", file("all")}).code, 1);
    EXPECT_FALSE(fs::exists(file("all")) || fs::exists(file("all.part"))) << "half a file was left";
}

/// A proposer who seals what nobody allowed: checksums, roots and seal are right, a signature in it is not.
TEST_F(ChainCommand, VerifyNamesTheTransactionAndTheRuleItBreaks) {
    const auto tx_file = harness.signed_tx("three.json", {harness.document("three", "ConfigMap", "default")});
    {
        const ledger::Rules rules;
        const consensus::CurveSignatures signatures;
        const consensus::Judge judge{signatures};
        Inline parallel;
        auto chain = store::Chain::open(harness.data, {rules, judge}, parallel).value();
        const auto identity = node::load_identity(harness.data).value();
        const consensus::KeySigner signer{identity.keys};
        const auto honest = ledger::check_tx(ledger::tx_from_json(read(tx_file)).value()).value();
        const auto hand =
            node::prepare_by_hand(chain->state(), chain->tip(), harness.now + seconds{1}, judge, signer).value();
        auto draft = ledger::build_block(chain->state(), hand.next, std::span{&honest, 1}, hand.sealing.part,
                                         hand.seal_bytes(), rules, chain->cache(), parallel);
        const ledger::Applied applied = draft.applied;
        ledger::Tx forged = honest->tx;
        forged.inputs[0].unlocking[20] ^= 1;
        draft.txs = {ledger::check_tx(forged).value()};
        draft.header.merkle_root = ledger::merkle_root_of(std::span{&draft.txs[0]->wire_id, 1});
        ASSERT_TRUE(chain->add_made(node::seal_by_hand(draft, hand, signer), applied));
        ASSERT_TRUE(chain->close());
    }
    const Ran ran = harness.rhizome({"chain", "verify"});
    EXPECT_EQ(ran.code, 1) << ran.out;
    EXPECT_TRUE(has(ran.out, "  height        4\n  transaction   0\n  rule          NotAuthorised\n")) << ran.out;
    EXPECT_TRUE(has(ran.err, "the chain does not hold from height 4, transaction 0 on: NotAuthorised")) << ran.err;
}

TEST_F(ChainCommand, AnAnchorHoldsOnTheSameHistory) {
    harness.good({"chain", "anchor", "--out", file("tip.json")});
    harness.good({"chain", "anchor", "--at", "0", "--out", file("genesis.json")});
    harness.grow("three");
    const std::string text =
        harness.good({"chain", "verify", "--anchor", file("tip.json"), "--anchor", file("genesis.json")});
    EXPECT_TRUE(has(text, "tip.json of height 3 holds\n")) << text;
    EXPECT_TRUE(has(text, "genesis.json of height 0 holds\n")) << text;
    const auto anchor = ledger::anchor_from_json(harness.good({"chain", "anchor", "--at", "3"})).value();
    EXPECT_EQ(anchor.block.hex(), tip);
    EXPECT_EQ(anchor, ledger::anchor_from_json(read(file("tip.json"))).value());
    EXPECT_EQ(harness.rhizome({"chain", "anchor", "--at", "9"}).code, 3);
}

TEST_F(ChainCommand, AnAnchorShowsARewrittenHistory) {
    harness.good({"chain", "anchor", "--out", file("tip.json")});
    harness.good({"chain", "anchor", "--at", "1", "--out", file("early.json")});
    rewrite_from("1");
    EXPECT_EQ(harness.rhizome({"chain", "verify"}).code, 0) << "by itself it holds";
    EXPECT_EQ(harness.rhizome({"chain", "verify", "--anchor", file("early.json")}).code, 0);
    const Ran ran = harness.rhizome({"chain", "verify", "--anchor", file("early.json"), "--anchor", file("tip.json")});
    EXPECT_EQ(ran.code, 1);
    EXPECT_TRUE(has(ran.out, "early.json of height 1 holds")) << ran.out;
    EXPECT_TRUE(has(ran.err, "the block of height 3 is ")) << ran.err;
    EXPECT_TRUE(has(ran.err, "history was rewritten at or below that height")) << ran.err;
    EXPECT_TRUE(has(ran.err, tip)) << ran.err;
}

TEST_F(ChainCommand, AnAnchorShowsMissingBlocksOtherChainsAndOtherPasts) {
    harness.good({"chain", "anchor", "--out", file("tip.json")});
    auto anchor = ledger::anchor_from_json(read(file("tip.json"))).value();
    anchor.history_root.writable()[0] ^= 1;
    const Ran past = harness.rhizome(
        {"chain", "verify", "--anchor", harness.write("past.json", json::print(ledger::to_json(anchor)))});
    EXPECT_EQ(past.code, 1);
    EXPECT_TRUE(has(past.err, "the blocks below height 3 are others")) << past.err;

    harness.good({"chain", "export", "--to", "2", "--out", file("stem")});
    harness.data = file("short");
    harness.good({"chain", "import", file("stem")});
    const Ran missing = harness.rhizome({"chain", "verify", "--anchor", file("tip.json")});
    EXPECT_EQ(missing.code, 1);
    EXPECT_TRUE(has(missing.err, "this chain ends at height 2: 1 blocks are missing")) << missing.err;

    harness.data = file("other");
    harness.init("other");
    const Ran other = harness.rhizome({"chain", "verify", "--anchor", file("tip.json"), "-o", "json"});
    EXPECT_EQ(other.code, 1);
    EXPECT_TRUE(has(other.err, "it is of another chain")) << other.err;
    EXPECT_EQ(json::parse(other.out)->find("ok")->if_boolean(), false);
    EXPECT_EQ(harness.rhizome({"chain", "verify", "--anchor", file("stem")}).code, 1);
    EXPECT_EQ(harness.rhizome({"chain", "verify", "--anchor", file("absent")}).code, 3);
}

TEST_F(ChainCommand, EveryFormOfExportIsImportedAgain) {
    for (const auto* form : {"blocks", "json", "jsonl"}) {
        harness.data = file("data");
        harness.good({"chain", "export", "-o", form, "--out", file(form)});
        EXPECT_EQ(harness.good({"chain", "export", "-o", form}), runtime::read_file(file(form), 1u << 20).value());
        harness.data = file(std::string{"copy-"} + form);
        const auto made = harness.data_of({"chain", "import", file(form)});
        EXPECT_EQ(made.find("added")->if_int64(), 4);
        EXPECT_EQ(made.find("made")->if_boolean(), true);
        EXPECT_EQ(made.text_at({"tip"}), tip);
        EXPECT_EQ(harness.rhizome({"chain", "verify"}).code, 0);
        const auto again = harness.data_of({"chain", "import", file(form)});
        EXPECT_EQ(again.find("added")->if_int64(), 0);
        EXPECT_EQ(again.find("known")->if_int64(), 4);
    }
}

TEST_F(ChainCommand, ImportAddsWhatIsMissing) {
    harness.good({"chain", "export", "--to", "1", "--out", file("first")});
    harness.good({"chain", "export", "--from", "2", "-o", "jsonl", "--out", file("rest")});
    harness.good({"chain", "export", "--from", "3", "-o", "json", "--out", file("last")});
    harness.data = file("copy");
    const Ran early = harness.rhizome({"chain", "import", file("rest")});
    EXPECT_EQ(early.code, 3);
    EXPECT_TRUE(has(early.err, "the file begins at height 2")) << early.err;
    EXPECT_FALSE(fs::exists(harness.data));
    harness.good({"chain", "import", file("first")});
    const Ran gap = harness.rhizome({"chain", "import", file("last")});
    EXPECT_EQ(gap.code, 3);
    EXPECT_TRUE(has(gap.err, "ends at height 1, and the file goes on at height 3")) << gap.err;
    EXPECT_TRUE(has(gap.err, "chain export --from 2")) << gap.err;
    harness.in.str(runtime::read_file(file("rest"), 1u << 20).value());
    EXPECT_TRUE(
        has(harness.good({"chain", "import", "-"}), "2 blocks added, 0 known already; the chain ends at height 3"));
    EXPECT_EQ(harness.data_of({"chain", "show"}).text_at({"tip"}), tip);
}

TEST_F(ChainCommand, ImportRefusesOtherChainsAndBranches) {
    harness.good({"chain", "export", "--out", file("ours")});
    harness.good({"chain", "export", "--from", "2", "--out", file("ours-late")});
    const auto original = harness.data;
    rewrite_from("1");
    const Ran fork = harness.rhizome({"chain", "import", file("ours")});
    EXPECT_EQ(fork.code, 5);
    EXPECT_TRUE(has(fork.err, "the chains part after height 1")) << fork.err;
    harness.data = file("other");
    harness.init("other");
    const auto before = harness.good({"chain", "block", "latest", "-o", "json"});
    const Ran other = harness.rhizome({"chain", "import", file("ours")});
    EXPECT_EQ(other.code, 5);
    EXPECT_TRUE(has(other.err, "the file is of another chain")) << other.err;
    const Ran late = harness.rhizome({"chain", "import", file("ours-late")});
    EXPECT_EQ(late.code, 5);
    EXPECT_TRUE(has(late.err, "does not follow this chain's tip")) << late.err;
    EXPECT_EQ(harness.good({"chain", "block", "latest", "-o", "json"}), before);
}

TEST_F(ChainCommand, ImportJudgesBlocksLikeAStrangers) {
    auto block = ledger::block_from_json(harness.good({"chain", "block", "3", "-o", "json"})).value();
    harness.good({"chain", "export", "--to", "2", "-o", "jsonl", "--out", file("stem")});
    block.signature[5] ^= 1;
    const auto bad = harness.write("bad.jsonl", read(file("stem")) + json::print(ledger::to_json(block)) + "\n");
    harness.data = file("copy");
    const Ran ran = harness.rhizome({"chain", "import", bad});
    EXPECT_EQ(ran.code, 1);
    EXPECT_TRUE(has(ran.err, "BadSeal")) << ran.err;
    EXPECT_TRUE(has(ran.err, "3 blocks before it were added: the chain now ends at height 2")) << ran.err;
    EXPECT_EQ(harness.rhizome({"chain", "verify"}).code, 0) << "what was good is there";
    EXPECT_EQ(harness.rhizome({"chain", "import", harness.write("no", "hello")}).code, 1);
    EXPECT_EQ(harness.rhizome({"chain", "import", file("absent")}).code, 3);
}

TEST_F(ChainCommand, ChangesAreExportedForAnalytics) {
    harness.now = harness.now + seconds{1};
    harness.grow("one", "{b: 2}");
    harness.good({"tx", "submit", harness.signed_tx("d.json", {"-d", "configmap/two", "--by", "/"}), "--offline"});
    std::istringstream lines{harness.good({"chain", "export", "-o", "jsonl", "--what", "changes", "--from", "2"})};
    std::vector<std::string> seen;
    for (std::string line; std::getline(lines, line);) {
        const auto value = json::parse(line);
        ASSERT_TRUE(value) << line;
        EXPECT_EQ(value->text_at({"type"}), "change");
        EXPECT_EQ(value->text_at({"txid"}).size(), 64u);
        EXPECT_NE(value->text_at({"txid"}), std::string(64, '0')) << line;
        EXPECT_EQ(value->find("document")->is_null(), value->text_at({"verb"}) == "deleted");
        seen.push_back(fmt::format("{} {} {} {}", *value->find("height")->if_int64(), value->text_at({"verb"}),
                                   value->text_at({"kind"}), value->text_at({"path"})));
    }
    EXPECT_EQ(seen, (std::vector<std::string>{"2 created ConfigMap /namespaces/default/core/ConfigMap/one",
                                              "3 created ConfigMap /namespaces/default/core/ConfigMap/two",
                                              "4 updated ConfigMap /namespaces/default/core/ConfigMap/one",
                                              "5 deleted ConfigMap /namespaces/default/core/ConfigMap/two"}));
    std::istringstream all{
        harness.good({"chain", "export", "-o", "jsonl", "--what", "blocks,transactions,changes", "--to", "0"})};
    std::vector<std::string> types;
    for (std::string line; std::getline(all, line);) types.emplace_back(json::parse(line)->text_at({"type"}));
    EXPECT_EQ(types, (std::vector<std::string>{"block", "transaction", "change"}));
}

TEST_F(ChainCommand, DocumentsWithLineBreaksStayOnOneLine) {
    auto tx = ledger::tx_from_json(read(harness.signed_tx("t.json", {harness.document("t", "ConfigMap", "default")})))
                  .value();
    tx.outputs[0].value.insert(1, "\n ");
    tx.inputs[0].unlocking.clear();
    const auto file_name = harness.write("t.json", json::print(ledger::to_json(tx)));
    harness.good({"tx", "sign", file_name, "--key", "admin", "--out", file_name});
    harness.good({"tx", "submit", file_name, "--offline"});
    const std::string lines =
        harness.good({"chain", "export", "-o", "jsonl", "--from", "4", "--what", "blocks,transactions,changes"});
    EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 3);
    EXPECT_TRUE(has(lines, "\"blockBytes\":\"")) << lines;
    harness.good({"chain", "export", "-o", "jsonl", "--out", file("all")});
    harness.data = file("copy");
    EXPECT_EQ(harness.data_of({"chain", "import", file("all")}).find("added")->if_int64(), 5);
}

TEST_F(ChainCommand, ExportOptionsThatDoNotFitAreRefused) {
    EXPECT_EQ(harness.rhizome({"chain", "export", "--what", "changes"}).code, 2);
    EXPECT_EQ(harness.rhizome({"chain", "export", "-o", "jsonl", "--what", "pods"}).code, 2);
    EXPECT_EQ(harness.rhizome({"chain", "export", "-o", "jsonl", "--what", ""}).code, 2);
    EXPECT_EQ(harness.rhizome({"chain", "export", "--from", "3", "--to", "2"}).code, 2);
    EXPECT_EQ(harness.rhizome({"chain", "export", "--to", "9"}).code, 3);
    EXPECT_EQ(harness.rhizome({"chain", "export", "--out", "/nowhere/x"}).code, 1);
    harness.console.out_is_terminal = true;
    const Ran ran = harness.rhizome({"chain", "export"});
    EXPECT_EQ(ran.code, 2);
    EXPECT_TRUE(has(ran.err, "would garble this screen")) << ran.err;
}

}  // namespace
}  // namespace rhizome::cli
