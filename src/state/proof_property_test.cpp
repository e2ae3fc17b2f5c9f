// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "state/proof.h"
#include "state/tree.h"
#include "support/state_model.h"

namespace rhizome::state {
namespace {

using test::Model;

struct Given {
    Model model;
    StateView view;
};
Given random_state(Random& random) {
    Given given;
    Batch batch{StateView{}};
    test::change(batch, given.model, random, random.below(150));
    given.view = std::move(batch).finish().view;
    return given;
}

Bytes with_flipped_bit(Bytes bytes, Random& random) {
    bytes[random.below(bytes.size())] ^= static_cast<std::uint8_t>(1u << random.below(8));
    return bytes;
}

RC_GTEST_PROP(ProofProperty, ShowsWhatIsThereAndWhatIsNot, (std::uint64_t seed)) {
    Random random{seed};
    const Given given = random_state(random);
    for (int i = 0; i < 30; ++i) {
        const Path path = test::random_path(random);
        const Proof proof = prove(given.view, path);
        const auto decoded = decode_proof(encode(proof));
        RC_ASSERT(decoded.has_value() && *decoded == proof);
        const auto finding = verify(given.view.root(), path, proof);
        RC_ASSERT(finding.has_value());
        const auto at = given.model.find(path.key());
        if (at == given.model.end())
            RC_ASSERT(std::holds_alternative<Absence>(*finding));
        else
            RC_ASSERT(std::get<Presence>(*finding).entry == summarise(*at->second));
    }
    for (const auto& [key, entry] : given.model)
        RC_ASSERT(
            std::get<Presence>(*verify(given.view.root(), entry->path(), prove(given.view, entry->path()))).entry ==
            summarise(*entry));
}

RC_GTEST_PROP(ProofProperty, AFlippedBitShowsNothing, (std::uint64_t seed)) {
    Random random{seed};
    const Given given = random_state(random);
    const Path path = test::random_path(random);
    const Bytes good = encode(prove(given.view, path));
    for (int i = 0; i < 50; ++i) {
        const auto bad = decode_proof(with_flipped_bit(good, random));
        if (bad) RC_ASSERT(!verify(given.view.root(), path, *bad).has_value());
    }
    Hash256 root = given.view.root();
    root.writable()[random.below(32)] ^= static_cast<std::uint8_t>(1u << random.below(8));
    RC_ASSERT(!verify(root, path, prove(given.view, path)).has_value());
}

RC_GTEST_PROP(ProofProperty, ShowsAllUnderAPrefix, (std::uint64_t seed)) {
    Random random{seed};
    const Given given = random_state(random);
    for (int i = 0; i < 10; ++i) {
        const Prefix prefix = test::random_prefix(random);
        std::vector<Summary> expected;
        for (const auto& [key, entry] : given.model)
            if (prefix.covers(key)) expected.push_back(summarise(*entry));

        const auto proof = prove_under(given.view, prefix, 1000);
        RC_ASSERT(proof.has_value());
        RC_ASSERT(*decode_prefix_proof(encode(*proof), 1000) == *proof);
        RC_ASSERT(*verify_under(given.view.root(), prefix, *proof) == expected);
        if (expected.size() > 1) RC_ASSERT(!prove_under(given.view, prefix, expected.size() - 1));

        const Bytes good = encode(*proof);
        for (int flips = 0; flips < 20; ++flips) {
            const auto bad = decode_prefix_proof(with_flipped_bit(good, random), 1000);
            if (bad) RC_ASSERT(!verify_under(given.view.root(), prefix, *bad).has_value());
        }
        // Leaving one out, or adding one, is noticed.
        if (!expected.empty()) {
            PrefixProof less = *proof;
            less.leaves.erase(less.leaves.begin() + static_cast<std::ptrdiff_t>(random.below(less.leaves.size())));
            RC_ASSERT(!verify_under(given.view.root(), prefix, less).has_value());
        }
        PrefixProof more = *proof;
        const EntryPtr extra = test::entry_at(test::random_path(random), 99);
        const auto at = std::lower_bound(more.leaves.begin(), more.leaves.end(), extra->path(),
                                         [](const Summary& leaf, const Path& path) { return leaf.path < path; });
        more.leaves.insert(at, summarise(*extra));
        RC_ASSERT(!verify_under(given.view.root(), prefix, more).has_value());
    }
}

RC_GTEST_PROP(ProofProperty, AProofOfOnePathSaysNothingAboutAnother, (std::uint64_t seed)) {
    Random random{seed};
    const Given given = random_state(random);
    for (int i = 0; i < 30; ++i) {
        const Path asked = test::random_path(random), other = test::random_path(random);
        const auto finding = verify(given.view.root(), asked, prove(given.view, other));
        // Accepted only where the two end at the same leaf, and then with the right answer.
        if (finding) RC_ASSERT(std::holds_alternative<Presence>(*finding) == given.view.contains(asked));
    }
}

}  // namespace
}  // namespace rhizome::state
