// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <fmt/core.h>

#include "core/passing.h"
#include "crypto/hash.h"

/// Documents off the chain, for tests of how they travel.
namespace rhizome::core::passing_testing {

inline constexpr Time kNow = Time::from_unix_seconds(1'800'000'000);

inline state::EntryPtr entry_at(const state::Path& path, std::string_view document) {
    const state::Mark mark{.output = {.change = crypto::sha256(as_bytes(document))}, .height = {}, .time = kNow};
    return *state::Entry::written(path, {.born = mark, .latest = mark, .lock = mark}, {}, document);
}

inline state::Path event_path(std::string_view name) { return *state::Path::namespaced("default", "", "Event", name); }

inline state::EntryPtr event_entry(std::string_view name, std::string_view message = "") {
    return entry_at(event_path(name), fmt::format(R"({{"apiVersion":"v1","kind":"Event","message":"{}",)"
                                                  R"("metadata":{{"name":"{}","namespace":"default"}}}})",
                                                  message, name));
}

}  // namespace rhizome::core::passing_testing
