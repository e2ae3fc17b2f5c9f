// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/random.h"
#include "base/time.h"
#include "ledger/member.h"
#include "p2p/address.h"

namespace rhizome::p2p {

/// What is known of one address.
struct KnownAddress {
    Address address{};
    AddressGroup source{};                        ///< of whoever told it first
    std::optional<ledger::MemberKey> identity{};  ///< who proved to be there last
    std::optional<Time> good{};                   ///< when this node itself last found a peer of this chain there
    Time heard{};                                 ///< when somebody last told it
    Time not_before{};                            ///< not to be dialled again until then
    std::uint8_t failures = 0;                    ///< in a row, for the back-off
    std::uint8_t strikes = 0;                     ///< failures while others could be reached: the fault is its own
    Time struck{};
    bool tried = false;  ///< in the table of addresses that this node itself found good
};

/// How long to wait after so many dials in vain: 5 s, twice as long each time, up to five minutes, less up to half of
/// it at random, so that a cluster that lost its network does not come back all at the same moment.
microseconds back_off(std::uint8_t failures, Random& random);

/// Where other nodes may be found.
///
/// Strangers fill this book, and whoever fills all of it chooses all of a node's peers (an eclipse). So an address has
/// one place, drawn with a key that only this node has:
/// - `new`, 8 × 8 buckets of 16: the address's group draws the row, its teller's group the column. One network reaches
///   an eighth of the table and one teller an eighth, however many addresses they have.
/// - `tried`, 16 buckets of 16, for those that this node itself has found good: a network reaches 4 of them.
/// Who has a place keeps it until it has shown to be worthless; choices draw a bucket first, then an address in it, so
/// a full bucket weighs no more than one with a single address. Only addresses where this node itself found a peer are
/// ever handed on, so nobody can use it to spread others.
///
/// Bounded by its tables: 1,280 addresses. Same calls and same `Random`, same answers. Times are the host's; a clock
/// that jumps delays a dial by five minutes at most.
class AddrBook {
public:
    using Key = std::array<std::uint8_t, 32>;
    using Fits = std::function<bool(const KnownAddress&)>;

    static constexpr std::size_t kSide = 8;
    static constexpr std::size_t kNewBuckets = kSide * kSide;
    static constexpr std::size_t kTriedBuckets = 16;
    static constexpr std::size_t kBucketSlots = 16;
    static constexpr std::size_t kSlots = (kNewBuckets + kTriedBuckets) * kBucketSlots;
    static constexpr std::size_t kAnchors = 2;
    static constexpr std::size_t kLinkedMax = 64;
    static constexpr minutes kBackOffMax{5};

    /// `key` is a secret of this node, the same after a restart.
    explicit AddrBook(const Key& key);

    /// `source` says that somebody may listen at `address`. True if the book now knows one more. Nobody's word is taken
    /// for addresses closer than its own: a stranger far away would have this node knock at doors inside its network.
    bool add(const Address& address, const Address& source, Time now);
    /// A dial begins.
    void note_tried(const Address& address, Time now);
    /// Dialled, and a peer of this chain proved to be `identity`.
    void note_good(const Address& address, const ledger::MemberKey& identity, Time now);
    /// Dialled in vain: waits for `back_off`, at most `wait_max`, and is forgotten when it fails again and again while
    /// others do not.
    void note_failed(const Address& address, Random& random, Time now, microseconds wait_max = kBackOffMax);
    void forget(const Address& address);

    /// An address to dial, of those that wait for nothing and that `fits` takes: as often of `tried` as of `new`.
    /// Those linked to in the run before come last, so that a restart meets others.
    [[nodiscard]] std::optional<KnownAddress> choose(Random& random, Time now, const Fits& fits) const;
    /// An address to test: one nobody has been found at yet, else one not found for a day.
    [[nodiscard]] std::optional<KnownAddress> choose_feeler(Random& random, Time now, const Fits& fits) const;
    /// Up to `count` addresses to tell `asker`, in random order: good within three days, and no closer than the
    /// asker.
    [[nodiscard]] std::vector<Address> sample(Random& random, std::size_t count, const Address& asker, Time now) const;

    /// An outbound link stands, or no longer does. The two that have stood longest are the next run's anchors.
    void note_linked(const Address& address);
    void note_unlinked(const Address& address);
    /// The anchors of the run before: whoever could make this node restart could otherwise replace all of its peers.
    [[nodiscard]] const std::vector<Address>& anchors() const { return anchors_; }
    /// This run has its own peers: those of the run before are as good as any other again.
    void forget_last_run() { last_run_.clear(); }

    [[nodiscard]] const KnownAddress* find(const Address& address) const;
    [[nodiscard]] std::size_t size() const { return index_.size(); }
    [[nodiscard]] std::size_t tried_size() const;

    /// For the disk, without the key. What the back-off counts is not kept: a restart tries again.
    [[nodiscard]] Bytes encode() const;
    /// The book of the run before; what has no place (the key was another) is left out.
    static Result<AddrBook, DecodeFault> decode(ByteView bytes, const Key& key);

private:
    static constexpr std::size_t kFirstTried = kNewBuckets * kBucketSlots;

    [[nodiscard]] std::uint64_t draw(std::uint8_t purpose, ByteView first, ByteView second = {}) const;
    [[nodiscard]] std::size_t new_slot(const Address& address, const AddressGroup& source) const;
    [[nodiscard]] std::size_t tried_slot(const Address& address) const;
    [[nodiscard]] KnownAddress* entry(const Address& address);
    bool place(std::size_t slot, const KnownAddress& known, Time now);
    void clear(std::size_t slot);
    [[nodiscard]] std::optional<KnownAddress> pick(Random& random, std::size_t begin, std::size_t end,
                                                   const Fits& fits) const;

    Key key_;
    std::vector<std::optional<KnownAddress>> slots_;  ///< `new`, then `tried`
    std::map<Address, std::size_t> index_;
    Time good_any_{};  ///< when anybody was last found good
    std::vector<Address> linked_;
    std::vector<Address> anchors_;
    std::vector<Address> last_run_;
};

}  // namespace rhizome::p2p
