// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.h"

namespace rhizome::crypto {

/// Why a key or a signature is refused. Every node gives the same answer for the same bytes: a refusal is part of what
/// is agreed on.
enum class SignatureFault : unsigned char {
    BadSecret,       ///< not 32 bytes, or a number that is no secret key
    BadKey,          ///< not the one encoding of a point that may be a public key
    BadLength,       ///< a signature of fixed size has another
    BadDer,          ///< not DER as BIP 66 demands it
    OutOfRange,      ///< a number of the signature is zero, or not below the group's order
    HighS,           ///< the second of the two forms that every ECDSA signature has
    WrongSignature,  ///< well formed, but not made by this key for this digest or message
};

std::string_view name(SignatureFault fault);
Error to_error(SignatureFault fault);

}  // namespace rhizome::crypto
