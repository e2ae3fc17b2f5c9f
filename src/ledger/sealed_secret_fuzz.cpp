// SPDX-License-Identifier: Apache-2.0
// A Secret from a stranger: judging and opening it ends, whatever its box; and what was sealed comes back.
#include "ledger/sealed_secret.h"

#include "base/ensure.h"
#include "support/fuzz_target.h"

using namespace rhizome;
using namespace rhizome::ledger;

FUZZ_TARGET(sealed_secret_fuzz) {
    const auto document = json::parse(as_text({data, size}));
    if (!document || !document->is_object()) return 0;
    const crypto::X25519Secret key{SecretArray<32>{}};
    const bool good = check_secret(*document).has_value();
    const auto named = key_of_secret(*document);
    ensure(!good || named.has_value(), "what the chain takes names its key");
    (void)open_secret(*document, key, {});
    if (document->find("sealed") != nullptr) return 0;
    const std::array<std::uint8_t, 32> entropy{};
    const auto sealed = seal_secret(*document, key.public_key(), {}, entropy);
    if (!sealed) return 0;
    ensure(sealed->find("data") == nullptr, "no data are left in clear");
    const auto opened = open_secret(*sealed, key, {});
    ensure(opened.has_value(), "what was sealed opens");
    return 0;
}
