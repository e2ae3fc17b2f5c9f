// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/random.h"
#include "ledger/codec.h"
#include "ledger/snapshot.h"
#include "support/sample_state.h"

namespace rhizome::ledger {
namespace {

const test::TestChain& sample_chain() {
    static const auto chain = [] {
        auto made = std::make_unique<test::TestChain>();
        test::fill_sample(*made);
        return made;
    }();
    return *chain;
}

struct SnapshotScene {
    SnapshotManifest manifest;
    Bytes derived;
    Bytes stream;
};

SnapshotScene random_scene(Random& random) {
    SnapshotScene scene;
    scene.derived.resize(random.chance(1, 3) ? 0 : random.below(100));
    random.fill(scene.derived);
    const auto& chain = sample_chain();
    scene.manifest = *make_manifest(chain.chain_id(), chain.blocks().back(), chain.state().view(), scene.derived,
                                    random.below(3'000));
    const auto written =
        write_snapshot(scene.manifest, chain.state().view(), scene.derived, [&](ByteView bytes) -> Result<void> {
            scene.stream.insert(scene.stream.end(), bytes.begin(), bytes.end());
            return {};
        });
    RC_ASSERT(written.has_value());
    return scene;
}

Result<Snapshot> read(const Bytes& stream) {
    std::size_t at = 0;
    Inline parallel;
    return read_snapshot(
        [&](std::size_t size) -> Result<Bytes> {
            if (stream.size() - at < size) return fail(ErrorKind::Corrupt, "the end");
            at += size;
            return to_bytes(ByteView{stream}.subspan(at - size, size));
        },
        parallel);
}

RC_GTEST_PROP(SnapshotProperty, ComesBackAsItWas, (std::uint64_t seed)) {
    Random random{seed};
    const SnapshotScene scene = random_scene(random);
    const auto snapshot = read(scene.stream);
    RC_ASSERT(snapshot.has_value());
    RC_ASSERT(snapshot->manifest == scene.manifest);
    RC_ASSERT(snapshot->derived == scene.derived);
    RC_ASSERT(snapshot->view.root() == sample_chain().tip().state_root);
}

RC_GTEST_PROP(SnapshotProperty, EveryChangedBitIsFound, (std::uint64_t seed)) {
    Random random{seed};
    SnapshotScene scene = random_scene(random);
    const std::size_t at = random.below(scene.stream.size());
    scene.stream[at] ^= static_cast<std::uint8_t>(1u << random.below(8));
    // Signature and identity of the block are consensus' to check; a changed header is another block's.
    constexpr std::size_t kHeader = kManifestFrontBytes + ChainId::kSize;
    constexpr std::size_t kSignatureEnd = kHeader + kHeaderBytes + 64;
    const auto snapshot = read(scene.stream);
    if (at >= kHeader && at < kSignatureEnd) {
        if (snapshot) RC_ASSERT(snapshot->manifest != scene.manifest);
    } else {
        RC_ASSERT(!snapshot.has_value());
    }
    if (snapshot) RC_ASSERT(snapshot->view.root() == sample_chain().tip().state_root);
}

RC_GTEST_PROP(SnapshotProperty, CutAnywhereItIsNone, (std::uint64_t seed)) {
    Random random{seed};
    SnapshotScene scene = random_scene(random);
    scene.stream.resize(random.below(scene.stream.size()));
    RC_ASSERT(!read(scene.stream).has_value());
}

}  // namespace
}  // namespace rhizome::ledger
