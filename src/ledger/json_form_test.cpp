// SPDX-License-Identifier: Apache-2.0
#include "ledger/json_form.h"

#include <gtest/gtest.h>

#include "ledger/codec.h"
#include "ledger/limits.h"
#include "script/script.h"
#include "support/bad_forms.h"

namespace rhizome::ledger {
namespace {

using test::with;

Tx sample() {
    Tx tx;
    tx.inputs.push_back({.previous = {crypto::sha256(as_bytes("a")), 3}, .unlocking = {0x51}, .sequence = 7});
    tx.outputs.push_back({.value = R"({ "apiVersion":"v1", "kind":"ConfigMap" })", .locking = {0x76, 0xa9}});
    tx.outputs.push_back({});
    tx.lock_time = 9;
    tx.expiry = 10;
    return tx;
}

std::string text_of(const Tx& tx) { return json::print(to_json(tx)); }

TEST(TxJson, HasTheFormOfTheSpecification) {
    const Tx tx = sample();
    EXPECT_EQ(text_of(tx),
              "{\"version\":1,\"txid\":\"" + id_of(tx).hex() + "\",\"vin\":[{\"txid\":\"" +
                  crypto::sha256(as_bytes("a")).hex() +
                  "\",\"vout\":3,\"scriptSig\":\"1\",\"sequence\":7}],\"vout\":[{\"value\":"
                  "{ \"apiVersion\":\"v1\", \"kind\":\"ConfigMap\" },\"scriptPubKey\":\"OP_DUP OP_HASH160\"},"
                  "{\"value\":null,\"scriptPubKey\":\"\"}],\"locktime\":9,\"expiry\":10}");
}

TEST(TxJson, KeepsTheBytesOfDocuments) {
    const char* texts[] = {
        R"({"b":1,"a":2})",
        R"({ "a" : 1.0e+3 })",
        "{\n\t\"a\": \"\\u0061\\/\"\n}",
        R"({"a":"é"})",
        R"({})",
        R"({"a":1} )",
        R"( {"a":1})",
        "[1]",
        "\"x\"",
        "null",
        "{\"a\":1,\"a\":2}",
        "{",
        "\xff\x00\x01",
        "{\"a\":\"\xc3\"}",
    };
    for (const std::string_view text : texts) {
        Tx tx = sample();
        tx.outputs[0].value = text;
        const auto compact = tx_from_json(text_of(tx));
        ASSERT_TRUE(compact) << text << ": " << compact.error().message;
        EXPECT_EQ(*compact, tx) << text;
        const auto pretty = tx_from_json(json::print_pretty(to_json(tx)));
        ASSERT_TRUE(pretty) << text << ": " << pretty.error().message;
        EXPECT_EQ(*pretty, tx) << text;
    }
}

TEST(TxJson, TheIdMayBeLeftOutAndWhatIsAboutItIsNotRead) {
    const Tx tx = sample();
    json::Object form = to_json(tx);
    form.erase("txid");
    form.set("about", json::Array{1, 2});
    const auto read = tx_from_json(json::print(form));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, tx);
}

TEST(TxJson, FaultsNameTheMember) {
    const std::string good = text_of(sample());
    const test::BadForm forms[] = {
        {"", "line 1, column 1"},
        {"[]", "the text: is no JSON object"},
        {good + "x", "line 1, column"},
        {with(good, "\"version\":1", "\"version\":2"), "version: 2 is not known"},
        {with(good, "\"version\":1,", ""), "version: is missing"},
        {with(good, "\"vin\":[", "\"vin\":[],\"x\":["), "vin: a transaction needs an input"},
        {with(good, "\"vin\":[{", "\"vin\":[4,{"), "vin[0]"},
        {with(good, "\"vin\":[{", "\"vin\":[[],{"), "vin[0]: is no JSON object"},
        {with(good, "\"vout\":3", "\"vout\":65536"), "vin[0].vout: is not a whole number from 0 to 65535"},
        {with(good, "\"vout\":3", "\"vout\":-3"), "vin[0].vout: is not a whole number"},
        {with(good, "\"vout\":3", "\"vout\":3.0"), "vin[0].vout: is not a whole number"},
        {with(good, "\"vout\":3", "\"vout\":\"3\""), "vin[0].vout: is not a whole number"},
        {with(good, "\"sequence\":7", "\"sequence\":4294967296"), "vin[0].sequence: is not a whole number"},
        {with(good, "\"sequence\":7", "\"sequense\":7"), "vin[0].sequence: is missing"},
        {with(good, "\"sequence\":7", "\"sequence\":7,\"x\":1"), "vin[0]: there is no member \"x\" here"},
        {with(good, "\"scriptSig\":\"1\"", "\"scriptSig\":\"OP_NO\""), "vin[0].scriptSig: line 1, column 1"},
        {with(good, "\"scriptSig\":\"1\"", "\"scriptSig\":1"), "vin[0].scriptSig: is no string"},
        {with(good, "{\"value\":null,", "{\"value\":[],"), "vout[1].value: is neither an object nor null"},
        {with(good, "{\"value\":null,", "{"), "vout[1].value: is missing"},
        {with(good, "{\"value\":null,", "{\"value\":null,\"valueBytes\":\"\","),
         "vout[1].valueBytes: the value is given twice"},
        {with(good, "{\"value\":null,", "{\"valueBytes\":\"1\","), "vout[1].valueBytes: is not hexadecimal"},
        {with(good, "\"scriptPubKey\":\"\"", "\"scriptPubKey\":null"), "vout[1].scriptPubKey: is no string"},
        {with(good, "\"locktime\":9", "\"locktime\":8"), "txid: the transaction's id is"},
        {with(good, "\"expiry\":10", "\"expiry\":10,\"expires\":10"), "there is no member \"expires\" here"},
        {with(good, "\"txid\":\"", "\"txid\":\"0"), "txid: is not 64 hexadecimal digits"},
    };
    test::expect_refused(forms, [](const std::string& text) { return tx_from_json(text); });
}

TEST(TxJson, LimitsHold) {
    Tx tx = sample();
    tx.outputs[0].locking = Bytes(kScriptBytesMax + 1, 0x61);
    EXPECT_FALSE(tx_from_json(text_of(tx)));
    tx.outputs[0].locking = Bytes(kScriptBytesMax, 0x61);
    EXPECT_TRUE(tx_from_json(text_of(tx)));
    tx.outputs[0].value = "{\"a\":\"" + std::string(kDocumentBytesMax, 'x') + "\"}";
    EXPECT_FALSE(tx_from_json(text_of(tx)));
    std::string deep;
    for (std::size_t i = 0; i < kDocumentDepthMax; ++i) deep += "{\"a\":";
    deep += "1" + std::string(kDocumentDepthMax, '}');
    tx.outputs[0].value = deep;
    const auto read = tx_from_json(text_of(tx));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, tx);
}

}  // namespace
}  // namespace rhizome::ledger
