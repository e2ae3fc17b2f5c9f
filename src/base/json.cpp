// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/core.h>

#include "base/detail/json_text.h"
#include "base/ensure.h"

namespace rhizome::json {
namespace {

/// Up to here a scan beats a binary search, and comparing all pairs of keys beats sorting them.
constexpr std::size_t kScannedMax = 16;

template <class Integer>
std::optional<Integer> to_integer(std::string_view text) {
    Integer value{};
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

template <class Integer>
std::string to_decimal(Integer number) {
    char digits[24];  // 20 digits and a sign
    const auto end = std::to_chars(std::begin(digits), std::end(digits), number).ptr;
    return {digits, end};
}

}  // namespace

std::string_view name(Kind kind) {
    switch (kind) {
        case Kind::Null: return "null";
        case Kind::Boolean: return "boolean";
        case Kind::Number: return "number";
        case Kind::String: return "string";
        case Kind::Array: return "array";
        case Kind::Object: return "object";
        case Kind::Raw: return "raw";
    }
    unreachable("a json::Kind has a name");
}

std::string_view name(Fault fault) {
    switch (fault) {
        case Fault::Syntax: return "Syntax";
        case Fault::Truncated: return "Truncated";
        case Fault::Trailing: return "Trailing";
        case Fault::DuplicateKey: return "DuplicateKey";
        case Fault::BadUtf8: return "BadUtf8";
        case Fault::TooDeep: return "TooDeep";
        case Fault::TooLarge: return "TooLarge";
    }
    unreachable("a json::Fault has a name");
}

Error to_error(const ParseError& error) {
    const auto kind =
        error.fault == Fault::TooDeep || error.fault == Fault::TooLarge ? ErrorKind::Exhausted : ErrorKind::Invalid;
    return {kind, fmt::format("line {}, column {}: {}", error.line, error.column, error.what)};
}

// ---- numbers ----------------------------------------------------------------------------------------------------

std::optional<Number> Number::from_text(std::string_view text) {
    bool good = false;
    const char* const end = text.data() + text.size();
    if (detail::skip_number(text.data(), end, good) != end || !good) return std::nullopt;
    return Number{Checked{}, text};
}

Number::Number(std::int64_t number) : text_(to_decimal(number)) {}
Number::Number(std::uint64_t number) : text_(to_decimal(number)) {}

std::optional<std::int64_t> Number::to_int64() const { return to_integer<std::int64_t>(text_); }
std::optional<std::uint64_t> Number::to_uint64() const { return to_integer<std::uint64_t>(text_); }

// ---- objects ----------------------------------------------------------------------------------------------------

Object::Object(std::initializer_list<std::pair<std::string_view, Value>> members) {
    members_.reserve(members.size());
    for (const auto& [key, value] : members) members_.push_back({std::string(key), value});
    bool differ = true;
    if (members_.size() > kScannedMax) {
        differ = make_index();
    } else {
        for (std::size_t i = 1; i < members_.size(); ++i) differ = differ && position(members_[i].key) == i;
    }
    ensure(differ, "the keys of an object made by our own code differ");
}

Object::Object(const Object& other)
    : members_(other.members_),
      index_(other.index_ ? std::make_unique<std::vector<std::uint32_t>>(*other.index_) : nullptr) {}

Object& Object::operator=(const Object& other) {
    if (this != &other) *this = Object(other);
    return *this;
}

bool Object::make_index() {
    index_.reset();
    if (members_.size() <= kScannedMax) return true;
    ensure(members_.size() <= std::numeric_limits<std::uint32_t>::max(), "an object has fewer than 2^32 members");
    auto sorted = std::make_unique<std::vector<std::uint32_t>>(members_.size());
    for (std::size_t i = 0; i < sorted->size(); ++i) (*sorted)[i] = static_cast<std::uint32_t>(i);
    std::sort(sorted->begin(), sorted->end(),
              [this](std::uint32_t left, std::uint32_t right) { return members_[left].key < members_[right].key; });
    index_ = std::move(sorted);
    return std::adjacent_find(index_->begin(), index_->end(), [this](std::uint32_t left, std::uint32_t right) {
               return members_[left].key == members_[right].key;
           }) == index_->end();
}

std::size_t Object::position(std::string_view key) const {
    if (index_) {
        const auto at = std::lower_bound(index_->begin(), index_->end(), key,
                                         [this](std::uint32_t i, std::string_view k) { return members_[i].key < k; });
        return at != index_->end() && members_[*at].key == key ? *at : members_.size();
    }
    std::size_t i = 0;
    while (i < members_.size() && members_[i].key != key) ++i;
    return i;
}

const Value* Object::find(std::string_view key) const {
    const std::size_t i = position(key);
    return i < members_.size() ? &members_[i].value : nullptr;
}

Value* Object::find(std::string_view key) {
    const std::size_t i = position(key);
    return i < members_.size() ? &members_[i].value : nullptr;
}

Value& Object::set(std::string_view key, Value value) {
    Value& at = (*this)[key];
    at = std::move(value);
    return at;
}

Value& Object::operator[](std::string_view key) {
    if (const std::size_t i = position(key); i < members_.size()) return members_[i].value;
    members_.push_back({std::string(key), Value{}});
    if (index_) {
        // The last member is not in the index yet, so the search sees only its elders.
        const auto at = std::lower_bound(index_->begin(), index_->end(), members_.back().key,
                                         [this](std::uint32_t i, const std::string& k) { return members_[i].key < k; });
        index_->insert(at, static_cast<std::uint32_t>(members_.size() - 1));
    } else {
        make_index();
    }
    return members_.back().value;
}

bool Object::erase(std::string_view key) {
    const std::size_t gone = position(key);
    if (gone == members_.size()) return false;
    members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(gone));
    if (members_.size() <= kScannedMax) {
        index_.reset();
    } else {
        std::erase(*index_, static_cast<std::uint32_t>(gone));
        for (std::uint32_t& i : *index_) i -= i > gone ? 1 : 0;
    }
    return true;
}

bool operator==(const Object& left, const Object& right) {
    if (left.size() != right.size()) return false;
    // Keys differ within each object, so equal sizes and every member found make equal sets.
    for (std::size_t i = 0; i < left.size(); ++i) {
        const auto& member = left.members_[i];
        const bool same_place = right.members_[i].key == member.key;  // usual, and saves the search
        const Value* other = same_place ? &right.members_[i].value : right.find(member.key);
        if (other == nullptr || !(*other == member.value)) return false;
    }
    return true;
}

// ---- values -----------------------------------------------------------------------------------------------------

std::optional<bool> Value::if_boolean() const {
    const bool* boolean = std::get_if<bool>(&held_);
    return boolean != nullptr ? std::optional<bool>(*boolean) : std::nullopt;
}

std::optional<std::int64_t> Value::if_int64() const {
    const Number* number = if_number();
    return number != nullptr ? number->to_int64() : std::nullopt;
}

const Value* Value::find(std::string_view key) const {
    const Object* object = if_object();
    return object != nullptr ? object->find(key) : nullptr;
}

Value* Value::find(std::string_view key) {
    Object* object = if_object();
    return object != nullptr ? object->find(key) : nullptr;
}

const Value* Value::find_path(std::initializer_list<std::string_view> keys) const {
    const Value* at = this;
    for (const std::string_view key : keys) {
        at = at->find(key);
        if (at == nullptr) return nullptr;
    }
    return at;
}

std::string_view Value::text_at(std::initializer_list<std::string_view> keys) const {
    const Value* at = find_path(keys);
    const std::string* text = at != nullptr ? at->if_string() : nullptr;
    return text != nullptr ? std::string_view(*text) : std::string_view();
}

Object& Value::make_object() {
    if (is_null()) held_.emplace<Object>();
    Object* object = if_object();
    ensure(object != nullptr, "a document that our own code builds has an object here");
    return *object;
}

Array& Value::make_array() {
    if (is_null()) held_.emplace<Array>();
    Array* array = if_array();
    ensure(array != nullptr, "a document that our own code builds has an array here");
    return *array;
}

}  // namespace rhizome::json
