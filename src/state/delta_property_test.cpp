// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "state/delta.h"
#include "state/tree.h"
#include "support/state_model.h"

namespace rhizome::state {
namespace {

using test::Model;

struct Round {
    StateView before;
    StateView after;
    Model model_before;
    Model model_after;
    Delta delta;
};

Round random_round(const StateView& view, const Model& model, Random& random) {
    Round round{view, {}, model, model, {}};
    Batch batch{view};
    test::change(batch, round.model_after, random, random.below(60));
    Commit commit = std::move(batch).finish();
    round.after = commit.view;
    round.delta = commit.delta;
    return round;
}

/// The changes that lead from one map to another.
void check_changes(const std::vector<Change>& changes, const Model& before, const Model& after) {
    Model now = before;
    std::string last;
    for (const Change& change : changes) {
        RC_ASSERT(last < change.key());
        last = change.key();
        const auto at = now.find(change.key());
        RC_ASSERT((at != now.end()) == static_cast<bool>(change.before));
        if (change.before) RC_ASSERT(*at->second == *change.before);
        RC_ASSERT(change.before || change.after);
        if (change.before && change.after) RC_ASSERT(!(*change.before == *change.after));
        if (change.after)
            now.insert_or_assign(std::string{change.key()}, change.after);
        else
            now.erase(at);
    }
    RC_ASSERT(now.size() == after.size());
    for (const auto& [key, entry] : after) RC_ASSERT(*now.at(key) == *entry);
}

RC_GTEST_PROP(DeltaProperty, LeadsThereAndBack, (std::uint64_t seed)) {
    Random random{seed};
    Model model;
    StateView view;
    for (int i = 0; i < 4; ++i) {
        const Round round = random_round(view, model, random);
        RC_ASSERT(round.delta.root_before() == round.before.root());
        RC_ASSERT(round.delta.root_after() == round.after.root());
        check_changes(round.delta.all(), round.model_before, round.model_after);

        const auto applied = apply(round.before, round.delta);
        RC_ASSERT(applied.has_value() && applied->root() == round.after.root());
        const auto undone = undo(round.after, round.delta);
        RC_ASSERT(undone.has_value() && undone->root() == round.before.root());
        RC_ASSERT(undone->totals(Prefix::everything()) == round.before.totals(Prefix::everything()));
        RC_ASSERT(diff(*undone, round.before).empty());

        const auto decoded = decode_delta(encode(round.delta));
        RC_ASSERT(decoded.has_value());
        RC_ASSERT(encode(*decoded) == encode(round.delta));
        RC_ASSERT(undo(round.after, *decoded)->root() == round.before.root());
        RC_ASSERT(apply(round.before, *decoded)->root() == round.after.root());
        view = round.after;
        model = round.model_after;
    }
}

/// Some of what a delta writes, by what wrote it, as a block has it.
class SomeOutputs final : public Outputs {
public:
    SomeOutputs(const Delta& delta, Random& random) {
        delta.visit([&](const Change& change) {
            if (change.after && change.after->is_written() && random.chance(2, 3))
                found_.emplace(change.after->origin().latest.output, change.after);
        });
    }
    [[nodiscard]] std::optional<Output> find(const Outpoint& output) const override {
        const auto at = found_.find(output);
        if (at == found_.end()) return std::nullopt;
        return Output{at->second->script(), at->second->document()};
    }
    [[nodiscard]] bool empty() const { return found_.empty(); }

private:
    std::map<Outpoint, EntryPtr> found_;
};

RC_GTEST_PROP(DeltaProperty, IsReadBackWithWhatWasKeptElsewhere, (std::uint64_t seed)) {
    Random random{seed};
    const Round start = random_round({}, {}, random);
    const Round round = random_round(start.after, start.model_after, random);
    const SomeOutputs kept{round.delta, random};
    const Bytes record = encode(round.delta, &kept);
    const auto decoded = decode_delta(record, record.size(), &kept);
    RC_ASSERT(decoded.has_value());
    RC_ASSERT(encode(*decoded) == encode(round.delta));
    RC_ASSERT(encode(*decoded, &kept) == record);
    if (kept.empty()) {
        RC_ASSERT(record == encode(round.delta));
    } else {
        RC_ASSERT(decode_delta(record).error() == DecodeFault::BadValue);
    }
    // A record from before there were bare entries is read the same with them.
    RC_ASSERT(encode(*decode_delta(encode(round.delta), std::size_t{1} << 20, &kept)) == encode(round.delta));
}

TEST(DeltaProperty, CreationsTakeLittleWhereTheDocumentsAreKept) {
    const Path path = *Path::namespaced("a", "", "ConfigMap", "b");
    Origin origin = test::origin_from(7);
    origin.born = origin.lock = origin.latest;
    const std::string document = "{\"data\":\"" + std::string(2'000, 'x') + "\"}";
    Batch batch{StateView{}};
    batch.put(*Entry::written(path, origin, Bytes{0x51}, document));
    const Delta delta = std::move(batch).finish().delta;
    Random always{1};
    SomeOutputs kept{delta, always};
    while (kept.empty()) kept = SomeOutputs{delta, always};
    EXPECT_LT(encode(delta, &kept).size(), 200U);
    EXPECT_GT(encode(delta).size(), 2'000U);
    // The same output with another text is another text's: nothing is left out then.
    Batch other_batch{StateView{}};
    other_batch.put(*Entry::written(path, origin, Bytes{0x51}, "{}"));
    const Delta other = std::move(other_batch).finish().delta;
    EXPECT_EQ(encode(other, &kept), encode(other));
}

RC_GTEST_PROP(DeltaProperty, TwoInARowMakeOne, (std::uint64_t seed)) {
    Random random{seed};
    const Round start = random_round({}, {}, random);
    const Round first = random_round(start.after, start.model_after, random);
    const Round second = random_round(first.after, first.model_after, random);
    const Delta both = first.delta.followed_by(second.delta);
    check_changes(both.all(), first.model_before, second.model_after);
    RC_ASSERT(apply(first.before, both)->root() == second.after.root());
    RC_ASSERT(undo(second.after, both)->root() == first.before.root());
}

RC_GTEST_PROP(DeltaProperty, DiffFindsAnyTwoStatesChanges, (std::uint64_t seed)) {
    Random random{seed};
    const Round start = random_round({}, {}, random);
    const Round one = random_round(start.after, start.model_after, random);
    const Round two = random_round(start.after, start.model_after, random);  // a branch
    const Delta found = diff(one.after, two.after);
    check_changes(found.changes(), one.model_after, two.model_after);
    RC_ASSERT(apply(one.after, found)->root() == two.after.root());
    // Also where nothing is shared in memory.
    check_changes(diff(one.after, test::build(two.model_after)).changes(), one.model_after, two.model_after);
    RC_ASSERT(diff(one.after, test::build(one.model_after)).changes().empty());
}

}  // namespace
}  // namespace rhizome::state
