// SPDX-License-Identifier: Apache-2.0
// Two steps. The scanner goes over the text once, checks every rule and leaves a tape: one token per scalar, key and
// container, with the counts that make exact allocations possible. `check` stops there, `slices` reads the tape, and
// `parse` builds the tree from it, each string and vector made once, in its place and in its final size.
#include <algorithm>
#include <array>
#include <limits>

#include <fmt/core.h>

#include "base/detail/json_text.h"
#include "base/ensure.h"
#include "base/json.h"

namespace rhizome::json {
namespace {

using Position = std::uint32_t;
constexpr Position kNone = std::numeric_limits<Position>::max();

struct Token {
    Kind kind;
    bool escaped;     ///< of a string: it has escapes. Of a boolean: its value.
    Position offset;  ///< of strings, behind the opening quote
    Position length;  ///< of strings, without the quotes; of containers, with the brackets
    Position next;    ///< the token after this value; while a container is open, the one around it
    Position count;   ///< of containers: members or elements
};

/// The character that four hexadecimal digits name, or nothing.
std::optional<unsigned> from_hex4(const char* at) {
    unsigned value = 0;
    for (int i = 0; i < 4; ++i) {
        const char c = at[i];
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0) return std::nullopt;
        value = value << 4 | static_cast<unsigned>(digit);
    }
    return value;
}

bool is_high_surrogate(unsigned unit) { return unit >= 0xd800 && unit < 0xdc00; }
bool is_low_surrogate(unsigned unit) { return unit >= 0xdc00 && unit < 0xe000; }

void append_utf8(std::string& out, unsigned code) {
    const auto put = [&out](unsigned byte) { out += static_cast<char>(byte); };
    if (code < 0x80) {
        put(code);
    } else if (code < 0x800) {
        put(0xc0 | code >> 6), put(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        put(0xe0 | code >> 12), put(0x80 | (code >> 6 & 0x3f)), put(0x80 | (code & 0x3f));
    } else {
        put(0xf0 | code >> 18), put(0x80 | (code >> 12 & 0x3f)), put(0x80 | (code >> 6 & 0x3f)),
            put(0x80 | (code & 0x3f));
    }
}

/// The content of a string that the scanner has accepted, with its escapes resolved.
std::string unescape(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at != end) {
        const char* const slash = std::find(at, end, '\\');
        out.append(at, slash);
        if (slash == end) break;
        at = slash + 2;
        switch (slash[1]) {
            case 'b': out += '\b'; break;
            case 'f': out += '\f'; break;
            case 'n': out += '\n'; break;
            case 'r': out += '\r'; break;
            case 't': out += '\t'; break;
            case 'u': {
                unsigned code = *from_hex4(at);
                at += 4;
                if (is_high_surrogate(code)) {
                    code = 0x10000 + ((code - 0xd800) << 10) + (*from_hex4(at + 2) - 0xdc00);
                    at += 6;
                }
                append_utf8(out, code);
                break;
            }
            default: out += slash[1];
        }
    }
    return out;
}

/// Tokens one after another. Not a vector: its `push_back` of a struct made on the stack cost a third of the whole scan
/// (small stores, then a wide load that waits for all of them).
class Tape {
public:
    Tape() = default;
    Tape(const Tape&) = delete;
    Tape& operator=(const Tape&) = delete;

    /// A new token at the end, for the caller to fill.
    Token& add() {
        if (size_ == capacity_) [[unlikely]]
            grow();
        return tokens_[size_++];
    }
    Token& operator[](Position at) { return tokens_[at]; }
    const Token& operator[](Position at) const { return tokens_[at]; }
    [[nodiscard]] Position size() const { return size_; }

private:
    void grow() {
        std::unique_ptr<Token[]> more(new Token[2 * capacity_]);  // left uninitialised
        std::copy(tokens_, tokens_ + size_, more.get());
        large_ = std::move(more);
        tokens_ = large_.get();
        capacity_ *= 2;
    }

    static constexpr std::size_t kSmall = 400;  // 8 KB of stack, enough for a pod, and no trip to the heap
    Token small_[kSmall];
    std::unique_ptr<Token[]> large_;
    Token* tokens_ = small_;
    std::size_t capacity_ = kSmall;
    Position size_ = 0;
};

class Scanner {
public:
    Scanner(std::string_view text, Limits limits)
        : text_(text), at_(text.data()), end_(at_ + text.size()), depth_max_(std::min(limits.depth, kDepthMax)) {
        if (text.size() > limits.bytes || text.size() >= kNone) {
            fail(Fault::TooLarge, at_ + std::min<std::size_t>(limits.bytes, kNone), "the text is longer than allowed");
            return;
        }
        good_ = run();
    }

