// SPDX-License-Identifier: Apache-2.0
#include "cli/console.h"

#include <algorithm>
#include <string>

#include <fmt/core.h>

#include "cli/text.h"

namespace rhizome::cli {

unsigned Console::prose_width() const { return std::clamp(out_width.value_or(80), 40u, 100u); }

namespace {

/// Names of files and keys stand in messages and may hold escape sequences that somebody else chose. The sentence is
/// broken between words; hints are not, since they hold commands to copy.
void print_lines(Console& console, Tone tone, std::string_view label, std::string_view message) {
    const auto newline = std::min(message.find('\n'), message.size());
    auto sentence = fmt::format("{} {}", label, printable(message.substr(0, newline)));
    if (console.err_width) sentence = join(wrap(sentence, *console.err_width), "\n");
    console.err << console.err_style.paint(tone, label) << sentence.substr(label.size()) << '\n';
    for (auto rest = message.substr(newline); !rest.empty();) {
        rest.remove_prefix(1);
        const auto end = std::min(rest.find('\n'), rest.size());
        console.err << console.err_style.paint(Tone::Command, "hint:") << ' ' << printable(rest.substr(0, end)) << '\n';
        rest.remove_prefix(end);
    }
}

}  // namespace

void print_error(Console& console, const Error& error) { print_lines(console, Tone::Bad, "error:", error.message); }

void print_warning(Console& console, std::string_view message) {
    print_lines(console, Tone::Warning, "warning:", message);
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
