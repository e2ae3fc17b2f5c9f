// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json.hpp>

#include "base/bytes.h"
#include "base/result.h"

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
/// The same as the bytes that its hexadecimal digits name. Fails the test when they are none.
Bytes hex(const boost::json::value& object, std::string_view key);

/// The rows of a section.
const boost::json::array& rows(const boost::json::value& file, std::string_view section);
/// What a row expects: the name of its `fault`, "none" where that is null. `outcome` says the same of a result.
std::string expected(const boost::json::value& row);
template <class T, class E>
std::string outcome(const Result<T, E>& result) {
    return result ? "none" : std::string{name(result.error())};
}

}  // namespace rhizome::test
