// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "script/opcodes.h"

/// Scripts as bytes: reading them safely, writing them in the one shortest form, the numbers they hold. A script is a
/// `ByteView`; nothing here owns one except the builder.
namespace rhizome::script {

inline constexpr std::size_t kScriptBytesMax = 10'000;
inline constexpr std::size_t kElementBytesMax = 520;
inline constexpr std::size_t kOperationsMax = 201;  ///< counted ones; CHECKMULTISIG adds its keys
inline constexpr std::size_t kMultisigKeysMax = 20;
inline constexpr std::size_t kStackItemsMax = 1'000;  ///< main and alternative stack together
inline constexpr std::size_t kNumberBytesMax = 4;
inline constexpr std::size_t kLockNumberBytesMax = 5;  ///< dates after 2038 need them

/// One instruction of a script. Borrows the script.
struct Instruction {
    std::uint8_t code = 0;
    /// A push that says it has more bytes than the script has left. It covers the whole rest, and there is none after
    /// it.
    bool broken = false;
    std::uint32_t offset = 0;  ///< where it begins in the script
    std::uint32_t size = 0;    ///< all of its bytes, the code included
    ByteView data{};           ///< what a push pushes; empty for all else

    [[nodiscard]] bool is_push() const { return code <= OP_PUSHDATA4; }
    [[nodiscard]] std::size_t end() const { return std::size_t{offset} + size; }
};

/// Walks over the instructions of a script, front to back. Any bytes can be walked over; offsets count from the front.
class InstructionReader {
public:
    explicit InstructionReader(ByteView script) : script_(script) {}

    /// The next instruction, or nothing at the end.
    std::optional<Instruction> next();
    [[nodiscard]] std::size_t position() const { return position_; }

private:
    ByteView script_;
    std::size_t position_ = 0;
};

/// Whether it has only pushes: of data, of -1 and of 0 to 16 (and, as in Bitcoin, the reserved 0x50). A broken one
/// counts as none.
[[nodiscard]] bool is_push_only(ByteView script);

/// Whether no shorter instruction pushes the same bytes. True for what is no push of data.
[[nodiscard]] bool is_minimal_push(const Instruction& instruction);

/// The truth of an item: any byte that is not zero, except that a number's sign alone (negative zero) is false.
[[nodiscard]] bool is_true(ByteView item);

// ---- numbers ----------------------------------------------------------------------------------------------------

/// A number as an item: little-endian, the highest bit is the sign, zero is empty, no more bytes than needed.
class NumberItem {
public:
    explicit NumberItem(std::int64_t number);
    [[nodiscard]] ByteView view() const { return {bytes_.data(), size_}; }

private:
    std::array<std::uint8_t, 9> bytes_{};
    std::size_t size_ = 0;
};

/// The number in an item of at most `bytes_max` (≤ 8) bytes; nothing when it is longer, or `minimal` is asked for and a
/// shorter item says the same.
[[nodiscard]] std::optional<std::int64_t> read_number(ByteView item, std::size_t bytes_max, bool minimal);

// ---- writing ----------------------------------------------------------------------------------------------------

/// Writes a script. Every push takes its shortest form.
class ScriptBuilder {
public:
    ScriptBuilder& op(Op code);
    ScriptBuilder& number(std::int64_t number);
    ScriptBuilder& data(ByteView item);
    /// Bytes as they are; whoever uses it knows what they mean.
    ScriptBuilder& raw(ByteView bytes);

    [[nodiscard]] ByteView view() const { return bytes_; }
    [[nodiscard]] std::size_t size() const { return bytes_.size(); }
    [[nodiscard]] Bytes take() && { return std::move(bytes_); }

private:
    Bytes bytes_;
};

}  // namespace rhizome::script
