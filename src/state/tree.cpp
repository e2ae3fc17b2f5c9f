// SPDX-License-Identifier: Apache-2.0
#include "state/tree.h"

#include <algorithm>
#include <array>

#include "state/detail/access.h"
#include "state/detail/rehash.h"

namespace rhizome::state {

using detail::bit_at;
using detail::bit_of;
using detail::Inner;
using detail::NodeRef;
using detail::Version;

namespace {

/// Walks side by side: more than a core can have cache misses under way, and little enough that what they fetch should
/// still be in the nearer caches when it is used. Chosen from one run each of 16, 32, 64 and 128 on a busy machine: no
/// careful sweep.
constexpr std::size_t kTogether = 32;

/// Makes `inner` the parent of two subtrees that differ at `bit`; hashes are up to the caller.
void join(Inner& inner, unsigned bit, NodeRef left, NodeRef right) {
    inner.bit = static_cast<std::uint16_t>(bit);
    inner.child[0] = left;
    inner.child[1] = right;
    inner.count = detail::count_of(left) + detail::count_of(right);
    inner.weight = detail::weight_of(left) + detail::weight_of(right);
}

StateView make_view(NodeRef root, const Hash256& hash, std::shared_ptr<detail::Reclaimer> reclaimer) {
    auto* version = new Version;
    version->root = root;
    version->hash = hash;
    version->reclaimer = std::move(reclaimer);
    return TreeAccess::adopt(version);
}

std::shared_ptr<detail::Reclaimer> reclaimer_of(const StateView& view) {
    const Version* version = TreeAccess::version(view);
    return version != nullptr ? version->reclaimer : std::make_shared<detail::Reclaimer>();
}

}  // namespace

// ---- batch --------------------------------------------------------------------------------------------------------

struct Batch::Slot {
    NodeRef* node;
    Hash256* hash;
    Inner* owner;  ///< null: the root's slot
    unsigned side;
    bool* root_stale;
    bool borrowed;  ///< the node is held by the tree the batch started from, not yet by this slot

