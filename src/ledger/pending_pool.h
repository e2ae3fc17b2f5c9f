// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "ledger/apply.h"

namespace rhizome::ledger {

/// Who is let in first, and who goes last when room is needed.
enum class TxClass : std::uint8_t {
    System,   ///< reports, evidence, what the cluster needs to live
    Local,    ///< submitted to this node
    Relayed,  ///< heard from peers
};

struct PoolLimits {
    std::size_t bytes_max = 64u << 20;  ///< 16 full blocks
    std::size_t count_max = 100'000;
    std::size_t sender_bytes_max = 16u << 20;  ///< a quarter of the pool for one sender
    std::size_t waiting_bytes_max = 8u << 20;  ///< transactions whose parents are not here yet
    std::size_t waiting_count_max = 5'000;
};

/// Who sent a transaction: a user's address, or whatever the host counts by.
using Sender = crypto::Hash160;

/// Transactions that are valid on top of the tip and of each other, waiting for a block.
///
/// Each was decided on the state that the tip and those before it give, so no two conflict: of two that change one
/// version or create one name, the first to come stays. Of the variants of one id (same change, other signatures) the
/// first valid one stays. Those whose inputs are not there yet wait apart, bounded, and come in when their parents do.
///
/// Order: class first, then arrival. Fed the same calls, two pools hold the same set. Confined to the core strand.
/// Borrows rules and cache, and the tip until the next `set_tip`.
class PendingPool {
public:
    PendingPool(PoolLimits limits, const Rules& rules, SignatureCache& cache);
    ~PendingPool();

    enum class Admission : std::uint8_t { Added, Known, Waiting };
    /// Takes `tx`, or says what is wrong with it. A full pool makes room from its lowest class, newest first;
    /// what is pushed out (or pushed out with its parent) is told to `dropped`.
    Result<Admission, Reject> admit(SharedTx tx, Sender sender, TxClass tx_class);

    /// The chain's tip is now `tip`, and the next block would be `next`: forgets what `included` has, decides all else
    /// again (locks may have changed, time has passed, CHECKEXPIRYVERIFY and CHECKMEMBERSIG ask anew), and tells what
    /// fell out. After a reorganisation `returned` has what lost its block, in chain order: it comes in first.
    void set_tip(const LedgerState& tip, const NextBlock& next, const std::vector<TxId>& included = {},
                 const std::vector<SharedTx>& returned = {});

    /// Called with every transaction that leaves other than by a block, and why.
    std::function<void(const SharedTx&, const Reject&)> dropped;

    /// All that may go into a block, in pool order. Good until the next change.
    [[nodiscard]] std::vector<SharedTx> best() const;
    /// The same, each as what it does on top of the tip and of those admitted before it.
    [[nodiscard]] std::vector<const Effects*> decided() const;
    [[nodiscard]] SharedTx find(const TxId& id) const;
    [[nodiscard]] std::size_t size() const { return pending_.size(); }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }
    [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }

private:
    struct Entry {
        SharedTx tx;
        Sender sender{};
        TxClass tx_class = TxClass::Relayed;
        std::uint64_t arrival = 0;
        std::shared_ptr<const Effects> decided{};  ///< on the present tip; null while it waits
    };
    using Position = std::pair<TxClass, std::uint64_t>;

    Result<Admission, Reject> take(Entry entry);
    Result<void, Reject> check_room(const Entry& entry);
    Result<Admission, Reject> wait(Entry entry, Reject missing);
    void make_room(std::size_t bytes, TxClass for_class);
    void rebuild(std::vector<Entry> entries);
    void wake(const CheckedTx& parent);
    void forget(const TxId& id);
    void tell_dropped(const SharedTx& tx, const Reject& why) const;

    PoolLimits limits_;
    const Rules& rules_;
    SignatureCache& cache_;
    const LedgerState* tip_ = nullptr;
    NextBlock next_{};
    std::unique_ptr<WorkingState> state_;  ///< the tip with all pending transactions on top
    std::map<TxId, Entry> pending_;
    std::map<Position, TxId> order_;
    std::map<Sender, std::size_t> sender_bytes_;
    std::map<TxId, Entry> waiting_;
    std::set<std::pair<crypto::Hash256, TxId>> waits_for_;  ///< (parent's id, waiting)
    std::size_t bytes_ = 0;
    std::size_t waiting_bytes_ = 0;
    std::uint64_t arrivals_ = 0;
};

}  // namespace rhizome::ledger
