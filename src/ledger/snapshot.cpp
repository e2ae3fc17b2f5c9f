// SPDX-License-Identifier: Apache-2.0
#include "ledger/snapshot.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/ensure.h"
#include "ledger/codec.h"
#include "ledger/detail/entry_check.h"
#include "ledger/limits.h"

namespace rhizome::ledger {
namespace {

using Kind = SnapshotFaultKind;

Fail<SnapshotFault> wrong(Kind kind, std::string why) { return {SnapshotFault{.kind = kind, .why = std::move(why)}}; }
Fail<SnapshotFault> wrong_part(std::size_t part, Kind kind, std::string why) {
    return {SnapshotFault{.kind = kind, .why = std::move(why), .part = part}};
}
Fail<SnapshotFault> wrong_piece(std::size_t piece, Kind kind, std::string why) {
    return {SnapshotFault{.kind = kind, .why = std::move(why), .piece = piece}};
}
Fail<SnapshotFault> malformed(DecodeFault fault) {
    return wrong(fault == DecodeFault::TooLong ? Kind::TooLarge : Kind::BadEncoding, to_error(fault).message);
}

Kind kind_of(state::PartFault fault) {
    switch (fault) {
        case state::PartFault::BadOrder: return Kind::BadOrder;
        case state::PartFault::WrongCount: return Kind::WrongSize;
        case state::PartFault::WrongPlace: return Kind::WrongPlace;
        case state::PartFault::WrongHash: return Kind::WrongHash;
    }
    unreachable("all part faults are known here");
}

std::uint64_t pieces_in(std::uint64_t bytes) { return bytes / kPieceBytes + (bytes % kPieceBytes != 0 ? 1 : 0); }

std::size_t size_of_piece(const DerivedSummary& derived, std::size_t piece) {
    return static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, derived.bytes - piece * kPieceBytes));
}

}  // namespace

std::string_view name(SnapshotFaultKind kind) {
    switch (kind) {
        case Kind::BadEncoding: return "BadEncoding";
        case Kind::Unsupported: return "Unsupported";
        case Kind::TooLarge: return "TooLarge";
        case Kind::WrongRoot: return "WrongRoot";
        case Kind::WrongSeal: return "WrongSeal";
        case Kind::WrongChain: return "WrongChain";
        case Kind::WrongSize: return "WrongSize";
        case Kind::BadOrder: return "BadOrder";
        case Kind::WrongPlace: return "WrongPlace";
        case Kind::WrongHash: return "WrongHash";
        case Kind::BadEntry: return "BadEntry";
        case Kind::Missing: return "Missing";
    }
    unreachable("all snapshot faults are named");
}

std::string to_text(const SnapshotFault& fault) {
    std::string place;
    if (fault.part) place = fmt::format("part {}: ", *fault.part);
    if (fault.piece) place = fmt::format("derived piece {}: ", *fault.piece);
    return fmt::format("{}: {}{}", name(fault.kind), place, fault.why);
}

Error to_error(const SnapshotFault& fault) {
    const auto kind = [&] {
        switch (fault.kind) {
            case Kind::Unsupported: return ErrorKind::Unsupported;
            case Kind::TooLarge: return ErrorKind::Exhausted;
            case Kind::WrongChain:
            case Kind::BadEntry: return ErrorKind::Invalid;
            default: return ErrorKind::Corrupt;
        }
    }();
    return {kind, to_text(fault)};
}

// ---- writing --------------------------------------------------------------------------------------------------------

Result<SnapshotManifest, SnapshotFault> make_manifest(const ChainId& chain, const Block& block,
                                                      const state::StateView& view, ByteView derived,
                                                      std::uint64_t part_bytes) {
    SnapshotManifest manifest{.chain = chain,
                              .header = block.header,
                              .signature = block.signature,
                              .seal = block.seal,
                              .partition = state::partition(view, part_bytes),
                              .derived = {.bytes = derived.size(), .hash = crypto::sha256(derived)}};
    for (std::size_t piece = 0; piece < pieces_in(derived.size()); ++piece)
        manifest.derived.pieces.push_back(crypto::sha256(piece_of(derived, piece)));
    TRY(check_manifest(manifest));
    return manifest;
}

