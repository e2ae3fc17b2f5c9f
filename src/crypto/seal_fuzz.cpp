// SPDX-License-Identifier: Apache-2.0
// A stranger's envelopes. An even first byte: the rest is an envelope as it stands. Odd: an envelope of ours, cut and
// changed as the rest says, which must not open when it differs.
#include <array>

#include "crypto/seal.h"
#include "support/fuzz_target.h"

using namespace rhizome;
using namespace rhizome::crypto;

namespace {

const X25519Secret& mine() {
    static const X25519Secret secret{SecretArray<32>{}};
    return secret;
}

const Bytes& ours() {
    static const Bytes envelope = [] {
        X25519Public second;
        second.writable()[0] = 9;
        const std::array recipients{mine().public_key(), second};
        const std::array<std::uint8_t, kSealEntropyBytes> entropy{};
        return *seal(as_bytes("what nobody may know"), recipients, as_bytes("place"), entropy);
    }();
    return envelope;
}

}  // namespace

FUZZ_TARGET(seal_fuzz) {
    if (size == 0) return 0;
    ByteView rest{data + 1, size - 1};
    if (data[0] % 2 == 0) {
        const auto opened = open(rest, mine(), as_bytes("place"));
        ensure(!opened || opened->size() < rest.size(), "content is shorter than its envelope");
        return 0;
    }
    Bytes envelope = ours();
    while (rest.size() >= 3) {
        const std::size_t at = (rest[0] | std::size_t{rest[1]} << 8) % (envelope.size() + 1);
        if (at == envelope.size())
            envelope.push_back(rest[2]);
        else if (rest[2] == 0)
            envelope.erase(envelope.begin() + static_cast<std::ptrdiff_t>(at));
        else
            envelope[at] ^= rest[2];
        if (envelope.empty()) break;
        rest = rest.subspan(3);
    }
    ensure(open(envelope, mine(), as_bytes("place")).has_value() == (envelope == ours()),
           "an envelope opens exactly when it is unchanged");
    return 0;
}
