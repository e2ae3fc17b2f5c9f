// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <istream>
#include <optional>
#include <ostream>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "cli/style.h"
#include "runtime/clock.h"
#include "runtime/environment.h"

namespace rhizome::cli {

/// Everything around a command: where it prints, whom it asks, what time it is. Tests hand in their own, so every
/// command runs inside a test program as it runs for a person. Data goes to `out`, talk to `err`.
///
/// Borrows the streams.
struct Console {
    std::istream& in;
    std::ostream& out;
    std::ostream& err;
    runtime::Environment environment{};

    Style out_style{};
    Style err_style{};
    std::optional<unsigned> out_width{};  ///< columns when `out` is a terminal
    std::optional<unsigned> err_width{};  ///< the same of `err`
    bool in_is_terminal = false;          ///< then a person types what is read from `in`
    bool out_is_terminal = false;         ///< then secrets stay away from `out`
    bool err_is_terminal = false;         ///< then progress may be drawn

    std::function<Result<SecretBytes>(std::string_view prompt)> ask_passphrase{};
    std::function<Result<bool>(std::string_view prompt)> confirm{};
    std::function<Time()> now = runtime::now;
    std::function<runtime::Instant()> instant_now = runtime::instant_now;

    /// Columns for prose: those of the terminal, but not more than are pleasant to read.
    [[nodiscard]] unsigned prose_width() const;
};

/// Prints an error for a person: `error: …`, then the further lines of its message as hints.
void print_error(Console& console, const Error& error);
/// The same for what needs attention but stops nothing: `warning: …`, then hints.
void print_warning(Console& console, std::string_view message);

/// What a shell learns: 0 ok, 1 failure, 2 usage, 3 not found, 4 denied, 5 conflict, 6 timeout or unavailable.
int exit_code(ErrorKind kind);

}  // namespace rhizome::cli