Bytes encode(const SnapshotManifest& manifest) {
    Writer body;
    body.id(manifest.chain).raw(encode(manifest.header)).raw(manifest.signature);
    body.u32(static_cast<std::uint32_t>(4 + manifest.seal.proof.size() + 4 + manifest.seal.attestations.size()));
    body.blob(manifest.seal.proof).blob(manifest.seal.attestations);
    state::encode(body, manifest.partition);
    body.u64(manifest.derived.bytes).id(manifest.derived.hash);
    for (const crypto::Hash256& piece : manifest.derived.pieces) body.id(piece);
    Writer out{kManifestFrontBytes + body.size()};
    out.u32(kSnapshotMagic).u32(kSnapshotVersion).blob(body.view());
    return std::move(out).take();
}

Bytes encode_part(const state::StateView& view, const SnapshotManifest& manifest, std::size_t part) {
    ensure(view.root() == manifest.header.state_root, "the manifest is that of the view");
    Writer out{static_cast<std::size_t>(manifest.partition.parts.at(part).bytes)};
    state::Cursor cursor = state::walk_part(view, manifest.partition, part);
    while (const state::Entry* entry = cursor.next()) state::encode(out, *entry);
    return std::move(out).take();
}

ByteView piece_of(ByteView derived, std::size_t piece) {
    ensure(piece < pieces_in(derived.size()), "a piece that there is");
    const std::size_t begin = piece * kPieceBytes;
    return derived.subspan(begin, std::min(kPieceBytes, derived.size() - begin));
}

Result<void> write_snapshot(const SnapshotManifest& manifest, const state::StateView& view, ByteView derived,
                            const ByteSink& sink) {
    ensure(derived.size() == manifest.derived.bytes, "the manifest is that of what was derived");
    TRY(sink(encode(manifest)));
    for (std::size_t part = 0; part < manifest.partition.parts.size(); ++part)
        TRY(sink(encode_part(view, manifest, part)));
    for (std::size_t piece = 0; piece < manifest.derived.pieces.size(); ++piece) TRY(sink(piece_of(derived, piece)));
    return {};
}

// ---- the manifest ---------------------------------------------------------------------------------------------------

Result<std::size_t, SnapshotFault> manifest_rest(ByteView front) {
    Reader in{front};
    const auto magic = in.u32(), version = in.u32(), size = in.u32();
    if (!magic || *magic != kSnapshotMagic) return wrong(Kind::BadEncoding, "this is no snapshot");
    if (!version || !size) return malformed(DecodeFault::Truncated);
    if (*version != kSnapshotVersion)
        return wrong(Kind::Unsupported,
                     fmt::format("version {} is not known; this program reads {}", *version, kSnapshotVersion));
    if (*size > kManifestBytesMax - kManifestFrontBytes) return malformed(DecodeFault::TooLong);
    return std::size_t{*size};
}

namespace {

Result<SnapshotManifest, DecodeFault> read_manifest(Reader& in) {
    SnapshotManifest manifest;
    TRY(manifest.chain, in.id<ChainId>());
    TRY(const ByteView header, in.raw(kHeaderBytes));
    auto read = decode_header(header);
    if (!read) return Fail{DecodeFault::BadValue};
    manifest.header = *read;
    TRY(manifest.signature, in.array<64>());
    TRY(const ByteView seal_bytes, in.blob(kSealBytesMax));
    Reader seal{seal_bytes};
    TRY(const ByteView proof, seal.blob(kSealBytesMax));
    TRY(const ByteView attestations, seal.blob(kSealBytesMax));
    TRY(seal.finish());
    manifest.seal = {to_bytes(proof), to_bytes(attestations)};
    TRY(manifest.partition, state::decode_partition(in));
    TRY(manifest.derived.bytes, in.u64());
    TRY(manifest.derived.hash, in.id<crypto::Hash256>());
    TRY(const std::size_t pieces,
        in.bounded_count(pieces_in(manifest.derived.bytes), kPiecesMax, crypto::Hash256::kSize));
    manifest.derived.pieces.resize(pieces);
    for (crypto::Hash256& piece : manifest.derived.pieces) {
        TRY(piece, in.id<crypto::Hash256>());
    }
    TRY(in.finish());
    return manifest;
}

}  // namespace

Result<SnapshotManifest, SnapshotFault> decode_manifest(ByteView bytes) {
    TRY(const std::size_t rest, manifest_rest(bytes.first(std::min(bytes.size(), kManifestFrontBytes))));
    if (bytes.size() - kManifestFrontBytes != rest)
        return malformed(bytes.size() - kManifestFrontBytes < rest ? DecodeFault::Truncated : DecodeFault::Trailing);
    Reader in{bytes.subspan(kManifestFrontBytes)};
    auto manifest = read_manifest(in);
    if (!manifest) return malformed(manifest.error());
    return *std::move(manifest);
}

