// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/node/vouched.h"

#include <charconv>

#include <fmt/core.h>

#include "cli/text.h"
#include "ledger/proof_files.h"
#include "runtime/files.h"

namespace rhizome::cli {
namespace {

constexpr std::size_t kAnchorBytesMax = 64u << 10;

}  // namespace

Result<node::VouchedBlock> read_vouched(const std::string& text) {
    const std::size_t colon = text.find(':');
    if (colon != std::string::npos) {
        std::uint64_t height = 0;
        const auto [end, wrong] = std::from_chars(text.data(), text.data() + colon, height);
        const auto hash = ledger::BlockHash::from_hex(text.substr(colon + 1));
        if (wrong == std::errc{} && end == text.data() + colon && hash)
            return node::VouchedBlock{ledger::Height{height}, *hash};
    }
    const auto file = runtime::read_file(text, kAnchorBytesMax);
    if (!file)
        return fail(ErrorKind::Usage,
                    fmt::format("--trust {} is neither HEIGHT:HASH nor a file: {}\n'rhizome status -o json' on a "
                                "machine that you trust says them as final.height and final.hash",
                                printable(text), file.error().message));
    TRY(const auto anchor, ledger::anchor_from_json(*file));
    return node::VouchedBlock{anchor.height, anchor.block};
}

}  // namespace rhizome::cli
