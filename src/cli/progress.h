// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>

#include "cli/console.h"
#include "cli/style.h"

namespace rhizome::cli {

/// A line on stderr that shows how far a long piece of work is: a bar when the total is known, a spinner otherwise.
/// Nothing is drawn when stderr is no terminal, nor in the first half second: quick work needs no bar. After a few
/// seconds a bar also says how long the rest will take, at the pace so far.
///
/// Drawn by `advance`, at most ten times a second; erased when it goes, so that what is printed next starts clean.
/// Borrows the console. Not for several threads.
class Progress {
public:
    Progress(Console& console, std::string label, std::optional<std::uint64_t> total = {});
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress();

    void advance(std::uint64_t steps = 1);
    /// Something that belongs behind the bar from the next drawing on: `2 failed`.
    void note(std::string text) { note_ = std::move(text); }

private:
    void draw();

    Console& console_;
    std::string label_;
    std::optional<std::uint64_t> total_;
    std::uint64_t done_ = 0;
    std::string note_;
    unsigned frame_ = 0;
    bool drawn_ = false;
    runtime::Instant begun_;
    runtime::Instant next_draw_;
};

}  // namespace rhizome::cli
