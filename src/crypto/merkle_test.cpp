// SPDX-License-Identifier: Apache-2.0
#include "crypto/merkle.h"

#include <gtest/gtest.h>

#include "crypto/detail/sha256_engine.h"

namespace rhizome::crypto {
namespace {

std::vector<Hash256> numbered(std::size_t count) {
    std::vector<Hash256> leaves;
    for (std::size_t i = 0; i < count; ++i) {
        Writer number;
        number.u32(static_cast<std::uint32_t>(i));
        leaves.push_back(sha256(number.view()));
    }
    return leaves;
}

/// The RFC's recursive definition, with nothing shared between the two but the hash of a node.
Hash256 root_by_definition(std::span<const Hash256> leaves) {
    if (leaves.empty()) return sha256(ByteView{});
    if (leaves.size() == 1) return merkle_leaf(leaves.front().view());
    std::size_t split = 1;
    while (split * 2 < leaves.size()) split *= 2;
    return merkle_node(root_by_definition(leaves.first(split)), root_by_definition(leaves.subspan(split)));
}

TEST(Merkle, RootsFollowTheDefinitionOnEveryImplementation) {
    for (const detail::Sha256Engine* engine : {&detail::openssl_engine(), detail::sha_ni_engine()}) {
        if (engine == nullptr) continue;
        SCOPED_TRACE(engine->name);
        const detail::EngineForTest use{*engine};
        for (std::size_t count = 0; count < 70; ++count) {
            const auto leaves = numbered(count);
            EXPECT_EQ(merkle_root(leaves), root_by_definition(leaves)) << count;
            EXPECT_EQ(MerkleTree{leaves}.root(), root_by_definition(leaves)) << count;
        }
    }
}

TEST(Merkle, LeavesOfAllKindsGiveOneRoot) {
    const auto ids = numbered(5);
    std::vector<ByteView> views;
    std::vector<Bytes> owned;
    std::vector<Id<struct OtherTag, 32>> others;
    for (const Hash256& id : ids) {
        views.emplace_back(id.view());
        owned.push_back(to_bytes(id.view()));
        others.emplace_back(id.array());
    }
    EXPECT_EQ(merkle_root(views), merkle_root(ids));
    EXPECT_EQ(merkle_root(owned), merkle_root(ids));
    EXPECT_EQ(merkle_root(others), merkle_root(ids));
    EXPECT_EQ(merkle_root(std::span<const Hash256>{ids}), merkle_root(ids));
}

TEST(Merkle, ALastLeafIsNeverDuplicated) {
    auto leaves = numbered(3);
    const Hash256 root = merkle_root(leaves);
    leaves.push_back(leaves.back());
    EXPECT_NE(merkle_root(leaves), root);
}

TEST(Merkle, PathLengthsFollowFromTheCounts) {
    for (std::uint64_t count = 1; count < 70; ++count) {
        const MerkleTree tree{numbered(count)};
        for (std::uint64_t i = 0; i < count; ++i) {
            EXPECT_EQ(tree.proof(i)->path.size(), proof_length(i, count)) << i << " of " << count;
        }
        for (std::uint64_t old = 0; old <= count; ++old) {
            EXPECT_EQ(tree.consistency(old)->path.size(), consistency_length(old, count)) << old << " of " << count;
        }
    }
    EXPECT_EQ(proof_length(0, UINT64_MAX), 64u);
    EXPECT_EQ(proof_length(UINT64_MAX - 1, UINT64_MAX), 63u);
    EXPECT_EQ(consistency_length(1, UINT64_MAX), 64u);
    EXPECT_EQ(consistency_length((std::uint64_t{1} << 63) - 1, UINT64_MAX), 65u);
    EXPECT_EQ(consistency_length(UINT64_MAX, UINT64_MAX), 0u);
}

TEST(Merkle, ProvingOutsideTheTreeFails) {
    const auto leaves = numbered(4);
    EXPECT_EQ(merkle_proof(leaves, 4).error(), ProofFault::BadIndex);
    EXPECT_EQ(merkle_proof(std::vector<Hash256>{}, 0).error(), ProofFault::BadIndex);
    EXPECT_EQ(consistency_proof(leaves, 5).error(), ProofFault::BadIndex);
    EXPECT_EQ(MerkleTree{leaves}.proof(4).error(), ProofFault::BadIndex);
    EXPECT_EQ(MerkleTree{leaves}.consistency(5).error(), ProofFault::BadIndex);
    EXPECT_TRUE(merkle_proof(leaves, 3));
    EXPECT_TRUE(consistency_proof(leaves, 4));
}

TEST(Merkle, AProofOfTheLargestCountIsChecked) {
    std::vector<Hash256> path(64);
    Hash256 hash = merkle_leaf(as_bytes("x"));
    for (const Hash256& sibling : path) hash = merkle_node(hash, sibling);
    EXPECT_TRUE(verify_proof(hash, as_bytes("x"), 0, UINT64_MAX, path));
    path.back() = hash;
    EXPECT_EQ(verify_proof(hash, as_bytes("x"), 0, UINT64_MAX, path).error(), ProofFault::Mismatch);
}

TEST(Merkle, FaultsHaveNamesAndSentences) {
    for (const auto fault : {ProofFault::BadIndex, ProofFault::WrongLength, ProofFault::Mismatch}) {
        EXPECT_FALSE(name(fault).empty());
        EXPECT_EQ(to_error(fault).kind, ErrorKind::Invalid);
        EXPECT_FALSE(to_error(fault).message.empty());
    }
}

TEST(MerkleDeathTest, AProofOfTheWrongLengthIsNotWritten) {
    Writer out;
    EXPECT_DEATH(write_proof(out, MerkleProof{0, 2, {}}), "length it must have");
    EXPECT_DEATH(write_proof(out, ConsistencyProof{1, 2, {}}), "length it must have");
    EXPECT_DEATH(write_proof(out, MerkleProof{2, 2, {}}), "a leaf is in its tree");
}

TEST(BitcoinMerkle, NothingGivesZero) {
    EXPECT_TRUE(bitcoin_merkle_root({}).root.is_zero());
    EXPECT_FALSE(bitcoin_merkle_root({}).mutated);
}

}  // namespace
}  // namespace rhizome::crypto
