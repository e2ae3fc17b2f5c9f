// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "base/time.h"

namespace rhizome::test {

/// The wall clock of real processes that are started with its variables: right, until the test sets it.
class MachineClock {
public:
    explicit MachineClock(std::filesystem::path file) : file_(std::move(file)) { set_ahead(microseconds{0}); }

    /// At once, also for processes that run.
    void set_ahead(microseconds ahead) const {
        const std::int64_t count = ahead.count();
        // Written in place: it is mapped.
        std::fstream out{file_, std::ios::binary | std::ios::in | std::ios::out};
        if (!out) out.open(file_, std::ios::binary | std::ios::out);
        out.write(reinterpret_cast<const char*>(&count), sizeof count);
    }
    [[nodiscard]] std::map<std::string, std::string> variables() const {
        return {{"LD_PRELOAD", std::string{std::getenv("RHIZOME_BUILD")} + "/tests/support/librhizome_set_clock.so"},
                {"RHIZOME_TEST_CLOCK", file_.native()}};
    }

private:
    std::filesystem::path file_;
};

}  // namespace rhizome::test
