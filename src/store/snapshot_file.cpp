// SPDX-License-Identifier: Apache-2.0
#include "store/snapshot_file.h"

#include <fmt/core.h>

#include "store/detail/stream_file.h"

namespace rhizome::store {
namespace {

SnapshotSummary summary_of(const ledger::SnapshotManifest& manifest, std::uint64_t bytes) {
    SnapshotSummary summary{
        .chain = manifest.chain, .header = manifest.header, .parts = manifest.partition.parts.size(), .bytes = bytes};
    for (const auto& part : manifest.partition.parts) summary.documents += part.entries;
    return summary;
}

/// Says which file it was.
Error in_file(const std::filesystem::path& file, const Error& error) {
    return with_context(fmt::format("the snapshot {}", file.native()), error);
}

}  // namespace

Result<SnapshotSummary> export_snapshot(Chain& chain, const std::filesystem::path& file,
                                        std::optional<ledger::Height> at, ByteView derived,
                                        const ProgressSink& progress) {
    const Store& store = chain.store();
    TRY(const BlockInfo info, store.info_at(at.value_or(chain.tip().height)));
    TRY(const auto view, chain.state_at(info.height(), progress));
    ledger::Block block{.header = info.header, .signature = info.signature};
    TRY(block.seal, store.seal(info.hash));
    TRY(const auto manifest, ledger::make_manifest(store.chain(), block, view, derived));
    TRY(auto out, detail::NewFile::open(file));
    TRY(ledger::write_snapshot(manifest, view, derived, [&](ByteView bytes) { return out.write(bytes); }));
    TRY(out.finish());
    return summary_of(manifest, out.size());
}

Result<SnapshotSummary> inspect_snapshot(const std::filesystem::path& file) {
    TRY(auto in, detail::OldFile::open(file));
    TRY(Bytes bytes, in.read(ledger::kManifestFrontBytes));
    const auto rest = ledger::manifest_rest(bytes);
    if (!rest) return Fail{in_file(file, to_error(rest.error()))};
    TRY(const Bytes more, in.read(*rest));
    bytes.insert(bytes.end(), more.begin(), more.end());
    const auto manifest = ledger::decode_manifest(bytes);
    if (!manifest) return Fail{in_file(file, to_error(manifest.error()))};
    if (const auto good = ledger::check_manifest(*manifest); !good) return Fail{in_file(file, to_error(good.error()))};
    return summary_of(*manifest, in.size());
}

Result<std::unique_ptr<Chain>> import_snapshot(const std::filesystem::path& file, const std::filesystem::path& folder,
                                               const ledger::BlockRules& rules, Parallel& parallel,
                                               const Options& options, std::optional<ledger::BlockHash> trusted) {
    TRY(auto in, detail::OldFile::open(file));
    auto snapshot = ledger::read_snapshot([&](std::size_t size) { return in.read(size); }, parallel);
    if (!snapshot) return Fail{in_file(file, snapshot.error())};
    if (!in.at_end())
        return fail(ErrorKind::Corrupt, fmt::format("the snapshot {} has {} bytes more than it should", file.native(),
                                                    in.size() - in.offset()));
    const ledger::SnapshotManifest& manifest = snapshot->manifest;
    if (const auto hash = hash_of(manifest.header); trusted && hash != *trusted)
        return fail(
            ErrorKind::Denied,
            fmt::format("the snapshot {} is of block {} ({}), not of the trusted {}\nget one of that block, or from "
                        "somebody you trust",
                        file.native(), manifest.header.height, hash, *trusted));
    const ledger::Block base{.header = manifest.header, .signature = manifest.signature, .seal = manifest.seal};
    TRY(auto chain, Chain::create_from_state(folder, manifest.chain, base, snapshot->view, rules, parallel, options));
    if (!snapshot->derived.empty()) TRY(chain->store().put_note("snapshot", "derived", snapshot->derived));
    TRY(chain->store().settle(false));
    return chain;
}

}  // namespace rhizome::store
