// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

/// JSON (RFC 8259) as this project needs it: objects keep the order of their members, numbers keep their text and are
/// never rounded, and strangers' input meets bounds and one reading only (no duplicate keys, valid UTF-8, no trailing
/// text). A value is plain data: copying copies, moving is cheap, several threads may read one that nobody writes.
namespace rhizome::json {

enum class Kind : unsigned char { Null, Boolean, Number, String, Array, Object, Raw };
std::string_view name(Kind kind);

class Value;
class Object;
using Array = std::vector<Value>;

/// A number as it was written: `1`, `1.50`, `1e3` stay what they are. Equal when the text is equal.
class Number {
public:
    /// Nothing when `text` is not a JSON number.
    static std::optional<Number> from_text(std::string_view text);
    explicit Number(std::int64_t number);
    explicit Number(std::uint64_t number);

    [[nodiscard]] const std::string& text() const { return text_; }
    /// The value when the text is an integer in range (no fraction, no exponent).
    [[nodiscard]] std::optional<std::int64_t> to_int64() const;
    [[nodiscard]] std::optional<std::uint64_t> to_uint64() const;

    friend bool operator==(const Number&, const Number&) = default;

private:
    friend class Parser;
    struct Checked {};
    Number(Checked, std::string_view text) : text_(text) {}
    std::string text_;
};

/// JSON text that somebody has already checked (the kept bytes of a stored document). Printing copies it as it is; it
/// cannot be looked into. This is how a LIST of thousands of documents is answered without parsing one.
struct Raw {
    std::shared_ptr<const std::string> text;  ///< never null
    friend bool operator==(const Raw& left, const Raw& right) { return *left.text == *right.text; }
};

/// Members in the order they were written or set. Looking up is a short scan for small objects and a binary search for
/// large ones, so that a stranger's object of a hundred thousand keys costs no quadratic time.
class Object {
public:
    struct Member;

    Object();
    Object(std::initializer_list<std::pair<std::string_view, Value>> members);  ///< keys must differ
    Object(const Object&);
    Object(Object&&) noexcept;
    Object& operator=(const Object&);
    Object& operator=(Object&&) noexcept;
    ~Object();

    [[nodiscard]] const Value* find(std::string_view key) const;
    [[nodiscard]] Value* find(std::string_view key);
    [[nodiscard]] bool contains(std::string_view key) const { return find(key) != nullptr; }
    /// Sets the member in place, or appends it. References to other members are good until the next change.
    Value& set(std::string_view key, Value value);
    /// The member, appended as null when there was none.
    Value& operator[](std::string_view key);
    bool erase(std::string_view key);
    /// Erases all members that `gone` is true for, in one pass; how many. To erase one after another from a large
    /// object costs quadratic time.
    std::size_t erase_if(const std::function<bool(const Member&)>& gone);

    /// All at once, for readers of strangers' input; fails with the position of the first key that was there before.
    static Result<Object, std::size_t> from_members(std::vector<Member> members);

    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] bool empty() const { return size() == 0; }
    [[nodiscard]] const Member* begin() const;
    [[nodiscard]] const Member* end() const;
    [[nodiscard]] Member* begin();
    [[nodiscard]] Member* end();

    /// As sets of members: order does not count, as in JSON itself.
    friend bool operator==(const Object& left, const Object& right);

private:
    friend class Parser;
    /// Positions of members in sorted runs whose lengths are the powers of two that sum up to the size, the longest
    /// first: appending merges runs and so costs O(log n) each on average, finding searches each run.
    struct Index {
        std::vector<std::uint32_t> order;
        bool flat = true;  ///< all of it is one sorted run
    };
    [[nodiscard]] std::size_t position(std::string_view key) const;  // size() when there is none
    [[nodiscard]] bool less(std::uint32_t left, std::uint32_t right) const;
    void make_index();                                           // when the object is large
    void index_newest();                                         // the last member is not in the index yet
    [[nodiscard]] std::optional<std::size_t> duplicate() const;  // position of the first key that was there before

    std::vector<Member> members_;
    std::unique_ptr<Index> index_;  ///< only of large objects
};

class Value {
public:
    Value() = default;  ///< null
    Value(std::nullptr_t) {}
    template <std::same_as<bool> B>
    Value(B boolean) : held_(boolean) {}
    template <std::integral N>
    requires(!std::same_as<N, bool> && !std::same_as<N, char>) Value(N number)
        : held_(Number(static_cast<std::conditional_t<std::signed_integral<N>, std::int64_t, std::uint64_t>>(number))) {
    }
    Value(Number number) : held_(std::move(number)) {}
    Value(std::string text) : held_(std::move(text)) {}
    Value(std::string_view text) : held_(std::string(text)) {}
    Value(const char* text) : held_(std::string(text)) {}
    Value(Array array) : held_(std::move(array)) {}
    Value(Object object) : held_(std::move(object)) {}
    Value(Raw raw) : held_(std::move(raw)) {}

    [[nodiscard]] Kind kind() const { return static_cast<Kind>(held_.index()); }
    [[nodiscard]] bool is_null() const { return kind() == Kind::Null; }
    [[nodiscard]] bool is_object() const { return kind() == Kind::Object; }
    [[nodiscard]] bool is_array() const { return kind() == Kind::Array; }
    [[nodiscard]] bool is_string() const { return kind() == Kind::String; }

