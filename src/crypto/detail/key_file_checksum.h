// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "crypto/hash.h"

namespace rhizome::crypto::detail {

/// The check value that a key file with these members should have; a member "checksum" is left out. Apart so that tests
/// and the fuzzer can get past it.
Hash256 key_file_checksum(json::Object members);

}  // namespace rhizome::crypto::detail
