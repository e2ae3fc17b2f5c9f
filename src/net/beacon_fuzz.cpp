// SPDX-License-Identifier: Apache-2.0
// Whatever comes from the local network is refused, or was signed by the key that it names and has one form.
#include "net/beacon_message.h"

#include "base/ensure.h"
#include "support/fuzz_target.h"

using namespace rhizome;

FUZZ_TARGET(beacon_fuzz) {
    static const auto key = crypto::SecretKey::from_bytes(Bytes(32, 7));
    const ByteView bytes{data, size};
    const auto message = net::decode_beacon(bytes);
    if (message) {
        ensure(size == net::kBeaconBytes, "a beacon has one size");
        const Bytes again = net::encode_beacon(*message, *key);
        const std::size_t body = net::kBeaconBytes - crypto::Signature::kCompactSize;
        ensure(std::equal(again.begin(), again.begin() + body, bytes.begin()), "there is one encoding");
        net::BeaconGate gate{message->chain, {}};
        ensure(gate.hear(bytes, "10.0.0.1", message->time).has_value() == net::is_beacon_signed(*message, bytes),
               "what is let in was signed");
    }
    return 0;
}
