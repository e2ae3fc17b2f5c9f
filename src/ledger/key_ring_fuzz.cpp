// SPDX-License-Identifier: Apache-2.0
// A KeyRing from a stranger: what is read has one form, and is small.
#include "ledger/key_ring.h"

#include "base/ensure.h"
#include "support/fuzz_target.h"

using namespace rhizome;
using namespace rhizome::ledger;

FUZZ_TARGET(key_ring_fuzz) {
    const auto document = json::parse(as_text({data, size}));
    if (!document) return 0;
    const auto ring = read_key_ring(*document);
    if (!ring) return 0;
    json::Value again{to_document(*ring, {})};
    again["metadata"]["name"] = document->text_at({"metadata", "name"});
    ensure(again == *document, "a KeyRing has one form");
    ensure(ring->holders.size() <= kKeyRingHoldersMax, "holders are bounded");
    return 0;
}
