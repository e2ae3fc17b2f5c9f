// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/random.h"
#include "crypto/merkle.h"

namespace rhizome::crypto {
namespace {

/// Different leaves: equal neighbours have honest proofs for each other's place.
std::vector<Hash256> any_leaves(std::size_t least) {
    std::vector<Hash256> leaves(*rc::gen::inRange<std::size_t>(least, 200));
    Random random{*rc::gen::arbitrary<std::uint64_t>()};
    for (Hash256& leaf : leaves) random.fill(leaf.writable());
    return leaves;
}

void flip_any_bit(Hash256& hash) {
    const auto bit = *rc::gen::inRange<std::size_t>(0, 256);
    hash.writable()[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
}

RC_GTEST_PROP(MerkleProperty, EveryProofVerifiesAndNoFlippedBitDoes, ()) {
    const auto leaves = any_leaves(1);
    const MerkleTree tree{leaves};
    const Hash256 root = tree.root();
    const auto index = *rc::gen::inRange<std::uint64_t>(0, leaves.size());
    const MerkleProof proof = tree.proof(index).value();
    Hash256 leaf = leaves[index];
    RC_ASSERT(verify_proof(root, leaf.view(), proof).has_value());

    Hash256 wrong_root = root;
    flip_any_bit(wrong_root);
    RC_ASSERT(verify_proof(wrong_root, leaf.view(), proof) == (Result<void, ProofFault>{Fail{ProofFault::Mismatch}}));
    MerkleProof wrong_index = proof;
    wrong_index.index ^= std::uint64_t{1} << *rc::gen::inRange(0, 64);
    RC_ASSERT(!verify_proof(root, leaf.view(), wrong_index));
    if (!proof.path.empty()) {
        MerkleProof wrong_path = proof;
        flip_any_bit(wrong_path.path[*rc::gen::inRange<std::size_t>(0, proof.path.size())]);
        RC_ASSERT(!verify_proof(root, leaf.view(), wrong_path));
        MerkleProof short_path = proof;
        short_path.path.pop_back();
        RC_ASSERT(verify_proof(root, leaf.view(), short_path) ==
                  (Result<void, ProofFault>{Fail{ProofFault::WrongLength}}));
    }
    flip_any_bit(leaf);
    RC_ASSERT(!verify_proof(root, leaf.view(), proof));
}

RC_GTEST_PROP(MerkleProperty, EveryPrefixIsConsistentAndNoFlippedBitIs, ()) {
    const auto leaves = any_leaves(1);
    const MerkleTree tree{leaves};
    const auto old_count = *rc::gen::inRange<std::size_t>(0, leaves.size() + 1);
    const Hash256 old_root = merkle_root(std::span<const Hash256>{leaves}.first(old_count));
    const ConsistencyProof proof = tree.consistency(old_count).value();
    RC_ASSERT(verify_consistency(old_root, tree.root(), proof).has_value());

    Hash256 wrong = old_root;
    flip_any_bit(wrong);
    RC_ASSERT(!verify_consistency(wrong, tree.root(), proof));
    if (old_count > 0) {
        wrong = tree.root();
        flip_any_bit(wrong);
        RC_ASSERT(!verify_consistency(old_root, wrong, proof));
    }
    if (!proof.path.empty()) {
        ConsistencyProof wrong_path = proof;
        flip_any_bit(wrong_path.path[*rc::gen::inRange<std::size_t>(0, proof.path.size())]);
        RC_ASSERT(!verify_consistency(old_root, tree.root(), wrong_path));
    }
    ConsistencyProof wrong_old = proof;
    wrong_old.old_count ^= std::uint64_t{1} << *rc::gen::inRange(0, 64);
    RC_ASSERT(!verify_consistency(old_root, tree.root(), wrong_old));
}

RC_GTEST_PROP(MerkleProperty, ProofsAreReadBack, ()) {
    const auto leaves = any_leaves(1);
    const MerkleTree tree{leaves};
    const MerkleProof proof = tree.proof(*rc::gen::inRange<std::uint64_t>(0, leaves.size())).value();
    const ConsistencyProof growth = tree.consistency(*rc::gen::inRange<std::uint64_t>(0, leaves.size() + 1)).value();
    Writer out;
    write_proof(out, proof);
    write_proof(out, growth);
    Reader in{out.view()};
    RC_ASSERT(read_merkle_proof(in) == (Result<MerkleProof, DecodeFault>{proof}));
    RC_ASSERT(read_consistency_proof(in) == (Result<ConsistencyProof, DecodeFault>{growth}));
    RC_ASSERT(in.finish().has_value());
}

}  // namespace
}  // namespace rhizome::crypto
