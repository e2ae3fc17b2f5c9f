// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/evidence_samples.h"

namespace rhizome::consensus {
namespace {

/// Ballots from a small world, so that many pairs contradict each other.
Ballot any_ballot() {
    const auto target = *rc::gen::inRange<std::uint64_t>(1, 7);
    const auto source = *rc::gen::inRange<std::uint64_t>(0, target);
    const auto block = *rc::gen::element<std::string>("a", "b");
    return test::ballot_of(source, target, block, *rc::gen::inRange<std::uint64_t>(0, 2));
}

RC_GTEST_PROP(EvidenceProperty, TwoVotesAccuseExactlyWhenTheyContradictEachOther, ()) {
    const Vote first = test::vote_of(*rc::gen::element<std::string>("n1", "n2"), any_ballot());
    const Vote second = test::vote_of("n1", any_ballot());
    const Evidence evidence = test::accuse("n1", first, second);
    const CurveSignatures curves;
    const bool taken = check_evidence(evidence, test::sample_chain(), curves).has_value();
    RC_ASSERT(taken == contradiction(first, second).has_value());
    RC_CLASSIFY(taken, "contradicting");
    const Evidence turned = test::accuse("n1", second, first);
    RC_ASSERT(check_evidence(turned, test::sample_chain(), curves).has_value() == taken);
    RC_ASSERT(from_document(to_document(evidence)).value() == evidence);
}

/// What a node that keeps to own_votes.h signs never accuses it: targets rise, sources do not fall, within one
/// generation; a higher generation begins anew.
RC_GTEST_PROP(EvidenceProperty, WhoKeepsItsRecordIsNeverAccused, ()) {
    std::vector<Vote> signed_votes;
    std::uint64_t generation = 0, source = 0, target = 0;
    const CurveSignatures curves;
    for (int i = 0; i < 6; ++i) {
        if (*rc::gen::inRange(0, 4) == 0) {
            ++generation;
            source = *rc::gen::inRange<std::uint64_t>(0, 3);
            target = source;
        }
        source = *rc::gen::inRange<std::uint64_t>(source, target + 1);
        target = std::max(target, source) + *rc::gen::inRange<std::uint64_t>(1, 3);
        const auto block = *rc::gen::element<std::string>("a", "b", "c");
        signed_votes.push_back(test::vote_of("n1", test::ballot_of(source, target, block, generation)));
    }
    for (const Vote& first : signed_votes)
        for (const Vote& second : signed_votes)
            RC_ASSERT(!check_evidence(test::accuse("n1", first, second), test::sample_chain(), curves));
}

}  // namespace
}  // namespace rhizome::consensus
