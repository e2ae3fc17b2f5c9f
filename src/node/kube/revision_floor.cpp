// SPDX-License-Identifier: Apache-2.0
#include "node/kube/revision_floor.h"

#include <algorithm>

#include <fmt/core.h>

#include "runtime/files.h"

namespace rhizome::node {
namespace {

/// More changes than one run can see; a second of the clock (api::first_revision).
constexpr api::Revision kOneRun = api::Revision{1} << 32;
/// A clock that once was at the end of its numbers is no reason to count there for ever.
constexpr api::Revision kFloorMax = (api::Revision{1} << 63) - 1'000'000 * kOneRun;
constexpr std::size_t kFloorBytesMax = 64;

}  // namespace

Result<api::Revision> begin_revisions(const std::filesystem::path& data, api::Revision by_clock) {
    const auto file = data / "node" / "revisions";
    api::Revision first = by_clock;
    if (auto text = runtime::read_file(file, kFloorBytesMax)) {
        while (text->ends_with('\n')) text->pop_back();
        if (const auto floor = api::parse_revision(*text); floor && *floor < kFloorMax) first = std::max(first, *floor);
    }
    TRY(runtime::replace_file(file, fmt::format("{}\n", first + kOneRun), 0600));
    return first;
}

}  // namespace rhizome::node
