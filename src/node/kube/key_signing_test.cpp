// SPDX-License-Identifier: Apache-2.0
#include "node/kube/key_signing.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "script/locks.h"
#include "script/template.h"

namespace rhizome::node {
namespace {

/// What a draft with one input says of its waits when the block 1000 comes, ten days behind the lock at height 900.
std::vector<std::string> said(std::string_view lock) {
    const Time locked = Time::from_unix_seconds(1'790'000'000);
    const state::Mark mark{.output = {}, .height = state::Height{900}, .time = locked};
    const auto entry =
        *state::Entry::written(*state::Path::namespace_("web"), {.born = mark, .latest = mark, .lock = mark}, {},
                               R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"web"}})");
    const auto compiled = script::compile(lock);
    EXPECT_TRUE(compiled) << lock;
    const ledger::Tx draft{.inputs = {{.previous = {}}}};
    const std::vector<ledger::InputUse> uses{
        {.role = ledger::InputRole::Consumed, .of = entry.get(), .lock = *compiled}};
    std::vector<std::string> out;
    for (const ledger::Tx& one :
         drafts_that_waited(draft, uses, {.height = state::Height{1'000}, .time = locked + seconds{10 * 86'400}})) {
        const std::uint32_t sequence = one.inputs[0].sequence;
        const bool final = sequence == script::kSequenceFinal;
        const char* unit = (sequence & script::kSequenceCountsTime) != 0 ? "units" : "blocks";
        out.push_back(fmt::format(
            "{} until {}", final ? "" : fmt::format("{} {}", sequence & script::kSequenceMask, unit), one.lock_time));
    }
    return out;
}

TEST(KeySigning, SaysTheLongestWaitThatIsOver) {
    struct Case {
        const char* lock;
        std::vector<std::string> said;
    };
    const Case cases[] = {
        {"member", {}},
        {"after 11d member", {}},
        {"after 200 blocks member", {}},
        {"after height 1000 member", {}},
        {"after 2099-01-01 member", {}},
        {"after 100 blocks member", {"100 blocks until 0"}},
        {"after 9d member", {"1519 units until 0"}},
        {"after height 999 member", {" until 999"}},
        {"after 2021-01-01 member", {" until 1609459200"}},
        {"either after 5 blocks member or after 7 blocks member", {"7 blocks until 0"}},
        {"either after 5 blocks member or after 700 blocks member", {"5 blocks until 0"}},
        // Blocks and time do not go together: one draft for each.
        {"either after 5 blocks member or after 1d member", {"5 blocks until 0", "169 units until 0"}},
        {"either after height 9 member or after 2021-01-01 member", {" until 9", " until 1609459200"}},
        {"either after 5 blocks member or after 2021-01-01 member",
         {"5 blocks until 0", "5 blocks until 1609459200", " until 1609459200"}},
    };
    for (const Case& one : cases) EXPECT_EQ(said(one.lock), one.said) << one.lock;
}

TEST(KeySigning, AVersionThatOnlyGoesAlongSaysNothing) {
    EXPECT_TRUE(is_opened({.role = ledger::InputRole::Authority}));
    EXPECT_FALSE(is_opened({.role = ledger::InputRole::VersionOnly}));
    EXPECT_FALSE(is_opened({.role = ledger::InputRole::Unknown}));
}

}  // namespace
}  // namespace rhizome::node