    [[nodiscard]] bool good() const { return good_; }
    [[nodiscard]] const Tape& tape() const { return tape_; }
    [[nodiscard]] std::string_view text(const Token& token) const { return text_.substr(token.offset, token.length); }

    [[nodiscard]] ParseError error() const {
        const std::string_view before = text_.substr(0, static_cast<std::size_t>(place_ - text_.data()));
        const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
        return {.fault = fault_,
                .offset = before.size(),
                .line = 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')),
                .column = 1 + before.size() - line_start,
                .what = what_};
    }

private:
    bool run() {
        skip_blanks();
        for (;;) {
            bool entered = false;
            if (!value(entered)) return false;
            if (entered) continue;
            // A value has ended, and perhaps with it the containers around it.
            for (;;) {
                skip_blanks();
                if (open_ == kNone) return at_ == end_ || fail(Fault::Trailing, at_, "text follows the value");
                Token& container = tape_[open_];
                const bool object = container.kind == Kind::Object;
                ++container.count;
                if (at_ == end_) return cut(object ? "an object" : "an array");
                if (*at_ == ',') {
                    ++at_;
                    skip_blanks();
                    if (object && !key()) return false;
                    break;
                }
                if (*at_ != (object ? '}' : ']')) return unexpected(object ? "',' or '}'" : "',' or ']'");
                if (object && container.count > 1 && !keys_differ()) return false;
                leave();
            }
        }
    }

    /// One scalar, one empty container, or the beginning of a container up to its first value (`entered`).
    bool value(bool& entered) {
        if (at_ == end_) return cut("a value");
        switch (*at_) {
            case '"': return string();
            case '{': return enter(Kind::Object, '}', entered) && (!entered || key());
            case '[': return enter(Kind::Array, ']', entered);
            case 't': return word("true", Kind::Boolean, true);
            case 'f': return word("false", Kind::Boolean, false);
            case 'n': return word("null", Kind::Null, false);
            case '-':
            case '0':
            case '1':
            case '2':
            case '3':
            case '4':
            case '5':
            case '6':
            case '7':
            case '8':
            case '9': return number();
            default: return unexpected("a value");
        }
    }

    bool enter(Kind kind, char closing, bool& entered) {
        if (depth_ == depth_max_) return fail(Fault::TooDeep, at_, "arrays and objects are nested deeper than allowed");
        ++depth_;
        Token& token = tape_.add();
        token.kind = kind;
        token.escaped = false;
        token.offset = offset(at_);
        token.next = open_;
        token.count = 0;
        open_ = tape_.size() - 1;
        ++at_;
        skip_blanks();
        entered = at_ == end_ || *at_ != closing;
        if (!entered) leave();
        return true;
    }

    /// At the closing bracket of the innermost container.
    void leave() {
        Token& container = tape_[open_];
        ++at_;
        open_ = container.next;
        container.length = offset(at_) - container.offset;
        container.next = tape_.size();
        --depth_;
    }

    bool key() {
        if (at_ == end_) return cut("an object");
        if (*at_ != '"') return unexpected("a key in quotes");
        if (!string()) return false;
        skip_blanks();
        if (at_ == end_) return cut("an object");
        if (*at_ != ':') return unexpected("':'");
        ++at_;
        skip_blanks();
        return true;
    }

    bool string() {
        const char* const start = ++at_;
        bool escaped = false;
        for (;;) {
            at_ = detail::skip_plain(at_, end_);
            if (at_ == end_) return cut("a string");
            const char c = *at_;
            if (c == '"') break;
            if (c == '\\') {
                escaped = true;
                if (!escape()) return false;
            } else if (static_cast<unsigned char>(c) < 0x20) {
                return fail(Fault::Syntax, at_, "a control character stands in a string; write it as an escape");
            } else {
                const int length = detail::utf8_length(at_, end_);
                if (length == detail::kUtf8Cut) return cut("a string");
                if (length == detail::kUtf8Invalid) return fail(Fault::BadUtf8, at_, "a string is not valid UTF-8");
                at_ += length;
            }
        }
        push(Kind::String, escaped, start, at_);
        ++at_;
        return true;
    }

