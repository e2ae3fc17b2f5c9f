// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include <fmt/core.h>

#include "base/ensure.h"

/// A second process of the same benchmark program, for what must not share memory or cores' caches with the first.
namespace rhizome::bench {

/// Runs this program again with one variable set, until the object goes. The child says one line when it is ready.
class Child {
public:
    Child(const char* variable, const std::string& value) {
        int to[2];
        int from[2];
        ensure(::pipe(to) == 0 && ::pipe(from) == 0, "pipes");
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
        posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
        for (const int end : {to[0], to[1], from[0], from[1]}) posix_spawn_file_actions_addclose(&actions, end);
        std::string self = "/proc/self/exe";
        std::string setting = fmt::format("{}={}", variable, value);
        char* arguments[] = {self.data(), nullptr};
        char* environment[] = {setting.data(), nullptr};
        ensure(::posix_spawn(&child_, self.c_str(), &actions, nullptr, arguments, environment) == 0, "a child");
        posix_spawn_file_actions_destroy(&actions);
        ::close(to[0]);
        ::close(from[1]);
        input_ = to[1];
        char byte = 0;
        while (::read(from[0], &byte, 1) == 1 && byte != '\n') line_.push_back(byte);
        ::close(from[0]);
    }
    ~Child() {
        ::close(input_);
        int status = 0;
        ::waitpid(child_, &status, 0);
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    [[nodiscard]] const std::string& line() const { return line_; }

    /// The child's side: says that it is ready, and returns when its parent has had enough.
    static void say_and_wait(const std::string& line) {
        fmt::print("{}\n", line);
        std::fflush(stdout);
        char byte = 0;
        while (::read(STDIN_FILENO, &byte, 1) > 0) {
        }
    }

private:
    pid_t child_ = 0;
    int input_ = -1;
    std::string line_{};
};

}  // namespace rhizome::bench
