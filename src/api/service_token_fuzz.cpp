// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include "api/service_token.h"
#include "support/fuzz_target.h"

/// A token that can be read says the same when it is written again.
FUZZ_TARGET(service_token_fuzz) {
    using namespace rhizome;
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const auto read = api::read_token(text);
    if (!read) return 0;
    const auto again = api::read_token(api::token_text(api::signing_text(read->claims, read->key_id), read->signature));
    ensure(again.has_value() && again->claims == read->claims && again->key_id == read->key_id,
           "claims survive their text");
    (void)api::check_claims(read->claims, read->claims.chain, read->claims.audiences, read->claims.issued);
    return 0;
}
