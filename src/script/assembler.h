// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "base/time.h"
#include "script/key_resolver.h"
#include "script/text_fault.h"

/// Scripts as text that people write and read. Words stand between blanks, lines break anywhere, `#` and `//` begin a
/// comment.
///
///   OP_DUP, dup           an instruction, by any of its names, with or without OP_
///   7, -1, 500000         a number, pushed in its shortest form
///   <02ab…>               bytes, pushed in the shortest form
///   'text'                the bytes of a text, pushed in the shortest form
///   0x4c01ff              bytes of the script itself, copied as they are
///   5d, 12h30m            a waiting time for CHECKSEQUENCEVERIFY: units of 512 s, rounded up
///   2027-01-01[T…Z]       a date for CHECKLOCKTIMEVERIFY or CHECKEXPIRYVERIFY: Unix seconds
///   <alice>, <hash_public_key_alice>
///                         a key by its name: its HASH160 after OP_HASH160, the key itself elsewhere
///   OP_PUSHDATA1 2 1 255, OP_DATA_2 0x01ff
///                         a push spelled out: size and bytes, in a form of one's own choice
namespace rhizome::script {

/// The script that the text says.
Result<Bytes, TextFault> assemble(std::string_view text, const KeyResolver* keys = nullptr);

/// Text that `assemble` turns into the same bytes, whatever they are: what has no short form is printed as `0x…`.
std::string disassemble(ByteView script);

/// The operand of a relative lock for that time, in units of 512 s and rounded up; nothing when it is negative or
/// longer than 65,535 units (about 388 days).
std::optional<std::int64_t> relative_lock(microseconds wait);

/// A date (`2027-01-01`, midnight UTC) or an RFC 3339 time of whole seconds as Unix seconds; nothing for other texts
/// and for times before 1985, which lock instructions would take for heights.
std::optional<std::int64_t> parse_moment(std::string_view text);

}  // namespace rhizome::script
