// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "consensus/evidence.h"
#include "crypto/derive.h"
#include "support/test_chain.h"

/// Evidence, good and bad, signed with keys that are the same in every run.
namespace rhizome::test {

using consensus::Ballot;
using consensus::Epoch;
using consensus::Evidence;
using consensus::SignedHeader;
using consensus::Vote;

inline ledger::MemberKey chain_key_of(std::string_view node) { return node_keys_of(node).chain.public_key().bytes(); }

/// Anything of 32 bytes that differs from name to name.
template <class SomeId>
SomeId id_of_name(std::string_view name) {
    return SomeId{crypto::sha256(as_bytes(name)).view()};
}
inline ledger::ChainId sample_chain() { return id_of_name<ledger::ChainId>("the sample chain"); }

inline Ballot ballot_of(std::uint64_t source, std::uint64_t target, std::string_view block,
                        std::uint64_t generation = 0) {
    return {.generation = generation,
            .source = {Epoch{source}, id_of_name<ledger::BlockHash>("source")},
            .target = {Epoch{target}, id_of_name<ledger::BlockHash>(block)}};
}

inline Vote vote_of(std::string_view node, const Ballot& ballot, const ledger::ChainId& chain = sample_chain()) {
    const auto keys = node_keys_of(node);
    return {.voter = keys.chain.public_key().bytes(),
            .ballot = ballot,
            .signature = crypto::sign(keys.chain, digest_of(ballot, chain)).to_compact()};
}

inline SignedHeader header_of(std::string_view node, const ledger::Header& header) {
    return {.header = header,
            .signature = crypto::sign(node_keys_of(node).chain, crypto::Digest{hash_of(header).view()}).to_compact()};
}
/// A header on this parent (none: genesis), told from others by what it says about its transactions.
inline ledger::Header sample_header(std::string_view parent, std::string_view content) {
    return {.previous = parent.empty() ? ledger::BlockHash{} : id_of_name<ledger::BlockHash>(parent),
            .merkle_root = id_of_name<crypto::Hash256>(content),
            .time = Time::from_unix_seconds(1'800'000'000),
            .height = ledger::Height{7}};
}

inline Evidence accuse(std::string_view node, const Vote& first, const Vote& second) {
    return {.accused = chain_key_of(node), .proof = std::array{first, second}};
}
inline Evidence accuse(std::string_view node, const SignedHeader& first, const SignedHeader& second) {
    return {.accused = chain_key_of(node), .proof = std::array{first, second}};
}

/// The other signature that the same numbers give: (r, n − s), with high S.
inline consensus::CompactSignature malleated(consensus::CompactSignature signature) {
    const auto order = from_hex("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141").value();
    int borrow = 0;
    for (std::size_t i = 32; i-- > 0;) {
        const int digit = order[i] - signature[32 + i] - borrow;
        borrow = digit < 0 ? 1 : 0;
        signature[32 + i] = static_cast<std::uint8_t>(digit + (borrow << 8));
    }
    return signature;
}

struct EvidenceRow {
    std::string name;
    Evidence evidence{};
    std::string why{};  ///< part of the refusal; empty for good ones
};

inline std::vector<EvidenceRow> good_evidence() {
    return {
        {.name = "two targets for one epoch",
         .evidence = accuse("n1", vote_of("n1", ballot_of(4, 6, "a")), vote_of("n1", ballot_of(4, 6, "b")))},
        {.name = "two sources for one epoch",
         .evidence = accuse("n1", vote_of("n1", ballot_of(4, 6, "a")), vote_of("n1", ballot_of(5, 6, "a")))},
        {.name = "one vote encloses the other",
         .evidence = accuse("n2", vote_of("n2", ballot_of(3, 9, "a")), vote_of("n2", ballot_of(4, 8, "b")))},
        {.name = "one vote is enclosed by the other",
         .evidence = accuse("n2", vote_of("n2", ballot_of(4, 8, "b")), vote_of("n2", ballot_of(3, 9, "a")))},
        {.name = "in a later generation",
         .evidence = accuse("n1", vote_of("n1", ballot_of(4, 6, "a", 2)), vote_of("n1", ballot_of(4, 6, "b", 2)))},
        {.name = "two blocks on one parent",
         .evidence = accuse("n1", header_of("n1", sample_header("p", "a")), header_of("n1", sample_header("p", "b")))}};
}

inline std::vector<EvidenceRow> bad_evidence() {
    const Vote a = vote_of("n1", ballot_of(4, 6, "a"));
    const Vote b = vote_of("n1", ballot_of(4, 6, "b"));
    const SignedHeader x = header_of("n1", sample_header("p", "x"));
    const SignedHeader y = header_of("n1", sample_header("p", "y"));
    const auto with = [](auto one, const consensus::CompactSignature& signature) {
        one.signature = signature;
        return one;
    };
    Vote of_other = vote_of("n2", ballot_of(4, 6, "b"));
    of_other.voter = chain_key_of("n1");
    Evidence no_key = accuse("n1", x, y);
    no_key.accused = {};
    const auto elsewhere = id_of_name<ledger::ChainId>("another chain");
    return {
        {"a forged first vote", accuse("n1", with(a, {}), b), "did not sign the vote for epoch 6"},
        {"a forged second vote", accuse("n1", a, of_other), "did not sign the vote for epoch 6"},
        {"signatures exchanged", accuse("n1", with(a, b.signature), with(b, a.signature)), "did not sign the vote"},
        {"a vote with high S", accuse("n1", a, with(b, malleated(b.signature))), "did not sign the vote"},
        {"votes of another chain", accuse("n1", vote_of("n1", a.ballot, elsewhere), vote_of("n1", b.ballot, elsewhere)),
         "did not sign the vote for epoch 6 on this chain"},
        {"one vote of another chain", accuse("n1", a, vote_of("n1", b.ballot, elsewhere)), "on this chain"},
        {"votes one after the other", accuse("n1", a, vote_of("n1", ballot_of(6, 7, "b"))), "do not contradict"},
        {"votes from one source", accuse("n1", a, vote_of("n1", ballot_of(4, 7, "b"))), "do not contradict"},
        {"the same vote twice", accuse("n1", a, a), "say the same"},
        {"one ballot with another signature", accuse("n1", a, with(a, b.signature)), "say the same"},
        {"one ballot with high S", accuse("n1", a, with(a, malleated(a.signature))), "say the same"},
        {"votes of two members", accuse("n1", a, vote_of("n2", b.ballot)), "two members"},
        {"votes of somebody else", accuse("n2", a, b), "the votes are of " + to_hex(chain_key_of("n1"))},
        {"a recovery between them", accuse("n1", a, vote_of("n1", ballot_of(4, 6, "b", 1))), "two generations"},
        {"a recovery that goes back",
         accuse("n1", vote_of("n1", ballot_of(7, 9, "a")), vote_of("n1", ballot_of(3, 10, "b", 1))), "two generations"},
        {"different parents", accuse("n1", x, header_of("n1", sample_header("q", "y"))), "different parents"},
        {"two genesis blocks",
         accuse("n1", header_of("n1", sample_header("", "x")), header_of("n1", sample_header("", "y"))),
         "founds two clusters"},
        {"the same header twice", accuse("n1", x, x), "same header"},
        {"one header with another signature", accuse("n1", x, with(x, y.signature)), "same header"},
        {"one header with high S", accuse("n1", x, with(x, malleated(x.signature))), "same header"},
        {"a forged header", accuse("n1", x, with(y, {})), "did not sign the header"},
        {"a header of somebody else", accuse("n1", x, header_of("n2", y.header)), "did not sign the header"},
        {"headers of somebody else", accuse("n2", x, y), "did not sign the header"},
        {"a header with high S", accuse("n1", with(x, malleated(x.signature)), y), "did not sign the header"},
        {"no key", no_key, "did not sign the header"},
    };
}

}  // namespace rhizome::test
