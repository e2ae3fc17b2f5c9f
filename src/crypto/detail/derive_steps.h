// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "base/bytes.h"
#include "crypto/keys.h"

/// Apart because no seed is known that needs a second try: a test hands in bytes that do.
namespace rhizome::crypto::detail {

/// The secret key of the first candidate that is one, counted from 0.
SecretKey first_secret_key(const std::function<SecretArray<32>(std::uint8_t counter)>& candidate);

}  // namespace rhizome::crypto::detail
