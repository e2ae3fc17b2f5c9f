// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "base/bounded.h"
#include "base/json.h"
#include "state/document.h"

namespace rhizome::state {

/// Parsed forms of documents that are asked for often, at most `bytes_max` of memory together. The tree keeps text
/// only: a parsed document is several times its size, and most documents are only ever copied out.
///
/// Goes by the hash of the text, so equal documents at different paths or in different states share one parsed form.
/// Belongs to whoever reads; confined to one thread, the values it hands out are not.
class DocumentCache {
public:
    explicit DocumentCache(std::size_t bytes_max) : values_(bytes_max) {}

    /// The parsed document. Fails only for an entry whose bytes are no JSON, which plain ones may be.
    Result<std::shared_ptr<const json::Value>, json::ParseError> parsed(const Entry& entry);

    [[nodiscard]] std::size_t bytes() const { return values_.cost(); }
    [[nodiscard]] std::size_t size() const { return values_.size(); }

private:
    LruCache<Hash256, std::shared_ptr<const json::Value>> values_;
};

/// About how much memory a value takes.
std::size_t memory_of(const json::Value& value);

}  // namespace rhizome::state
