// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace rhizome {

/// RFC 4648 with padding: how documents hold bytes.
std::string to_base64(ByteView bytes);
/// The bytes of exactly what `to_base64` gives: nothing for other letters, missing padding, line breaks, or bits behind
/// the last byte that are not zero.
std::optional<Bytes> from_base64(std::string_view text);

}  // namespace rhizome
