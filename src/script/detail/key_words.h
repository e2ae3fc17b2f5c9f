// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "crypto/keys.h"
#include "script/detail/words.h"
#include "script/key_resolver.h"

namespace rhizome::script::detail {

/// The key of that name, which may be written as the thesis does: `hash_public_key_owner_1`,
/// `hash_public_key_from_admin`. Looked up as it stands, then without what stands before the name.
Result<crypto::PublicKey, TextFault> resolve_key(const Word& word, const KeyResolver* keys);

}  // namespace rhizome::script::detail
