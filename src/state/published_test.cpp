// SPDX-License-Identifier: Apache-2.0
// Readers on threads of their own while a writer commits: worth most under the thread sanitizer (preset tsan).
#include "state/published.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "state/tree.h"
#include "support/state_model.h"

namespace rhizome::state {
namespace {

using test::entry_at;

TEST(Published, ShowsTheNewestView) {
    Published published;
    EXPECT_TRUE(published.snapshot().empty());
    StateView view;
    for (std::uint64_t i = 1; i < 200; ++i) {  // more often than there are slots
        Batch batch{view};
        batch.put(entry_at(Path::cluster(), i));
        view = std::move(batch).finish().view;
        published.publish(view);
        EXPECT_TRUE(published.snapshot().is_same(view));
    }
}

/// Every state has the same number under every node, so a reader that saw a mix of two states would notice.
EntryPtr numbered(int node, std::uint64_t number) {
    return *Entry::plain(*Path::node("node-" + std::to_string(node)), as_bytes(std::to_string(number)));
}

TEST(Published, ReadersSeeWholeStatesWhileAWriterRuns) {
    constexpr int kNodes = 40;
    constexpr std::uint64_t kRounds = 400;
    const auto state_with = [](const StateView& base, std::uint64_t number) {
        Batch batch{base};
        if (number % 7 == 0) batch.erase_under(Prefix::nodes());  // whole subtrees die while readers hold them
        for (int node = 0; node < kNodes; ++node) batch.put(numbered(node, number));
        return std::move(batch).finish().view;
    };
    Published published{state_with({}, 0)};
    std::atomic<bool> done{false};
    std::atomic<int> faults{0};
    std::atomic<std::uint64_t> reads{0};
    std::vector<std::thread> readers;
    for (int reader = 0; reader < 3; ++reader) {
        readers.emplace_back([&, reader] {
            std::uint64_t last = 0;
            EntryPtr kept;
            while (!done.load()) {
                const StateView view = published.snapshot();
                const Entry* first = view.get(*Path::node("node-0"));
                const std::uint64_t number = first == nullptr ? 0 : std::stoull(std::string{first->document()});
                if (first == nullptr || number < last || view.size() != kNodes) ++faults;
                last = number;
                const Page page = view.list(Prefix::nodes(), {}, 1000);
                for (const Entry* entry : page.entries)
                    if (entry->document() != first->document()) ++faults;
                if (number % 5 == static_cast<std::uint64_t>(reader)) kept = EntryPtr{first};
                if (kept && kept->document().empty()) ++faults;
                ++reads;
            }
        });
    }
    StateView view = published.snapshot();
    for (std::uint64_t number = 1; number <= kRounds || reads.load() < 100; ++number) {
        view = state_with(view, number);
        published.publish(view);
    }
    done = true;
    for (std::thread& reader : readers) reader.join();
    EXPECT_EQ(faults.load(), 0);
    EXPECT_GE(reads.load(), 100u);
}

TEST(Published, BatchesOnSeveralThreadsShareOneLine) {
    Batch start{StateView{}};
    for (int node = 0; node < 100; ++node) start.put(numbered(node, 0));
    const StateView base = std::move(start).finish().view;
    std::vector<Hash256> roots(3);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < roots.size(); ++t) {
        threads.emplace_back([&, t] {
            StateView view = base;
            for (std::uint64_t round = 1; round <= 50; ++round) {
                Batch batch{view};
                for (int node = 0; node < 20; ++node) batch.put(numbered(node, round));
                view = std::move(batch).finish().view;
            }
            roots[t] = view.root();
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(roots[0], roots[1]);
    EXPECT_EQ(roots[0], roots[2]);
    EXPECT_EQ(std::string{base.get(*Path::node("node-3"))->document()}, "0");
}

}  // namespace
}  // namespace rhizome::state
