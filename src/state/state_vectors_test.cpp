// SPDX-License-Identifier: Apache-2.0
// tests/vectors/state was made by a second, independent implementation of docs/spec/chain.md section 4.
#include <gtest/gtest.h>

#include "state/delta.h"
#include "state/proof.h"
#include "state/tree.h"
#include "support/vectors.h"

namespace rhizome::state {
namespace {

using test::text;
namespace bj = boost::json;

Mark mark_from(const bj::value& value) {
    return {.output = {*Hash256::from_hex(text(value, "change")), value.at("index").to_number<std::uint16_t>()},
            .height = Height{value.at("height").to_number<std::uint64_t>()},
            .time = Time::from_unix_millis(value.at("time").to_number<std::int64_t>())};
}

EntryPtr entry_from(const bj::value& value) {
    const Path path = *Path::parse(text(value, "path"));
    if (value.as_object().contains("bytes")) return *Entry::plain(path, *from_hex(text(value, "bytes")));
    const Origin origin{.born = mark_from(value.at("born")),
                        .latest = mark_from(value.at("latest")),
                        .lock = mark_from(value.at("lock"))};
    return *Entry::written(path, origin, *from_hex(text(value, "script")), text(value, "document"));
}

StateView state_from(const bj::value& entries) {
    Batch batch{StateView{}};
    for (const bj::value& entry : entries.as_array()) batch.put(entry_from(entry));
    return std::move(batch).finish().view;
}

StateView every_shape() {
    const bj::value file = test::own_vectors("state/roots.json");
    for (const bj::value& row : file.as_array())
        if (text(row, "name") == "every shape") return state_from(row.at("entries"));
    ADD_FAILURE() << "the set is not in the file";
    return {};
}

TEST(StateVectors, RootsOfGivenSets) {
    const bj::value file = test::own_vectors("state/roots.json");
    for (const bj::value& row : file.as_array())
        EXPECT_EQ(state_from(row.at("entries")).root().hex(), text(row, "root")) << text(row, "name");
}

TEST(StateVectors, GoodProofs) {
    const bj::value file = test::own_vectors("state/proofs.json");
    const Hash256 root = *Hash256::from_hex(text(file, "root"));
    const StateView view = every_shape();
    ASSERT_EQ(view.root(), root);
    for (const bj::value& row : file.at("good").as_array()) {
        const Path path = *Path::parse(text(row, "path"));
        EXPECT_EQ(to_hex(encode(prove(view, path))), text(row, "proof")) << path.text();
        const auto proof = decode_proof(*from_hex(text(row, "proof")));
        ASSERT_TRUE(proof) << path.text();
        const auto finding = verify(root, path, *proof);
        ASSERT_TRUE(finding) << path.text() << ' ' << name(finding.error());
        EXPECT_EQ(std::holds_alternative<Presence>(*finding), text(row, "finding") == "present") << path.text();
    }
}

TEST(StateVectors, BadProofs) {
    const bj::value file = test::own_vectors("state/proofs.json");
    const Hash256 root = *Hash256::from_hex(text(file, "root"));
    for (const bj::value& row : file.at("bad").as_array()) {
        const auto proof = decode_proof(*from_hex(text(row, "proof")));
        ASSERT_TRUE(proof) << text(row, "why");
        const auto finding = verify(root, *Path::parse(text(row, "path")), *proof);
        ASSERT_FALSE(finding) << text(row, "why");
        EXPECT_EQ(name(finding.error()), text(row, "fault")) << text(row, "why");
    }
    for (const bj::value& row : file.at("undecodable").as_array()) {
        const auto proof = decode_proof(*from_hex(text(row, "proof")));
        ASSERT_FALSE(proof) << text(row, "why");
        EXPECT_EQ(name(proof.error()), text(row, "fault")) << text(row, "why");
    }
}

TEST(StateVectors, PrefixProofs) {
    const bj::value file = test::own_vectors("state/proofs.json");
    const Hash256 root = *Hash256::from_hex(text(file, "root"));
    const StateView view = every_shape();
    for (const bj::value& row : file.at("prefixes").as_array()) {
        const Prefix prefix = *Prefix::from_key(*from_hex(text(row, "prefix")));
        EXPECT_EQ(to_hex(encode(*prove_under(view, prefix, 100))), text(row, "proof")) << text(row, "name");
        const auto proof = decode_prefix_proof(*from_hex(text(row, "proof")), 100);
        ASSERT_TRUE(proof) << text(row, "name");
        const auto shown = verify_under(root, prefix, *proof);
        ASSERT_TRUE(shown) << text(row, "name") << ' ' << name(shown.error());
        bj::array paths;
        for (const Summary& entry : *shown) paths.emplace_back(entry.path.text());
        EXPECT_EQ(paths, row.at("paths").as_array()) << text(row, "name");
    }
    for (const bj::value& row : file.at("badPrefixes").as_array()) {
        const auto proof = decode_prefix_proof(*from_hex(text(row, "proof")), 100);
        ASSERT_TRUE(proof) << text(row, "why");
        const auto shown = verify_under(root, *Prefix::from_key(*from_hex(text(row, "prefix"))), *proof);
        ASSERT_FALSE(shown) << text(row, "why");
        EXPECT_EQ(name(shown.error()), text(row, "fault")) << text(row, "why");
    }
}

TEST(StateVectors, Deltas) {
    const bj::value file = test::own_vectors("state/deltas.json");
    for (const bj::value& row : file.at("good").as_array()) {
        const StateView before = state_from(row.at("before")), after = state_from(row.at("after"));
        EXPECT_EQ(to_hex(encode(diff(before, after))), text(row, "delta"));
        const auto delta = decode_delta(*from_hex(text(row, "delta")));
        ASSERT_TRUE(delta);
        EXPECT_EQ(apply(before, *delta)->root(), after.root());
        EXPECT_EQ(undo(after, *delta)->root(), before.root());
    }
    for (const bj::value& row : file.at("undecodable").as_array()) {
        const auto delta = decode_delta(*from_hex(text(row, "delta")));
        ASSERT_FALSE(delta) << text(row, "why");
        EXPECT_EQ(name(delta.error()), text(row, "fault")) << text(row, "why");
    }
}

}  // namespace
}  // namespace rhizome::state
