// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crypto/keys.h"

namespace rhizome::script {

/// Names of keys to keys, handed in by whoever has a key store. Without one only keys in hexadecimal are understood.
class KeyResolver {
public:
    virtual ~KeyResolver() = default;

    [[nodiscard]] virtual std::optional<crypto::PublicKey> find(std::string_view name) const = 0;
    /// All names, for suggestions; may be none.
    [[nodiscard]] virtual std::vector<std::string> names() const { return {}; }
};

}  // namespace rhizome::script
