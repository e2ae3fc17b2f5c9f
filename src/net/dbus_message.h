// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

/// As much of the D-Bus wire format (specification 0.42, version 1 of the protocol, little-endian) as a client needs
/// that speaks with one service. Decides only.
namespace rhizome::net {

/// Values of a message's body, each at its own alignment. The caller writes the signature beside.
class DbusWriter {
public:
    DbusWriter& byte(std::uint8_t value);
    DbusWriter& u16(std::uint16_t value);
    DbusWriter& u32(std::uint32_t value);
    DbusWriter& i32(std::int32_t value) { return u32(static_cast<std::uint32_t>(value)); }
    DbusWriter& text(std::string_view value);       ///< s, o
    DbusWriter& signature(std::string_view value);  ///< g
    /// aay: texts as bytes.
    DbusWriter& byte_arrays(const std::vector<std::string>& values);
    DbusWriter& align(std::size_t to);
    [[nodiscard]] const Bytes& bytes() const { return bytes_; }

private:
    void number(std::uint64_t value, std::size_t size);
    Bytes bytes_{};
};

/// The same read back. Every length is checked against what is there; padding must be zero.
class DbusReader {
public:
    explicit DbusReader(ByteView bytes) : bytes_(bytes) {}
    Result<std::uint8_t> byte();
    Result<std::uint16_t> u16();
    Result<std::uint32_t> u32();
    Result<std::int32_t> i32();
    Result<std::string> text();
    Result<std::string> signature();
    Result<std::vector<std::string>> byte_arrays(std::size_t most);
    Result<void> align(std::size_t to);
    [[nodiscard]] std::size_t position() const { return at_; }
    [[nodiscard]] bool empty() const { return at_ == bytes_.size(); }

private:
    Result<ByteView> take(std::size_t size);
    /// So many bytes, then a zero.
    Result<std::string> ended(std::size_t size);
    Result<std::uint64_t> number(std::size_t size);
    ByteView bytes_;
    std::size_t at_ = 0;
};

enum class DbusKind : std::uint8_t { Call = 1, Return = 2, Error = 3, Signal = 4 };

struct DbusMessage {
    DbusKind kind = DbusKind::Call;
    std::uint32_t serial = 0;    ///< not 0
    std::uint32_t reply_to = 0;  ///< of Return and Error
    std::string path{};
    std::string interface {};
    std::string member{};
    std::string error{};
    std::string destination{};
    std::string sender{};
    std::string signature{};
    Bytes body{};
    friend bool operator==(const DbusMessage&, const DbusMessage&) = default;
};

/// All that is read here is small; a longer message ends the connection.
inline constexpr std::size_t kDbusBytesMax = 64u << 10;
/// So many bytes say how long a message is.
inline constexpr std::size_t kDbusHeadBytes = 16;

/// Calls ask that nobody be started to answer them.
Bytes encode(const DbusMessage& message);
/// How many bytes the message has that begins so; Invalid when it is none, or too long.
Result<std::size_t> dbus_size(ByteView head);
/// One whole message.
Result<DbusMessage> decode_dbus(ByteView bytes);

}  // namespace rhizome::net
