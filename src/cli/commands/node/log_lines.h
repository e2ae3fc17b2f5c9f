// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"

/// Reading back what a node logged.
namespace rhizome::cli {

/// One line as `base/log.h` writes them, in either form.
struct LogLine {
    std::optional<Time> time{};
    std::optional<LogLevel> level{};
    std::string text{};  ///< for people
    std::string json{};  ///< for programs; lines that were written for people stay as they are
};
LogLine read_log_line(std::string_view line);

struct LogFilterWish {
    std::optional<Time> since{};
    LogLevel level = LogLevel::Debug;
};
/// A line that cannot be read (what a library printed, half a line of a full disk) goes with the one before it.
class LogLineFilter {
public:
    explicit LogLineFilter(LogFilterWish wish) : wish_(wish) {}
    [[nodiscard]] bool takes(const LogLine& line);

private:
    LogFilterWish wish_;
    bool took_last_ = true;
};

/// The lines of a log that is being written and put aside meanwhile, as `tail -F` follows one.
class LogFollower {
public:
    explicit LogFollower(std::filesystem::path file);
    ~LogFollower();
    LogFollower(const LogFollower&) = delete;
    LogFollower& operator=(const LogFollower&) = delete;

    /// All whole lines that are there and were not given yet, of files put aside first. False when `line` answered so.
    bool read_new(const std::function<bool(std::string_view line)>& line);

private:
    struct Inside;
    std::unique_ptr<Inside> inside_;
};

}  // namespace rhizome::cli