    /// At a backslash.
    bool escape() {
        const char* const start = at_;
        if (end_ - at_ < 2) return cut("a string");
        switch (at_[1]) {
            case '"':
            case '\\':
            case '/':
            case 'b':
            case 'f':
            case 'n':
            case 'r':
            case 't': at_ += 2; return true;
            case 'u': break;
            default: return fail(Fault::Syntax, at_, "there is no such escape");
        }
        unsigned unit = 0;
        if (!unicode_escape(unit)) return false;
        if (is_low_surrogate(unit)) return half_pair(start);
        if (!is_high_surrogate(unit)) return true;
        if (at_ == end_) return cut("a string");
        if (*at_ != '\\') return half_pair(start);
        if (end_ - at_ < 2) return cut("a string");
        if (at_[1] != 'u') return half_pair(start);
        if (!unicode_escape(unit)) return false;
        return is_low_surrogate(unit) || half_pair(start);
    }

    bool unicode_escape(unsigned& unit) {
        for (int i = 2; i < 6; ++i) {
            if (end_ - at_ <= i) return cut("a string");
            const char c = at_[i];
            const bool digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
            if (!digit) return fail(Fault::Syntax, at_ + i, "\\u needs four hexadecimal digits");
        }
        unit = *from_hex4(at_ + 2);
        at_ += 6;
        return true;
    }

    bool half_pair(const char* place) {
        return fail(Fault::BadUtf8, place, "an escape names half of a surrogate pair");
    }

    bool number() {
        bool good = false;
        const char* const start = at_;
        at_ = detail::skip_number(at_, end_, good);
        if (!good) return at_ == end_ ? cut("a number") : unexpected("a digit");
        push(Kind::Number, false, start, at_);
        return true;
    }

    bool word(std::string_view expected, Kind kind, bool flag) {
        const char* const start = at_;
        for (const char c : expected) {
            if (at_ == end_) return cut("a word");
            if (*at_ != c) return unexpected(expected);
            ++at_;
        }
        push(kind, flag, start, at_);
        return true;
    }

    /// At the end of the innermost object, which has two members or more.
    bool keys_differ() {
        constexpr Position kPairsMax = 16;
        const Token& object = tape_[open_];
        const Position count = object.count;
        std::array<Position, kPairsMax> keys;
        Position at = open_ + 1;
        if (count > kPairsMax) return many_keys_differ();
        for (Position i = 0; i < count; ++i) {
            const Token& key_token = tape_[at];
            if (key_token.escaped) return many_keys_differ();
            const std::string_view mine = text(key_token);
            for (Position j = 0; j < i; ++j) {
                const Token& other = tape_[keys[j]];
                if (other.length == key_token.length && text(other) == mine) return duplicate(at, mine);
            }
            keys[i] = at;
            at = tape_[at + 1].next;
        }
        return true;
    }

    /// Sorts, so that a stranger's object of many keys costs no quadratic time, and no hash that he could aim at.
    bool many_keys_differ() {
        struct Key {
            std::string_view text;
            Position token;
        };
        const Position count = tape_[open_].count;
        std::vector<Key> keys;
        std::vector<std::string> unescaped;
        keys.reserve(count);
        unescaped.reserve(count);  // views into it must stay good
        Position at = open_ + 1;
        for (Position i = 0; i < count; ++i) {
            const Token& token = tape_[at];
            if (token.escaped) unescaped.push_back(unescape(text(token)));
            keys.push_back({token.escaped ? std::string_view(unescaped.back()) : text(token), at});
            at = tape_[at + 1].next;
        }
        std::sort(keys.begin(), keys.end(), [](const Key& left, const Key& right) {
            const int order = left.text.compare(right.text);
            return order != 0 ? order < 0 : left.token < right.token;
        });
        // Of all keys that stand twice, the one whose second place comes first in the text: as the scan of pairs says.
        const Key* first = nullptr;
        for (std::size_t i = 1; i < keys.size(); ++i) {
            const bool twice = keys[i].text == keys[i - 1].text;
            if (twice && (first == nullptr || keys[i].token < first->token)) first = &keys[i];
        }
        return first == nullptr || duplicate(first->token, first->text);
    }

    bool duplicate(Position token, std::string_view key_text) {
        constexpr std::size_t kShownMax = 64;  // a key may be as long as the whole text
        const std::string shown = quote(key_text.substr(0, kShownMax)) + (key_text.size() > kShownMax ? "…" : "");
        return fail(Fault::DuplicateKey, text_.data() + tape_[token].offset - 1,
                    fmt::format("the key {} stands twice in one object", shown));
    }

    void push(Kind kind, bool escaped, const char* start, const char* end) {
        Token& token = tape_.add();
        token.kind = kind;
        token.escaped = escaped;
        token.offset = offset(start);
        token.length = static_cast<Position>(end - start);
        token.next = tape_.size();
    }

