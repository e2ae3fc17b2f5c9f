// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "cli/console.h"
#include "cli/program.h"

/// For tests of commands: the program inside the test, with streams that can be read afterwards.
namespace rhizome::cli::testing {

[[nodiscard]] inline bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

struct Ran {
    int code = 0;
    std::string out;
    std::string err;
};

/// A console without a terminal or environment. Change `console` before calling `run`.
struct Harness {
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    Console console{.in = in, .out = out, .err = err};

    Ran run(const Command& root, const std::vector<std::string>& words, std::string_view argv0 = "rhizome") {
        const int code = run_program(root, argv0, words, console);
        Ran ran{code, out.str(), err.str()};
        out.str({});
        err.str({});
        return ran;
    }
};

}  // namespace rhizome::cli::testing
