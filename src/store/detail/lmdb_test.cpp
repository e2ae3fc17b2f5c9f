// SPDX-License-Identifier: Apache-2.0
#include "store/detail/lmdb.h"

#include <malloc.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "support/temp_folder.h"

namespace rhizome::store::detail {
namespace {

/// How much of a mapped file counts as this process' memory.
std::uint64_t resident_bytes_of(const std::filesystem::path& file) {
    std::ifstream maps{"/proc/self/smaps"};
    std::uint64_t kilobytes = 0;
    bool inside = false;
    for (std::string line; std::getline(maps, line);) {
        const std::string_view first = std::string_view{line}.substr(0, line.find(' '));
        if (first.find('-') != first.npos) inside = line.ends_with(file.native());
        if (inside && first == "Rss:") kilobytes += std::strtoull(line.c_str() + first.size(), nullptr, 10);
    }
    return kilobytes << 10;
}

class Lmdb : public testing::Test {
protected:
    test::TempFolder folder;
    Environment environment = Environment::open(folder.path(), 4).value();
    Table rows = environment.table("rows").value();
    Table many = environment.table("many", true).value();

    static std::string key(std::size_t number) { return fmt::format("{:08}", number); }
    static Bytes value(std::size_t number) { return Bytes(1'500, static_cast<std::uint8_t>(number)); }
    /// In one transaction.
    void put(std::size_t from, std::size_t to) {
        auto transaction = environment.write();
        ASSERT_TRUE(transaction);
        for (std::size_t i = from; i < to; ++i) ASSERT_TRUE(transaction->put(rows, as_bytes(key(i)), value(i)));
        ASSERT_TRUE(transaction->put(many, as_bytes("all"), as_bytes(key(from))));
        ASSERT_TRUE(transaction->commit());
    }
    /// Looks at every row, in one transaction.
    std::size_t walk() {
        const auto transaction = environment.read();
        auto walk = Walk::open(*transaction, rows);
        std::size_t count = 0;
        for (; walk->row(); ++count) {
            EXPECT_EQ(as_text(walk->row()->key), key(count));
            EXPECT_EQ(to_bytes(walk->row()->value), value(count));
            EXPECT_TRUE(walk->next());
        }
        return count;
    }
};

TEST_F(Lmdb, LetsGoOfWhatItHasRead) {
    constexpr std::size_t kRows = 60'000;  // 120 MB of pages
    constexpr std::uint64_t kBytesMax = 40u << 20;
    for (std::size_t i = 0; i < kRows; i += 10'000) put(i, i + 10'000);
    {
        const auto transaction = environment.read();
        auto walk = Walk::open(*transaction, rows);
        std::size_t count = 0;
        for (; walk->row(); ++count) {
            ASSERT_EQ(to_bytes(walk->row()->value), value(count));
            if (count % 5'000 == 0) {
                ASSERT_LT(resident_bytes_of(environment.path()), kBytesMax) << count;
            }
            ASSERT_TRUE(walk->next());
        }
        EXPECT_EQ(count, kRows);
    }
    EXPECT_LT(resident_bytes_of(environment.path()), kBytesMax);
    // The same by single lookups, a transaction for each.
    for (std::size_t i = 0; i < kRows; ++i) {
        const auto transaction = environment.read();
        const std::size_t number = i * 7'919 % kRows;
        ASSERT_EQ(to_bytes(transaction->get(rows, as_bytes(key(number))).value().value()), value(number));
        if (i % 5'000 == 0) {
            ASSERT_LT(resident_bytes_of(environment.path()), kBytesMax) << i;
        }
    }
}

TEST_F(Lmdb, GivesBackTheMemoryOfALargeTransaction) {
    put(0, 10);
    const std::size_t before = ::mallinfo2().uordblks;
    put(0, 20'000);  // 40 MB of pages
    EXPECT_LT(::mallinfo2().uordblks, before + (8u << 20));
    EXPECT_EQ(walk(), 20'000U);
}

TEST_F(Lmdb, StaysOpenWhileSomebodyReads) {
    put(0, 10);
    const std::uint64_t before = environment.renewals();
    {
        const auto old = environment.read();
        const ByteView seen = old->get(rows, as_bytes(key(7))).value().value();
        put(0, 5'000);  // far more than is tolerated
        EXPECT_EQ(walk(), 5'000U);
        EXPECT_EQ(environment.renewals(), before);
        EXPECT_EQ(to_bytes(seen), value(7));
        EXPECT_FALSE(old->get(rows, as_bytes(key(3'000))).value()) << "what came after it began";
    }
    EXPECT_EQ(environment.renewals(), before + 1);
    EXPECT_EQ(walk(), 5'000U);
}

TEST_F(Lmdb, KeepsTablesApartWhenItIsOpenedAgain) {
    for (std::size_t i = 0; i < 20'000; i += 5'000) put(i, i + 5'000);
    ASSERT_EQ(environment.renewals(), 4U);
    const auto transaction = environment.read();
    EXPECT_EQ(transaction->count(rows).value(), 20'000U);
    EXPECT_EQ(transaction->count(many).value(), 4U) << "several values of one key";
}

TEST_F(Lmdb, IsReadFromManyThreadsWhileItIsOpenedAgain) {
    put(0, 2'000);
    std::vector<std::thread> threads;
    for (std::size_t start = 0; start < 3; ++start)
        threads.emplace_back([&, start] {
            for (std::size_t i = start; i < 30'000; i += 7) {
                const auto transaction = environment.read();
                ASSERT_TRUE(transaction) << transaction.error().message;
                const auto found = transaction->get(rows, as_bytes(key(i % 2'000)));
                ASSERT_TRUE(found && *found);
                ASSERT_EQ(to_bytes(**found), value(i % 2'000));
            }
        });
    for (std::size_t i = 2'000; i < 27'000; i += 5'000) put(i, i + 5'000);
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(walk(), 27'000U);
    EXPECT_GE(environment.renewals(), 1U);
}

}  // namespace
}  // namespace rhizome::store::detail
