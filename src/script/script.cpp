// SPDX-License-Identifier: Apache-2.0
#include "script/script.h"

#include "base/ensure.h"

namespace rhizome::script {
namespace {

/// Bytes that say how many bytes a push has, after its code.
constexpr std::size_t size_bytes(std::uint8_t code) {
    return code == OP_PUSHDATA1 ? 1 : code == OP_PUSHDATA2 ? 2 : code == OP_PUSHDATA4 ? 4 : 0;
}

}  // namespace

std::optional<Instruction> InstructionReader::next() {
    if (position_ >= script_.size()) return std::nullopt;
    Instruction found;
    found.code = script_[position_];
    found.offset = static_cast<std::uint32_t>(position_);
    const std::size_t left = script_.size() - position_ - 1;
    std::size_t front = 0;  // bytes of the size
    std::size_t size = 0;
    bool fits = true;
    if (found.code < OP_PUSHDATA1) {
        size = found.code;
    } else if (found.code <= OP_PUSHDATA4) {
        front = size_bytes(found.code);
        fits = left >= front;
        if (fits) {
            for (std::size_t i = front; i-- > 0;) size = size << 8 | script_[position_ + 1 + i];
        }
    }
    if (!fits || left - front < size) {
        found.broken = true;
        found.size = static_cast<std::uint32_t>(script_.size() - position_);
        position_ = script_.size();
        return found;
    }
    found.data = script_.subspan(position_ + 1 + front, size);
    found.size = static_cast<std::uint32_t>(1 + front + size);
    position_ += found.size;
    return found;
}

bool is_push_only(ByteView script) {
    InstructionReader reader{script};
    while (const auto instruction = reader.next()) {
        if (instruction->broken || instruction->code > OP_16) return false;
    }
    return true;
}

bool is_minimal_push(const Instruction& instruction) {
    if (!instruction.is_push()) return true;
    const ByteView data = instruction.data;
    if (data.empty()) return instruction.code == OP_0;
    if (data.size() == 1 && ((data[0] >= 1 && data[0] <= 16) || data[0] == 0x81)) return false;  // OP_1 … , OP_1NEGATE
    if (data.size() <= 75) return instruction.code == data.size();
    if (data.size() <= 0xff) return instruction.code == OP_PUSHDATA1;
    if (data.size() <= 0xffff) return instruction.code == OP_PUSHDATA2;
    return true;
}

bool is_true(ByteView item) {
    for (std::size_t i = 0; i < item.size(); ++i) {
        if (item[i] != 0) return !(i + 1 == item.size() && item[i] == 0x80);
    }
    return false;
}

NumberItem::NumberItem(std::int64_t number) {
    if (number == 0) return;
    const bool negative = number < 0;
    // The most negative number has no positive twin of its own type.
    std::uint64_t rest = negative ? ~static_cast<std::uint64_t>(number) + 1 : static_cast<std::uint64_t>(number);
    while (rest != 0) {
        bytes_[size_++] = static_cast<std::uint8_t>(rest & 0xff);
        rest >>= 8;
    }
    if ((bytes_[size_ - 1] & 0x80) != 0) {
        bytes_[size_++] = negative ? 0x80 : 0x00;
    } else if (negative) {
        bytes_[size_ - 1] = static_cast<std::uint8_t>(bytes_[size_ - 1] | 0x80);
    }
}

std::optional<std::int64_t> read_number(ByteView item, std::size_t bytes_max, bool minimal) {
    ensure(bytes_max <= 8, "a script number fits into 64 bits");
    if (item.size() > bytes_max) return std::nullopt;
    if (item.empty()) return 0;
    const std::uint8_t last = item.back();
    if (minimal && (last & 0x7f) == 0 && (item.size() == 1 || (item[item.size() - 2] & 0x80) == 0)) return std::nullopt;
    std::uint64_t size = last & 0x7f;
    for (std::size_t i = item.size() - 1; i-- > 0;) size = size << 8 | item[i];
    const auto number = static_cast<std::int64_t>(size);
    return (last & 0x80) != 0 ? -number : number;
}

ScriptBuilder& ScriptBuilder::op(Op code) {
    bytes_.push_back(code);
    return *this;
}

ScriptBuilder& ScriptBuilder::number(std::int64_t number) { return data(NumberItem{number}.view()); }

ScriptBuilder& ScriptBuilder::data(ByteView item) {
    if (item.empty()) return op(OP_0);
    if (item.size() == 1 && item[0] >= 1 && item[0] <= 16) return op(static_cast<Op>(OP_1 + item[0] - 1));
    if (item.size() == 1 && item[0] == 0x81) return op(OP_1NEGATE);
    const auto low = [](std::size_t size) { return static_cast<std::uint8_t>(size & 0xff); };
    if (item.size() <= 75) {
        bytes_.push_back(low(item.size()));
    } else if (item.size() <= 0xff) {
        bytes_.insert(bytes_.end(), {OP_PUSHDATA1, low(item.size())});
    } else if (item.size() <= 0xffff) {
        bytes_.insert(bytes_.end(), {OP_PUSHDATA2, low(item.size()), low(item.size() >> 8)});
    } else {
        bytes_.insert(bytes_.end(), {OP_PUSHDATA4, low(item.size()), low(item.size() >> 8), low(item.size() >> 16),
                                     low(item.size() >> 24)});
    }
    return raw(item);
}

ScriptBuilder& ScriptBuilder::raw(ByteView bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
}

}  // namespace rhizome::script
