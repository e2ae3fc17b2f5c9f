// SPDX-License-Identifier: Apache-2.0
// Every refusal of the ledger's list, produced by a transaction or a block that deserves it.
#include <chrono>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "ledger/codec.h"
#include "ledger/limits.h"
#include "script/script.h"
#include "support/test_chain.h"

namespace rhizome::ledger {
namespace {

using test::document;
using test::Draft;
using test::lock_of;
using test::TestChain;

TestChain chain_with_namespace(std::string_view spec = "{}") {
    TestChain chain{spec};
    chain.mine_all({chain.create("/", "creator", document("v1", "Namespace", "", "web"), lock_of("nadia"))});
    return chain;
}

std::string pod(std::string_view name, std::string_view note = {}) { return document("v1", "Pod", "web", name, note); }

std::string code_of(const Result<SharedTx, Reject>& checked) {
    return checked ? "OK" : std::string{name(checked.error().code)};
}

/// A transaction with one output of that value, as `check_tx` sees it.
std::string form_of(std::string value) {
    return code_of(check_tx(
        {.inputs = {{.previous = {crypto::sha256(as_bytes("x")), 0}}}, .outputs = {{.value = std::move(value)}}}));
}

TEST(Refusal, NamesAreStableAndDistinct) {
    for (std::size_t i = 0; i < kRejectCodes; ++i) {
        const auto code = static_cast<RejectCode>(i);
        EXPECT_EQ(reject_code_from_name(name(code)), code);
        EXPECT_FALSE(to_error(Reject{.code = code, .why = "why"}).message.empty());
    }
    EXPECT_FALSE(reject_code_from_name("Nothing"));
}

TEST(Refusal, BadEncodingAndTooLargeByForm) {
    const struct {
        const char* what;
        std::string value;
        const char* expected;
    } rows[] = {
        {"a document", pod("a"), "OK"},
        {"null", "", "OK"},
        {"no JSON", "{", "BadEncoding"},
        {"no object", "[]", "BadEncoding"},
        {"a key twice", R"({"apiVersion":"v1","kind":"Pod","kind":"Pod","metadata":{"name":"a","namespace":"b"}})",
         "BadEncoding"},
        {"no UTF-8",
         "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"namespace\":\"b\"},\"x\":\"\xff\"}",
         "BadEncoding"},
        {"no metadata", R"({"apiVersion":"v1","kind":"Pod"})", "BadEncoding"},
        {"no name", R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"b"}})", "BadEncoding"},
        {"a name with a slash", R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a/b","namespace":"b"}})",
         "BadEncoding"},
        {"a name that is a direction", R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"..","namespace":"b"}})",
         "BadEncoding"},
        {"a number for a name", R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":1,"namespace":"b"}})",
         "BadEncoding"},
        {"no version", R"({"apiVersion":"apps/","kind":"Deployment","metadata":{"name":"a","namespace":"b"}})",
         "BadEncoding"},
        {"a pod without namespace", R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}})", "UnknownKind"},
        {"a node in a namespace", R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"a","namespace":"b"}})",
         "UnknownKind"},
        {"too deep",
         R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"b"},"x":)" + std::string(70, '[') +
             std::string(70, ']') + "}",
         "BadEncoding"},
        {"too large", pod("a", std::string(kDocumentBytesMax, 'x')), "TooLarge"},
    };
    for (const auto& row : rows) EXPECT_EQ(form_of(row.value), row.expected) << row.what;
}

