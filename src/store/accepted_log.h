// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "ledger/check.h"
#include "ledger/reject.h"

/// What this node has accepted of its clients and is not settled yet, and what of that was lost: docs/spec/store.md,
/// *Accepted transactions*.
namespace rhizome::store {

namespace detail {
class File;
}

/// A transaction that this node had accepted and that will never be final.
struct LostTx {
    ledger::SharedTx tx{};
    ledger::Reject why{};
    Time accepted{};
    Time lost{};
    bool was_included = false;                 ///< it was in a block of this node's chain, as far as is known
    std::optional<ledger::TxId> made_again{};  ///< by this transaction, on what stands now
};

/// A file `accepted` beside the log, which names every transaction from its acceptance until it is settled. Written as
/// it comes and anew, with what still matters, when most of it no longer does; so its size follows what is open.
///
/// `sync` makes durable all that was handed over before. A process that is killed loses nothing of it; a power failure
/// takes what was not synced, from some point on. What is lost is remembered for those who ask: the newest
/// `Limits::lost_max`, as far as they fit.
///
/// Any thread; `sync` may run beside the others.
class AcceptedLog {
public:
    struct Limits {
        std::uint64_t slack_bytes = 8u << 20;  ///< so much of what no longer matters stays before the file is made anew
        std::size_t lost_max = 4'096;
        std::size_t lost_bytes_max = 8u << 20;
    };
    struct Kept {
        ledger::SharedTx tx{};
        Time time{};  ///< when it was accepted
    };

    /// In a folder that this process holds. What cannot be read is passed over, and `finding` says so.
    static Result<std::unique_ptr<AcceptedLog>> open(const std::filesystem::path& folder, const ledger::ChainId& chain,
                                                     const Limits& limits);
    ~AcceptedLog();
    AcceptedLog(const AcceptedLog&) = delete;
    AcceptedLog& operator=(const AcceptedLog&) = delete;

    Result<void> keep(const ledger::SharedTx& tx, Time now);
    /// It is final, or nobody need be told. Unknown ones are none of its business.
    Result<void> settle(const ledger::TxId& id);
    /// In the place of having been kept.
    Result<void> lose(LostTx lost);
    Result<void> sync();

    /// In the order in which they were kept.
    [[nodiscard]] std::vector<Kept> kept() const;
    /// The newest first.
    [[nodiscard]] std::vector<LostTx> lost() const;
    [[nodiscard]] std::optional<LostTx> lost(const ledger::TxId& id) const;
    [[nodiscard]] std::uint64_t file_bytes() const;
    /// What opening passed over; empty: nothing.
    [[nodiscard]] const std::string& finding() const { return finding_; }

private:
    AcceptedLog(std::filesystem::path folder, const ledger::ChainId& chain, const Limits& limits);
    void read();
    void take(ByteView payload);
    Result<void> append(ByteView payload);
    Result<void> make_anew();
    void forget(const ledger::TxId& id);
    void remember(LostTx lost);

    const std::filesystem::path folder_;
    const ledger::ChainId chain_;
    const Limits limits_;
    std::string finding_{};

    mutable std::mutex mutex_;
    std::shared_ptr<detail::File> file_{};
    bool is_new_ = false;  ///< `file_` has not got its name yet: the one before still says what was promised
    bool dirty_ = false;
    std::uint64_t salt_ = 0;
    std::uint64_t end_ = 0;       ///< of what is written
    std::uint64_t sequence_ = 0;  ///< of the last record
    std::uint64_t link_ = 0;      ///< its checksum
    std::uint64_t live_bytes_ = 0;
    std::uint64_t numbers_ = 0;
    std::map<std::uint64_t, Kept> kept_{};  ///< by the order of their coming
    std::unordered_map<ledger::TxId, std::uint64_t> places_{};
    std::deque<LostTx> lost_{};  ///< oldest first
    std::size_t lost_bytes_ = 0;
};

}  // namespace rhizome::store
