// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/codec.h"
#include "base/parallel.h"
#include "state/document.h"
#include "state/view.h"

/// A state in parts, each of which can be checked alone against the root: what a snapshot is fetched in, from many
/// strangers at once.
///
/// A part is a subtree. What is left above the parts is the skeleton: it is small, hashes up to the root together with
/// the parts' hashes, and so whoever knows the root knows every part's hash. An inner node's hash has the absolute bit
/// position, so a subtree built from its entries alone has the hash that it has inside the state.
namespace rhizome::state {

namespace detail {
class NodeMaker;
class Reclaimer;
}  // namespace detail

/// One subtree below the skeleton. `entries` and `bytes` are in no hash: whoever reads the part compares them.
struct Part {
    Hash256 hash;
    std::uint64_t entries = 0;
    std::uint64_t bytes = 0;  ///< of the entries as `encode` writes them, one after the other
    friend bool operator==(const Part&, const Part&) = default;
};

struct Partition {
    /// Stands in `shape` where a part does.
    static constexpr std::uint16_t kPart = 0xffff;

    std::vector<std::uint16_t> shape;  ///< the skeleton in pre-order: bit positions of inner nodes, and `kPart`
    std::vector<Part> parts;           ///< in order of their keys; none for the empty state
    friend bool operator==(const Partition&, const Partition&) = default;
};

inline constexpr std::size_t kPartsMax = 65'536;  ///< parts of 1 MiB: 64 GiB
/// More would not fit the counters of the tree.
inline constexpr std::uint64_t kPartitionEntriesMax = std::uint64_t{1} << 31;

/// Cuts `view` into the largest subtrees that have at most `bytes_max` bytes each; an entry that alone has more is a
/// part of its own. Where that gives more than `kPartsMax` parts, `bytes_max` is doubled until it does not. Looks at
/// every entry once (its head, not its bytes): worth a worker's thread for a large state.
Partition partition(const StateView& view, std::uint64_t bytes_max);

/// The root of the state that `partition` is of.
Hash256 root_of(const Partition& partition);

/// The entries of part `part` of `view`, which `partition` is of. Borrows the view.
Cursor walk_part(const StateView& view, const Partition& partition, std::size_t part);

/// number of parts n (varint) ‖ shape: 2n − 1 times 2 bytes ‖ per part: hash (32), entries (varint), bytes (varint)
void encode(Writer& out, const Partition& partition);
/// Takes only what is a tree whose bits grow downwards and lie within a key, with at least one entry in each part.
/// Whether it is that of a state, `root_of` tells.
Result<Partition, DecodeFault> decode_partition(Reader& in);

enum class PartFault : unsigned char {
    BadOrder,    ///< an entry does not come after the one before
    WrongCount,  ///< other than as many entries as the partition says
    WrongPlace,  ///< the keys do not belong where the part stands
    WrongHash,   ///< the entries are not those of the state
};
std::string_view name(PartFault fault);
Error to_error(PartFault fault);

/// The entries of one part, checked alone: order, number, place and hash. What comes back is a state of just these
/// entries, whose root is the part's hash. Part after part may be checked on different threads.
Result<StateView, PartFault> build_part(const Partition& partition, std::size_t part, std::vector<EntryPtr> entries,
                                        Parallel* parallel = nullptr);

/// Puts checked parts together, in whatever order they come, without hashing them again. Confined to one thread at a
/// time.
class Assembly {
public:
    explicit Assembly(Partition partition);
    Assembly(const Assembly&) = delete;
    Assembly& operator=(const Assembly&) = delete;
    ~Assembly();

    /// Takes what `build_part` gave for `part`; a part that is here already is taken as known. WrongHash when these are
    /// the entries of something else.
    Result<void, PartFault> add(std::size_t part, const StateView& entries);

    [[nodiscard]] bool has(std::size_t part) const { return static_cast<bool>(placed_[part]); }
    [[nodiscard]] std::size_t missing() const { return missing_; }
    [[nodiscard]] const Partition& partition() const { return partition_; }

    /// The whole state, once nothing is missing: its root is `root_of(partition())`. WrongPlace when the keys of
    /// different parts do not fit together, which only a root that was no state's can lead to. Spent afterwards.
    Result<StateView, PartFault> finish() &&;

private:
    Partition partition_;
    std::shared_ptr<detail::Reclaimer> reclaimer_;
    std::unique_ptr<detail::NodeMaker> maker_;  ///< goes before what it makes nodes for
    std::vector<detail::NodeRef> placed_;
    std::size_t missing_;
};

}  // namespace rhizome::state