TEST(Refusal, InputsHaveAForm) {
    const Outpoint somewhere{crypto::sha256(as_bytes("x")), 0};
    EXPECT_EQ(code_of(check_tx({})), "BadEncoding");
    EXPECT_EQ(code_of(check_tx({.inputs = {{.previous = somewhere}, {.previous = somewhere}}})), "BadEncoding");
    EXPECT_EQ(code_of(check_tx({.inputs = {{.previous = {{}, kGenesisIndex}}}})), "BadEncoding");
    EXPECT_EQ(code_of(check_tx({.version = 2, .inputs = {{.previous = somewhere}}})), "BadEncoding");
    // Unlocking scripts are minimal pushes, nothing else: no computing, no second form.
    EXPECT_EQ(code_of(check_tx({.inputs = {{.previous = somewhere, .unlocking = {0x51}}}})), "OK");
    EXPECT_EQ(code_of(check_tx({.inputs = {{.previous = somewhere, .unlocking = {0x76}}}})), "BadEncoding");
    EXPECT_EQ(code_of(check_tx({.inputs = {{.previous = somewhere, .unlocking = {0x01, 0x01}}}})), "BadEncoding");
    EXPECT_EQ(code_of(check_tx({.inputs = {{.previous = somewhere, .unlocking = {0x05, 0x01}}}})), "BadEncoding");
    EXPECT_EQ(code_of(check_tx({.inputs = {{.previous = somewhere, .unlocking = Bytes(10'001, 0)}}})), "TooLarge");
    EXPECT_EQ(code_of(check_tx({.inputs = {{.previous = somewhere}}, .outputs = {{.locking = Bytes(10'001, 0)}}})),
              "TooLarge");
    std::vector<Input> many(10'001);
    for (std::size_t i = 0; i < many.size(); ++i) many[i].previous = {somewhere.change, static_cast<std::uint16_t>(i)};
    EXPECT_EQ(code_of(check_tx({.inputs = many})), "TooLarge");
    many.pop_back();
    EXPECT_EQ(code_of(check_tx({.inputs = many})), "OK");
}

TEST(Refusal, DuplicateOutput) {
    EXPECT_EQ(code_of(check_tx({.inputs = {{.previous = {crypto::sha256(as_bytes("x")), 0}}},
                                .outputs = {{.value = pod("a")}, {.value = pod("a", "other")}}})),
              "DuplicateOutput");
}

TEST(Refusal, UnknownKind) {
    TestChain chain = chain_with_namespace();
    EXPECT_EQ(chain.verdict(chain.create("/namespaces/web", "nadia", document("example.com/v1", "Widget", "web", "a"))),
              "UnknownKind");
}

TEST(Refusal, OfTwoCreationsOneSucceeds) {
    TestChain chain = chain_with_namespace();
    const auto first = chain.create("/namespaces/web", "nadia", pod("a", "first"));
    const auto second = chain.create("/namespaces/web", "nadia", pod("a", "second"));
    EXPECT_EQ(chain.mine({first, second}), 1u);
    EXPECT_EQ(chain.verdict(second), "AlreadyExists");
}

TEST(Refusal, OfTwoUpdatesOfOneVersionOneSucceeds) {
    TestChain chain = chain_with_namespace();
    chain.mine_all({chain.create("/namespaces/web", "nadia", pod("a"), lock_of("olga"))});
    const std::string path = "/namespaces/web/core/Pod/a";
    const auto first = chain.update(path, "olga", pod("a", "first"), lock_of("olga"));
    const auto second = chain.update(path, "olga", pod("a", "second"), lock_of("olga"));
    EXPECT_EQ(chain.mine({first, second}), 1u);
    EXPECT_EQ(chain.verdict(second), "StaleInput");
}

TEST(Refusal, MissingInputAndDoubleDelete) {
    TestChain chain = chain_with_namespace();
    chain.mine_all({chain.create("/namespaces/web", "nadia", pod("a"), lock_of("olga"))});
    Draft deletion;
    chain.version(deletion, "/namespaces/web/core/Pod/a", "olga");
    const auto first = chain.sign(deletion);
    deletion.outputs.push_back({});
    const auto second = chain.sign(deletion);
    EXPECT_EQ(chain.mine({first, second}), 1u);
    EXPECT_EQ(chain.verdict(first), "MissingInput");
    EXPECT_EQ(chain.verdict(second), "MissingInput");
}

TEST(Refusal, ReplayAndResurrectionByReplay) {
    TestChain chain = chain_with_namespace();
    const auto creation = chain.create("/namespaces/web", "nadia", pod("a"), lock_of("olga"));
    chain.mine_all({creation});
    EXPECT_EQ(chain.verdict(creation), "Replay");
    Draft deletion;
    chain.version(deletion, "/namespaces/web/core/Pod/a", "olga");
    chain.mine_all({chain.sign(deletion)});
    EXPECT_EQ(chain.verdict(creation), "Replay");  // the name is free, the transaction is not
    chain.mine_all({}, hours{2});
    EXPECT_EQ(chain.verdict(creation), "Expired");
    EXPECT_EQ(chain.state().view().totals(*state::Prefix::chain({"replay"})).count, 0u);  // and its id is forgotten
}

TEST(Refusal, ExpiryMustBeThereAndNear) {
    TestChain chain = chain_with_namespace();
    Draft draft;
    chain.by(draft, "/namespaces/web", "nadia");
    draft.outputs.push_back({.value = pod("a")});
    const auto with = [&](std::int64_t expiry) {
        Draft changed = draft;
        changed.expiry = static_cast<std::uint32_t>(expiry);
        return chain.verdict(*check_tx(chain.sign_raw(changed)));
    };
    const auto now = chain.now().unix_seconds();
    EXPECT_EQ(with(0), "Expired");
    EXPECT_EQ(with(now), "Expired");
    EXPECT_EQ(with(now + 3600), "OK");
    EXPECT_EQ(with(now + 31 * 24 * 3600), "Expired");
}

TEST(Refusal, NonFinalByLockTimeAndByRelativeLock) {
    TestChain chain = chain_with_namespace();
    Draft draft;
    chain.by(draft, "/namespaces/web", "nadia");
    draft.outputs.push_back({.value = pod("a")});
    draft.lock_time = static_cast<std::uint32_t>(chain.tip().height.number() + 5);
    const auto by_height = chain.sign(draft);
    EXPECT_EQ(chain.verdict(by_height), "NonFinal");
    draft.lock_time = static_cast<std::uint32_t>(chain.now().unix_seconds() + 600);
    const auto by_time = chain.sign(draft);
    EXPECT_EQ(chain.verdict(by_time), "NonFinal");
    draft.lock_time = 0;
    draft.sequences = {8};  // eight blocks after the lock was set
    const auto by_age = chain.sign(draft);
    EXPECT_EQ(chain.verdict(by_age), "NonFinal");
    draft.sequences = {0x400000 | 1};  // 512 seconds after
    const auto by_seconds = chain.sign(draft);
    EXPECT_EQ(chain.verdict(by_seconds), "NonFinal");
    for (int i = 0; i < 8; ++i) chain.mine_all({}, seconds{90});
    for (const auto& tx : {by_height, by_time, by_age, by_seconds}) EXPECT_EQ(chain.verdict(tx), "OK");
}

TEST(Refusal, UnusedInput) {
    TestChain chain = chain_with_namespace();
    Draft draft;
    chain.by(draft, "/namespaces/web", "nadia").by(draft, "/", "creator");
    draft.outputs.push_back({.value = pod("a")});
    EXPECT_EQ(chain.verdict(chain.sign(draft)), "UnusedInput");
    Draft null;  // a null output, but nothing is deleted
    chain.by(null, "/namespaces/web", "nadia");
    null.outputs.push_back({.value = pod("a")});
    null.outputs.push_back({});
    EXPECT_EQ(chain.verdict(chain.sign(null)), "UnusedInput");
}

TEST(Refusal, OrphanParent) {
    TestChain chain = chain_with_namespace();
    EXPECT_EQ(chain.verdict(chain.create("/", "creator", document("v1", "Pod", "nowhere", "a"))), "OrphanParent");
    Draft draft;  // deletes the namespace and fills it at once
    chain.by(draft, "/", "creator");
    draft.outputs.push_back({.value = pod("a")});
    draft.outputs.push_back(
        {.value = R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"web"},"deleted":true})"});
    EXPECT_EQ(chain.verdict(chain.sign(draft)), "OrphanParent");
}

TEST(Refusal, QuotaExceededAndThrottled) {
    TestChain chain = chain_with_namespace(R"({"quotas":{"Pod":{"count":2,"bytes":1000}},"cooldown":"5s"})");
    chain.mine_all({chain.create("/namespaces/web", "nadia", pod("a"), lock_of("olga"))});
    EXPECT_EQ(chain.verdict(chain.create("/namespaces/web", "nadia", pod("b", std::string(1000, 'x')))),
              "QuotaExceeded");
    chain.mine_all({chain.create("/namespaces/web", "nadia", pod("b"))});
    EXPECT_EQ(chain.verdict(chain.create("/namespaces/web", "nadia", pod("c"))), "QuotaExceeded");
    EXPECT_EQ(
        chain.mine({chain.update("/namespaces/web/core/Pod/a", "olga", pod("a", "1"), lock_of("olga"))}, seconds{6}),
        1u);
    EXPECT_EQ(chain.verdict(chain.update("/namespaces/web/core/Pod/a", "olga", pod("a", "2"), lock_of("olga"))),
              "Throttled");
}

TEST(Refusal, TooManyChecksIsFoundBeforeTheyAreMade) {
    TestChain chain;
    // 1-of-20 again and again: a bomb that would cost a second of checks if nobody counted.
    script::ScriptBuilder bomb;
    for (int i = 0; i < 9; ++i) {
        bomb.number(0)
            .number(1)
            .op(script::OP_PICK)
            .number(1);  // an invalid signature is replaced by an empty one below
        for (int k = 0; k < 20; ++k) bomb.data(test::key_of(fmt::format("k{}", k)).public_key().bytes());
        bomb.number(20).op(script::OP_CHECKMULTISIG).op(script::OP_DROP);
    }
    bomb.op(script::OP_DROP).number(1);
    chain.mine_all({chain.create("/", "creator", document("v1", "Namespace", "", "bomb"), std::move(bomb).take())});
    Draft draft;
    chain.by(draft, "/namespaces/bomb", "creator");
    draft.outputs.push_back({.value = document("v1", "Pod", "bomb", "a")});
    Tx tx = chain.sign_raw(draft);
    script::ScriptBuilder unlocking;
    Bytes signature = crypto::sign(test::key_of("stranger"), crypto::sha256(as_bytes("other"))).to_der();
    signature.push_back(kHashTypeAll);
    unlocking.data(signature);
    tx.inputs[0].unlocking = std::move(unlocking).take();
    tx.expiry = static_cast<std::uint32_t>(chain.now().unix_seconds() + 60);
    const auto checked = check_tx(tx);
    ASSERT_TRUE(checked);
    const auto effects = chain.decide(*checked);
    ASSERT_FALSE(effects);
    EXPECT_EQ(effects.error().code, RejectCode::TooManyChecks);
}

// ---- blocks
// ----------------------------------------------------------------------------------------------------------

TEST(Refusal, BlocksWhoseHeaderDoesNotFit) {
    TestChain chain = chain_with_namespace();
    std::vector<SharedTx> txs;
    for (int i = 0; i < 5; ++i) txs.push_back(chain.create("/namespaces/web", "nadia", pod(fmt::format("p{}", i))));
    const Block good = chain.draft_block(txs).to_block({});
    const auto code = [&](const Block& block) {
        const auto applied = chain.apply(block);
        return applied ? "OK" : std::string{name(applied.error().code)};
    };
    const auto with_merkle = [&](Block block) {
        std::vector<WireId> ids;
        for (const Tx& tx : block.txs) ids.push_back(wire_id_of(tx));
        block.header.merkle_root = merkle_root_of(ids);
        return block;
    };
    EXPECT_EQ(code(good), "OK");

    Block bad = good;
    bad.header.merkle_root = {};
    EXPECT_EQ(code(bad), "BadMerkle");
    bad = good;
    bad.txs.pop_back();
    EXPECT_EQ(code(bad), "BadMerkle");
    bad = good;
    bad.header.state_root = {};
    EXPECT_EQ(code(bad), "BadStateRoot");
    bad = good;
    std::swap(bad.txs[1], bad.txs[2]);
    EXPECT_EQ(code(with_merkle(bad)), "BadOrder");
    bad = good;
    bad.header.previous = {};
    EXPECT_EQ(code(bad), "MissingInput");
    bad = good;
    bad.header.time = chain.now();
    EXPECT_EQ(code(bad), "BadEncoding");
    bad = good;
    bad.seal.attestations = {1, 2, 3};  // a relay that adds or strips attestations breaks the header
    EXPECT_EQ(code(bad), "BadSeal");
    bad = good;
    bad.header.consensus = ConsensusId::Work;
    EXPECT_EQ(code(bad), "BadSeal");
    bad = good;
    bad.txs.push_back(good.txs[0]);
    EXPECT_EQ(code(with_merkle(bad)), "Replay");
}

TEST(Refusal, ABlockAboveItsLimit) {
    TestChain chain = chain_with_namespace(R"({"blockBytes":4096})");
    std::vector<SharedTx> txs;
    for (int i = 0; i < 20; ++i)
        txs.push_back(chain.create("/namespaces/web", "nadia", pod(fmt::format("p{}", i), std::string(300, 'x'))));
    const auto some = chain.mine(txs);
    EXPECT_GT(some, 3u);
    EXPECT_LT(some, 10u);
    Block large{.header = chain.tip()};
    large.header.previous = hash_of(chain.tip());
    large.header.height = chain.tip().height + 1;
    large.header.time = chain.tip().time + seconds{1};
    large.header.seal_root = seal_root_of({});
    for (const auto& tx : txs) large.txs.push_back(tx->tx);
    const auto applied = chain.apply(large);
    ASSERT_FALSE(applied);
    EXPECT_EQ(applied.error().code, RejectCode::TooLarge);
}

}  // namespace
}  // namespace rhizome::ledger
