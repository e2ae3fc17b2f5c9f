// SPDX-License-Identifier: Apache-2.0
#include "state/document.h"

#include <gtest/gtest.h>

#include "state/document_cache.h"
#include "support/state_model.h"

namespace rhizome::state {
namespace {

TEST(Entry, KeepsWhatItWasGiven) {
    const Path path = *Path::namespaced("default", "", "Pod", "web");
    const Origin origin = test::origin_from(7);
    const Bytes script{0x51, 0x52};
    const EntryPtr entry = *Entry::written(path, origin, script, R"({"a":1})");
    EXPECT_TRUE(entry->is_written());
    EXPECT_EQ(entry->path(), path);
    EXPECT_EQ(entry->origin(), origin);
    EXPECT_EQ(to_bytes(entry->script()), script);
    EXPECT_EQ(entry->document(), R"({"a":1})");
    EXPECT_EQ(entry->document_hash(), crypto::sha256(as_bytes(R"({"a":1})")));
    EXPECT_EQ(entry->weight(), 9u);
    EXPECT_EQ(summarise(*entry).leaf_hash(), entry->leaf_hash());

    const EntryPtr plain = *Entry::plain(*Path::chain({"seed"}), Bytes{1, 2, 3});
    EXPECT_FALSE(plain->is_written());
    EXPECT_EQ(to_bytes(plain->bytes()), (Bytes{1, 2, 3}));
    EXPECT_TRUE(plain->script().empty());
    EXPECT_EQ(summarise(*plain).leaf_hash(), plain->leaf_hash());
}

TEST(Entry, RefusesWhatCannotBeStored) {
    const Path path = *Path::node("n");
    const Origin origin = test::origin_from(1);
    EXPECT_EQ(Entry::written(path, origin, {}, std::string(kDocumentBytesMax + 1, 'x')).error(),
              EntryFault::DocumentTooLarge);
    EXPECT_EQ(Entry::written(path, origin, Bytes(kScriptBytesMax + 1), "{}").error(), EntryFault::ScriptTooLarge);
    EXPECT_EQ(Entry::written(*Path::chain({"seed"}), origin, {}, "{}").error(), EntryFault::OnChainPath);
    EXPECT_EQ(Entry::plain(path, Bytes(kDocumentBytesMax + 1)).error(), EntryFault::DocumentTooLarge);
    for (const microseconds time : {microseconds{-1000}, microseconds{1}}) {
        for (Mark Origin::*mark : {&Origin::born, &Origin::latest, &Origin::lock}) {
            Origin odd = origin;
            (odd.*mark).time = Time{time};
            EXPECT_EQ(Entry::written(path, odd, {}, "{}").error(), EntryFault::BadTime);
        }
    }
    EXPECT_TRUE(Entry::written(path, origin, Bytes(kScriptBytesMax), std::string(kDocumentBytesMax, 'x')).has_value());
}

TEST(Entry, EveryPartCountsInItsHash) {
    const Path path = *Path::node("n");
    const Origin origin = test::origin_from(1);
    const EntryPtr entry = *Entry::written(path, origin, Bytes{0x51}, "{}");
    std::vector<EntryPtr> others{
        *Entry::written(*Path::node("m"), origin, Bytes{0x51}, "{}"), *Entry::written(path, origin, Bytes{0x52}, "{}"),
        *Entry::written(path, origin, {}, "{}"), *Entry::written(path, origin, Bytes{0x51}, "{ }"),
        *Entry::plain(path, as_bytes("{}"))};
    const auto with = [&](auto change) {
        Origin changed = origin;
        change(changed);
        others.push_back(*Entry::written(path, changed, Bytes{0x51}, "{}"));
    };
    for (Mark Origin::*mark : {&Origin::born, &Origin::latest, &Origin::lock}) {
        with([&](Origin& o) { (o.*mark).output.index ^= 1; });
        with([&](Origin& o) { (o.*mark).output.change.writable()[31] ^= 1; });
        with([&](Origin& o) { ++(o.*mark).height; });
        with([&](Origin& o) { (o.*mark).time += milliseconds{1}; });
    }
    with([](Origin& o) { std::swap(o.latest, o.lock); });
    with([](Origin& o) { std::swap(o.born, o.latest); });
    for (std::size_t i = 0; i < others.size(); ++i) {
        EXPECT_NE(entry->leaf_hash(), others[i]->leaf_hash()) << i;
        EXPECT_FALSE(*entry == *others[i]) << i;
    }
    EXPECT_TRUE(*entry == **Entry::written(path, origin, Bytes{0x51}, "{}"));
}

TEST(Entry, IsReadBackAsItWasWritten) {
    for (const EntryPtr& entry : {test::entry_at(*Path::namespaced("a", "g", "K", "n"), 29),
                                  test::entry_at(Path::cluster(), 0), *Entry::plain(*Path::chain({"x"}), {})}) {
        Writer out;
        encode(out, *entry);
        Reader in{out.view()};
        const auto back = decode_entry(in);
        ASSERT_TRUE(back);
        EXPECT_TRUE(in.empty());
        EXPECT_TRUE(**back == *entry);
        for (std::size_t size = 0; size < out.size(); ++size) {
            Reader cut{out.view().first(size)};
            EXPECT_EQ(decode_entry(cut).error(), DecodeFault::Truncated) << size;
        }
    }
}

TEST(EntryPtr, SharesOneEntry) {
    EntryPtr first = test::entry_at(Path::cluster(), 1);
    const Entry* at = first.get();
    EntryPtr second = first;
    first = {};
    EXPECT_EQ(second.get(), at);
    EXPECT_EQ(second->document(), R"({"v":1})");
    const EntryPtr third = std::move(second);
    EXPECT_FALSE(second);  // NOLINT(bugprone-use-after-move): that it is null is the promise
    EXPECT_EQ(third.get(), at);
}

TEST(DocumentCache, ParsesOnceAndStaysWithinItsBound) {
    DocumentCache cache{2000};
    const EntryPtr one = test::entry_at(*Path::node("a"), 1), same = test::entry_at(*Path::node("b"), 1);
    const auto parsed = *cache.parsed(*one);
    EXPECT_EQ(parsed->find("v")->if_int64(), 1);
    EXPECT_EQ(*cache.parsed(*one), parsed);
    EXPECT_EQ(*cache.parsed(*same), parsed) << "equal texts share one parsed form";
    for (std::uint64_t i = 2; i < 50; ++i) ASSERT_TRUE(cache.parsed(*test::entry_at(*Path::node("a"), i)));
    EXPECT_LE(cache.bytes(), 2000u);
    EXPECT_GE(cache.size(), 2u);
    EXPECT_NE(*cache.parsed(*one), parsed) << "it was pushed out by others";
    EXPECT_EQ(parsed->find("v")->if_int64(), 1) << "and lives on with its holder";
    EXPECT_FALSE(cache.parsed(**Entry::plain(*Path::chain({"x"}), Bytes{0xff})));
}

TEST(DocumentCache, ADearDocumentIsParsedButNotKept) {
    DocumentCache cache{1000};
    const std::string text = "[" + std::string(500, '1') + "," + std::string(500, '2') + "]";
    ASSERT_TRUE(cache.parsed(**Entry::plain(Path::cluster(), as_bytes(text))));
    EXPECT_EQ(cache.size(), 0u);
}

}  // namespace
}  // namespace rhizome::state