    [[nodiscard]] bool stale() const { return owner == nullptr ? *root_stale : (owner->stale >> side & 1u) != 0; }
    void set_stale(bool is) const {
        if (owner == nullptr)
            *root_stale = is;
        else
            owner->stale = static_cast<std::uint8_t>((owner->stale & ~(1u << side)) | (is ? 1u << side : 0u));
    }
};

Batch::Batch(StateView base)
    : base_(std::move(base)),
      reclaimer_(reclaimer_of(base_)),
      maker_(std::make_unique<detail::NodeMaker>(*reclaimer_)),
      root_(TreeAccess::root(base_)),
      root_hash_(base_.root()) {
    if (root_) detail::hold(root_);
}

Batch::~Batch() { detail::let_go(root_, *reclaimer_); }

Batch::Slot Batch::root_slot() { return {&root_, &root_hash_, nullptr, 0, &root_stale_, false}; }

/// One step down towards `key`, with the totals on the way corrected. Makes the node in the slot the batch's own: one
/// that nobody else holds, directly or through a parent, may be changed; any other is copied.
///
/// A copy's children are then held by two parents. The one on the way will mostly be copied next, so it stays borrowed
/// until the walk ends; the other one's counter lies somewhere far in memory and is raised when the walk has ended, by
/// when it has arrived. Until then the tree the batch started from keeps both.
Batch::Slot Batch::step(const Slot& slot, std::string_view key, std::int64_t count, std::int64_t weight) {
    Inner* inner = slot.node->inner();
    const unsigned side = bit_at(key, inner->bit);
    const bool shared = slot.borrowed || inner->holders.load(std::memory_order_acquire) != 1;
    if (shared) {
        const NodeRef other = inner->child[1 - side];
        detail::prefetch_for_write(other);
        held_later_.push_back(other);
        Inner* const mine = maker_->make();
        mine->bit = inner->bit;
        mine->stale = inner->stale;
        mine->count = inner->count;
        mine->weight = inner->weight;
        std::copy(std::begin(inner->child), std::end(inner->child), mine->child);
        std::copy(std::begin(inner->hash), std::end(inner->hash), mine->hash);
        if (!slot.borrowed) detail::let_go(*slot.node, *reclaimer_);
        *slot.node = NodeRef{mine};
        inner = mine;
    }
    slot.set_stale(true);
    inner->count = static_cast<std::uint32_t>(inner->count + count);
    inner->weight = inner->weight + static_cast<std::uint64_t>(weight);
    return {&inner->child[side], &inner->hash[side], inner, side, nullptr, shared};
}

/// Ends a walk.
void Batch::hold_siblings() {
    for (const NodeRef node : held_later_) detail::hold(node);
    held_later_.clear();
}

/// Walks towards these keys side by side and asks for the memory that `put` will need; changes nothing.
void Batch::fetch(std::span<const EntryPtr> entries) const {
    if (!root_) return;
    struct Walk {
        NodeRef node;
        std::string_view key;
    };
    std::array<Walk, kTogether> walks;
    std::size_t active = 0;
    for (const EntryPtr& entry : entries) walks[active++] = {root_, entry->key()};
    while (active > 0) {
        for (std::size_t i = 0; i < active;) {
            Walk& walk = walks[i];
            if (walk.node.is_leaf()) {
                walk = walks[--active];
                continue;
            }
            const Inner* inner = walk.node.inner();
            const unsigned side = bit_at(walk.key, inner->bit);
            detail::prefetch_for_write(inner->child[1 - side]);  // its counter rises when `inner` is copied
            __builtin_prefetch(reinterpret_cast<const char*>(inner) + 64);
            walk.node = inner->child[side];
            detail::prefetch_for_write(walk.node);
            ++i;
        }
    }
}

void Batch::insert(NodeRef node, const Hash256* hash, std::string_view key, unsigned bit) {
    const auto count = static_cast<std::int64_t>(detail::count_of(node));
    const auto weight = static_cast<std::int64_t>(detail::weight_of(node));
    Slot slot = root_slot();
    while (bit_of(*slot.node) < bit) slot = step(slot, key, count, weight);

    const unsigned side = bit_at(key, bit);
    if (slot.borrowed) detail::hold(*slot.node);
    Inner* const inner = maker_->make();
    join(*inner, bit, side == 0 ? node : *slot.node, side == 0 ? *slot.node : node);
    inner->hash[1 - side] = *slot.hash;
    if (hash != nullptr) inner->hash[side] = *hash;
    inner->stale =
        static_cast<std::uint8_t>((slot.stale() ? 1u << (1 - side) : 0u) | (hash == nullptr ? 1u << side : 0u));
    *slot.node = NodeRef{inner};
    slot.set_stale(true);
    hold_siblings();
}

void Batch::put(EntryPtr entry) {
    ensure(static_cast<bool>(entry), "an entry to put is there");
    const std::string_view key = entry->key();
    EntryPtr before;
    if (!root_) {
        root_ = NodeRef{EntryPtr{entry}.release()};
        root_stale_ = true;
    } else if (const Entry* nearest = detail::candidate(root_, key);
               const auto difference = detail::first_difference(key, nearest->key())) {
        insert(NodeRef{EntryPtr{entry}.release()}, nullptr, key, *difference);
    } else {
        const auto weight = static_cast<std::int64_t>(entry->weight()) - static_cast<std::int64_t>(nearest->weight());
        Slot slot = root_slot();
        while (!slot.node->is_leaf()) slot = step(slot, key, 0, weight);
        before = slot.borrowed ? EntryPtr{slot.node->leaf()} : EntryPtr::adopt(slot.node->leaf());
        *slot.node = NodeRef{EntryPtr{entry}.release()};
        slot.set_stale(true);
        hold_siblings();
    }
    if (record_) touches_.push_back({std::move(before), std::move(entry)});
}

void Batch::put(std::span<const EntryPtr> entries) {
    while (!entries.empty()) {
        const auto now = entries.first(std::min(entries.size(), kTogether));
        fetch(now);
        for (const EntryPtr& entry : now) put(entry);
        entries = entries.subspan(now.size());
    }
}

/// Takes out the node that the walk towards `key` reaches at or past `end_bit`; its sibling moves up.
void Batch::cut_out(std::string_view key, unsigned end_bit) {
    NodeRef target = root_;
    while (bit_of(target) < end_bit) target = target.inner()->child[bit_at(key, target.inner()->bit)];
    const auto count = -static_cast<std::int64_t>(detail::count_of(target));
    const auto weight = -static_cast<std::int64_t>(detail::weight_of(target));

    Slot above = root_slot(), slot = above;
    while (bit_of(*slot.node) < end_bit) {
        above = slot;
        slot = step(slot, key, count, weight);
    }
    if (slot.owner == nullptr) {
        root_ = {};
        root_hash_ = {};
        root_stale_ = false;
    } else {
        Inner* const parent = slot.owner;
        const unsigned other = 1 - slot.side;
        *above.node = parent->child[other];
        *above.hash = parent->hash[other];
        above.set_stale((parent->stale >> other & 1u) != 0);
        maker_->unmake(parent);
    }
    hold_siblings();
    if (!slot.borrowed) detail::let_go(target, *reclaimer_);
}

bool Batch::erase(const Path& path) {
    const Entry* entry = get(path);
    if (entry == nullptr) return false;
    if (record_) touches_.push_back({EntryPtr{entry}, EntryPtr{}});
    cut_out(path.key(), detail::kLeafBit);
    return true;
}

Totals Batch::erase_under(const Prefix& prefix) {
    const NodeRef node = detail::find_subtree(root_, prefix.key());
    if (!node) return {};
    const Totals gone{detail::count_of(node), detail::weight_of(node)};
    if (node.is_leaf()) {  // most deletions: the resource has nothing below it
        erase(node.leaf()->path());
        return gone;
    }
    cut_off_ = true;
    if (record_) record_cut(prefix);
    cut_out(prefix.key(), static_cast<unsigned>(prefix.key().size() * 8));
    return gone;
}

const Entry* Batch::get(const Path& path) const { return detail::find(root_, path.key()); }

Totals Batch::totals(const Prefix& prefix) const {
    const NodeRef node = detail::find_subtree(root_, prefix.key());
    return node ? Totals{detail::count_of(node), detail::weight_of(node)} : Totals{};
}

Cursor Batch::walk(const Prefix& prefix, const std::optional<Path>& after) const {
    return {root_, prefix, after ? std::string_view{after->key()} : std::string_view{}};
}

// ---- what a batch did ---------------------------------------------------------------------------------------------

namespace {

/// The cut that a key falls under. Cuts are disjoint, so it can only be the last one not behind the key.
const Cut* covering(const std::map<std::string, Cut, std::less<>>& cuts, std::string_view key) {
    auto at = cuts.upper_bound(key);
    if (at == cuts.begin()) return nullptr;
    --at;
    return key.starts_with(at->first) ? &at->second : nullptr;
}

}  // namespace

/// Notes that all of the *base's* entries under `prefix` are gone. What the batch itself had put there is in
/// `touches_`.
void Batch::record_cut(const Prefix& prefix) {
    if (covering(cuts_, prefix.key()) != nullptr) return;
    const auto bits = static_cast<unsigned>(prefix.key().size() * 8);
    NodeRef node = TreeAccess::root(base_);
    const Hash256* hash = &base_.root();
    while (node && bit_of(node) < bits) {
        const Inner* inner = node.inner();
        const unsigned side = bit_at(prefix.key(), inner->bit);
        hash = &inner->hash[side];
        node = inner->child[side];
    }
    if (!node || !detail::first_leaf(node)->key().starts_with(prefix.key())) return;
    auto at = cuts_.lower_bound(prefix.key());
    while (at != cuts_.end() && at->first.starts_with(prefix.key())) at = cuts_.erase(at);
    cuts_.emplace(prefix.key(), Cut{prefix, node, *hash, reclaimer_});
}

Delta Batch::make_delta() {
    Delta delta;
    delta.root_before_ = base_.root();
    delta.root_after_ = root_hash_;
    std::stable_sort(touches_.begin(), touches_.end(),
                     [](const Touch& left, const Touch& right) { return left.key() < right.key(); });
    for (auto first = touches_.begin(); first != touches_.end();) {
        const std::string_view key = first->key();
        auto last = first;
        while (std::next(last) != touches_.end() && std::next(last)->key() == key) ++last;
        // Under a cut, `before` belongs to the cut; and whatever was put may have been cut off again, also where the
        // base had nothing to cut.
        Change change{covering(cuts_, key) != nullptr ? EntryPtr{} : first->before,
                      cut_off_ ? EntryPtr{detail::find(root_, key)} : last->after};
        if (change.before || change.after) {
            const bool same = change.before && change.after && *change.before == *change.after;
            if (!same) delta.changes_.push_back(std::move(change));
        }
        first = std::next(last);
    }
    delta.cuts_.reserve(cuts_.size());
    for (auto& [key, cut] : cuts_) delta.cuts_.push_back(std::move(cut));
    return delta;
}

StateView Batch::seal(Parallel* parallel) {
    if (root_stale_) root_hash_ = detail::rehash(root_, parallel);
    root_stale_ = false;
    if (root_) detail::hold(root_);
    // As much as the batch has made, and then some: what a large deletion left behind goes bit by bit.
    reclaimer_->collect(2 * (maker_->made() + touches_.size()) + 64);
    return make_view(root_, root_hash_, reclaimer_);
}

Commit Batch::finish(Parallel* parallel) && {
    Commit commit{seal(parallel), {}};
    commit.delta = make_delta();
    // A spent batch holds nothing: whoever keeps it a little longer would keep two whole states.
    touches_.clear();
    cuts_.clear();
    detail::let_go(root_, *reclaimer_);
    root_ = {};
    base_ = {};
    return commit;
}

// ---- deltas onto states -------------------------------------------------------------------------------------------

/// Puts a subtree back where nothing stands under its prefix.
void Batch::graft(const Cut& cut) {
    if (cut.reclaimer_ != reclaimer_) {  // another line of states: its nodes live in memory that goes with it
        Cursor cursor = TreeAccess::walk(cut.node_);
        while (const Entry* entry = cursor.next()) put(EntryPtr{entry});
        return;
    }
    detail::hold(cut.node_);
    if (!root_) {
        root_ = cut.node_;
        root_hash_ = cut.hash_;
        root_stale_ = false;
        return;
    }
    const std::string_view key = detail::first_leaf(cut.node_)->key();
    const auto difference = detail::first_difference(key, detail::candidate(root_, key)->key());
    ensure(difference && *difference < cut.prefix().key().size() * 8, "nothing stands where a subtree is put back");
    insert(cut.node_, &cut.hash_, key, *difference);
}

Result<StateView, DeltaFault> apply(const StateView& view, const Delta& delta) {
    if (view.root() != delta.root_before()) return Fail{DeltaFault::WrongState};
    Batch batch{view};
    batch.record_ = false;
    for (const Cut& cut : delta.cuts()) batch.erase_under(cut.prefix());
    for (const Change& change : delta.changes()) {
        if (change.after)
            batch.put(change.after);
        else
            batch.erase(change.before->path());
    }
    StateView after = batch.seal(nullptr);
    if (after.root() != delta.root_after()) return Fail{DeltaFault::Inconsistent};
    return after;
}

Result<StateView, DeltaFault> undo(const StateView& view, const Delta& delta) {
    if (view.root() != delta.root_after()) return Fail{DeltaFault::WrongState};
    Batch batch{view};
    batch.record_ = false;
    for (const Change& change : delta.changes()) {
        if (change.before)
            batch.put(change.before);
        else
            batch.erase(change.after->path());
    }
    for (const Cut& cut : delta.cuts()) batch.graft(cut);
    StateView before = batch.seal(nullptr);
    if (before.root() != delta.root_before()) return Fail{DeltaFault::Inconsistent};
    return before;
}

// ---- from an ordered stream ---------------------------------------------------------------------------------------

OrderedBuilder::OrderedBuilder()
    : reclaimer_(std::make_shared<detail::Reclaimer>()), maker_(std::make_unique<detail::NodeMaker>(*reclaimer_)) {}

OrderedBuilder::~OrderedBuilder() {
    for (const auto& [bit, node] : open_) detail::let_go(node, *reclaimer_);
}

/// Joins the subtrees that were split below `bit`: no later key can fall between them.
void OrderedBuilder::fold(int bit) {
    while (open_.size() >= 2 && open_.back().first > bit) {
        const auto [split, right] = open_.back();
        open_.pop_back();
        Inner* const inner = maker_->make();
        join(*inner, static_cast<unsigned>(split), open_.back().second, right);
        inner->stale = 3;
        open_.back().second = NodeRef{inner};
    }
}

bool OrderedBuilder::add(EntryPtr entry) {
    ensure(static_cast<bool>(entry), "an entry to add is there");
    int bit = 0;
    if (last_ != nullptr) {
        const auto difference = detail::first_difference(last_->key(), entry->key());
        if (!difference || bit_at(entry->key(), *difference) == 0) return false;
        bit = static_cast<int>(*difference);
        fold(bit);
    }
    last_ = std::move(entry).release();
    open_.emplace_back(bit, NodeRef{last_});
    return true;
}

StateView OrderedBuilder::finish(Parallel* parallel) && {
    if (open_.empty()) return {};
    fold(-1);
    const NodeRef root = open_.back().second;
    open_.clear();
    last_ = nullptr;
    return make_view(root, detail::rehash(root, parallel), reclaimer_);
}

}  // namespace rhizome::state
