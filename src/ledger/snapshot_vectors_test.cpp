// SPDX-License-Identifier: Apache-2.0
// Golden bytes of a small snapshot, and of what is wrong with others: tests/vectors/ledger/snapshot.json.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "ledger/snapshot.h"
#include "support/golden.h"
#include "support/sample_state.h"

namespace rhizome::ledger {
namespace {

using test::text;

constexpr std::string_view kFile = "ledger/snapshot.json";

Bytes bytes_of(const boost::json::value& value) {
    return from_hex(std::string_view{value.as_string()}).value_or(Bytes{});
}

std::string hex_list(const std::vector<Bytes>& all) {
    std::string list;
    for (const Bytes& bytes : all) list += fmt::format("{}\n  \"{}\"", list.empty() ? "" : ",", to_hex(bytes));
    return "[" + list + "]";
}

TEST(SnapshotVectors, TheSampleClusterIsAsReviewed) {
    test::TestChain chain;
    test::fill_sample(chain);
    const state::StateView& view = chain.state().view();
    const Bytes derived = to_bytes(as_bytes("derived"));
    const auto manifest = make_manifest(chain.chain_id(), chain.blocks().back(), view, derived, 600);
    ASSERT_TRUE(manifest) << to_text(manifest.error());
    std::vector<Bytes> parts;
    for (std::size_t part = 0; part < manifest->partition.parts.size(); ++part)
        parts.push_back(encode_part(view, *manifest, part));

    std::string bad;
    const auto row = [&](std::string_view name, const Bytes& front, std::size_t part, const Bytes& bytes,
                         std::string_view fault) {
        bad += fmt::format(
            "{}\n  {{\"name\": \"{}\", \"manifest\": \"{}\", \"part\": {}, \"bytes\": \"{}\", \"fault\": \"{}\"}}",
            bad.empty() ? "" : ",", name, to_hex(front), part, to_hex(bytes), fault);
    };
    const auto changed = [](Bytes bytes, std::size_t at, std::uint8_t value) {
        bytes[at] = value;
        return bytes;
    };
    const Bytes good = encode(*manifest);
    row("another magic", changed(good, 0, 0), 0, {}, "BadEncoding");
    row("another version", changed(good, 4, 2), 0, {}, "Unsupported");
    row("a longer manifest than its size", changed(good, 8, 0), 0, {}, "BadEncoding");
    row("another state root", changed(good, 12 + 32 + 4 + 64, good[12 + 32 + 4 + 64] ^ 1), 0, {}, "WrongRoot");
    row("another seal root", changed(good, 12 + 32 + 161 - 13, good[12 + 32 + 161 - 13] ^ 1), 0, {}, "WrongSeal");
    row("another part", good, 0, parts[1], "WrongSize");
    row("a changed byte", good, 1, changed(parts[1], parts[1].size() - 1, ' '), "WrongHash");
    row("no entries", good, 1, Bytes(parts[1].size(), 0xff), "BadEncoding");

    test::expect_golden(
        kFile, fmt::format("{{\n \"about\": \"docs/spec/chain.md section 6, table Snapshot. The cluster of state.json "
                           "in parts of at most 600 bytes.\",\n \"root\": \"{}\",\n \"manifest\": \"{}\",\n \"parts\": "
                           "{},\n \"derived\": \"{}\",\n \"bad\": [{}]\n}}\n",
                           view.root(), to_hex(good), hex_list(parts), to_hex(derived), bad));
}

TEST(SnapshotVectors, TheFileIsReadToTheStateItNames) {
    const auto file = test::own_vectors(kFile);
    const auto manifest = decode_manifest(bytes_of(file.at("manifest")));
    ASSERT_TRUE(manifest) << to_text(manifest.error());
    ASSERT_TRUE(check_manifest(*manifest));
    SnapshotAssembler assembler{*manifest};
    const auto& parts = file.at("parts").as_array();
    ASSERT_EQ(parts.size(), manifest->partition.parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto part = read_part(*manifest, i, bytes_of(parts[i]));
        ASSERT_TRUE(part) << to_text(part.error());
        ASSERT_TRUE(assembler.add(*part));
    }
    const auto view = std::move(assembler).finish();
    ASSERT_TRUE(view) << to_text(view.error());
    EXPECT_EQ(view->root().hex(), text(file, "root"));
    // The same cluster as the one written for tools.
    EXPECT_EQ(view->root().hex(), text(test::own_vectors("ledger/state.json"), "root"));
    EXPECT_TRUE(check_piece(*manifest, 0, bytes_of(file.at("derived"))));
}

TEST(SnapshotVectors, BadOnesAreRefusedByTheirFault) {
    const auto file = test::own_vectors(kFile);
    const auto fault_of = [&](const boost::json::value& row) -> std::string {
        const auto manifest = decode_manifest(bytes_of(row.at("manifest")));
        if (!manifest) return std::string{name(manifest.error().kind)};
        if (const auto checked = check_manifest(*manifest); !checked) return std::string{name(checked.error().kind)};
        const auto part =
            read_part(*manifest, static_cast<std::size_t>(row.at("part").as_int64()), bytes_of(row.at("bytes")));
        if (part) return "OK";
        EXPECT_EQ(part.error().part, static_cast<std::size_t>(row.at("part").as_int64()));
        return std::string{name(part.error().kind)};
    };
    std::size_t rows = 0;
    for (const auto& row : file.at("bad").as_array()) {
        EXPECT_EQ(fault_of(row), text(row, "fault")) << text(row, "name");
        ++rows;
    }
    EXPECT_GE(rows, 8u);
}

}  // namespace
}  // namespace rhizome::ledger
