// SPDX-License-Identifier: Apache-2.0
#include "ledger/block_json.h"

#include <gtest/gtest.h>

#include "ledger/codec.h"
#include "ledger/limits.h"
#include "support/bad_forms.h"
#include "support/sample_state.h"

namespace rhizome::ledger {
namespace {

using test::with;

Block sample() {
    test::TestChain chain;
    test::fill_sample(chain);
    Block block = chain.blocks().back();
    block.header.nonce = UINT64_MAX;
    block.seal = {{1, 2}, {3}};
    block.signature.fill(0xab);
    return block;
}

std::string text_of(const Block& block) { return json::print(to_json(block)); }

TEST(BlockJson, HasTheFormOfTheSpecification) {
    const Block block = sample();
    const Header& header = block.header;
    EXPECT_EQ(text_of(block),
              "{\"hash\":\"" + hash_of(header).hex() + "\",\"height\":2,\"time\":\"2027-01-15T08:00:02.000Z\"," +
                  "\"previous\":\"" + header.previous.hex() + "\",\"merkleRoot\":\"" + header.merkle_root.hex() +
                  "\",\"stateRoot\":\"" + header.state_root.hex() + "\",\"consensus\":\"authority\",\"sealRoot\":\"" +
                  header.seal_root.hex() + "\",\"bits\":0,\"nonce\":\"18446744073709551615\",\"signature\":\"" +
                  to_hex(block.signature) + "\",\"seal\":{\"proof\":\"0102\",\"attestations\":\"03\"}," +
                  "\"transactions\":[" + json::print(to_json(block.txs.at(0))) + "]}");
}

TEST(BlockJson, ReadsWhatItPrints) {
    const Block block = sample();
    for (const std::string& text : {text_of(block), json::print_pretty(to_json(block))}) {
        const auto read = block_from_json(text);
        ASSERT_TRUE(read) << read.error().message;
        EXPECT_EQ(*read, block);
    }
    json::Object form = to_json(block);
    form.erase("hash");
    EXPECT_EQ(block_from_json(json::print(form)).value(), block);
}

TEST(BlockJson, FaultsNameTheMember) {
    const std::string good = text_of(sample());
    const test::BadForm forms[] = {
        {"", "line 1, column 1"},
        {"[]", "the text: is no JSON object"},
        {good + "x", "line 1, column"},
        {with(good, "\"height\":2", "\"height\":3"), "hash: the block's hash is"},
        {with(good, "\"height\":2", "\"height\":-2"), "height: is not a whole number from 0 to"},
        {with(good, "\"height\":2,", ""), "height: is missing"},
        {with(good, "08:00:02.000Z", "08:00:02.0001Z"), "time: is no RFC 3339 time of whole milliseconds"},
        {with(good, "2027-01-15", "1969-01-15"), "time: is no RFC 3339 time"},
        {with(good, "\"previous\":\"", "\"previous\":\"0"), "previous: is not 64 hexadecimal digits"},
        {with(good, "\"authority\"", "\"Authority\""), "consensus: is none of authority, work, space, stake"},
        {with(good, "\"bits\":0", "\"bits\":4294967296"), "bits: is not a whole number"},
        {with(good, "\"18446744073709551615\"", "\"18446744073709551616\""), "nonce: is no string"},
        {with(good, "\"18446744073709551615\"", "18446744073709551615"), "nonce: is no string"},
        {with(good, "\"18446744073709551615\"", "\"01\""), "nonce: is no string"},
        {with(good, "\"18446744073709551615\"", "\"\""), "nonce: is no string"},
        {with(good, "\"signature\":\"ab", "\"signature\":\""), "signature: is not 64 bytes"},
        {with(good, "\"signature\":\"", "\"signature\":\"ab"), "signature: has more than 64 bytes"},
        {with(good, "\"proof\":\"01", "\"proof\":\"0"), "seal.proof: is not hexadecimal"},
        {with(good, "\"attestations\"", "\"attestation\""), "seal.attestations: is missing"},
        {with(good, "\"proof\"", "\"x\":1,\"proof\""), "seal: there is no member \"x\" here"},
        {with(good, "\"transactions\":[", "\"transactions\":[4,"), "transactions[0]: "},
        {with(good, "\"locktime\":0", "\"locktime\":-1"), "transactions[0]: locktime: is not a whole number"},
        {with(good, "\"bits\":0", "\"bits\":0,\"type\":\"block\""), "there is no member \"type\" here"},
    };
    test::expect_refused(forms, [](const std::string& text) { return block_from_json(text); });
}

TEST(BlockJson, LimitsAreThoseOfTheBytes) {
    Block block = sample();
    block.seal = {Bytes(kSealBytesMax - 8, 1), {}};
    ASSERT_TRUE(decode_block(encode(block)));
    EXPECT_EQ(block_from_json(text_of(block)).value(), block);
    block.seal.attestations.push_back(1);
    EXPECT_FALSE(decode_block(encode(block)));
    EXPECT_TRUE(block_from_json(text_of(block)).error().message.starts_with("seal: is larger"));

    block = sample();
    Tx large = block.txs.front();
    large.outputs[0].value = "{\"a\":\"" + std::string(1'000'000, 'x') + "\"}";
    block.txs.assign(4, large);
    ASSERT_TRUE(decode_block(encode(block)));
    EXPECT_EQ(block_from_json(text_of(block)).value(), block);
    block.txs.push_back(large);
    EXPECT_FALSE(decode_block(encode(block)));
    EXPECT_TRUE(block_from_json(text_of(block)).error().message.starts_with("transactions: the block is larger"));
}

}  // namespace
}  // namespace rhizome::ledger
