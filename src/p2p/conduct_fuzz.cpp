// SPDX-License-Identifier: Apache-2.0
#include "base/ensure.h"
#include "p2p/conduct.h"
#include "support/fuzz_target.h"

using namespace rhizome;

FUZZ_TARGET(conduct_fuzz) {
    const auto conduct = p2p::Conduct::decode({data, size});
    if (!conduct) return 0;
    ensure(conduct->size() <= p2p::Conduct::kRecordsMax, "bans are bounded");
    // Those that are over are not written again.
    const Bytes written = conduct->encode(Time{});
    const auto again = p2p::Conduct::decode(written);
    ensure(again && again->encode(Time{}) == written, "what is written is read");
    return 0;
}
