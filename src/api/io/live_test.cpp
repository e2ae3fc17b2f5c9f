// SPDX-License-Identifier: Apache-2.0
#include "api/io/live.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "api/testing.h"

namespace rhizome::api {
namespace {

class LiveTest : public ::testing::Test {
protected:
    static Live::Passing event(std::string_view message, Revision known = 0) {
        static testing::World world;
        Live::Passing what{.path = path(),
                           .entry = world.entry_of(testing::World::document(
                               "v1", "Event", "default", "e", fmt::format(R"(,"message":"{}")", message))),
                           .known = known};
        what.until = kNow + hours{1};
        return what;
    }
    static state::Path path() { return *state::Path::namespaced("default", "", "Event", "e"); }
    [[nodiscard]] Standing standing() const {
        return live.read([](const Revisions& now) { return now.find(Layer::Passing, path()); });
    }
    [[nodiscard]] std::string shown() const {
        const Standing found = standing();
        return found ? std::string{json::parse(found.document->document())->text_at({"message"})} : "(none)";
    }
    [[nodiscard]] Revision newest() const {
        return live.read([](const Revisions& now) { return now.newest(); });
    }

    static constexpr Time kNow = Time::from_unix_seconds(1'790'000'000);
    Live live{Revisions{first_revision(kNow, 7), state::StateView{}, {}}};
    std::vector<Live::Passing> told;
};

TEST_F(LiveTest, AWriteNamesTheVersionThatItSaw) {
    EXPECT_TRUE(live.write(event("one"), kNow));
    EXPECT_FALSE(live.write(event("again"), kNow)) << "it is there already";
    EXPECT_TRUE(live.write(event("two", standing().revision), kNow));
    EXPECT_FALSE(live.write({.path = path(), .known = standing().revision - 1}, kNow));
    EXPECT_TRUE(live.write({.path = path(), .known = standing().revision}, kNow));
    EXPECT_EQ(shown(), "(none)");
}

TEST_F(LiveTest, WhatComesAgainInAnotherBlockHasChangedAndWasNeverGone) {
    testing::World world;
    const auto born_in = [&](std::string_view name, std::uint8_t block) {
        const auto entry = world.entry_of(testing::World::config_map("default", name, "1"));
        state::Mark mark{.output = {}, .height = state::Height{block}, .time = kNow};
        mark.output.change.writable()[0] = block;
        return *state::Entry::written(entry->path(), {.born = mark, .latest = mark, .lock = mark}, {},
                                      std::string{entry->document()});
    };
    const auto one = born_in("one", 1);
    const auto two = born_in("two", 1);
    const auto again = born_in("one", 2);
    const auto with = [](const std::vector<state::EntryPtr>& entries) {
        state::Batch batch{state::StateView{}};
        for (const auto& entry : entries) batch.put(entry);
        return std::move(batch).finish().view;
    };
    auto events = [&, seen = newest()]() mutable {
        std::string line;
        live.read([&](const Revisions& now) {
            Revision up_to = 0;
            for (const Revised& change : *now.changes_after(seen, state::Prefix::documents(), 100, &up_to))
                line += std::string{change.before ? change.after ? "~" : "-" : "+"} +
                        std::string{state::Path::from_checked_key(change.key).name()} + " ";
            seen = now.newest();
            return 0;
        });
        return line;
    };
    const std::set<std::string, std::less<>> both{std::string{one->key()}, std::string{two->key()}};
    live.follow(with({one, two}), state::Height{0});
    EXPECT_EQ(events(), "+one +two ");
    // A heal undoes their block; both wait for another.
    live.follow(with({}), state::Height{1'000'000}, both);
    EXPECT_EQ(events(), "");
    const auto finality = [&] {
        return live.read([&](const Revisions& now) { return now.find(Layer::Chain, one->path()).is_final; });
    };
    EXPECT_FALSE(finality()) << "of no block";
    // One comes, the other is refused.
    live.follow(with({again}), state::Height{1'000'000});
    EXPECT_EQ(events(), "~one -two ");
    EXPECT_TRUE(finality());
    // What a returning transaction had deleted is not shown again meanwhile.
    live.follow(with({}), state::Height{1'000'000});
    EXPECT_EQ(events(), "-one ");
    live.follow(with({again}), state::Height{1'000'000}, both);
    EXPECT_EQ(events(), "");
    live.follow(with({}), state::Height{1'000'000});
    EXPECT_EQ(events(), "");
}

TEST_F(LiveTest, WhatOtherNodesSayStandsAndIsOneChange) {
    live.on_write([&](const Live::Passing& what) { told.push_back(what); });
    const auto said = event("from elsewhere");
    const Revision before = newest();
    live.show(said);
    live.show(said);
    EXPECT_EQ(shown(), "from elsewhere");
    EXPECT_EQ(newest(), before + 1) << "the same again is no news";
    EXPECT_TRUE(told.empty()) << "who said it is not told";
    live.show({.path = path()});
    EXPECT_EQ(shown(), "(none)");
}

/// Else a client would read something older than what it has just written.
TEST_F(LiveTest, WhileAWriteIsOnItsWayNothingOlderIsShown) {
    live.on_write([&](const Live::Passing& what) { told.push_back(what); });
    ASSERT_TRUE(live.write(event("first"), kNow));
    ASSERT_TRUE(live.write(event("second", standing().revision), kNow));
    const Revision written = newest();
    live.show(told[0]);  // the word of the first comes back
    live.show(event("another node's"));
    live.settle(path(), told[0]);
    EXPECT_EQ(shown(), "second");
    live.settle(path(), told[1]);
    EXPECT_EQ(shown(), "second");
    EXPECT_EQ(newest(), written);
    live.show(event("later"));
    EXPECT_EQ(shown(), "later");
}

TEST_F(LiveTest, AWriteThatLostGivesWayWhenItIsSettled) {
    live.on_write([&](const Live::Passing& what) { told.push_back(what); });
    ASSERT_TRUE(live.write(event("ours"), kNow));
    live.settle(path(), event("theirs"));
    EXPECT_EQ(shown(), "theirs");
}

TEST_F(LiveTest, WhatHasEndedGoesWithTheNextWrite) {
    ASSERT_TRUE(live.write(event("short"), kNow));
    Live::Passing other = event("x");
    other.path = *state::Path::namespaced("default", "", "Event", "f");
    other.entry = {};
    EXPECT_TRUE(live.write(other, kNow + hours{2}));
    EXPECT_EQ(shown(), "(none)");
}

}  // namespace
}  // namespace rhizome::api