    void skip_blanks() {
        while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
    }

    [[nodiscard]] Position offset(const char* place) const { return static_cast<Position>(place - text_.data()); }

    bool cut(std::string_view inside) {
        return fail(Fault::Truncated, end_, fmt::format("the text ends inside {}", inside));
    }

    bool unexpected(std::string_view expected) {
        const auto byte = static_cast<unsigned char>(*at_);
        const std::string found =
            byte > 0x20 && byte < 0x7f ? fmt::format("'{}'", *at_) : fmt::format("byte 0x{:02x}", byte);
        return fail(Fault::Syntax, at_, fmt::format("expected {}, found {}", expected, found));
    }

    bool fail(Fault fault, const char* place, std::string what) {
        fault_ = fault;
        place_ = place;
        what_ = std::move(what);
        return false;
    }

    std::string_view text_;
    const char* at_;
    const char* end_;
    std::size_t depth_max_;
    std::size_t depth_ = 0;
    Tape tape_;
    Position open_ = kNone;  // the innermost container that has not ended
    bool good_ = false;

    Fault fault_ = Fault::Syntax;
    const char* place_ = nullptr;
    std::string what_;
};

}  // namespace

/// Builds values from a tape.
class Parser {
public:
    explicit Parser(const Scanner& scanner) : scanner_(scanner), tape_(scanner.tape()) {}

    Value value() {
        const Token& token = tape_[at_++];
        switch (token.kind) {
            case Kind::Null: return {};
            case Kind::Boolean: return Value(token.escaped);
            case Kind::Number:
                return Value(std::in_place_type<Number>, Number(Number::Checked{}, scanner_.text(token)));
            case Kind::String:
                if (token.escaped) [[unlikely]]
                    return Value(unescape(scanner_.text(token)));
                return Value(std::in_place_type<std::string>, scanner_.text(token));
            case Kind::Array: {
                Value out(std::in_place_type<Array>);
                Array& array = *out.if_array();
                array.reserve(token.count);
                for (Position i = 0; i < token.count; ++i) array.emplace_back(NextValue{*this});
                return out;
            }
            case Kind::Object: {
                Value out(std::in_place_type<Object>);
                Object& object = *out.if_object();
                object.members_.reserve(token.count);
                for (Position i = 0; i < token.count; ++i) object.members_.emplace_back(NextMember{*this});
                object.make_index();
                return out;
            }
            case Kind::Raw: break;
        }
        unreachable("a tape holds no raw values");
    }

private:
    // Converted where the vector wants its element, so that the element is made there and never moved.
    struct NextValue {
        Parser& parser;
        operator Value() const { return parser.value(); }
    };
    struct NextMember {
        Parser& parser;
        operator Object::Member() const {
            const Token& key = parser.tape_[parser.at_++];
            return {parser.string(key), parser.value()};
        }
    };

    [[nodiscard]] std::string string(const Token& token) const {
        return token.escaped ? unescape(scanner_.text(token)) : std::string(scanner_.text(token));
    }

    const Scanner& scanner_;
    const Tape& tape_;
    Position at_ = 0;
};

Result<Value, ParseError> parse(std::string_view text, Limits limits) {
    const Scanner scanner{text, limits};
    if (!scanner.good()) return Fail{scanner.error()};
    return Parser{scanner}.value();
}

Result<void, ParseError> check(std::string_view text, Limits limits) {
    const Scanner scanner{text, limits};
    if (!scanner.good()) return Fail{scanner.error()};
    return {};
}

Result<std::vector<Slice>, ParseError> slices(std::string_view text, Limits limits) {
    const Scanner scanner{text, limits};
    if (!scanner.good()) return Fail{scanner.error()};
    const Tape& tape = scanner.tape();
    const Token& whole = tape[0];
    if (whole.kind != Kind::Object && whole.kind != Kind::Array) {
        return Fail{ParseError{.what = "expected an object or an array, found a " + std::string(name(whole.kind))}};
    }
    std::vector<Slice> out;
    out.reserve(whole.count);
    Position at = 1;
    for (Position i = 0; i < whole.count; ++i) {
        Slice slice;
        if (whole.kind == Kind::Object) {
            const Token& key = tape[at++];
            slice.key = key.escaped ? unescape(scanner.text(key)) : std::string(scanner.text(key));
        }
        const Token& value = tape[at];
        slice.text = scanner.text(value);
        if (value.kind == Kind::String) slice.text = text.substr(value.offset - 1, value.length + 2);
        out.push_back(std::move(slice));
        at = value.next;
    }
    return out;
}

}  // namespace rhizome::json
