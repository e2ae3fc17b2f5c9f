// SPDX-License-Identifier: Apache-2.0
#include "ledger/pending_pool.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/ensure.h"
#include "ledger/limits.h"

namespace rhizome::ledger {
namespace {

/// Making room one transaction at a time would rebuild the pool's state for each; a twentieth of it at once spreads the
/// cost.
constexpr std::size_t kRoomDivisor = 20;

/// Refusals that a parent still to come may turn into a welcome.
bool may_wait(const Reject& reject) {
    return reject.code == RejectCode::MissingInput || reject.code == RejectCode::OrphanParent;
}

}  // namespace

PendingPool::PendingPool(PoolLimits limits, const Rules& rules, SignatureCache& cache)
    : limits_(limits), rules_(rules), cache_(cache) {}
PendingPool::~PendingPool() = default;

Result<PendingPool::Admission, Reject> PendingPool::admit(SharedTx tx, Sender sender, TxClass tx_class) {
    ensure(tip_ != nullptr, "a pool has a tip before it admits anything");
    if (pending_.contains(tx->id) || waiting_.contains(tx->id)) return Admission::Known;
    Entry entry{.tx = std::move(tx), .sender = sender, .tx_class = tx_class, .arrival = arrivals_++};
    TRY(check_room(entry));
    const SharedTx admitted = entry.tx;
    TRY(const auto admission, take(std::move(entry)));
    if (admission == Admission::Added) wake(*admitted);
    return admission;
}

Result<void, Reject> PendingPool::check_room(const Entry& entry) {
    const auto sent = sender_bytes_.find(entry.sender);
    if (entry.tx_class != TxClass::System && sent != sender_bytes_.end() &&
        sent->second + entry.tx->bytes > limits_.sender_bytes_max)
        return reject(RejectCode::TooManyPending,
                      "this sender has as many bytes waiting as one may have; try again later");
    if (bytes_ + entry.tx->bytes <= limits_.bytes_max && pending_.size() < limits_.count_max) return {};
    make_room(entry.tx->bytes, entry.tx_class);
    if (bytes_ + entry.tx->bytes <= limits_.bytes_max && pending_.size() < limits_.count_max) return {};
    return reject(RejectCode::TooManyPending, "the pool is full of transactions that go first; try again later");
}

Result<PendingPool::Admission, Reject> PendingPool::take(Entry entry) {
    const Place place = place_of(*tip_, next_);
    entry.decided.reset();  // that was on another tip
    auto effects = decide(entry.tx, *state_, place, rules_, cache_, kBlockChecksMax);
    if (!effects) {
        if (may_wait(effects.error())) return wait(std::move(entry), std::move(effects).error());
        return Fail{std::move(effects).error()};
    }
    perform(*effects, *state_, place);
    entry.decided = std::make_shared<const Effects>(*std::move(effects));
    bytes_ += entry.tx->bytes;
    sender_bytes_[entry.sender] += entry.tx->bytes;
    order_.emplace(Position{entry.tx_class, entry.arrival}, entry.tx->id);
    const TxId id = entry.tx->id;
    pending_.emplace(id, std::move(entry));
    return Admission::Added;
}

Result<PendingPool::Admission, Reject> PendingPool::wait(Entry entry, Reject missing) {
    if (waiting_.size() >= limits_.waiting_count_max || waiting_bytes_ + entry.tx->bytes > limits_.waiting_bytes_max)
        return Fail{std::move(missing)};
    waiting_bytes_ += entry.tx->bytes;
    for (const Input& input : entry.tx->tx.inputs) waits_for_.emplace(input.previous.change, entry.tx->id);
    const TxId id = entry.tx->id;
    waiting_.emplace(id, std::move(entry));
    return Admission::Waiting;
}

/// Tries what waited for outputs of `parent`; whoever comes in wakes others in turn.
void PendingPool::wake(const CheckedTx& parent) {
    std::vector<TxId> parents{parent.id};
    while (!parents.empty()) {
        const TxId id = parents.back();
        parents.pop_back();
        std::vector<TxId> children;
        for (auto at = waits_for_.lower_bound({id, TxId{}}); at != waits_for_.end() && at->first == id; ++at)
            children.push_back(at->second);
        for (const TxId& child : children) {
            const auto found = waiting_.find(child);
            if (found == waiting_.end()) continue;
            Entry entry = found->second;
            forget(child);
            const SharedTx tx = entry.tx;
            const auto admission =
                check_room(entry) ? take(std::move(entry))
                                  : Result<Admission, Reject>{reject(RejectCode::TooManyPending, "the pool is full")};
            if (!admission) {
                tell_dropped(tx, admission.error());
            } else if (*admission == Admission::Added) {
                parents.push_back(child);
            }
        }
    }
}

void PendingPool::forget(const TxId& id) {
    const auto at = waiting_.find(id);
    if (at == waiting_.end()) return;
    waiting_bytes_ -= at->second.tx->bytes;
    for (const Input& input : at->second.tx->tx.inputs) waits_for_.erase({input.previous.change, id});
    waiting_.erase(at);
}

void PendingPool::make_room(std::size_t bytes, TxClass for_class) {
    const bool bytes_short = bytes_ + bytes > limits_.bytes_max;
    const bool count_short = pending_.size() >= limits_.count_max;
    const std::size_t bytes_wanted = bytes_short ? std::max(bytes, limits_.bytes_max / kRoomDivisor) : 0;
    const std::size_t count_wanted = count_short ? std::max<std::size_t>(1, limits_.count_max / kRoomDivisor) : 0;
    std::size_t bytes_freed = 0;
    std::size_t count_freed = 0;
    std::vector<Entry> kept;
    // From the end of the order: the lowest class, and in it the newest. Nobody goes for one of a lower or the same
    // class.
    std::set<TxId> going;
    for (auto at = order_.rbegin(); at != order_.rend(); ++at) {
        if (at->first.first <= for_class || (bytes_freed >= bytes_wanted && count_freed >= count_wanted)) break;
        const Entry& entry = pending_.at(at->second);
        bytes_freed += entry.tx->bytes;
        ++count_freed;
        going.insert(at->second);
    }
    if (going.empty()) return;
    for (const auto& [id, entry] : pending_) {
        if (!going.contains(id)) {
            kept.push_back(entry);
        } else {
            tell_dropped(entry.tx, {.code = RejectCode::TooManyPending, .why = "the pool made room for others"});
        }
    }
    rebuild(std::move(kept));
}

/// Decides `entries` again on the present tip, in their order of arrival.
void PendingPool::rebuild(std::vector<Entry> entries) {
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.arrival < b.arrival; });
    state_ = std::make_unique<WorkingState>(tip_->view(), tip_->index());
    pending_.clear();
    order_.clear();
    sender_bytes_.clear();
    bytes_ = 0;
    for (Entry& entry : entries) {
        const SharedTx tx = entry.tx;
        const auto admission = take(std::move(entry));
        if (!admission) tell_dropped(tx, admission.error());
    }
}

