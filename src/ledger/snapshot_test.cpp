// SPDX-License-Identifier: Apache-2.0
#include "ledger/snapshot.h"

#include <gtest/gtest.h>

#include "ledger/chain_records.h"
#include "ledger/codec.h"
#include "support/sample_state.h"

namespace rhizome::ledger {
namespace {

using state::Entry;
using state::Path;
using test::TestChain;

/// The sample cluster in parts small enough that there are several.
struct Sample {
    TestChain chain;
    Bytes derived = to_bytes(as_bytes("what controllers made of it"));
    SnapshotManifest manifest;
    std::vector<Bytes> parts;

    Sample() {
        test::fill_sample(chain);
        auto made = make_manifest(chain.chain_id(), chain.blocks().back(), chain.state().view(), derived, 600);
        EXPECT_TRUE(made) << to_text(made.error());
        manifest = *std::move(made);
        for (std::size_t part = 0; part < manifest.partition.parts.size(); ++part)
            parts.push_back(encode_part(chain.state().view(), manifest, part));
        EXPECT_GE(parts.size(), 4u);
    }
    [[nodiscard]] Bytes stream() const {
        Bytes all;
        const auto written = write_snapshot(manifest, chain.state().view(), derived, [&](ByteView bytes) {
            all.insert(all.end(), bytes.begin(), bytes.end());
            return ok();
        });
        EXPECT_TRUE(written);
        return all;
    }
};

ByteSource source_of(Bytes bytes) {
    return [bytes = std::move(bytes), at = std::size_t{0}](std::size_t size) mutable -> Result<Bytes> {
        if (bytes.size() - at < size) return fail(ErrorKind::Corrupt, "the snapshot ends early");
        const ByteView next = ByteView{bytes}.subspan(at, size);
        at += size;
        return to_bytes(next);
    };
}

std::string text_of(const auto& result) { return result ? "OK" : to_text(result.error()); }

TEST(Snapshot, AStateSurvives) {
    const Sample sample;
    Inline parallel;
    const auto read = read_snapshot(source_of(sample.stream()), parallel);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->manifest, sample.manifest);
    EXPECT_EQ(read->view.root(), sample.chain.tip().state_root);
    EXPECT_TRUE(state::diff(read->view, sample.chain.state().view()).empty());
    EXPECT_EQ(read->derived, sample.derived);
}

TEST(Snapshot, TheChainGoesOnFromIt) {
    Sample sample;
    Inline parallel;
    const auto read = read_snapshot(source_of(sample.stream()), parallel);
    ASSERT_TRUE(read);
    const Header parent = sample.chain.tip();
    sample.chain.mine_all(
        {sample.chain.update("/namespaces/web/core/Pod/db", "bob", test::document("v1", "Pod", "web", "db", "second"),
                             test::lock_of("bob"))});
    LedgerState copy{read->view};
    EXPECT_EQ(copy.chain(), sample.chain.chain_id());
    SignatureCache cache;
    const auto applied =
        apply(copy, parent, sample.chain.blocks().back(), {}, sample.chain.rules, cache, sample.chain.parallel);
    ASSERT_TRUE(applied) << to_text(applied.error());
}

TEST(Snapshot, AfterGenesisToo) {
    const TestChain chain;
    const auto manifest = make_manifest(chain.chain_id(), chain.blocks().front(), chain.state().view());
    ASSERT_TRUE(manifest) << to_text(manifest.error());
    SnapshotAssembler assembler{*manifest};
    ASSERT_EQ(assembler.missing(), 1u);
    const auto part = read_part(*manifest, 0, encode_part(chain.state().view(), *manifest, 0));
    ASSERT_TRUE(part) << to_text(part.error());
    ASSERT_TRUE(assembler.add(*part));
    EXPECT_TRUE(std::move(assembler).finish());

    SnapshotManifest other = *manifest;
    other.chain.writable()[0] ^= 1;
    EXPECT_EQ(check_manifest(other).error().kind, SnapshotFaultKind::WrongChain);
}

TEST(Snapshot, PartsComeInAnyOrderAndMoreThanOnce) {
    const Sample sample;
    Inline parallel;
    SnapshotAssembler assembler{sample.manifest};
    for (std::size_t i = sample.parts.size(); i-- > 0;) {
        EXPECT_FALSE(assembler.has(i));
        const auto part = read_part(sample.manifest, i, sample.parts[i], &parallel);
        ASSERT_TRUE(part) << to_text(part.error());
        ASSERT_TRUE(assembler.add(*part));
        ASSERT_TRUE(assembler.add(*part));
        EXPECT_TRUE(assembler.has(i));
        EXPECT_EQ(assembler.missing(), i);
    }
    const auto view = std::move(assembler).finish();
    ASSERT_TRUE(view) << to_text(view.error());
    EXPECT_EQ(view->root(), sample.manifest.header.state_root);
}

TEST(Snapshot, WhatIsMissingIsNamed) {
    const Sample sample;
    SnapshotAssembler assembler{sample.manifest};
    for (const std::size_t part : {0u, 1u})
        ASSERT_TRUE(assembler.add(*read_part(sample.manifest, part, sample.parts[part])));
    EXPECT_EQ(text_of(std::move(assembler).finish()), "Missing: part 2: it is not here yet");
}

TEST(Snapshot, DamagedPartsAreNamed) {
    const Sample sample;
    const auto with = [&](std::size_t part, std::size_t at, std::uint8_t value) {
        Bytes bytes = sample.parts[part];
        bytes[at] = value;
        return bytes;
    };
    // Part 0 begins with the lease clock: tag, key length, key, length, number. The last part ends with a document.
    const std::size_t last = sample.parts.size() - 1;
    const struct {
        const char* what;
        std::size_t part;
        Bytes bytes;
        std::string fault;
    } rows[] = {
        {"nothing", 0, sample.parts[0], "OK"},
        {"empty", 0, {}, "WrongSize: part 0: it has 0 bytes, the manifest says "},
        {"cut", 0, {sample.parts[0].begin(), sample.parts[0].end() - 1}, "WrongSize: part 0: it has "},
        {"a tag that is none", 0, with(0, 0, 9), "BadEncoding: part 0: entry 0: "},
        {"a changed record", 0, with(0, 1 + 1 + 12 + 4, 0x55), "WrongHash: part 0: "},
        {"a changed document", last, with(last, sample.parts[last].size() - 1, ' '),
         "WrongHash: part " + std::to_string(last)},
        {"a part that there is not", 99, sample.parts[0], "WrongPlace: part 99: there is no such part"},
    };
    for (const auto& row : rows) {
        const auto read = read_part(sample.manifest, row.part, row.bytes);
        EXPECT_TRUE(text_of(read).starts_with(row.fault)) << row.what << ": " << text_of(read);
    }
}

TEST(Snapshot, AnotherPartsEntriesAreInTheWrongPlace) {
    const Sample sample;
    SnapshotManifest same_sizes = sample.manifest;
    same_sizes.partition.parts[0].bytes = sample.parts[1].size();
    EXPECT_TRUE(text_of(read_part(same_sizes, 0, sample.parts[1])).starts_with("WrongPlace: part 0: "));
    SnapshotAssembler assembler{sample.manifest};
    auto part = read_part(sample.manifest, 1, sample.parts[1]);
    part->part = 0;
    EXPECT_TRUE(text_of(assembler.add(*part)).starts_with("WrongHash: part 0: "));
    part->part = 99;
    EXPECT_TRUE(text_of(assembler.add(*part)).starts_with("WrongPlace: part 99: "));
}

TEST(Snapshot, DamagedManifestsAreNamed) {
    const Sample sample;
    const auto changed = [&](const std::function<void(SnapshotManifest&)>& change) {
        SnapshotManifest manifest = sample.manifest;
        change(manifest);
        return manifest;
    };
    const struct {
        const char* what;
        SnapshotManifest manifest;
        const char* fault;
    } rows[] = {
        {"nothing", sample.manifest, "OK"},
        {"another state", changed([](auto& m) { m.header.state_root.writable()[0] ^= 1; }), "WrongRoot: "},
        {"another hash", changed([](auto& m) { m.partition.parts[1].hash.writable()[0] ^= 1; }), "WrongRoot: "},
        {"another shape", changed([](auto& m) { m.partition.shape[0] ^= 1; }), "WrongRoot: "},
        {"no parts", changed([](auto& m) { m.partition = {}; }), "WrongRoot: no chain has an empty state"},
        {"another seal", changed([](auto& m) { m.seal.proof.push_back(1); }), "WrongSeal: "},
        {"a part beyond all bounds", changed([](auto& m) { m.partition.parts[2].bytes = kPartBytesMax + 1; }),
         "TooLarge: part 2: "},
        {"a height beyond all bounds", changed([](auto& m) { m.header.height = Height{std::uint64_t{1} << 60}; }),
         "TooLarge: no chain is that long"},
        {"a piece too many", changed([](auto& m) { m.derived.pieces.emplace_back(); }), "WrongSize: "},
    };
    for (const auto& row : rows) {
        const auto checked = check_manifest(row.manifest);
        EXPECT_TRUE(text_of(checked).starts_with(row.fault)) << row.what << ": " << text_of(checked);
    }
}

TEST(Snapshot, BytesThatAreNoManifestAreNamed) {
    const Sample sample;
    const Bytes good = encode(sample.manifest);
    const auto with = [&](std::size_t at, std::uint8_t value) {
        Bytes bytes = good;
        bytes[at] = value;
        return bytes;
    };
    Bytes longer = good;
    longer.push_back(0);
    const struct {
        const char* what;
        Bytes bytes;
        const char* fault;
    } rows[] = {
        {"nothing", good, "OK"},
        {"empty", {}, "BadEncoding: this is no snapshot"},
        {"another file", with(0, 0x12), "BadEncoding: this is no snapshot"},
        {"another version", with(4, 2), "Unsupported: version 2 is not known; this program reads 1"},
        {"the front alone", {good.begin(), good.begin() + 8}, "BadEncoding: "},
        {"a size beyond all bounds", with(11, 0x7f), "TooLarge: "},
        {"cut", {good.begin(), good.end() - 1}, "BadEncoding: "},
        {"longer", longer, "BadEncoding: "},
        {"a header of another version", with(12 + 32, 9), "BadEncoding: "},
    };
    for (const auto& row : rows) {
        const auto read = decode_manifest(row.bytes);
        EXPECT_TRUE(text_of(read).starts_with(row.fault)) << row.what << ": " << text_of(read);
    }
    EXPECT_EQ(*decode_manifest(good), sample.manifest);
}

TEST(Snapshot, TheDerivedPartComesInPieces) {
    const TestChain chain;
    Bytes derived(2 * kPieceBytes + 5, 7);
    derived[kPieceBytes] = 8;
    const auto manifest = make_manifest(chain.chain_id(), chain.blocks().back(), chain.state().view(), derived);
    ASSERT_TRUE(manifest);
    ASSERT_EQ(manifest->derived.pieces.size(), 3u);
    EXPECT_EQ(*decode_manifest(encode(*manifest)), *manifest);
    for (std::size_t piece = 0; piece < 3; ++piece)
        EXPECT_TRUE(check_piece(*manifest, piece, piece_of(derived, piece)));
    EXPECT_EQ(piece_of(derived, 2).size(), 5u);
    EXPECT_EQ(text_of(check_piece(*manifest, 0, piece_of(derived, 1))),
              "WrongHash: derived piece 0: its bytes are not those of the manifest");
    EXPECT_EQ(text_of(check_piece(*manifest, 2, piece_of(derived, 1))),
              "WrongSize: derived piece 2: it has 1048576 bytes");
    EXPECT_EQ(text_of(check_piece(*manifest, 3, piece_of(derived, 1))),
              "WrongPlace: derived piece 3: there is no such piece");
    EXPECT_TRUE(check_derived(*manifest, derived));
    derived.back() = 0;
    EXPECT_TRUE(text_of(check_derived(*manifest, derived)).starts_with("WrongHash: the derived part"));
    derived.pop_back();
    EXPECT_TRUE(text_of(check_derived(*manifest, derived)).starts_with("WrongSize: the derived part"));
}

/// A state with a good root that the ledger would never have reached.
TEST(Snapshot, EntriesThatTheLedgerWouldNotHaveWrittenAreRefused) {
    TestChain chain;
    test::fill_sample(chain);
    const Path pod = *Path::parse("/namespaces/web/core/Pod/db");
    const Entry& written = *chain.state().view().get(pod);
    state::Origin later = written.origin();
    later.latest.height = chain.tip().height + 1;
    const struct {
        const char* what;
        state::EntryPtr entry;
        std::string fault;
    } rows[] = {
        {"nothing", *Entry::written(pod, written.origin(), written.script(), written.document()), "OK"},
        {"a record of another size", *Entry::plain(records::clock(), Bytes(3)), "no record of /chain/clock"},
        {"a record in place of its folder", *Entry::plain(*Path::parse("/chain/replay"), {}),
         "no record of /chain/replay"},
        {"a document that nobody wrote", *Entry::plain(pod, written.bytes()),
         "/namespaces/web/core/Pod/db was written by nobody"},
        {"one written later", *Entry::written(pod, later, written.script(), written.document()),
         "/namespaces/web/core/Pod/db was written after the state's own block"},
        {"no JSON", *Entry::written(pod, written.origin(), {}, "{"), "/namespaces/web/core/Pod/db: "},
        {"another's document", *Entry::written(pod, written.origin(), {}, test::document("v1", "Pod", "web", "other")),
         "/namespaces/web/core/Pod/db: the document does not belong to this path"},
    };
    for (const auto& row : rows) {
        state::Batch batch{chain.state().view()};
        batch.put(row.entry);
        const state::StateView view = std::move(batch).finish().view;
        Block block = chain.blocks().back();
        block.header.state_root = view.root();
        const auto manifest = make_manifest(chain.chain_id(), block, view);
        ASSERT_TRUE(manifest);
        Inline parallel;
        const auto read = read_part(*manifest, 0, encode_part(view, *manifest, 0), &parallel);
        if (row.fault == "OK") {
            EXPECT_EQ(text_of(read), "OK");
            continue;
        }
        ASSERT_FALSE(read) << row.what;
        EXPECT_EQ(read.error().kind, SnapshotFaultKind::BadEntry);
        EXPECT_NE(read.error().why.find("BadEncoding: " + row.fault), std::string::npos) << read.error().why;
    }
}

TEST(Snapshot, TheStateOfAnotherChainIsRefusedAtTheEnd) {
    Sample sample;
    sample.manifest.chain.writable()[3] ^= 1;
    ASSERT_TRUE(check_manifest(sample.manifest));
    SnapshotAssembler assembler{sample.manifest};
    for (std::size_t part = 0; part < sample.parts.size(); ++part)
        ASSERT_TRUE(assembler.add(*read_part(sample.manifest, part, sample.parts[part])));
    EXPECT_EQ(text_of(std::move(assembler).finish()), "WrongChain: the state is that of another chain");
}

TEST(Snapshot, WhatTheSinkOrSourceCannotDoIsHandedOn) {
    const Sample sample;
    const auto full = [](ByteView) -> Result<void> { return fail(ErrorKind::Exhausted, "the disk is full"); };
    const auto written = write_snapshot(sample.manifest, sample.chain.state().view(), sample.derived, full);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().message, "the disk is full");
    Bytes stream = sample.stream();
    stream.pop_back();
    Inline parallel;
    const auto read = read_snapshot(source_of(std::move(stream)), parallel);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().message, "the snapshot ends early");
}

}  // namespace
}  // namespace rhizome::ledger
