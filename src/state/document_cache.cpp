// SPDX-License-Identifier: Apache-2.0
#include "state/document_cache.h"

namespace rhizome::state {
namespace {

/// What an allocation costs beside its bytes.
constexpr std::size_t kAllocation = 16;

/// Strings of up to 15 bytes live inside their object.
std::size_t beyond_inline(std::size_t text) { return text > 15 ? text + kAllocation : 0; }

/// Beside the value's own size, which its container counts. As deep as the parser allows, so recursion is bounded.
std::size_t held_by(const json::Value& value) {
    std::size_t bytes = 0;
    if (const std::string* text = value.if_string()) {
        bytes = beyond_inline(text->size());
    } else if (const json::Number* number = value.if_number()) {
        bytes = beyond_inline(number->text().size());
    } else if (const json::Array* array = value.if_array()) {
        bytes = kAllocation + array->size() * sizeof(json::Value);
        for (const json::Value& element : *array) bytes += held_by(element);
    } else if (const json::Object* object = value.if_object()) {
        bytes = kAllocation + object->size() * (sizeof(json::Object::Member) + sizeof(std::uint32_t));
        for (const json::Object::Member& member : *object)
            bytes += beyond_inline(member.key.size()) + held_by(member.value);
    } else if (const json::Raw* raw = value.if_raw()) {
        bytes = beyond_inline(raw->text->size());
    }
    return bytes;
}

}  // namespace

std::size_t memory_of(const json::Value& value) { return sizeof value + held_by(value); }

Result<std::shared_ptr<const json::Value>, json::ParseError> DocumentCache::parsed(const Entry& entry) {
    if (const auto* known = values_.get(entry.document_hash())) return *known;
    TRY(json::Value value, json::parse(entry.document(), {.bytes = kDocumentBytesMax}));
    // The entry in the cache itself: two tree nodes, a list node, the shared counter.
    constexpr std::size_t kPlace = 192;
    const std::size_t cost = memory_of(value) + kPlace;
    auto shared = std::make_shared<const json::Value>(std::move(value));
    values_.put(entry.document_hash(), shared, cost);
    return shared;
}

}  // namespace rhizome::state
