// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "crypto/keys.h"
#include "script/key_resolver.h"

namespace rhizome::cli {

/// Public keys that have a name here: what people may write in scripts, and what is shown to them instead of bytes.
class KnownKeys final : public script::KeyResolver {
public:
    void add(std::string name, const crypto::PublicKey& key) { keys_.emplace_back(std::move(name), key); }

    [[nodiscard]] std::optional<crypto::PublicKey> find(std::string_view name) const override;
    [[nodiscard]] std::vector<std::string> names() const override;
    /// What an item on the stack is called: `alice`, `hash of alice`; empty when it is nobody's.
    [[nodiscard]] std::string name_of(ByteView item) const;

private:
    std::vector<std::pair<std::string, crypto::PublicKey>> keys_;
};

}  // namespace rhizome::cli
