// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/bytes.h"
#include "base/codec.h"
#include "base/ids.h"
#include "base/result.h"
#include "crypto/hash.h"

/// Merkle trees as in RFC 6962: leaf = H(0x00 ‖ data), node = H(0x01 ‖ left ‖ right), split at the largest power of two
/// below the count, root of no leaves = H(""). The prefixes keep a node from being shown as a leaf; nothing is ever
/// duplicated, so two different lists have different roots.
namespace rhizome::crypto {

/// The data of the leaves, borrowed for the call: ids or hashes of 32 bytes (the fast way), or byte strings.
class Leaves {
public:
    template <class Tag>
    Leaves(std::span<const Id<Tag, 32>> ids) : data_(ids.data()), count_(ids.size()), kind_(Kind::Ids) {
        static_assert(sizeof(Id<Tag, 32>) == 32 && std::is_trivially_copyable_v<Id<Tag, 32>>);
    }
    template <class Tag>
    Leaves(const std::vector<Id<Tag, 32>>& ids) : Leaves(std::span<const Id<Tag, 32>>{ids}) {}
    Leaves(std::span<const ByteView> leaves) : data_(leaves.data()), count_(leaves.size()), kind_(Kind::Views) {}
    Leaves(const std::vector<ByteView>& leaves) : Leaves(std::span<const ByteView>{leaves}) {}
    Leaves(std::span<const Bytes> leaves) : data_(leaves.data()), count_(leaves.size()), kind_(Kind::Owned) {}
    Leaves(const std::vector<Bytes>& leaves) : Leaves(std::span<const Bytes>{leaves}) {}

    [[nodiscard]] std::size_t count() const { return count_; }
    /// The hashes of all leaves, in order.
    [[nodiscard]] std::vector<Hash256> hashes() const;

private:
    enum class Kind : unsigned char { Ids, Views, Owned };
    const void* data_;
    std::size_t count_;
    Kind kind_;
};

Hash256 merkle_leaf(ByteView data);
Hash256 merkle_node(const Hash256& left, const Hash256& right);
Hash256 merkle_root(Leaves leaves);

// ---- proofs -----------------------------------------------------------------------------------------------------

/// What is wrong with a proof.
enum class ProofFault : unsigned char {
    BadIndex,     ///< the index is not below the count; or a tree is said to have shrunk
    WrongLength,  ///< the path has more or fewer hashes than the index and the counts call for
    Mismatch,     ///< the path leads to another root
};
std::string_view name(ProofFault fault);
Error to_error(ProofFault fault);

/// That a leaf stands at `index` in a tree of `count` leaves. `path` goes from the leaf's sibling up (RFC 6962, 2.1.1).
struct MerkleProof {
    std::uint64_t index = 0;
    std::uint64_t count = 0;
    std::vector<Hash256> path;
    friend bool operator==(const MerkleProof&, const MerkleProof&) = default;
};

/// That the first `old_count` of `new_count` leaves are a tree known before (RFC 6962, 2.1.2).
struct ConsistencyProof {
    std::uint64_t old_count = 0;
    std::uint64_t new_count = 0;
    std::vector<Hash256> path;
    friend bool operator==(const ConsistencyProof&, const ConsistencyProof&) = default;
};

/// All nodes of a tree, for whoever makes more than one proof from it: hashing costs as much as one root, a proof then
/// only copies. Holds 64 bytes a leaf.
class MerkleTree {
public:
    explicit MerkleTree(Leaves leaves);

    [[nodiscard]] std::size_t count() const { return levels_.front().size(); }
    [[nodiscard]] Hash256 root() const;
    /// Fails with BadIndex.
    [[nodiscard]] Result<MerkleProof, ProofFault> proof(std::uint64_t index) const;
    [[nodiscard]] Result<ConsistencyProof, ProofFault> consistency(std::uint64_t old_count) const;

private:
    /// levels_[0] are the leaves' hashes. In levels_[h], the i-th node covers the leaves from i · 2^h on; a last node
    /// without a sibling stands in the next level unchanged, which is the same tree as splitting from above.
    std::vector<std::vector<Hash256>> levels_;
};

/// One proof from its leaves; hashes the whole tree.
Result<MerkleProof, ProofFault> merkle_proof(Leaves leaves, std::uint64_t index);
Result<ConsistencyProof, ProofFault> consistency_proof(Leaves leaves, std::uint64_t old_count);

/// Does `path` show that the leaf with this data stands at `index` under `root`? The caller must know `count` (from the
/// block, from a signed tree head): a proof does not show it.
Result<void, ProofFault> verify_proof(const Hash256& root, ByteView leaf, std::uint64_t index, std::uint64_t count,
                                      std::span<const Hash256> path);
inline Result<void, ProofFault> verify_proof(const Hash256& root, ByteView leaf, const MerkleProof& proof) {
    return verify_proof(root, leaf, proof.index, proof.count, proof.path);
}

/// Does `proof` show that the tree under `new_root` begins with all leaves of the one under `old_root`? Every tree
/// begins with the empty one, whose root is H("").
Result<void, ProofFault> verify_consistency(const Hash256& old_root, const Hash256& new_root,
                                            const ConsistencyProof& proof);

/// How many hashes such a proof has; `index` < `count`, `old_count` ≤ `new_count`. At most 64 and 65.
std::size_t proof_length(std::uint64_t index, std::uint64_t count);
std::size_t consistency_length(std::uint64_t old_count, std::uint64_t new_count);

// ---- bytes ------------------------------------------------------------------------------------------------------
// Two varints (index and count; old and new count), then the hashes. Their number follows from the two, so it is not
// written and each proof has one encoding. The path of what is written has the length it must have.

void write_proof(Writer& out, const MerkleProof& proof);
void write_proof(Writer& out, const ConsistencyProof& proof);
/// Fails with BadValue when the index is not below the count, or the old count is above the new.
Result<MerkleProof, DecodeFault> read_merkle_proof(Reader& in);
Result<ConsistencyProof, DecodeFault> read_consistency_proof(Reader& in);

// ---- Bitcoin's tree ---------------------------------------------------------------------------------------------

struct BitcoinRoot {
    Hash256 root;
    bool mutated = false;  ///< a pair of equal nodes: another, longer or shorter list has this root too
};

/// Bitcoin's tree over transaction ids (double SHA-256, internal byte order), for the Bitcoin forms we can print. Where
/// a level has an odd number of nodes the last is paired with itself, so a list and the same list with its end repeated
/// have one root (CVE-2012-2459). For that reason nothing of ours is built on it; whoever reads such a tree refuses it
/// when `mutated`. No leaves give zero.
BitcoinRoot bitcoin_merkle_root(std::span<const Hash256> txids);

}  // namespace rhizome::crypto
