// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "support/vectors.h"

namespace rhizome::test {

/// Compares `text` with the file `tests/vectors/<name>`. When the text was meant to change, run the test with
/// RHIZOME_WRITE_GOLDEN=1, which writes the file, and read the difference before committing it.
inline void expect_golden(std::string_view name, const std::string& text) {
    const auto path = source_root() / "tests/vectors" / name;
    if (std::getenv("RHIZOME_WRITE_GOLDEN") != nullptr) {
        std::filesystem::create_directories(path.parent_path());
        std::ofstream{path, std::ios::binary} << text;
        return;
    }
    const auto kept = read_file(path);
    ASSERT_TRUE(kept) << path << " is not there; RHIZOME_WRITE_GOLDEN=1 writes it";
    EXPECT_EQ(text, *kept) << path << " differs; RHIZOME_WRITE_GOLDEN=1 writes it anew";
}

}  // namespace rhizome::test
