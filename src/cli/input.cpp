// SPDX-License-Identifier: Apache-2.0
#include "cli/input.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "runtime/files.h"

namespace rhizome::cli {

Result<std::string> read_input(Console& console, const std::string& file, std::size_t max_bytes) {
    if (file != "-") return runtime::read_file(file, max_bytes);
    std::string text;
    std::array<char, 16u << 10> piece;  // NOLINT: never read before it is written
    do {
        console.in.read(piece.data(), piece.size());
        text.append(piece.data(), static_cast<std::size_t>(console.in.gcount()));
    } while (console.in && text.size() <= max_bytes);
    if (console.in.bad()) return fail(ErrorKind::Failed, "cannot read stdin");
    if (text.size() > max_bytes)
        return fail(ErrorKind::Exhausted, fmt::format("stdin has more than the {} bytes allowed", max_bytes));
    return text;
}

}  // namespace rhizome::cli
