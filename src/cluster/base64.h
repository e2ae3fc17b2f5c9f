// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace rhizome::cluster {

/// RFC 4648 with padding: how documents hold bytes.
std::string base64(ByteView bytes);
/// Back again; nothing for what is no base64, has no padding where it belongs, or bits behind its end.
std::optional<Bytes> from_base64(std::string_view text);

/// The same with `-` and `_` and without padding: tokens.
std::string base64url(ByteView bytes);
std::optional<Bytes> from_base64url(std::string_view text);

}  // namespace rhizome::cluster
