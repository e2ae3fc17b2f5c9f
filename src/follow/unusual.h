// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "state/delta.h"

namespace rhizome::follow {

/// What counts as unusual. Local: nothing on the chain follows from it.
struct UsualRules {
    /// Changes are counted in slots of this length, by the blocks' time.
    seconds slot{10};
    /// Unusually many: more than so many times the mean of the slots before, and more than `changes_least`, which a
    /// person with a script reaches and a controller in order does not.
    unsigned rate_times = 8;
    std::uint64_t changes_least = 500;
    /// Unusually large: more than so many times the mean of this kind's documents, and more than `bytes_least`.
    unsigned size_times = 16;
    std::uint64_t bytes_least = 64u << 10;
    /// One sentence about one subject in this time; what is not told is still counted.
    seconds quiet{600};
    /// Kinds in namespaces that are followed; the one that was quiet longest makes room.
    std::size_t subjects_max = 1'024;
};

enum class UnusualKind : std::uint8_t {
    Rate,    ///< a key may be in wrong hands: changes of one kind in one namespace come in a flood
    Size,    ///< a document far larger than its like
    Nonces,  ///< work: nonces of the blocks are not spread evenly, as when machines share out the search
    Pace,    ///< work: blocks come far faster than the target wants, as when somebody adds machines
};
inline constexpr std::size_t kUnusualKinds = 4;
std::string_view name(UnusualKind kind);

struct Unusual {
    UnusualKind kind{};
    Time at{};              ///< of the block
    std::string subject{};  ///< `/namespaces/web/apps/Deployment`; empty for blocks
    std::string what{};     ///< a sentence for people
};

/// Learns what is usual on a chain and tells what is not. It accuses nobody: a flood of valid changes is for a person
/// to judge, who can then set a quota, a cool-down or another lock.
///
/// Pure: told of blocks in order, sums in whole numbers, bounded by `subjects_max`.
class UsualWatch {
public:
    explicit UsualWatch(UsualRules rules) : rules_(rules) {}

    /// A block of this time changed the state by `delta`.
    std::vector<Unusual> changed(Time at, const state::Delta& delta);
    /// A block of a chain that works was found with this nonce; `wanted` is the time that a block should take.
    std::vector<Unusual> worked(Time at, std::uint64_t nonce, milliseconds wanted);

    /// How often each kind was seen, in the order of `UnusualKind`.
    [[nodiscard]] const std::array<std::uint64_t, kUnusualKinds>& counts() const { return counts_; }

    /// Blocks that a judgement about nonces is made of: 16 in each of 16 classes, so that a few blocks more or less in
    /// one do not show.
    static constexpr std::size_t kNonces = 256;
    /// Blocks that a judgement about their pace is made of: that so many honest ones need less than a third of the
    /// wanted time happens once in millions of blocks.
    static constexpr std::size_t kPaceBlocks = 32;

private:
    struct Subject {
        std::uint64_t slot = 0;  ///< the one that `changes` counts
        std::uint64_t changes = 0;
        std::uint64_t mean = 0;        ///< of changes in a slot, × 256
        std::uint64_t bytes_mean = 0;  ///< of a document, × 256
        std::uint64_t documents = 0;   ///< that `bytes_mean` was learnt from
        bool flooded = false;          ///< the slot was counted
        Time told{};
    };

    Subject& subject(std::string_view key, std::uint64_t slot);
    void note(UnusualKind kind, Subject* about, std::string_view key, Time at, std::string what,
              std::vector<Unusual>& out);

    UsualRules rules_;
    std::map<std::string, Subject, std::less<>> subjects_{};
    std::vector<std::uint64_t> nonces_{};
    std::deque<Time> times_{};
    Time pace_told_{};
    std::array<std::uint64_t, kUnusualKinds> counts_{};
};

}  // namespace rhizome::follow