    /// What is held, or nothing when it is something else: for input.
    [[nodiscard]] std::optional<bool> if_boolean() const;
    [[nodiscard]] std::optional<std::int64_t> if_int64() const;
    [[nodiscard]] const Number* if_number() const { return std::get_if<Number>(&held_); }
    [[nodiscard]] const std::string* if_string() const { return std::get_if<std::string>(&held_); }
    [[nodiscard]] std::string* if_string() { return std::get_if<std::string>(&held_); }
    [[nodiscard]] const Array* if_array() const { return std::get_if<Array>(&held_); }
    [[nodiscard]] Array* if_array() { return std::get_if<Array>(&held_); }
    [[nodiscard]] const Object* if_object() const { return std::get_if<Object>(&held_); }
    [[nodiscard]] Object* if_object() { return std::get_if<Object>(&held_); }
    [[nodiscard]] const Raw* if_raw() const { return std::get_if<Raw>(&held_); }

    /// The member of an object; null pointer when this is no object or has no such member.
    [[nodiscard]] const Value* find(std::string_view key) const;
    [[nodiscard]] Value* find(std::string_view key);
    /// The value at the end of a chain of members: `find_path({"metadata", "name"})`.
    [[nodiscard]] const Value* find_path(std::initializer_list<std::string_view> keys) const;
    /// The string at the end of a chain of members, empty when there is none: for documents already checked.
    [[nodiscard]] std::string_view text_at(std::initializer_list<std::string_view> keys) const;
    /// The same for a whole number, 0 when there is none.
    [[nodiscard]] std::int64_t number_at(std::initializer_list<std::string_view> keys) const;
    /// Makes a null into an empty object or array, then gives it; stops the process on anything else (our own code
    /// building a document, never input).
    Object& make_object();
    Array& make_array();
    Value& operator[](std::string_view key) { return make_object()[key]; }

    friend bool operator==(const Value&, const Value&) = default;

private:
    friend class Parser;
    template <class Held, class... From>
    explicit Value(std::in_place_type_t<Held> held, From&&... from) : held_(held, std::forward<From>(from)...) {}

    std::variant<std::monostate, bool, Number, std::string, Array, Object, Raw> held_;
};

struct Object::Member {
    std::string key;  ///< never changed in place: large objects are searched by it
    Value value;
};

inline Object::Object() = default;
inline Object::Object(Object&&) noexcept = default;
inline Object& Object::operator=(Object&&) noexcept = default;
inline Object::~Object() = default;
inline std::size_t Object::size() const { return members_.size(); }
inline const Object::Member* Object::begin() const { return members_.data(); }
inline const Object::Member* Object::end() const { return members_.data() + members_.size(); }
inline Object::Member* Object::begin() { return members_.data(); }
inline Object::Member* Object::end() { return members_.data() + members_.size(); }

// ---- reading ----------------------------------------------------------------------------------------------------

enum class Fault : unsigned char {
    Syntax,        ///< not JSON at this place
    Truncated,     ///< the text ends inside a value
    Trailing,      ///< text after the value
    DuplicateKey,  ///< an object names a member twice
    BadUtf8,       ///< not UTF-8, or an escape that names half a surrogate pair
    TooDeep,
    TooLarge,
};
std::string_view name(Fault fault);

struct ParseError {
    Fault fault = Fault::Syntax;
    std::size_t offset = 0;  ///< bytes before the place
    std::size_t line = 1;    ///< both from 1; columns count bytes
    std::size_t column = 1;
    std::string what;  ///< what stood there, or which key
    friend bool operator==(const ParseError&, const ParseError&) = default;
};
Error to_error(const ParseError& error);  ///< `line 3, column 7: the key "a" stands twice in one object`

/// Whatever a caller allows, no value is deeper than this: building, comparing, printing and destroying one use the
/// native stack. (Nor is a text of 4 GiB or more read: positions are kept in 32 bits.)
constexpr std::size_t kDepthMax = 1000;

struct Limits {
    std::size_t bytes = 4u << 20;  ///< a block's default size: no document is larger
    std::size_t depth = 64;        ///< arrays and objects inside each other; Kubernetes' own kinds stay below 30
};

/// The one value that `text` is.
Result<Value, ParseError> parse(std::string_view text, Limits limits = {});

/// Checks as strictly as `parse` and builds nothing: is this text one that `parse` would take?
Result<void, ParseError> check(std::string_view text, Limits limits = {});

/// The members of the object (or the elements of the array, with empty keys) that `text` is, each with its own bytes as
/// they stand, after checking the whole text. Lets a caller take `metadata` out of a document, or split a list into
/// documents, without building or printing trees.
struct Slice {
    std::string key;
    std::string_view text;  ///< points into the input
};
Result<std::vector<Slice>, ParseError> slices(std::string_view text, Limits limits = {});

// ---- writing ----------------------------------------------------------------------------------------------------

/// Compact, members in their order. `parse(print(v)) == v`. Always valid JSON: what is no UTF-8 in a string that our
/// own code put there is printed as U+FFFD.
std::string print(const Value& value);
void print_to(std::string& out, const Value& value);
/// Compact, members sorted by the bytes of their keys, the shortest escapes, numbers as written: one text for one
/// value. Raw parts are parsed for this (they were checked before).
std::string print_canonical(const Value& value);
/// For people: two blanks of indentation, a newline at the end.
std::string print_pretty(const Value& value);
/// A text as a JSON string with its quotes.
std::string quote(std::string_view text);

}  // namespace rhizome::json