void PendingPool::set_tip(const LedgerState& tip, const NextBlock& next, const std::vector<TxId>& included,
                          const std::vector<SharedTx>& returned) {
    tip_ = &tip;
    next_ = next;
    for (const TxId& id : included) {
        pending_.erase(id);
        forget(id);
    }
    std::vector<Entry> entries;
    entries.reserve(pending_.size() + returned.size() + waiting_.size());
    // What lost its block was here before anything that is here now.
    for (const SharedTx& tx : returned) entries.push_back({.tx = tx, .tx_class = TxClass::Local, .arrival = 0});
    const auto shift = static_cast<std::uint64_t>(entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) entries[i].arrival = i;
    for (const auto& [id, entry] : pending_) {
        entries.push_back(entry);
        entries.back().arrival += shift;
    }
    for (const auto& [id, entry] : waiting_) {
        entries.push_back(entry);
        entries.back().arrival += shift;
    }
    arrivals_ += shift;
    waiting_.clear();
    waits_for_.clear();
    waiting_bytes_ = 0;
    rebuild(std::move(entries));
}

std::vector<SharedTx> PendingPool::best() const {
    std::vector<SharedTx> txs;
    txs.reserve(order_.size());
    for (const auto& [place, id] : order_) txs.push_back(pending_.at(id).tx);
    return txs;
}

std::vector<const Effects*> PendingPool::decided() const {
    std::vector<const Effects*> effects;
    effects.reserve(order_.size());
    for (const auto& [place, id] : order_) effects.push_back(pending_.at(id).decided.get());
    return effects;
}

SharedTx PendingPool::find(const TxId& id) const {
    const auto at = pending_.find(id);
    return at == pending_.end() ? nullptr : at->second.tx;
}

void PendingPool::tell_dropped(const SharedTx& tx, const Reject& why) const {
    if (dropped) dropped(tx, why);
}

}  // namespace rhizome::ledger
