// SPDX-License-Identifier: Apache-2.0
// A stranger's proof: what the decoders accept has one encoding and is judged without reading outside of it; and a
// proof the judge accepts for a tree we know is the proof that we would make ourselves.
#include <algorithm>

#include "crypto/merkle.h"
#include "support/fuzz_target.h"

using namespace rhizome;
using namespace rhizome::crypto;

namespace {

constexpr std::size_t kLeaves = 21;

const std::vector<Hash256>& leaves() {
    static const std::vector<Hash256> all = [] {
        std::vector<Hash256> made;
        for (std::uint8_t i = 0; i < kLeaves; ++i) made.push_back(sha256(ByteView{&i, 1}));
        return made;
    }();
    return all;
}

template <class Proof>
void check_encoding(ByteView input, const Reader& in, const Proof& proof) {
    Writer out;
    write_proof(out, proof);
    const ByteView read = input.first(in.position());
    ensure(std::equal(read.begin(), read.end(), out.view().begin(), out.view().end()), "a proof has one encoding");
}

}  // namespace

FUZZ_TARGET(merkle_fuzz) {
    static const MerkleTree tree{leaves()};
    const ByteView input{data, size};

    Reader in{input};
    if (const auto proof = read_merkle_proof(in)) {
        check_encoding(input, in, *proof);
        const Hash256& leaf = leaves()[proof->index % kLeaves];
        if (verify_proof(tree.root(), leaf.view(), *proof)) {
            // The count is the caller's to know: other counts may give the same path.
            ensure(proof->count != kLeaves || proof->path == tree.proof(proof->index).value().path, "no forged proof");
        }
        (void)verify_proof(tree.root(), in.rest(), proof->index + 1, proof->count, proof->path);
    }

    Reader again{input};
    if (const auto proof = read_consistency_proof(again)) {
        check_encoding(input, again, *proof);
        const std::size_t old_count = std::min<std::uint64_t>(proof->old_count, kLeaves);
        const Hash256 old_root = merkle_root(std::span<const Hash256>{leaves()}.first(old_count));
        if (verify_consistency(old_root, tree.root(), *proof)) {
            ensure(proof->new_count != kLeaves || *proof == tree.consistency(proof->old_count).value(),
                   "no forged proof");
        }
    }

    // The judge alone, with a path that need not have the right length.
    if (size >= 16) {
        std::uint64_t numbers[2];
        std::memcpy(numbers, data, sizeof numbers);
        std::vector<Hash256> path;
        Reader hashes{input.subspan(16)};
        while (path.size() < 70) {
            const auto hash = hashes.id<Hash256>();
            if (!hash) break;
            path.push_back(*hash);
        }
        ensure(!verify_proof(Hash256{}, input, numbers[0], numbers[1], path), "nothing hashes to zero");
        (void)verify_consistency(tree.root(), Hash256{}, {numbers[0], numbers[1], path});
    }
    return 0;
}
