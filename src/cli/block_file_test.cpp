// SPDX-License-Identifier: Apache-2.0
#include "cli/block_file.h"

#include <sstream>

#include <gtest/gtest.h>

#include "ledger/block_json.h"
#include "ledger/codec.h"
#include "support/sample_state.h"

namespace rhizome::cli {
namespace {

using ledger::Block;

std::vector<Block> sample() {
    test::TestChain chain;
    test::fill_sample(chain);
    return chain.blocks();
}

Result<std::vector<Block>> read_blocks(const std::string& text) {
    std::istringstream in{text};
    TRY(auto reader, BlockFileReader::open(in, "f"));
    std::vector<Block> blocks;
    for (;;) {
        TRY(auto block, reader.next());
        if (!block) return blocks;
        blocks.push_back(*std::move(block));
    }
}

std::string binary(const std::vector<Block>& blocks) {
    std::string text = block_file_front({}, ledger::Height{0}, blocks.size());
    for (const Block& block : blocks) text += as_text(ledger::encode(block));
    return text;
}

TEST(BlockFile, AllFormsGiveTheSameBlocks) {
    const auto blocks = sample();
    std::string lines, bare;
    json::Array array;
    for (const Block& block : blocks) {
        lines += json::print(json::Object{{"type", "block"}, {"block", to_json(block)}}) + "\n";
        lines += "{\"type\":\"transaction\"}\n\n";
        bare += json::print(to_json(block)) + "\n";
        array.push_back(to_json(block));
    }
    const json::Object whole{{"kind", "rhizome-blocks"}, {"version", 1}, {"blocks", array}};
    for (const std::string& text : {binary(blocks), lines, bare, bare.substr(0, bare.size() - 1), json::print(whole),
                                    json::print_pretty(whole), "\n \n" + json::print_pretty(whole)}) {
        const auto got = read_blocks(text);
        ASSERT_TRUE(got) << got.error().message << "\n" << text.substr(0, 80);
        EXPECT_EQ(*got, blocks);
    }
    EXPECT_EQ(read_blocks(json::print_pretty(to_json(blocks[1]))).value(), std::vector{blocks[1]});
    EXPECT_TRUE(read_blocks(binary({}))->empty());
    const auto bytes = to_hex(ledger::encode(blocks[2]));
    EXPECT_EQ(read_blocks("{\"type\":\"block\",\"blockBytes\":\"" + bytes + "\"}\n").value(), std::vector{blocks[2]});
    EXPECT_FALSE(read_blocks("{\"type\":\"block\",\"blockBytes\":\"0" + bytes + "\"}\n"));
    EXPECT_FALSE(read_blocks("{\"type\":\"block\",\"blockBytes\":\"00" + bytes + "\"}\n"));
    EXPECT_FALSE(read_blocks("{\"type\":\"block\",\"blockBytes\":1}\n"));
}

TEST(BlockFile, FaultsNameThePlace) {
    const auto blocks = sample();
    const std::string good = binary(blocks);
    std::string flipped = good;
    flipped[56 + 8] ^= 1;  // the version of the first header
    std::string nothing = good;
    nothing[56] ^= 1;
    const std::string line = json::print(to_json(blocks[0]));
    const std::pair<std::string, std::string_view> rows[] = {
        {"", "f: holds no blocks"},
        {"x", "f: holds no blocks"},
        {"[]", "f: holds no blocks"},
        {good.substr(0, 20), "f: the file ends in its front"},
        {good.substr(0, good.size() - 1), "f: block 3 of 3: BadEncoding"},
        {good.substr(0, 56), "f: the file ends after 0 of its 3 blocks"},
        {good + "x", "f: something stands behind the last block"},
        {flipped, "f: block 1 of 3: BadEncoding"},
        {nothing, "f: block 1 of 3: there is no block here"},
        {line + "\n{\n", "f: line 2: "},
        {line + "\n{\"type\":\"block\"}\n", "f: line 2: block: is missing"},
        {line + "\n{\"height\":1}\n", "f: line 2: time: is missing"},
        {"{\"blocks\":[]}", "f: kind: is not rhizome-blocks"},
        {"{\"kind\":\"rhizome-blocks\",\"blocks\":{}}", "f: kind: is not rhizome-blocks"},
        {"{\"kind\":\"rhizome-blocks\",\"blocks\":[" + line + ",{}]}", "f: blocks[1]: height: is missing"},
        {"{\n\"a\":", "f: line 2"},
    };
    for (const auto& [text, error] : rows) {
        const auto got = read_blocks(text);
        ASSERT_FALSE(got) << text.substr(0, 100);
        EXPECT_TRUE(got.error().message.starts_with(error)) << got.error().message << "\n" << error;
    }
}

}  // namespace
}  // namespace rhizome::cli
