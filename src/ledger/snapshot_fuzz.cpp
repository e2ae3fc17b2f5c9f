// SPDX-License-Identifier: Apache-2.0
// A snapshot from a stranger: a manifest, then bytes for its parts. What is decoded has one form; what is taken as a
// part, and put together, is a state on which a block can be built.
#include "ledger/apply.h"
#include "ledger/snapshot.h"
#include "state/tree.h"
#include "support/fuzz_target.h"

using namespace rhizome;
using namespace rhizome::ledger;

namespace {

/// No fuzzer finds a hash, and a stranger can compute them: entries are taken as one part of a state with their root.
void take_as_whole_state(SnapshotManifest manifest, ByteView bytes) {
    Reader in{bytes};
    state::OrderedBuilder builder;
    std::uint64_t count = 0;
    while (!in.empty()) {
        auto entry = state::decode_entry(in);
        if (!entry || !builder.add(*std::move(entry))) return;
        ++count;
    }
    if (count == 0) return;
    const state::StateView view = std::move(builder).finish();
    manifest.header.state_root = view.root();
    manifest.header.seal_root = seal_root_of(manifest.seal);
    manifest.partition = {{state::Partition::kPart}, {{view.root(), count, bytes.size()}}};
    if (!check_manifest(manifest)) return;
    const auto part = read_part(manifest, 0, bytes);
    if (!part) {
        ensure(part.error().kind == SnapshotFaultKind::BadEntry, "the entries alone can be at fault");
        return;
    }
    ensure(encode_part(view, manifest, 0) == to_bytes(bytes), "a part has one form");
    SnapshotAssembler assembler{manifest};
    ensure(assembler.add(*part).has_value(), "a part that was taken can be placed");
    const auto whole = std::move(assembler).finish();
    if (!whole) {
        ensure(whole.error().kind == SnapshotFaultKind::WrongChain, "one part fits together");
        return;
    }
    const LedgerState judged{*whole};
    if (manifest.header.time.unix_seconds() > 4'000'000'000) return;  // what follows needs room for more blocks
    const NextBlock next{.parent = hash_of(manifest.header),
                         .height = manifest.header.height + 1,
                         .time = manifest.header.time + seconds{1},
                         .parent_time = manifest.header.time};
    SignatureCache cache;
    Inline parallel;
    ensure(execute(judged, next, {}, {}, Rules{}, cache, parallel).has_value(),
           "an empty block is good on every state");
}

}  // namespace

FUZZ_TARGET(snapshot_fuzz) {
    const ByteView input{data, size};
    const auto rest = manifest_rest(input.first(std::min(size, kManifestFrontBytes)));
    if (!rest || size - kManifestFrontBytes < *rest) return 0;
    const ByteView front = input.first(kManifestFrontBytes + *rest), behind = input.subspan(front.size());
    const auto manifest = decode_manifest(front);
    if (!manifest) return 0;
    ensure(encode(*manifest) == to_bytes(front), "a manifest has one form");
    if (check_manifest(*manifest)) {
        const auto part = read_part(*manifest, 0, behind.first(std::min(behind.size(), kPartBytesMax)));
        if (part) ensure(part->entries.root() == manifest->partition.parts[0].hash, "a taken part has its hash");
    }
    take_as_whole_state(*manifest, behind);
    return 0;
}
