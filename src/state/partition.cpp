// SPDX-License-Identifier: Apache-2.0
#include "state/partition.h"

#include <algorithm>

#include "state/detail/access.h"
#include "state/detail/rehash.h"
#include "state/tree.h"

namespace rhizome::state {

using detail::bit_at;
using detail::bit_of;
using detail::Inner;
using detail::NodeRef;

namespace {

constexpr std::uint16_t kPart = Partition::kPart;
constexpr std::size_t kBitsMax = 8 * kPathBytesMax;
/// tag, key length, the shortest key, document length: no entry takes less.
constexpr std::size_t kEntryBytesLeast = 1 + 1 + 8 + 4;

/// One step of the way from the root to a part.
struct Turn {
    std::uint16_t bit;
    unsigned side;
};

/// Goes to the next leaf of a tree in pre-order; false when that was the last.
bool turn_right(std::vector<Turn>& way) {
    while (!way.empty() && way.back().side == 1) way.pop_back();
    if (way.empty()) return false;
    way.back().side = 1;
    return true;
}

std::vector<Turn> way_to(const Partition& partition, std::size_t part) {
    ensure(part < partition.parts.size(), "a part that the partition has");
    std::vector<Turn> way;
    for (const std::uint16_t bit : partition.shape) {
        if (bit != kPart) {
            way.push_back({bit, 0});
        } else if (part == 0) {
            break;
        } else {
            --part;
            turn_right(way);
        }
    }
    return way;
}

/// Folds the skeleton from its parts up to its root: `join(bit, left, right)` for every inner node, children first.
template <class Value, class PartValue, class Join>
Value fold(const Partition& partition, PartValue part_value, Join join) {
    std::vector<Value> open;  // the leftmost last, since pre-order is read from its end
    std::size_t part = partition.parts.size();
    for (auto bit = partition.shape.rbegin(); bit != partition.shape.rend(); ++bit) {
        if (*bit == kPart) {
            open.push_back(part_value(--part));
            continue;
        }
        Value left = std::move(open.back());
        open.pop_back();
        open.back() = join(*bit, std::move(left), std::move(open.back()));
    }
    ensure(open.size() == 1 && part == 0, "a partition's shape is a tree over its parts");
    return std::move(open.back());
}

Partition cut(const StateView& view, std::uint64_t bytes_max) {
    /// An inner node whose subtree is being walked, and what was noted before it.
    struct Open {
        const Inner* inner;
        const Hash256* hash;
        std::size_t shape_before, parts_before;
        unsigned side;
        std::uint64_t bytes;
    };
    Partition made;
    std::vector<Open> open;
    NodeRef node = TreeAccess::root(view);
    const Hash256* hash = &view.root();
    while (node) {
        if (!node.is_leaf()) {
            const Inner* inner = node.inner();
            open.push_back({inner, hash, made.shape.size(), made.parts.size(), 0, 0});
            made.shape.push_back(inner->bit);
            hash = &inner->hash[0];
            node = inner->child[0];
            continue;
        }
        std::uint64_t bytes = encoded_size(*node.leaf());
        made.shape.push_back(kPart);
        made.parts.push_back({*hash, 1, bytes});
        node = {};
        while (!open.empty()) {
            Open& above = open.back();
            above.bytes += bytes;
            if (above.side == 0) {
                above.side = 1;
                hash = &above.inner->hash[1];
                node = above.inner->child[1];
                break;
            }
            bytes = above.bytes;
            if (bytes <= bytes_max) {  // then both sides are single parts: one is enough
                made.shape.resize(above.shape_before);
                made.parts.resize(above.parts_before);
                made.shape.push_back(kPart);
                made.parts.push_back({*above.hash, above.inner->count, bytes});
            }
            open.pop_back();
        }
    }
    return made;
}

}  // namespace

Partition partition(const StateView& view, std::uint64_t bytes_max) {
    Partition made = cut(view, bytes_max);
    while (made.parts.size() > kPartsMax) {
        bytes_max = std::max<std::uint64_t>(1, bytes_max) * 2;
        made = cut(view, bytes_max);
    }
    return made;
}

Hash256 root_of(const Partition& partition) {
    if (partition.parts.empty()) return {};
    return fold<Hash256>(
        partition, [&](std::size_t part) { return partition.parts[part].hash; },
        [](std::uint16_t bit, const Hash256& left, const Hash256& right) {
            return detail::inner_hash(bit, left, right);
        });
}

Cursor walk_part(const StateView& view, const Partition& partition, std::size_t part) {
    NodeRef node = TreeAccess::root(view);
    for (const Turn& turn : way_to(partition, part)) {
        ensure(bit_of(node) == turn.bit, "the partition is that of the view");
        node = node.inner()->child[turn.side];
    }
    return TreeAccess::walk(node);
}

// ---- codec --------------------------------------------------------------------------------------------------------

void encode(Writer& out, const Partition& partition) {
    out.varint(partition.parts.size());
    for (const std::uint16_t bit : partition.shape) out.u16(bit);
    for (const Part& part : partition.parts) out.id(part.hash).varint(part.entries).varint(part.bytes);
}

namespace {

/// The pre-order of a tree with `parts` leaves, whose bits grow on every way down.
Result<std::vector<std::uint16_t>, DecodeFault> decode_shape(Reader& in, std::size_t parts) {
    std::vector<std::uint16_t> shape(parts == 0 ? 0 : 2 * parts - 1);
    std::vector<Turn> way;
    bool whole = parts == 0;
    for (std::uint16_t& bit : shape) {
        TRY(bit, in.u16());
        if (whole) return Fail{DecodeFault::BadValue};  // the tree ended before
        if (bit == kPart) {
            whole = !turn_right(way);
        } else {
            if (bit >= kBitsMax || (!way.empty() && bit <= way.back().bit)) return Fail{DecodeFault::BadValue};
            way.push_back({bit, 0});
        }
    }
    if (!whole) return Fail{DecodeFault::BadValue};
    return shape;
}

}  // namespace

Result<Partition, DecodeFault> decode_partition(Reader& in) {
    TRY(const std::uint64_t written, in.varint());
    constexpr std::size_t kLeastEach = 2 + 32 + 1 + 1;  // its place in the shape, hash, entries, bytes
    TRY(const std::size_t count, in.bounded_count(written, kPartsMax, kLeastEach));
    Partition partition;
    TRY(partition.shape, decode_shape(in, count));
    partition.parts.resize(count);
    std::uint64_t entries = 0;
    for (Part& part : partition.parts) {
        TRY(part.hash, in.id<Hash256>());
        TRY(part.entries, in.varint());
        TRY(part.bytes, in.varint());
        if (part.entries == 0 || part.entries > part.bytes / kEntryBytesLeast) return Fail{DecodeFault::BadValue};
        if (part.entries > kPartitionEntriesMax - entries) return Fail{DecodeFault::TooLong};
        entries += part.entries;
    }
    return partition;
}

// ---- one part -----------------------------------------------------------------------------------------------------

std::string_view name(PartFault fault) {
    switch (fault) {
        case PartFault::BadOrder: return "BadOrder";
        case PartFault::WrongCount: return "WrongCount";
        case PartFault::WrongPlace: return "WrongPlace";
        case PartFault::WrongHash: return "WrongHash";
    }
    unreachable("all part faults are named");
}

Error to_error(PartFault fault) {
    const auto sentence = [&]() -> std::string_view {
        switch (fault) {
            case PartFault::BadOrder: return "its entries are not in the order of their paths";
            case PartFault::WrongCount: return "it has another number of entries than was announced";
            case PartFault::WrongPlace: return "its entries belong elsewhere in the state";
            case PartFault::WrongHash: return "its entries are not those of the state";
        }
        unreachable("all part faults have a sentence");
    };
    return {ErrorKind::Corrupt, std::string{sentence()}};
}

Result<StateView, PartFault> build_part(const Partition& partition, std::size_t part, std::vector<EntryPtr> entries,
                                        Parallel* parallel) {
    const std::vector<Turn> way = way_to(partition, part);
    const Part& expected = partition.parts[part];
    if (entries.empty()) return Fail{PartFault::WrongCount};
    // All keys agree in the bits above the subtree's first, so one of them answers for all.
    const std::string_view first = entries.front()->key(), last = entries.back()->key();
    if (!way.empty()) {
        const auto difference = detail::first_difference(first, last);
        if (difference && *difference <= way.back().bit) return Fail{PartFault::WrongPlace};
    }
    for (const Turn& turn : way)
        if (bit_at(first, turn.bit) != turn.side) return Fail{PartFault::WrongPlace};
    if (entries.size() != expected.entries) return Fail{PartFault::WrongCount};

    OrderedBuilder builder;
    for (EntryPtr& entry : entries)
        if (!builder.add(std::move(entry))) return Fail{PartFault::BadOrder};
    StateView view = std::move(builder).finish(parallel);
    if (view.root() != expected.hash) return Fail{PartFault::WrongHash};
    return view;
}

// ---- all parts ----------------------------------------------------------------------------------------------------

namespace {

/// A subtree again, in memory of another line of states. Entries are shared, hashes copied.
NodeRef copy(NodeRef node, detail::NodeMaker& maker) {
    const auto twin = [&](const Inner& inner) {
        Inner* const made = maker.make();
        made->bit = inner.bit;
        made->count = inner.count;
        made->weight = inner.weight;
        std::copy(std::begin(inner.child), std::end(inner.child), made->child);
        std::copy(std::begin(inner.hash), std::end(inner.hash), made->hash);
        return made;
    };
    if (node.is_leaf()) {
        detail::hold(node);
        return node;
    }
    Inner* const top = twin(*node.inner());
    std::vector<Inner*> pending{top};  // their children are still those of the other line
    while (!pending.empty()) {
        Inner* const inner = pending.back();
        pending.pop_back();
        for (NodeRef& child : inner->child) {
            if (child.is_leaf()) {
                detail::hold(child);
            } else {
                Inner* const made = twin(*child.inner());
                child = NodeRef{made};
                pending.push_back(made);
            }
        }
    }
    return NodeRef{top};
}

}  // namespace

Assembly::Assembly(Partition partition)
    : partition_(std::move(partition)),
      reclaimer_(std::make_shared<detail::Reclaimer>()),
      maker_(std::make_unique<detail::NodeMaker>(*reclaimer_)),
      placed_(partition_.parts.size()),
      missing_(placed_.size()) {}

Assembly::~Assembly() {
    for (const NodeRef node : placed_) detail::let_go(node, *reclaimer_);
}

Result<void, PartFault> Assembly::add(std::size_t part, const StateView& entries) {
    ensure(part < placed_.size(), "a part that the partition has");
    if (entries.root() != partition_.parts[part].hash || entries.empty()) return Fail{PartFault::WrongHash};
    if (has(part)) return {};
    placed_[part] = copy(TreeAccess::root(entries), *maker_);
    --missing_;
    return {};
}

Result<StateView, PartFault> Assembly::finish() && {
    ensure(missing_ == 0, "a state is assembled when all its parts are here");
    if (placed_.empty()) return StateView{};
    struct Built {
        NodeRef node;
        Hash256 hash;
    };
    bool fits = true;
    const auto taken = [&](std::size_t part) {
        return Built{std::exchange(placed_[part], NodeRef{}), partition_.parts[part].hash};
    };
    const auto join = [&](std::uint16_t bit, const Built& left, const Built& right) {
        // What makes a crit-bit tree: bits grow downwards, and this is the first in which the two sides differ.
        const std::string_view left_key = detail::first_leaf(left.node)->key();
        fits = fits && bit_of(left.node) > bit && bit_of(right.node) > bit && bit_at(left_key, bit) == 0 &&
               detail::first_difference(left_key, detail::first_leaf(right.node)->key()) == bit;
        Inner* const inner = maker_->make();
        inner->bit = bit;
        inner->child[0] = left.node;
        inner->child[1] = right.node;
        inner->hash[0] = left.hash;
        inner->hash[1] = right.hash;
        inner->count = detail::count_of(left.node) + detail::count_of(right.node);
        inner->weight = detail::weight_of(left.node) + detail::weight_of(right.node);
        return Built{NodeRef{inner}, detail::inner_hash(bit, left.hash, right.hash)};
    };
    const Built whole = fold<Built>(partition_, taken, join);
    auto* version = new detail::Version;
    version->root = whole.node;
    version->hash = whole.hash;
    version->reclaimer = reclaimer_;
    StateView view = TreeAccess::adopt(version);
    if (!fits) return Fail{PartFault::WrongPlace};
    return view;
}

}  // namespace rhizome::state
