// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "crypto/merkle.h"
#include "support/vectors.h"

namespace rhizome::crypto {
namespace {

using boost::json::value;
using test::absent_vectors;
using test::own_vectors;
using test::shared_vectors;
using test::text;

Hash256 hash_of(std::string_view hex) {
    const auto hash = Hash256::from_hex(hex);
    EXPECT_TRUE(hash) << hex;
    return hash.value_or(Hash256{});
}
std::vector<Hash256> hashes_of(const value& list) {
    std::vector<Hash256> hashes;
    for (const auto& hex : list.as_array()) hashes.push_back(hash_of(std::string{hex.as_string()}));
    return hashes;
}
std::uint64_t number(const value& row, std::string_view key) { return row.at(key).to_number<std::uint64_t>(); }

class MerkleVectors : public testing::Test {
protected:
    value file_ = own_vectors("crypto/merkle.json");
    std::vector<Hash256> ids_ = hashes_of(file_.at("ids"));
    std::vector<Hash256> first(std::uint64_t count) {
        return {ids_.begin(), ids_.begin() + static_cast<std::ptrdiff_t>(count)};
    }
    const boost::json::array& rows(std::string_view section) {
        const auto& all = file_.at(section).as_array();
        EXPECT_FALSE(all.empty()) << section;
        return all;
    }
};

TEST_F(MerkleVectors, Roots) {
    for (const auto& row : rows("roots_of_first_ids")) {
        EXPECT_EQ(merkle_root(first(number(row, "count"))).hex(), text(row, "root")) << row;
    }
    for (const auto& row : rows("roots_of_first_texts")) {
        std::vector<Bytes> texts;
        for (std::size_t i = 0; i < number(row, "count"); ++i) {
            Bytes leaf(7 * i);
            for (std::size_t byte = 0; byte < leaf.size(); ++byte) leaf[byte] = static_cast<std::uint8_t>(byte);
            texts.push_back(std::move(leaf));
        }
        EXPECT_EQ(merkle_root(texts).hex(), text(row, "root")) << row;
    }
    std::vector<Hash256> thousand;
    for (std::uint32_t i = 0; i < 1000; ++i) thousand.push_back(sha256(Writer{}.u32(i).view()));
    EXPECT_EQ(merkle_root(thousand).hex(), text(file_, "root_of_1000"));
}

TEST_F(MerkleVectors, Proofs) {
    for (const auto& row : rows("proofs")) {
        const auto leaves = first(number(row, "count"));
        const auto proof = merkle_proof(leaves, number(row, "index"));
        ASSERT_TRUE(proof) << row;
        EXPECT_EQ(proof->path, hashes_of(row.at("path"))) << row;
        EXPECT_TRUE(verify_proof(merkle_root(leaves), leaves[proof->index].view(), *proof)) << row;
        Writer out;
        write_proof(out, *proof);
        EXPECT_EQ(to_hex(out.view()), text(row, "bytes"));
        Reader in{out.view()};
        EXPECT_EQ(read_merkle_proof(in), (Result<MerkleProof, DecodeFault>{*proof}));
        EXPECT_TRUE(in.finish());
    }
}

TEST_F(MerkleVectors, BadProofs) {
    for (const auto& row : rows("bad_proofs")) {
        const auto verdict = verify_proof(hash_of(text(row, "root")), *from_hex(text(row, "leaf")),
                                          number(row, "index"), number(row, "count"), hashes_of(row.at("path")));
        ASSERT_FALSE(verdict) << text(row, "name");
        EXPECT_EQ(name(verdict.error()), text(row, "fault")) << text(row, "name");
    }
}

TEST_F(MerkleVectors, Consistency) {
    for (const auto& row : rows("consistency")) {
        const auto leaves = first(number(row, "new"));
        const auto proof = consistency_proof(leaves, number(row, "old"));
        ASSERT_TRUE(proof) << row;
        EXPECT_EQ(proof->path, hashes_of(row.at("path"))) << row;
        EXPECT_TRUE(verify_consistency(merkle_root(first(number(row, "old"))), merkle_root(leaves), *proof)) << row;
        Writer out;
        write_proof(out, *proof);
        EXPECT_EQ(to_hex(out.view()), text(row, "bytes"));
        Reader in{out.view()};
        EXPECT_EQ(read_consistency_proof(in), (Result<ConsistencyProof, DecodeFault>{*proof}));
        EXPECT_TRUE(in.finish());
    }
}

TEST_F(MerkleVectors, BadConsistency) {
    for (const auto& row : rows("bad_consistency")) {
        const auto verdict = verify_consistency(hash_of(text(row, "old_root")), hash_of(text(row, "new_root")),
                                                {number(row, "old"), number(row, "new"), hashes_of(row.at("path"))});
        ASSERT_FALSE(verdict) << text(row, "name");
        EXPECT_EQ(name(verdict.error()), text(row, "fault")) << text(row, "name");
    }
}

TEST_F(MerkleVectors, BadBytes) {
    const auto fault_of = [](const Bytes& bytes, auto read) -> std::string {
        Reader in{bytes};
        const auto proof = read(in);
        if (!proof) return std::string{name(proof.error())};
        const auto finished = in.finish();
        return finished ? "none" : std::string{name(finished.error())};
    };
    for (const auto& row : rows("bad_bytes")) {
        const Bytes bytes = *from_hex(text(row, "bytes"));
        EXPECT_EQ(text(row, "kind") == "merkle" ? fault_of(bytes, read_merkle_proof)
                                                : fault_of(bytes, read_consistency_proof),
                  text(row, "fault"))
            << text(row, "name");
    }
}

TEST_F(MerkleVectors, Bitcoin) {
    for (const auto& row : rows("bitcoin")) {
        std::vector<Hash256> txids;
        for (const auto& index : row.at("ids").as_array()) txids.push_back(ids_.at(index.to_number<std::size_t>()));
        const BitcoinRoot made = bitcoin_merkle_root(txids);
        EXPECT_EQ(made.root.hex(), text(row, "root")) << row;
        EXPECT_EQ(made.mutated, row.at("mutated").as_bool()) << row;
    }
}

// ---- the external ones ------------------------------------------------------------------------------------------

std::string turned(std::string_view hex) {  // Bitcoin prints hashes with the last byte first
    Bytes bytes = *from_hex(hex);
    std::reverse(bytes.begin(), bytes.end());
    return to_hex(bytes);
}

TEST(SharedMerkleVectors, Rfc6962) {
    const auto file = shared_vectors("merkle.json");
    if (!file) GTEST_SKIP() << absent_vectors("merkle.json");
    const value& section = file->at("rfc6962");
    EXPECT_EQ(merkle_root(std::vector<Bytes>{}).hex(), text(section, "empty_root"));
    std::vector<Bytes> leaves;
    for (const auto& hex : section.at("leaves_hex").as_array()) {
        leaves.push_back(*from_hex(std::string{hex.as_string()}));
        const std::string root{section.at("root_of_first_n").as_array().at(leaves.size() - 1).as_string()};
        EXPECT_EQ(merkle_root(leaves).hex(), root);
        const MerkleTree tree{leaves};
        for (std::uint64_t i = 0; i < leaves.size(); ++i) {
            EXPECT_TRUE(verify_proof(hash_of(root), leaves[i], tree.proof(i).value()));
            const std::string old{section.at("root_of_first_n").as_array().at(i).as_string()};
            EXPECT_TRUE(verify_consistency(hash_of(old), hash_of(root), tree.consistency(i + 1).value()));
        }
    }
}

TEST(SharedMerkleVectors, BitcoinTrees) {
    const auto file = shared_vectors("merkle.json");
    if (!file) GTEST_SKIP() << absent_vectors("merkle.json");
    const value& section = file->at("bitcoin_double_sha");
    for (const auto& row : section.at("cases").as_array()) {
        const BitcoinRoot made = bitcoin_merkle_root(hashes_of(row.at("leaves")));
        EXPECT_EQ(made.root.hex(), text(row, "root"));
        EXPECT_FALSE(made.mutated);
    }

    const value& block = section.at("block_100000");
    std::vector<Hash256> txids;
    for (const auto& txid : block.at("txids_display_order").as_array()) {
        txids.push_back(hash_of(turned(std::string{txid.as_string()})));
    }
    EXPECT_EQ(turned(bitcoin_merkle_root(txids).root.hex()), text(block, "root_display_order"));
    EXPECT_EQ(turned(hash256d(*from_hex(text(block, "header_hex"))).hex()), text(block, "hash_display_order"));

    const value& doubled = section.at("cve_2012_2459");
    const BitcoinRoot six = bitcoin_merkle_root(hashes_of(doubled.at("six_leaves")));
    const BitcoinRoot eight = bitcoin_merkle_root(hashes_of(doubled.at("eight_leaves_same_root")));
    EXPECT_EQ(six.root.hex(), text(doubled, "root"));
    EXPECT_EQ(eight.root, six.root);
    EXPECT_FALSE(six.mutated);
    EXPECT_TRUE(eight.mutated);
    EXPECT_NE(merkle_root(hashes_of(doubled.at("six_leaves"))),
              merkle_root(hashes_of(doubled.at("eight_leaves_same_root"))));
}

}  // namespace
}  // namespace rhizome::crypto
