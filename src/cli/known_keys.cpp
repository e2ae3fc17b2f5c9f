// SPDX-License-Identifier: Apache-2.0
#include "cli/known_keys.h"

namespace rhizome::cli {

std::optional<crypto::PublicKey> KnownKeys::find(std::string_view name) const {
    for (const auto& [known, key] : keys_) {
        if (known == name) return key;
    }
    return std::nullopt;
}

std::vector<std::string> KnownKeys::names() const {
    std::vector<std::string> all;
    for (const auto& [name, key] : keys_) all.push_back(name);
    return all;
}

std::string KnownKeys::name_of(ByteView item) const {
    for (const auto& [name, key] : keys_) {
        if (as_text(item) == as_text(key.bytes())) return name;
        if (as_text(item) == as_text(key.address().view())) return "hash of " + name;
    }
    return {};
}

}  // namespace rhizome::cli
