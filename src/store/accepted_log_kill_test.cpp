// SPDX-License-Identifier: Apache-2.0
// A list of accepted transactions whose disk loses its power: what was promised is there again.
#include <set>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "store/accepted_log.h"
#include "support/crash_disk.h"
#include "support/seed.h"
#include "support/stored_chain.h"
#include "support/temp_folder.h"

namespace rhizome::store {
namespace {

using test::CrashDisk;
using test::CrashImage;

const ledger::ChainId kTheChain{std::array<std::uint8_t, 32>{9}};
constexpr AcceptedLog::Limits kSmallList{.slack_bytes = 4'096, .lost_max = 8, .lost_bytes_max = 1u << 20};

/// What must be known again when the power fails after a promise.
struct Promise {
    std::set<ledger::TxId> kept{};
    std::set<ledger::TxId> lost{};
};

TEST(AcceptedLogKill, APowerFailureAtAnyMomentTakesNothingThatWasPromised) {
    test::TestChain chain;
    test::grow_namespace(chain);
    Random random{test::seed_for(52)};
    const test::TempFolder temp;
    const auto folder = temp.path() / "d";
    std::filesystem::create_directory(folder);
    CrashDisk disk{folder};
    std::vector<Promise> promises;
    {
        const auto log = AcceptedLog::open(folder, kTheChain, kSmallList).value();
        Promise now;
        std::vector<ledger::SharedTx> open;
        for (std::size_t i = 0; i < 60; ++i) {
            const auto tx =
                chain.create("/namespaces/web", "alice",
                             test::document("v1", "ConfigMap", "web", fmt::format("c{}", i), std::string(100, 'x')),
                             test::lock_of("alice"));
            ASSERT_TRUE(log->keep(tx, Time::from_unix_seconds(1'800'000'000)));
            open.push_back(tx);
            now.kept.insert(tx->id);
            if (open.size() > 3) {
                const auto at = static_cast<std::ptrdiff_t>(random.below(open.size()));
                const ledger::SharedTx ended = open[static_cast<std::size_t>(at)];
                open.erase(open.begin() + at);
                now.kept.erase(ended->id);
                if (random.chance(1, 10)) {
                    ASSERT_TRUE(log->lose({.tx = ended, .why = {.why = "x"}}));
                    now.lost.insert(ended->id);
                } else {
                    ASSERT_TRUE(log->settle(ended->id));
                }
            }
            if (i < 59 && !random.chance(1, 3)) continue;
            ASSERT_TRUE(log->sync());
            promises.push_back(now);
            disk.mark(fmt::format("{}", promises.size()));
        }
    }
    disk.stop();
    const std::size_t images = disk.each_image({}, [&](const CrashImage& image) {
        const auto said = disk.promised(image.point);
        const auto log = AcceptedLog::open(image.folder, kTheChain, kSmallList);
        ASSERT_TRUE(log) << log.error().message;
        if (said.empty()) return;
        const Promise& promised = promises[std::stoul(said.back()) - 1];
        std::set<ledger::TxId> kept;
        for (const auto& one : (*log)->kept()) kept.insert(one.tx->id);
        std::set<ledger::TxId> lost;
        for (const auto& one : (*log)->lost()) lost.insert(one.tx->id);
        for (const auto& id : promised.lost) EXPECT_TRUE(lost.contains(id)) << image.text;
        // What was promised and not settled before the next promise.
        const std::size_t next = std::min(std::stoul(said.back()), promises.size() - 1);
        for (const auto& id : promised.kept) {
            if (promises[next].kept.contains(id)) {
                EXPECT_TRUE(kept.contains(id)) << image.text;
            }
            if (promises[next].lost.contains(id)) {
                EXPECT_TRUE(kept.contains(id) || lost.contains(id)) << image.text;
            }
        }
    });
    EXPECT_GT(images, 100u);
}

}  // namespace
}  // namespace rhizome::store
