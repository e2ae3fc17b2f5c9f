// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/descriptor.h"
#include "support/crash_disk.h"
#include "support/temp_folder.h"

/// What the tests of the crash disk itself share.
namespace rhizome::test {

using Strings = std::vector<std::string>;
using Files = std::map<std::string, std::string>;

/// All files below a folder with their content; folders end in `/`.
inline Files files_in(const std::filesystem::path& folder) {
    Files files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{folder}) {
        const auto name = std::filesystem::relative(entry.path(), folder).native();
        if (entry.is_directory()) {
            files[name + "/"] = "";
        } else {
            std::ifstream in{entry.path(), std::ios::binary};
            files[name] = std::string{std::istreambuf_iterator<char>{in}, {}};
        }
    }
    return files;
}

class TheCrashDisk : public testing::Test {
protected:
    runtime::Descriptor open(const std::string& name, int flags = 0) {
        runtime::Descriptor file{::open((folder / name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | flags, 0644)};
        EXPECT_TRUE(file) << name << ": " << std::strerror(errno);
        return file;
    }
    static void put(const runtime::Descriptor& file, std::string_view bytes, off_t offset) {
        EXPECT_EQ(::pwrite(file.get(), bytes.data(), bytes.size(), offset), static_cast<ssize_t>(bytes.size()));
    }
    static int put_errno(const runtime::Descriptor& file, std::string_view bytes, off_t offset) {
        return ::pwrite(file.get(), bytes.data(), bytes.size(), offset) < 0 ? errno : 0;
    }
    void sync_folder(const std::string& name = ".") {
        const runtime::Descriptor opened{::open((folder / name).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
        EXPECT_EQ(::fsync(opened.get()), 0);
    }
    /// The image now, or at `point`.
    Files image(const CrashDisk& disk, Choice choice, std::optional<std::size_t> point = {}) {
        disk.image(point.value_or(disk.points() - 1), choice, images / "image");
        return files_in(images / "image");
    }
    std::set<Files> subsets(const CrashDisk& disk, Names names = Names::Posix, std::uint64_t seeds = 200) {
        std::set<Files> found;
        for (std::uint64_t seed = 0; seed < seeds; ++seed) {
            found.insert(image(disk, Choice::subset(seed).with(names)));
        }
        return found;
    }

    TempFolder home;
    TempFolder images{fast_place()};
    const std::filesystem::path folder = home / "disk";
};

inline Strings operations(const CrashDisk& disk) {
    Strings all;
    for (std::size_t point = 1; point < disk.points(); ++point) all.push_back(disk.operation(point));
    return all;
}

inline const std::string kSector(512, 'x');

}  // namespace rhizome::test
