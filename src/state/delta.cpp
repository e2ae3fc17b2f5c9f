// SPDX-License-Identifier: Apache-2.0
#include "state/delta.h"

#include <utility>

#include "state/detail/access.h"

namespace rhizome::state {

using detail::bit_at;
using detail::bit_of;
using detail::Inner;
using detail::NodeRef;

std::string_view name(DeltaFault fault) {
    switch (fault) {
        case DeltaFault::WrongState: return "WrongState";
        case DeltaFault::Inconsistent: return "Inconsistent";
    }
    unreachable("all delta faults are named");
}

Error to_error(DeltaFault fault) {
    switch (fault) {
        case DeltaFault::WrongState: return {ErrorKind::Conflict, "the record of changes belongs to another state"};
        case DeltaFault::Inconsistent:
            return {ErrorKind::Corrupt, "the record of changes does not lead to the state root it names"};
    }
    unreachable("all delta faults have a sentence");
}

// ---- cuts ---------------------------------------------------------------------------------------------------------

Cut::Cut(Prefix prefix, NodeRef node, const Hash256& hash, std::shared_ptr<detail::Reclaimer> reclaimer)
    : prefix_(std::move(prefix)), node_(node), hash_(hash), reclaimer_(std::move(reclaimer)) {
    detail::hold(node_);
}
Cut::Cut(const Cut& other) : Cut(other.prefix_, other.node_, other.hash_, other.reclaimer_) {}
Cut::Cut(Cut&& other) noexcept
    : prefix_(std::move(other.prefix_)),
      node_(std::exchange(other.node_, NodeRef{})),
      hash_(other.hash_),
      reclaimer_(std::move(other.reclaimer_)) {}
Cut& Cut::operator=(Cut other) noexcept {
    std::swap(prefix_, other.prefix_);
    std::swap(node_, other.node_);
    std::swap(hash_, other.hash_);
    std::swap(reclaimer_, other.reclaimer_);
    return *this;
}
Cut::~Cut() {
    if (node_) detail::let_go(node_, *reclaimer_);
}

Totals Cut::totals() const { return {detail::count_of(node_), detail::weight_of(node_)}; }

// ---- deltas -------------------------------------------------------------------------------------------------------

void Delta::visit(const std::function<void(const Change&)>& each) const {
    auto change = changes_.begin();
    for (const Cut& cut : cuts_) {
        Cursor cursor = TreeAccess::walk(cut.node_);
        while (const Entry* gone = cursor.next()) {
            for (; change != changes_.end() && change->key() < gone->key(); ++change) each(*change);
            if (change == changes_.end() || change->key() != gone->key()) {
                each({EntryPtr{gone}, {}});
                continue;
            }
            if (!(*gone == *change->after)) each({EntryPtr{gone}, change->after});  // cut off and written again
            ++change;
        }
    }
    for (; change != changes_.end(); ++change) each(*change);
}

std::vector<Change> Delta::all() const {
    std::vector<Change> found;
    visit([&](const Change& change) { found.push_back(change); });
    return found;
}

Delta Delta::followed_by(const Delta& next) const {
    ensure(next.root_before_ == root_after_, "a delta is followed by one that begins where it ends");
    Delta merged;
    merged.root_before_ = root_before_;
    merged.root_after_ = next.root_after_;
    merged.cuts_ = cuts_;
    auto ours = changes_.begin();
    next.visit([&](const Change& theirs) {
        for (; ours != changes_.end() && ours->key() < theirs.key(); ++ours) merged.changes_.push_back(*ours);
        Change change = theirs;
        if (ours != changes_.end() && ours->key() == theirs.key()) change.before = (ours++)->before;
        // What this delta wrote inside a subtree it had cut off has no `before` here; gone again, nothing is left of
        // it.
        const bool same = change.before && change.after && *change.before == *change.after;
        if ((change.before || change.after) && !same) merged.changes_.push_back(std::move(change));
    });
    merged.changes_.insert(merged.changes_.end(), ours, changes_.end());
    return merged;
}

// ---- difference ---------------------------------------------------------------------------------------------------

Delta diff(const StateView& before, const StateView& after) {
    Delta delta;
    delta.root_before_ = before.root();
    delta.root_after_ = after.root();

    const auto all_of = [&](NodeRef node, bool gone) {
        Cursor cursor = TreeAccess::walk(node);
        while (const Entry* entry = cursor.next())
            delta.changes_.push_back(gone ? Change{EntryPtr{entry}, {}} : Change{{}, EntryPtr{entry}});
    };
    /// Subtrees to compare, the next one last. Both stand where keys with the same beginning stand, or one is missing.
    std::vector<std::pair<NodeRef, NodeRef>> pending{{TreeAccess::root(before), TreeAccess::root(after)}};
    const auto later = [&](NodeRef old, NodeRef now) { pending.emplace_back(old, now); };

    while (!pending.empty()) {
        const auto [old, now] = pending.back();
        pending.pop_back();
        if (old == now) continue;
        if (!old || !now) {
            all_of(old ? old : now, static_cast<bool>(old));
            continue;
        }
        const unsigned old_bit = bit_of(old), now_bit = bit_of(now);
        if (old_bit == now_bit && !old.is_leaf()) {
            // Two versions of one node mostly share a child; then all their keys begin alike and nothing need be read.
            const Inner &left = *old.inner(), &right = *now.inner();
            if (left.child[0] == right.child[0] || left.child[1] == right.child[1]) {
                const unsigned side = left.child[0] == right.child[0] ? 1 : 0;
                later(left.child[side], right.child[side]);
                continue;
            }
        }
        const std::string_view old_key = detail::first_leaf(old)->key(), now_key = detail::first_leaf(now)->key();
        const auto difference = detail::first_difference(old_key, now_key);
        if (difference && *difference < std::min(old_bit, now_bit)) {  // no key in common
            const bool old_first = bit_at(old_key, *difference) == 0;
            if (old_first) later({}, now);
            later(old, {});
            if (!old_first) later({}, now);
        } else if (old_bit < now_bit) {  // all of `now` belongs to one side of `old`
            const unsigned side = bit_at(now_key, old_bit);
            for (const unsigned s : {1u, 0u}) later(old.inner()->child[s], s == side ? now : NodeRef{});
        } else if (now_bit < old_bit) {
            const unsigned side = bit_at(old_key, now_bit);
            for (const unsigned s : {1u, 0u}) later(s == side ? old : NodeRef{}, now.inner()->child[s]);
        } else if (old.is_leaf()) {
            if (!(*old.leaf() == *now.leaf())) delta.changes_.push_back({EntryPtr{old.leaf()}, EntryPtr{now.leaf()}});
        } else {
            for (const unsigned s : {1u, 0u}) later(old.inner()->child[s], now.inner()->child[s]);
        }
    }
    return delta;
}

// ---- codec --------------------------------------------------------------------------------------------------------

namespace {

constexpr std::uint8_t kHasBefore = 1;
constexpr std::uint8_t kHasAfter = 2;
constexpr std::uint8_t kBareAfter = 4;

bool is_kept(const Entry& entry, const Outputs* kept) {
    if (kept == nullptr || !entry.is_written()) return false;
    const auto output = kept->find(entry.origin().latest.output);
    return output && output->document == entry.document() && as_text(output->script) == as_text(entry.script());
}

Result<EntryPtr, DecodeFault> decode_bare(Reader& in, const Outputs* kept) {
    TRY(const BareEntry bare, decode_bare_entry(in));
    const auto output = kept == nullptr ? std::nullopt : kept->find(bare.origin.latest.output);
    if (!output) return Fail{DecodeFault::BadValue};
    const auto entry = Entry::written(bare.path, bare.origin, output->script, output->document);
    if (!entry) return Fail{DecodeFault::BadValue};
    return *entry;
}

}  // namespace

Bytes encode(const Delta& delta, const Outputs* kept) {
    // Counted first: of a large block these are megabytes, whose pages cost more than the second look.
    std::size_t bytes = 0;
    std::vector<bool> bare;  // of each change
    delta.visit([&](const Change& change) {
        bytes += 1;
        bare.push_back(change.after && is_kept(*change.after, kept));
        if (change.before) bytes += encoded_size(*change.before);
        if (change.after && !bare.back()) bytes += encoded_size(*change.after);
        if (bare.back()) bytes += bare_size(*change.after);
    });
    constexpr std::size_t kFrontAndChecksum = 32 + 32 + 10 + 8;  // who keeps it puts a checksum behind it
    Writer out{bytes + kFrontAndChecksum};
    out.id(delta.root_before()).id(delta.root_after()).varint(bare.size());
    std::size_t next = 0;
    delta.visit([&](const Change& change) {
        const bool is_bare = bare[next++];
        out.u8(static_cast<std::uint8_t>((change.before ? kHasBefore : 0) | (change.after ? kHasAfter : 0) |
                                         (is_bare ? kBareAfter : 0)));
        if (change.before) encode(out, *change.before);
        if (is_bare)
            encode_bare(out, *change.after);
        else if (change.after)
            encode(out, *change.after);
    });
    return std::move(out).take();
}

Result<Delta, DecodeFault> decode_delta(ByteView bytes, std::size_t bytes_max, const Outputs* kept) {
    if (bytes.size() > bytes_max) return Fail{DecodeFault::TooLong};
    Reader in{bytes};
    Delta delta;
    TRY(delta.root_before_, in.id<Hash256>());
    TRY(delta.root_after_, in.id<Hash256>());
    TRY(const std::uint64_t written, in.varint());
    constexpr std::size_t kLeastEach = 1 + 1 + 1 + 8 + 4;  // sides, tag, key length, the shortest key, document length
    TRY(const std::size_t count, in.bounded_count(written, bytes_max, kLeastEach));
    delta.changes_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        TRY(const std::uint8_t sides, in.u8());
        const bool is_bare = (sides & kBareAfter) != 0;
        if (sides == 0 || sides > (kHasBefore | kHasAfter | kBareAfter)) return Fail{DecodeFault::BadValue};
        if (is_bare && (sides & kHasAfter) == 0) return Fail{DecodeFault::BadValue};
        Change change;
        if ((sides & kHasBefore) != 0) {
            TRY(change.before, decode_entry(in));
        }
        if ((sides & kHasAfter) != 0) {
            TRY(change.after, is_bare ? decode_bare(in, kept) : decode_entry(in));
        }
        if (change.before && change.after &&
            (change.before->key() != change.after->key() || *change.before == *change.after))
            return Fail{DecodeFault::NotCanonical};
        if (i > 0 && change.key() <= delta.changes_.back().key()) return Fail{DecodeFault::NotCanonical};
        delta.changes_.push_back(std::move(change));
    }
    TRY(in.finish());
    return delta;
}

}  // namespace rhizome::state
