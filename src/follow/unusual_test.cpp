// SPDX-License-Identifier: Apache-2.0
#include "follow/unusual.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "state/tree.h"

namespace rhizome::follow {
namespace {

constexpr std::int64_t kStartMillis = 1'800'000'000'000;

/// A state that grows, and what each step changed.
class Chain {
public:
    /// `count` documents of `kind` in `name_space`, each of about `bytes`.
    state::Delta write(std::string_view name_space, std::string_view kind, std::size_t count, std::size_t bytes = 64) {
        state::Batch batch{view_};
        for (std::size_t i = 0; i < count; ++i) {
            const auto path = state::Path::namespaced(name_space, "", kind, "d" + std::to_string(++written_)).value();
            batch.put(state::Entry::written(path, {}, {}, "{\"a\":\"" + std::string(bytes, 'x') + "\"}").value());
        }
        state::Commit commit = std::move(batch).finish();
        view_ = commit.view;
        return commit.delta;
    }

private:
    state::StateView view_{};
    std::size_t written_ = 0;
};

Time at(std::int64_t second) { return Time::from_unix_millis(kStartMillis + second * 1'000); }

TEST(Unusual, AFloodOfOneKindInOneNamespaceIsToldOnceAndCountedPerSlot) {
    Chain chain;
    UsualWatch watch{{}};
    for (int second = 0; second < 600; ++second)
        EXPECT_TRUE(watch.changed(at(second), chain.write("web", "ConfigMap", 2)).empty());
    std::vector<Unusual> told;
    for (int second = 600; second < 640; ++second)
        for (Unusual& one : watch.changed(at(second), chain.write("web", "ConfigMap", 100)))
            told.push_back(std::move(one));
    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(told[0].kind, UnusualKind::Rate);
    EXPECT_EQ(told[0].subject, "/namespaces/web/core/ConfigMap");
    EXPECT_EQ(told[0].what, "more than 500 changes below /namespaces/web/core/ConfigMap within 10 s; 19 are usual");
    EXPECT_GE(watch.counts()[0], 2u);
}

TEST(Unusual, ALoadThatIsAlwaysHighBecomesUsual) {
    Chain chain;
    UsualWatch watch{{}};
    std::uint64_t late = 0;
    for (int second = 0; second < 900; ++second) {
        (void)watch.changed(at(second), chain.write("web", "ConfigMap", 100));
        if (second == 400) late = watch.counts()[0];
    }
    EXPECT_GT(late, 0u);
    EXPECT_EQ(watch.counts()[0], late);
}

TEST(Unusual, OtherKindsAndNamespacesAreCountedForThemselves) {
    Chain chain;
    UsualWatch watch{{}};
    for (int second = 0; second < 10; ++second)
        for (const char* name_space : {"a", "b", "c", "d", "e", "f"})
            EXPECT_TRUE(watch.changed(at(second), chain.write(name_space, "ConfigMap", 40)).empty());
}

TEST(Unusual, ADocumentFarLargerThanItsLikeIsTold) {
    Chain chain;
    UsualWatch watch{{}};
    EXPECT_TRUE(watch.changed(at(0), chain.write("web", "ConfigMap", 1, 200'000)).empty()) << "nothing is usual yet";
    EXPECT_TRUE(watch.changed(at(1), chain.write("web", "Secret", 20, 1'000)).empty());
    const auto told = watch.changed(at(2), chain.write("web", "Secret", 1, 200'000));
    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(told[0].kind, UnusualKind::Size);
    EXPECT_EQ(told[0].subject, "/namespaces/web/core/Secret");
}

TEST(Unusual, SubjectsAreBounded) {
    Chain chain;
    UsualWatch watch{{.changes_least = 5, .subjects_max = 4}};
    for (int i = 0; i < 50; ++i) (void)watch.changed(at(i), chain.write("n" + std::to_string(i), "ConfigMap", 2));
    // Those that were pushed out are learnt anew and still told of.
    EXPECT_EQ(watch.changed(at(50), chain.write("n0", "ConfigMap", 10)).size(), 1u);
}

TEST(Unusual, NoncesThatAreSharedOutShow) {
    const milliseconds wanted{5'000};
    Random random{7};
    UsualWatch honest{{}};
    UsualWatch shared{{}};
    for (std::size_t i = 0; i < 20 * UsualWatch::kNonces; ++i) {
        const auto second = static_cast<std::int64_t>(i) * 5;
        (void)honest.worked(at(second), random.next(), wanted);
        // Eight of sixteen classes are searched by nobody.
        (void)shared.worked(at(second), random.next() & ~std::uint64_t{8}, wanted);
    }
    EXPECT_EQ(honest.counts()[2], 0u);
    EXPECT_EQ(shared.counts()[2], 20u);
    EXPECT_EQ(honest.counts()[3], 0u);
}

TEST(Unusual, BlocksThatComeFarTooFastAreTold) {
    const milliseconds wanted{5'000};
    Random random{11};
    UsualWatch watch{{}};
    std::int64_t second = 0;
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(watch.worked(at(second += 5), random.next(), wanted).empty());
    std::vector<Unusual> told;
    for (int i = 0; i < 100; ++i)
        for (Unusual& one : watch.worked(at(++second), random.next(), wanted)) told.push_back(std::move(one));
    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(told[0].kind, UnusualKind::Pace);
}

}  // namespace
}  // namespace rhizome::follow
