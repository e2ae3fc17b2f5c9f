// SPDX-License-Identifier: Apache-2.0
#include "cli/console.h"

#include <algorithm>
#include <string>

namespace rhizome::cli {

unsigned Console::prose_width() const { return std::clamp(out_width.value_or(80), 40u, 100u); }

void print_error(Console& console, const Error& error) {
    std::string_view rest{error.message};
    bool first = true;
    do {
        const auto newline = rest.find('\n');
        const auto label =
            first ? console.err_style.paint(Tone::Bad, "error:") : console.err_style.paint(Tone::Command, "hint:");
        console.err << label << ' ' << rest.substr(0, newline) << '\n';
        rest = newline == std::string_view::npos ? std::string_view{} : rest.substr(newline + 1);
        first = false;
    } while (!rest.empty());
}

int exit_code(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::Usage: return 2;
        case ErrorKind::NotFound: return 3;
        case ErrorKind::Denied: return 4;
        case ErrorKind::Conflict: return 5;
        case ErrorKind::Unavailable: return 6;
        case ErrorKind::Invalid:
        case ErrorKind::Corrupt:
        case ErrorKind::Exhausted:
        case ErrorKind::Unsupported:
        case ErrorKind::Failed: break;
    }
    return 1;
}

}  // namespace rhizome::cli
