// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "ledger/block.h"

/// Blocks in files, as `chain export` writes them and `chain import` reads them, one block in memory at a time.
///
///     blocks   `rhizblk1` ‖ chain id (32) ‖ height of the first (8) ‖ count (8) ‖ encoded blocks
///     jsonl    one JSON object a line: {"type":"block","block":{…}}, or "blockBytes" in hexadecimal where a document
///     of
///              its own has line breaks; other types are passed over
///     json     {"kind":"rhizome-blocks","version":1,"chainId":…,"blocks":[…]}, or one block alone
namespace rhizome::cli {

inline constexpr std::string_view kBlockFileMagic = "rhizblk1";
/// JSON in one piece is read as a whole.
inline constexpr std::size_t kBlocksJsonBytesMax = std::size_t{1} << 30;

/// The front of a binary file.
std::string block_file_front(const ledger::ChainId& chain, ledger::Height first, std::uint64_t count);

/// Borrows the stream. `name` is for errors.
class BlockFileReader {
public:
    /// Looks at the first bytes. Invalid when it is no file of blocks.
    static Result<BlockFileReader> open(std::istream& in, std::string name);

    /// The next block; nothing at the end. Errors name the place in the file: `blocks.jsonl: line 7: …`.
    Result<std::optional<ledger::Block>> next();
    /// How many there are, when the file says so.
    [[nodiscard]] std::optional<std::uint64_t> count() const { return count_; }

private:
    enum class Form : unsigned char { Binary, Lines, Whole };
    BlockFileReader(std::istream& in, std::string name) : in_(&in), name_(std::move(name)) {}
    Result<std::optional<ledger::Block>> next_binary();
    Result<std::optional<ledger::Block>> next_line();
    Result<std::optional<ledger::Block>> next_element();
    Result<std::optional<std::string>> read_line(std::size_t max_bytes);
    Result<void> read_whole(std::string front);
    [[nodiscard]] Error at(std::string place, Error error) const;

    std::istream* in_;
    std::string name_;
    Form form_ = Form::Whole;
    std::optional<std::uint64_t> count_;
    std::uint64_t read_ = 0;  ///< blocks, or lines
    std::optional<std::string> first_line_;
    std::string text_;
    std::vector<std::pair<std::size_t, std::size_t>> elements_;  ///< places of blocks in `text_`: offset, size
};

}  // namespace rhizome::cli