Result<void, SnapshotFault> check_manifest(const SnapshotManifest& manifest) {
    if (manifest.header.height.number() > detail::kHeightMax) return wrong(Kind::TooLarge, "no chain is that long");
    if (manifest.header.seal_root != seal_root_of(manifest.seal))
        return wrong(Kind::WrongSeal, "the seal is not the header's");
    if (manifest.header.height == Height{0} && ChainId{hash_of(manifest.header).view()} != manifest.chain)
        return wrong(Kind::WrongChain, "the genesis block is not that of the chain");
    const auto& parts = manifest.partition.parts;
    if (parts.empty()) return wrong(Kind::WrongRoot, "no chain has an empty state");
    for (std::size_t part = 0; part < parts.size(); ++part)
        if (parts[part].bytes > kPartBytesMax)
            return wrong_part(part, Kind::TooLarge, fmt::format("it is larger than {} bytes", kPartBytesMax));
    if (const auto root = state::root_of(manifest.partition); root != manifest.header.state_root)
        return wrong(Kind::WrongRoot, fmt::format("the parts are those of a state with root {}, the header says {}",
                                                  root, manifest.header.state_root));
    const DerivedSummary& derived = manifest.derived;
    if (derived.pieces.size() > kPiecesMax) return wrong(Kind::TooLarge, "more was derived than a snapshot can hold");
    if (derived.pieces.size() != pieces_in(derived.bytes))
        return wrong(Kind::WrongSize, "the derived part has another number of pieces than its size says");
    return {};
}

// ---- parts ----------------------------------------------------------------------------------------------------------

Result<PartEntries, SnapshotFault> read_part(const SnapshotManifest& manifest, std::size_t part, ByteView bytes,
                                             Parallel* parallel) {
    const auto& parts = manifest.partition.parts;
    if (part >= parts.size()) return wrong_part(part, Kind::WrongPlace, "there is no such part");
    if (bytes.size() != parts[part].bytes)
        return wrong_part(part, Kind::WrongSize,
                          fmt::format("it has {} bytes, the manifest says {}", bytes.size(), parts[part].bytes));
    Reader in{bytes};
    std::vector<state::EntryPtr> entries;
    entries.reserve(parts[part].entries);  // bounded by the bytes: decode_partition has compared the two
    while (!in.empty()) {
        auto entry = state::decode_entry(in);
        if (!entry)
            return wrong_part(part, Kind::BadEncoding,
                              fmt::format("entry {}: {}", entries.size(), to_error(entry.error()).message));
        entries.push_back(*std::move(entry));
    }
    std::vector<const state::Entry*> shown;
    shown.reserve(entries.size());
    for (const state::EntryPtr& entry : entries) shown.push_back(entry.get());
    auto view = state::build_part(manifest.partition, part, std::move(entries), parallel);
    if (!view) return wrong_part(part, kind_of(view.error()), to_error(view.error()).message);

    // Behind the hash: bytes that were damaged on the way are to be called that, not an entry nobody wrote.
    Inline alone;
    std::vector<std::uint8_t> good(shown.size());
    const auto check = [&](std::size_t i) {
        return detail::check_entry(*shown[i], manifest.header.height, manifest.header.time);
    };
    (parallel != nullptr ? *parallel : alone).for_ranges(shown.size(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) good[i] = check(i).has_value() ? 1 : 0;
    });
    const auto bad = static_cast<std::size_t>(std::find(good.begin(), good.end(), 0) - good.begin());
    if (bad < good.size())
        return wrong_part(part, Kind::BadEntry, fmt::format("entry {}: {}", bad, to_text(check(bad).error())));
    return PartEntries{part, *std::move(view)};
}

Result<void, SnapshotFault> check_piece(const SnapshotManifest& manifest, std::size_t piece, ByteView bytes) {
    const DerivedSummary& derived = manifest.derived;
    if (piece >= derived.pieces.size()) return wrong_piece(piece, Kind::WrongPlace, "there is no such piece");
    if (bytes.size() != size_of_piece(derived, piece))
        return wrong_piece(piece, Kind::WrongSize, fmt::format("it has {} bytes", bytes.size()));
    if (crypto::sha256(bytes) != derived.pieces[piece])
        return wrong_piece(piece, Kind::WrongHash, "its bytes are not those of the manifest");
    return {};
}

