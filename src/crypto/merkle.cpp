// SPDX-License-Identifier: Apache-2.0
#include "crypto/merkle.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/ensure.h"
#include "crypto/detail/sha256_lanes.h"

namespace rhizome::crypto {
namespace {

constexpr std::uint8_t kLeafPrefix = 0x00;
constexpr std::uint8_t kNodePrefix = 0x01;

/// The parents of `count` nodes; a last one without a sibling moves up as it is. `parents` may be the same memory.
std::size_t hash_level(const Hash256* nodes, std::size_t count, Hash256* parents) {
    const Hash256 last = nodes[count - 1];
    detail::hash_prefixed_pieces<64>(kNodePrefix, nodes->view().data(), count / 2, parents);
    if (count % 2 != 0) parents[count / 2] = last;
    return (count + 1) / 2;
}

/// The height of the smallest tree with room for `count` leaves; `count` > 0.
unsigned height_of(std::uint64_t count) { return static_cast<unsigned>(std::bit_width(count - 1)); }

/// The largest power of two below `count`: where RFC 6962 splits; `count` > 1.
std::uint64_t split_of(std::uint64_t count) { return std::uint64_t{1} << (height_of(count) - 1); }

}  // namespace

std::vector<Hash256> Leaves::hashes() const {
    std::vector<Hash256> out(count_);
    switch (kind_) {
        case Kind::Ids:
            detail::hash_prefixed_pieces<32>(kLeafPrefix, static_cast<const std::uint8_t*>(data_), count_, out.data());
            break;
        case Kind::Views: {
            const std::span leaves{static_cast<const ByteView*>(data_), count_};
            std::transform(leaves.begin(), leaves.end(), out.begin(), merkle_leaf);
            break;
        }
        case Kind::Owned: {
            const std::span leaves{static_cast<const Bytes*>(data_), count_};
            std::transform(leaves.begin(), leaves.end(), out.begin(), merkle_leaf);
            break;
        }
    }
    return out;
}

Hash256 merkle_leaf(ByteView data) { return sha256(ByteView{&kLeafPrefix, 1}, data); }

Hash256 merkle_node(const Hash256& left, const Hash256& right) {
    return sha256(ByteView{&kNodePrefix, 1}, left.view(), right.view());
}

Hash256 merkle_root(Leaves leaves) {
    if (leaves.count() == 0) return sha256(ByteView{});
    std::vector<Hash256> level = leaves.hashes();
    for (std::size_t count = level.size(); count > 1;) count = hash_level(level.data(), count, level.data());
    return level.front();
}

// ---- proofs -----------------------------------------------------------------------------------------------------

std::string_view name(ProofFault fault) {
    switch (fault) {
        case ProofFault::BadIndex: return "BadIndex";
        case ProofFault::WrongLength: return "WrongLength";
        case ProofFault::Mismatch: return "Mismatch";
    }
    unreachable("a ProofFault has a name");
}

Error to_error(ProofFault fault) {
    switch (fault) {
        case ProofFault::BadIndex: return {ErrorKind::Invalid, "the Merkle proof is for a place outside the tree"};
        case ProofFault::WrongLength: return {ErrorKind::Invalid, "the Merkle proof has the wrong number of hashes"};
        case ProofFault::Mismatch: return {ErrorKind::Invalid, "the Merkle proof leads to another root"};
    }
    unreachable("a ProofFault has a sentence");
}

MerkleTree::MerkleTree(Leaves leaves) {
    levels_.push_back(leaves.hashes());
    while (levels_.back().size() > 1) {
        const std::vector<Hash256>& below = levels_.back();
        std::vector<Hash256> level((below.size() + 1) / 2);
        hash_level(below.data(), below.size(), level.data());
        levels_.push_back(std::move(level));
    }
}

Hash256 MerkleTree::root() const { return count() == 0 ? sha256(ByteView{}) : levels_.back().front(); }

Result<MerkleProof, ProofFault> MerkleTree::proof(std::uint64_t index) const {
    if (index >= count()) return Fail{ProofFault::BadIndex};
    MerkleProof out{index, count(), {}};
    for (std::size_t height = 0; height + 1 < levels_.size(); ++height, index /= 2) {
        const std::uint64_t sibling = index ^ 1;
        if (sibling < levels_[height].size()) out.path.push_back(levels_[height][sibling]);
    }
    return out;
}

Result<ConsistencyProof, ProofFault> MerkleTree::consistency(std::uint64_t old_count) const {
    if (old_count > count()) return Fail{ProofFault::BadIndex};
    ConsistencyProof out{old_count, count(), {}};
    if (old_count == 0 || old_count == count()) return out;
    const auto subtree = [&](std::uint64_t begin, std::uint64_t end) {
        const unsigned height = height_of(end - begin);
        return levels_[height][begin >> height];
    };
    // SUBPROOF of the RFC, from the root down: at each split, go where the old tree ends and note the other side.
    std::uint64_t begin = 0, end = count();
    bool old_is_known = true;  // the part below is the whole old tree, whose root the verifier has
    while (old_count < end) {
        const std::uint64_t middle = begin + split_of(end - begin);
        if (old_count <= middle) {
            out.path.push_back(subtree(middle, end));
            end = middle;
        } else {
            out.path.push_back(subtree(begin, middle));
            begin = middle;
            old_is_known = false;
        }
    }
    if (!old_is_known) out.path.push_back(subtree(begin, end));
    std::reverse(out.path.begin(), out.path.end());
    return out;
}

Result<MerkleProof, ProofFault> merkle_proof(Leaves leaves, std::uint64_t index) {
    if (index >= leaves.count()) return Fail{ProofFault::BadIndex};
    return MerkleTree{leaves}.proof(index);
}

Result<ConsistencyProof, ProofFault> consistency_proof(Leaves leaves, std::uint64_t old_count) {
    if (old_count > leaves.count()) return Fail{ProofFault::BadIndex};
    return MerkleTree{leaves}.consistency(old_count);
}

std::size_t proof_length(std::uint64_t index, std::uint64_t count) {
    ensure(index < count, "a leaf is in its tree");
    // Below the height where the leaf's way joins that of the last leaf every node has a sibling; above, only where the
    // way turns left to a whole subtree.
    const auto joined = static_cast<unsigned>(std::bit_width(index ^ (count - 1)));
    return joined + static_cast<std::size_t>(joined < 64 ? std::popcount(index >> joined) : 0);
}

std::size_t consistency_length(std::uint64_t old_count, std::uint64_t new_count) {
    ensure(old_count <= new_count, "a tree does not shrink");
    if (old_count == 0 || old_count == new_count) return 0;
    // It is the proof of the old tree's last leaf, starting at the largest whole subtree that ends with this leaf; that
    // subtree's own hash comes first unless it is the whole old tree.
    const auto whole = static_cast<unsigned>(std::countr_zero(old_count));
    return proof_length(old_count - 1, new_count) - whole + (std::has_single_bit(old_count) ? 0 : 1);
}

Result<void, ProofFault> verify_proof(const Hash256& root, ByteView leaf, std::uint64_t index, std::uint64_t count,
                                      std::span<const Hash256> path) {
    if (index >= count) return Fail{ProofFault::BadIndex};
    if (path.size() != proof_length(index, count)) return Fail{ProofFault::WrongLength};
    Hash256 hash = merkle_leaf(leaf);
    std::size_t used = 0;
    for (std::uint64_t last = count - 1; last > 0; last >>= 1, index >>= 1) {
        if (index % 2 != 0) {
            hash = merkle_node(path[used++], hash);
        } else if (index != last) {
            hash = merkle_node(hash, path[used++]);
        }  // else the last node of its level, without a sibling
    }
    if (hash != root) return Fail{ProofFault::Mismatch};
    return {};
}

Result<void, ProofFault> verify_consistency(const Hash256& old_root, const Hash256& new_root,
                                            const ConsistencyProof& proof) {
    const auto& [old_count, new_count, path] = proof;
    if (old_count > new_count) return Fail{ProofFault::BadIndex};
    if (path.size() != consistency_length(old_count, new_count)) return Fail{ProofFault::WrongLength};
    const auto check = [](bool same) -> Result<void, ProofFault> {
        if (!same) return Fail{ProofFault::Mismatch};
        return {};
    };
    if (old_count == 0) {
        const Hash256 empty = sha256(ByteView{});
        return check(old_root == empty && (new_count > 0 || new_root == empty));
    }
    if (old_count == new_count) return check(old_root == new_root);

    // Both roots are rebuilt from the largest whole subtree at the end of the old tree (RFC 9162, 2.1.4.2).
    const auto whole = static_cast<unsigned>(std::countr_zero(old_count));
    std::uint64_t index = (old_count - 1) >> whole, last = (new_count - 1) >> whole;
    std::size_t used = 0;
    const Hash256 start = std::has_single_bit(old_count) ? old_root : path[used++];
    Hash256 rebuilt_old = start, rebuilt_new = start;
    for (; last > 0; last >>= 1, index >>= 1) {
        if (index % 2 != 0) {
            const Hash256& left = path[used++];
            rebuilt_old = merkle_node(left, rebuilt_old);
            rebuilt_new = merkle_node(left, rebuilt_new);
        } else if (index != last) {
            rebuilt_new = merkle_node(rebuilt_new, path[used++]);
        }
    }
    return check(rebuilt_old == old_root && rebuilt_new == new_root);
}

// ---- bytes ------------------------------------------------------------------------------------------------------

namespace {

Result<std::vector<Hash256>, DecodeFault> read_path(Reader& in, std::size_t length) {
    TRY(const std::size_t count, in.bounded_count(length, 65, Hash256::kSize));
    std::vector<Hash256> path(count);
    for (Hash256& hash : path) {
        TRY(hash, in.id<Hash256>());
    }
    return path;
}

void write_path(Writer& out, std::uint64_t first, std::uint64_t second, const std::vector<Hash256>& path) {
    out.varint(first).varint(second);
    for (const Hash256& hash : path) out.id(hash);
}

}  // namespace

void write_proof(Writer& out, const MerkleProof& proof) {
    ensure(proof.path.size() == proof_length(proof.index, proof.count), "a proof has the length it must have");
    write_path(out, proof.index, proof.count, proof.path);
}

void write_proof(Writer& out, const ConsistencyProof& proof) {
    ensure(proof.path.size() == consistency_length(proof.old_count, proof.new_count),
           "a proof has the length it must have");
    write_path(out, proof.old_count, proof.new_count, proof.path);
}

Result<MerkleProof, DecodeFault> read_merkle_proof(Reader& in) {
    MerkleProof proof;
    TRY(proof.index, in.varint());
    TRY(proof.count, in.varint());
    if (proof.index >= proof.count) return Fail{DecodeFault::BadValue};
    TRY(proof.path, read_path(in, proof_length(proof.index, proof.count)));
    return proof;
}

Result<ConsistencyProof, DecodeFault> read_consistency_proof(Reader& in) {
    ConsistencyProof proof;
    TRY(proof.old_count, in.varint());
    TRY(proof.new_count, in.varint());
    if (proof.old_count > proof.new_count) return Fail{DecodeFault::BadValue};
    TRY(proof.path, read_path(in, consistency_length(proof.old_count, proof.new_count)));
    return proof;
}

// ---- Bitcoin's tree ---------------------------------------------------------------------------------------------

BitcoinRoot bitcoin_merkle_root(std::span<const Hash256> txids) {
    if (txids.empty()) return {};
    std::vector<Hash256> level(txids.begin(), txids.end());
    bool mutated = false;
    while (level.size() > 1) {
        for (std::size_t i = 0; i + 1 < level.size(); i += 2) mutated = mutated || level[i] == level[i + 1];
        if (level.size() % 2 != 0) level.push_back(Hash256{level.back()});
        std::vector<Hash256> once(level.size() / 2);
        sha256_many({level.front().view().data(), level.size() * Hash256::kSize}, 2 * Hash256::kSize, once);
        level.resize(once.size());
        sha256_many({once.front().view().data(), once.size() * Hash256::kSize}, Hash256::kSize, level);
    }
    return {level.front(), mutated};
}

}  // namespace rhizome::crypto
