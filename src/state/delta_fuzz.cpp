// SPDX-License-Identifier: Apache-2.0
// A damaged undo record: what is decoded is written back to the same bytes, and its
// changes lead there and back.
#include "state/delta.h"
#include "state/tree.h"
#include "support/fuzz_target.h"

using namespace rhizome;
using namespace rhizome::state;

namespace {
/// Has every output, all with one text.
class AnyOutputs final : public Outputs {
public:
    [[nodiscard]] std::optional<Output> find(const Outpoint&) const override { return Output{{}, "{}"}; }
};
}  // namespace

FUZZ_TARGET(delta_fuzz) {
    const ByteView bytes{data, size};
    const AnyOutputs kept;
    if (const auto bare = decode_delta(bytes, 1 << 20, &kept)) {
        const auto again = decode_delta(encode(*bare, &kept), 1 << 22, &kept);
        ensure(again.has_value() && encode(*again) == encode(*bare), "what is left out is found again");
    }
    const auto delta = decode_delta(bytes, 1 << 20);
    if (!delta) return 0;
    const Bytes again = encode(*delta);
    ensure(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()), "there is one form of a delta");
    // No fuzzer finds a delta with the right roots, so the same changes are made as a batch, which gives one.
    Batch start{StateView{}};
    for (const Change& change : delta->changes())
        if (change.before) start.put(change.before);
    const StateView before = std::move(start).finish().view;
    Batch batch{before};
    for (const Change& change : delta->changes()) {
        if (change.after)
            batch.put(change.after);
        else
            ensure(batch.erase(change.before->path()), "what was there is erased");
    }
    const Commit commit = std::move(batch).finish();
    ensure(commit.delta.changes().size() == delta->changes().size(), "the batch notes the same changes");
    const auto decoded = decode_delta(encode(commit.delta));
    ensure(decoded.has_value(), "what is written is read back");
    ensure(undo(commit.view, *decoded)->root() == before.root(), "undoing leads back");
    ensure(apply(before, *decoded)->root() == commit.view.root(), "applying leads there");
    const bool right = delta->root_before() == before.root() && delta->root_after() == commit.view.root();
    ensure(apply(before, *delta).has_value() == right, "a delta is applied when its roots are right");
    return 0;
}
