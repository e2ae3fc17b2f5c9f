// SPDX-License-Identifier: Apache-2.0
#include "script/assembler.h"

#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "script/detail/key_words.h"
#include "script/detail/lock_text.h"
#include "script/detail/similar.h"
#include "script/detail/words.h"
#include "script/locks.h"
#include "script/script.h"

namespace rhizome::script {
namespace {

using detail::Word;
using detail::WordKind;

/// Numbers that five bytes hold: the longest that any instruction reads.
constexpr std::int64_t kNumberMax = (std::int64_t{1} << 39) - 1;

constexpr bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

bool is_decimal(std::string_view text) {
    if (text.starts_with('-')) text.remove_prefix(1);
    if (text.empty()) return false;
    for (const char letter : text) {
        if (!is_digit(letter)) return false;
    }
    return true;
}

std::optional<std::int64_t> decimal(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

std::optional<Bytes> hex_after_0x(std::string_view text) {
    if (!text.starts_with("0x") && !text.starts_with("0X")) return std::nullopt;
    return from_hex(text.substr(2));
}

/// Whether it was meant as a time: digits with a unit behind them.
bool looks_like_duration(std::string_view text) {
    return !text.empty() && is_digit(text.front()) &&
           text.find_first_not_of("0123456789dhmsu") == std::string_view::npos && !is_decimal(text);
}

/// dddd-…: nothing else in a script looks so.
bool looks_like_date(std::string_view text) {
    return text.size() > 5 && text[4] == '-' && is_decimal(text.substr(0, 4)) && text.front() != '-';
}

class Assembler {
public:
    Assembler(std::vector<Word> words, const KeyResolver* keys) : words_(std::move(words)), keys_(keys) {}

    Result<Bytes, TextFault> assemble() {
        while (words_[at_].kind != WordKind::End) {
            const Word& word = words_[at_++];
            TRY(one(word));
        }
        return std::move(script_).take();
    }

private:
    Result<void, TextFault> one(const Word& word) {
        switch (word.kind) {
            case WordKind::Quoted: script_.data(as_bytes(word.text)); break;
            case WordKind::Angled: return angled(word);
            case WordKind::Bare: return bare(word);
            case WordKind::Open:
            case WordKind::Close:
            case WordKind::End:
                return Fail{
                    word.fault("parentheses have no meaning here", "they group templates, such as either (…) or (…)")};
        }
        after_hash160_ = false;
        return {};
    }

    Result<void, TextFault> angled(const Word& word) {
        if (const auto bytes = from_hex(word.text)) {
            script_.data(*bytes);
        } else {
            TRY(const crypto::PublicKey key, detail::resolve_key(word, keys_));
            if (after_hash160_) {
                script_.data(key.address().view());
            } else {
                script_.data(key.bytes());
            }
        }
        after_hash160_ = false;
        return {};
    }

    Result<void, TextFault> bare(const Word& word) {
        after_hash160_ = false;
        if (is_decimal(word.text)) return number(word);
        if (word.text.starts_with("0x") || word.text.starts_with("0X")) {
            const auto bytes = hex_after_0x(word.text);
            if (!bytes)
                return Fail{word.fault(fmt::format("\"{}\" is not an even number of hexadecimal digits", word.text))};
            script_.raw(*bytes);
            after_hash160_ = bytes->size() == 1 && bytes->front() == OP_HASH160;
            return {};
        }
        if (const Opcode* found = find_opcode(word.text)) return instruction(word, *found);
        if (looks_like_duration(word.text)) return duration(word);
        if (looks_like_date(word.text)) return date(word);
        return Fail{word.fault(fmt::format("\"{}\" is no instruction, number or time", word.text), idea(word.text))};
    }

    static std::string idea(std::string_view text) {
        if (const auto similar = similar_opcodes(text); !similar.empty()) return detail::did_you_mean(similar);
        if (const auto bytes = from_hex(text); bytes && bytes->size() > 1) {
            return "write <…> around bytes to push them, or 0x before bytes of the script itself";
        }
        return {};
    }

    Result<void, TextFault> number(const Word& word) {
        const auto value = decimal(word.text);
        if (!value || *value > kNumberMax || *value < -kNumberMax) {
            return Fail{
                word.fault(fmt::format("{} does not fit into the five bytes of a script's longest number", word.text))};
        }
        script_.number(*value);
        return {};
    }

    Result<void, TextFault> duration(const Word& word) {
        const auto wait = parse_duration(word.text);
        if (!wait) {
            return Fail{word.fault(fmt::format("\"{}\" is no time", word.text), "times look like 5d, 12h30m or 90s")};
        }
        const auto operand = relative_lock(*wait);
        if (!operand) {
            return Fail{word.fault(fmt::format("{} is too long for a relative lock", word.text),
                                   "at most 65535 units of 512 s, about 388 days; use a date for more")};
        }
        script_.number(*operand);
        return {};
    }

    Result<void, TextFault> date(const Word& word) {
        const auto moment = parse_moment(word.text);
        if (!moment || *moment > kNumberMax) {
            return Fail{word.fault(fmt::format("\"{}\" is no date from 1985 on", word.text),
                                   "dates look like 2027-01-01 or 2027-01-01T12:00:00Z")};
        }
        script_.number(*moment);
        return {};
    }

    Result<void, TextFault> instruction(const Word& word, const Opcode& found) {
        if (found.code >= 1 && found.code < OP_PUSHDATA1) {
            script_.op(static_cast<Op>(found.code));
            return spelled_bytes(word, found.code);
        }
        script_.op(static_cast<Op>(found.code));
        after_hash160_ = found.code == OP_HASH160;
        if (found.code < OP_PUSHDATA1 || found.code > OP_PUSHDATA4) return {};

        const Word& size_word = words_[at_];
        const auto size = size_word.kind == WordKind::Bare ? decimal(size_word.text) : std::nullopt;
        const std::size_t width = found.code == OP_PUSHDATA1 ? 1 : found.code == OP_PUSHDATA2 ? 2 : 4;
        // No text that is read could spell out more bytes than that.
        const std::int64_t size_max = width == 1 ? 0xff : width == 2 ? 0xffff : std::int64_t{detail::kTextBytesMax};
        if (!size || *size < 0 || *size > size_max) {
            return Fail{size_word.fault(fmt::format("{} wants a size from 0 to {} here", found.name, size_max),
                                        "or write <…> and leave the form of the push to the assembler")};
        }
        ++at_;
        std::array<std::uint8_t, 4> encoded{};
        for (std::size_t i = 0; i < width; ++i) encoded[i] = static_cast<std::uint8_t>(*size >> (8 * i));
        script_.raw(ByteView{encoded.data(), width});
        return spelled_bytes(word, static_cast<std::size_t>(*size));
    }

    /// Exactly `size` bytes, from as many words as they take.
    Result<void, TextFault> spelled_bytes(const Word& push, std::size_t size) {
        std::size_t left = size;
        while (left > 0) {
            const Word& word = words_[at_];
            std::optional<Bytes> bytes;
            switch (word.kind) {
                case WordKind::Quoted: bytes = to_bytes(as_bytes(word.text)); break;
                case WordKind::Angled: bytes = from_hex(word.text); break;
                case WordKind::Bare:
                    if (const auto value = decimal(word.text); value && *value >= 0 && *value <= 0xff) {
                        bytes = Bytes{static_cast<std::uint8_t>(*value)};
                    } else {
                        bytes = hex_after_0x(word.text);
                    }
                    break;
                case WordKind::Open:
                case WordKind::Close:
                case WordKind::End: break;
            }
            if (!bytes || bytes->empty() || bytes->size() > left) {
                const Word& place = word.kind == WordKind::End ? push : word;
                return Fail{
                    place.fault(fmt::format("{} wants {} more byte{} here", push.text, left, left == 1 ? "" : "s"),
                                "as numbers from 0 to 255, 0x…, <…> or 'text'")};
            }
            script_.raw(*bytes);
            left -= bytes->size();
            ++at_;
        }
        return {};
    }

    std::vector<Word> words_;
    const KeyResolver* keys_;
    std::size_t at_ = 0;
    bool after_hash160_ = false;
    ScriptBuilder script_;
};

bool is_lock(std::uint8_t code) { return code >= OP_CHECKLOCKTIMEVERIFY && code <= OP_CHECKEXPIRYVERIFY; }

/// The operand of a lock instruction, if its bytes are the shortest form of a number.
std::optional<std::string> operand_text(ByteView data, std::uint8_t lock) {
    const auto number = read_number(data, kLockNumberBytesMax, true);
    if (!number) return std::nullopt;
    if (lock == OP_CHECKSEQUENCEVERIFY) {
        if (auto text = detail::duration_text(*number)) return text;
    } else if (auto text = detail::moment_text(*number)) {
        return text;
    }
    return fmt::format("{}", *number);
}

}  // namespace

Result<Bytes, TextFault> assemble(std::string_view text, const KeyResolver* keys) {
    TRY(auto words, detail::split_words(text));
    return Assembler{std::move(words), keys}.assemble();
}

std::string disassemble(ByteView script) {
    std::string text;
    const auto put = [&text](std::string_view word) {
        if (!text.empty()) text += ' ';
        text += word;
    };
    InstructionReader reader{script};
    auto next = reader.next();
    while (next) {
        const Instruction instruction = *next;
        next = reader.next();
        const ByteView bytes = script.subspan(instruction.offset, instruction.size);
        if (instruction.broken || !is_minimal_push(instruction)) {
            put("0x" + to_hex(bytes));
        } else if (instruction.code == OP_0) {
            put("0");
        } else if (instruction.is_push()) {
            const auto operand =
                next && is_lock(next->code) ? operand_text(instruction.data, next->code) : std::nullopt;
            put(operand ? *operand : "<" + to_hex(instruction.data) + ">");
        } else if (instruction.code == OP_1NEGATE) {
            put("-1");
        } else if (instruction.code >= OP_1 && instruction.code <= OP_16) {
            put(fmt::format("{}", instruction.code - OP_1 + 1));
        } else if (const std::string_view name = opcode(instruction.code).name; !name.empty()) {
            put(name);
        } else {
            put("0x" + to_hex(bytes));
        }
    }
    return text;
}

std::optional<std::int64_t> relative_lock(microseconds wait) {
    if (wait.count() < 0) return std::nullopt;
    const microseconds unit = seconds{kSequenceUnitSeconds};
    const std::int64_t units = wait / unit + (wait % unit != microseconds::zero() ? 1 : 0);
    if (units > kSequenceMask) return std::nullopt;
    return units | std::int64_t{kSequenceCountsTime};
}

std::optional<std::int64_t> parse_moment(std::string_view text) {
    auto time = from_rfc3339(text);
    if (!time && text.size() == 10) time = from_rfc3339(fmt::format("{}T00:00:00Z", text));
    if (!time || *time != Time::from_unix_seconds(time->unix_seconds())) return std::nullopt;
    if (time->unix_seconds() < kTimeThreshold) return std::nullopt;
    return time->unix_seconds();
}

}  // namespace rhizome::script
