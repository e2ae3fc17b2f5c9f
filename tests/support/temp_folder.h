// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/ensure.h"

namespace rhizome::test {

/// A fresh folder that goes away with everything in it.
class TempFolder {
public:
    explicit TempFolder(const std::filesystem::path& where = std::filesystem::temp_directory_path()) {
        std::string name = (where / "rhizome-test-XXXXXX").native();
        ensure(::mkdtemp(name.data()) != nullptr, "a test needs a place for temporary files");
        path_ = name;
    }
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;
    ~TempFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }

private:
    std::filesystem::path path_;
};

}  // namespace rhizome::test
