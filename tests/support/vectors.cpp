// SPDX-License-Identifier: Apache-2.0
#include "support/vectors.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace rhizome::test {
namespace {

std::filesystem::path shared_folder() {
    if (const char* folder = std::getenv("RHIZOME_VECTORS")) return folder;
    return source_root() / ".." / "shared" / "vectors";
}

}  // namespace

std::filesystem::path source_root() {
    if (const char* root = std::getenv("RHIZOME_SOURCE")) return root;
    return std::filesystem::current_path();
}

std::optional<std::string> read_file(const std::filesystem::path& path) {
    std::ifstream in{path, std::ios::binary};
    if (!in) return std::nullopt;
    return std::string{std::istreambuf_iterator<char>{in}, {}};
}

boost::json::value own_vectors(std::string_view name) {
    const auto path = source_root() / "tests" / "vectors" / name;
    const auto content = read_file(path);
    if (!content) {
        ADD_FAILURE() << "the repository's vectors " << path << " are missing";
        return nullptr;
    }
    return boost::json::parse(*content);
}

std::optional<boost::json::value> shared_vectors(std::string_view name) {
    const auto content = read_file(shared_folder() / name);
    if (!content) return std::nullopt;
    return boost::json::parse(*content);
}

std::string absent_vectors(std::string_view name) {
    return fmt::format("no {} in {}: set RHIZOME_VECTORS to the folder with the external vectors to run this test",
                       name, shared_folder().string());
}

std::string text(const boost::json::value& object, std::string_view key) {
    return std::string{object.at(key).as_string()};
}

Bytes hex(const boost::json::value& object, std::string_view key) {
    const auto bytes = from_hex(text(object, key));
    EXPECT_TRUE(bytes) << key << " is not hexadecimal";
    return bytes.value_or(Bytes{});
}

const boost::json::array& rows(const boost::json::value& file, std::string_view section) {
    return file.at(section).as_array();
}

std::string expected(const boost::json::value& row) { return row.at("fault").is_null() ? "none" : text(row, "fault"); }

}  // namespace rhizome::test
