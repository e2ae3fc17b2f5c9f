// SPDX-License-Identifier: Apache-2.0
#include "base/ensure.h"
#include "consensus/attestations.h"
#include "consensus/own_votes.h"
#include "support/fuzz_target.h"

using namespace rhizome;

FUZZ_TARGET(attestations_fuzz) {
    const ByteView bytes{data, size};
    if (const auto votes = consensus::decode_votes(bytes, 1'000))
        ensure(consensus::encode_votes(*votes) == to_bytes(bytes), "a set of votes has one encoding");
    if (const auto own = consensus::OwnVotes::decode(bytes, true); own && !bytes.empty())
        ensure(consensus::OwnVotes::decode(own->encode(), true) == *own, "a vote record is read as it was written");
    return 0;
}