Result<void, SnapshotFault> check_derived(const SnapshotManifest& manifest, ByteView derived) {
    if (derived.size() != manifest.derived.bytes)
        return wrong(Kind::WrongSize, fmt::format("the derived part has {} bytes, the manifest says {}", derived.size(),
                                                  manifest.derived.bytes));
    if (crypto::sha256(derived) != manifest.derived.hash)
        return wrong(Kind::WrongHash, "the derived part is not that of the manifest");
    return {};
}

// ---- all together ---------------------------------------------------------------------------------------------------

SnapshotAssembler::SnapshotAssembler(SnapshotManifest manifest)
    : manifest_(std::move(manifest)), assembly_(manifest_.partition) {}

Result<void, SnapshotFault> SnapshotAssembler::add(const PartEntries& part) {
    if (part.part >= manifest_.partition.parts.size())
        return wrong_part(part.part, Kind::WrongPlace, "there is no such part");
    if (const auto added = assembly_.add(part.part, part.entries); !added)
        return wrong_part(part.part, kind_of(added.error()), to_error(added.error()).message);
    return {};
}

Result<state::StateView, SnapshotFault> SnapshotAssembler::finish() && {
    for (std::size_t part = 0; missing() > 0 && part < manifest_.partition.parts.size(); ++part)
        if (!has(part)) return wrong_part(part, Kind::Missing, "it is not here yet");
    auto view = std::move(assembly_).finish();
    if (!view) return wrong(kind_of(view.error()), "the parts do not fit together");
    if (view->root() != manifest_.header.state_root)
        return wrong(Kind::WrongRoot, "the state is not that of the header");
    if (!detail::is_state_of(*view, hash_of(manifest_.header), manifest_.chain))
        return wrong(Kind::WrongChain, "the state is that of another chain");
    return *std::move(view);
}

namespace {

Result<SnapshotManifest> take_manifest(const ByteSource& source) {
    TRY(Bytes bytes, source(kManifestFrontBytes));
    TRY(const std::size_t rest, manifest_rest(bytes));
    TRY(const Bytes more, source(rest));
    bytes.insert(bytes.end(), more.begin(), more.end());
    TRY(auto manifest, decode_manifest(bytes));
    TRY(check_manifest(manifest));
    return manifest;
}

Result<state::StateView> read_parts(const SnapshotManifest& manifest, const ByteSource& source, Parallel& parallel) {
    const auto& parts = manifest.partition.parts;
    SnapshotAssembler assembler{manifest};
    // Two for each hand, so that one large part among small ones keeps nobody waiting long.
    const std::size_t at_once = 2 * std::size_t{parallel.width()};
    for (std::size_t first = 0; first < parts.size(); first += at_once) {
        std::vector<Bytes> bytes;
        for (std::size_t part = first; part < std::min(first + at_once, parts.size()); ++part) {
            TRY(auto next, source(static_cast<std::size_t>(parts[part].bytes)));
            bytes.push_back(std::move(next));
        }
        std::vector<Result<PartEntries, SnapshotFault>> read(bytes.size(), PartEntries{});
        parallel.for_ranges(bytes.size(), [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                read[i] = read_part(manifest, first + i, bytes[i]);
                bytes[i] = {};
            }
        });
        for (const auto& part : read) {
            if (!part) return Fail{part.error()};
            TRY(assembler.add(*part));
        }
    }
    TRY(auto view, std::move(assembler).finish());
    return view;
}

}  // namespace

Result<Snapshot> read_snapshot(const ByteSource& source, Parallel& parallel) {
    Snapshot snapshot;
    TRY(snapshot.manifest, take_manifest(source));
    TRY(snapshot.view, read_parts(snapshot.manifest, source, parallel));
    for (std::size_t piece = 0; piece < snapshot.manifest.derived.pieces.size(); ++piece) {
        TRY(const Bytes bytes, source(size_of_piece(snapshot.manifest.derived, piece)));
        TRY(check_piece(snapshot.manifest, piece, bytes));
        snapshot.derived.insert(snapshot.derived.end(), bytes.begin(), bytes.end());
    }
    TRY(check_derived(snapshot.manifest, snapshot.derived));
    return snapshot;
}

}  // namespace rhizome::ledger
