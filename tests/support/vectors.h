// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json.hpp>

/// Finds and reads test data. Read with Boost.JSON, not with our own parser, so that a fault in ours cannot hide
/// itself.
namespace rhizome::test {

/// The root of the source tree (`RHIZOME_SOURCE`, which ctest sets, else the working directory).
std::filesystem::path source_root();

/// The repository's own vectors: `tests/vectors/<name>`. Fails the test when missing.
boost::json::value own_vectors(std::string_view name);

/// The external vectors: `RHIZOME_VECTORS`, else `../shared/vectors` beside the source tree; nothing when there is no
/// such folder or file. Write `if (!file) GTEST_SKIP() << absent_vectors("x.json");`.
std::optional<boost::json::value> shared_vectors(std::string_view name);
std::string absent_vectors(std::string_view name);

/// A whole file, or nothing.
std::optional<std::string> read_file(const std::filesystem::path& path);

/// The string member `key` of a JSON object, as `std::string`.
std::string text(const boost::json::value& object, std::string_view key);

}  // namespace rhizome::test
