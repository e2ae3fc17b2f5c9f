// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "runtime/environment.h"

/// Other programs, run without a shell: arguments reach them as they are, so nothing can be injected by quoting.
namespace rhizome::runtime {

struct ProcessSpec {
    std::string program;                       ///< a path, or a name that is looked up in PATH
    std::vector<std::string> arguments;        ///< without the program's own name
    std::string input{};                       ///< what it reads from stdin; nothing is an empty stdin
    std::filesystem::path folder{};            ///< where it runs; empty is where we are
    std::optional<Environment> environment{};  ///< none is ours
    milliseconds deadline{30'000};             ///< then it is killed
    std::size_t output_max = 1u << 20;  ///< bytes kept of stdout and of stderr each; the rest is read and dropped
};

struct ProcessEnd {
    int exit_code = 0;  ///< 0 to 255; 128 + signal when a signal ended it, as shells say
    int signal = 0;     ///< 0 when it ended by itself
    std::string out;
    std::string err;
    bool truncated = false;  ///< there was more output than was kept

    [[nodiscard]] bool succeeded() const { return exit_code == 0; }
};

/// Starts the program and returns when it has ended, however it ended. NotFound or Denied when it cannot be started,
/// Unavailable when the deadline passed: then it and everything it started in its process group is killed.
///
/// What it leaves running in the background neither delays the answer nor is killed when it ends in time.
/// Blocks; may be called from any thread.
Result<ProcessEnd> run_process(const ProcessSpec& spec);

}  // namespace rhizome::runtime
