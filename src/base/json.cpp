// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <numeric>

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
    make_index();
    ensure(!duplicate().has_value(), "the keys of an object made by our own code differ");
}

Result<Object, std::size_t> Object::from_members(std::vector<Member> members) {
    Object object;
    object.members_ = std::move(members);
    object.make_index();
    if (const auto second = object.duplicate()) return Fail{*second};
    return object;
}

Object::Object(const Object& other)
    : members_(other.members_), index_(other.index_ ? std::make_unique<Index>(*other.index_) : nullptr) {}

Object& Object::operator=(const Object& other) {
    if (this != &other) *this = Object(other);
    return *this;
}

bool Object::less(std::uint32_t left, std::uint32_t right) const {
    const int order = members_[left].key.compare(members_[right].key);
    return order != 0 ? order < 0 : left < right;
}

void Object::make_index() {
    index_.reset();
    if (members_.size() <= kScannedMax) return;
    ensure(members_.size() <= std::numeric_limits<std::uint32_t>::max(), "an object has fewer than 2^32 members");
    index_ = std::make_unique<Index>();
    index_->order.resize(members_.size());
    std::iota(index_->order.begin(), index_->order.end(), 0u);
    std::sort(index_->order.begin(), index_->order.end(), [this](auto left, auto right) { return less(left, right); });
}

void Object::index_newest() {
    if (!index_) return make_index();
    auto& order = index_->order;
    order.push_back(static_cast<std::uint32_t>(members_.size() - 1));
    // Every run length that is a power of two below the lowest bit of the new size has ended: all of them become one.
    const std::size_t merged = order.size() & (~order.size() + 1);
    for (std::size_t length = 1; length < merged; length *= 2) {
        std::inplace_merge(order.end() - static_cast<std::ptrdiff_t>(2 * length),
                           order.end() - static_cast<std::ptrdiff_t>(length), order.end(),
                           [this](auto left, auto right) { return less(left, right); });
    }
    index_->flat = merged == order.size();
}

std::optional<std::size_t> Object::duplicate() const {
    std::optional<std::size_t> first;
    if (!index_) {
        for (std::size_t i = 1; i < members_.size(); ++i) {
            if (position(members_[i].key) < i) return i;
        }
        return first;
    }
    const auto& order = index_->order;  // of an index just made: one run, equal keys by position
    for (std::size_t i = 1; i < order.size(); ++i) {
        const bool second = members_[order[i - 1]].key == members_[order[i]].key;
        if (second && (!first || order[i] < *first)) first = order[i];
    }
    return first;
}

std::size_t Object::position(std::string_view key) const {
    if (!index_) {
        std::size_t i = 0;
        while (i < members_.size() && members_[i].key != key) ++i;
        return i;
    }
    const auto& order = index_->order;
    auto run = order.begin();
    for (std::size_t left = order.size(); left > 0;) {
        const std::size_t length = index_->flat ? left : std::bit_floor(left);
        const auto run_end = run + static_cast<std::ptrdiff_t>(length);
        const auto at = std::lower_bound(run, run_end, key,
                                         [this](std::uint32_t i, std::string_view k) { return members_[i].key < k; });
        if (at != run_end && members_[*at].key == key) return *at;
        run = run_end;
        left -= length;
    }
    return members_.size();
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
    index_newest();
    return members_.back().value;
}

bool Object::erase(std::string_view key) {
    const std::size_t gone = position(key);
    if (gone == members_.size()) return false;
    if (index_ && !index_->flat) make_index();
    members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(gone));
    if (members_.size() <= kScannedMax) index_.reset();
    if (!index_) return true;
    std::erase(index_->order, static_cast<std::uint32_t>(gone));
    for (std::uint32_t& i : index_->order) i -= i > gone ? 1 : 0;
    return true;
}

std::size_t Object::erase_if(const std::function<bool(const Member&)>& gone) {
    const std::size_t count = std::erase_if(members_, gone);
    if (count > 0) make_index();
    return count;
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

std::int64_t Value::number_at(std::initializer_list<std::string_view> keys) const {
    const Value* at = find_path(keys);
    return at != nullptr ? at->if_int64().value_or(0) : 0;
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
