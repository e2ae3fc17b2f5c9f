// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "base/log.h"
#include "core/node.h"
#include "node/usual.h"
#include "store/accepted_log.h"
#include "store/chain.h"
#include "stream/strand.h"

namespace rhizome::node {

/// What a node shows of itself at one moment: immutable, so that any thread may read it while the node goes on.
struct NodeView {
    ledger::ChainId chain{};
    ledger::Header tip{};
    ledger::BlockHash tip_hash{};
    state::StateView state{};
    ledger::BlockHash final_block{};
    ledger::Height final_height{};
    Time final_time{};  ///< of that block
    consensus::Checkpoint justified{};
    std::uint64_t generation_heard = 0;  ///< of recovery: the highest that this node or a linked member says
    std::size_t pending = 0;
    microseconds chain_ahead{};  ///< how far chain time was ahead of this machine's clock
    std::set<core::Condition> conditions{};
    /// Members that do not know what they signed before: this one and its peers.
    std::map<consensus::MemberKey, ledger::VoteRecordId> records_begun{};
    core::Node::Usage usage{};
    core::Node::Traffic traffic{};
    std::shared_ptr<const UnusualSeen> unusual{};  ///< never null
    /// Keys of what transactions touch whose block was undone and that wait for another, some seconds at most; null:
    /// none do.
    std::shared_ptr<const std::set<std::string, std::less<>>> returning{};
    std::uint64_t lost = 0;        ///< accepted transactions that were told to be lost, since the start
    std::uint64_t made_again = 0;  ///< and that were, and were made again
};

/// Where a host hands what is meant for peers. Called on the host's strand.
class PeerPort {
public:
    virtual ~PeerPort() = default;
    virtual void send(core::PeerId to, const core::SharedMessage& message) = 0;
    virtual void blame(core::PeerId peer, const ledger::Reject& why) = 0;
    virtual void praise(core::PeerId peer) = 0;
};

struct HostOptions {
    std::filesystem::path folder{};
    core::Config core{};
    bool takes_part = true;  ///< false: an observer, which follows, serves and passes on, but neither seals nor votes
    unsigned mining_percent = 20;  ///< of one core, on chains that work; 0: follows and votes, but does not mine
    Log log{};
    store::ProgressSink opening{};
    /// The disk failed, or something else that a restart may mend and going on may not. Called once, on any thread.
    std::function<void(const Error&)> failed{};
};

/// One node on a real disk and real time: carries out what `core::Node` wants. All of the core runs on one strand; the
/// disk's syncs, signature checks of large batches and mining have threads of their own and come back as events.
class Host {
public:
    /// Opens the data directory of a member (or, without keys of a member, of one who follows) and starts. Errors are
    /// those of the store, or Corrupt when the chain and the node's record do not fit together.
    static Result<std::unique_ptr<Host>> start(stream::IoContext& io, HostOptions options,
                                               const crypto::NodeKeys& keys);
    /// Everything durable and the directory free again. Not from a task.
    Result<void> stop();
    ~Host();
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    // ---- any thread ------------------------------------------------------------------------------------------------

    /// As it was after the newest step; never null.
    [[nodiscard]] std::shared_ptr<const NodeView> view() const;
    [[nodiscard]] const store::Store& store() const;
    [[nodiscard]] const ledger::Rules& rules() const;
    [[nodiscard]] const consensus::MemberKey& key() const;
    [[nodiscard]] const stream::Strand& strand() const;

    /// Puts a transaction before the node; `told` is called on the strand with everything that becomes of it, the last
    /// time with Final or Refused. Whoever no longer cares says `forget`; unless `remember` says otherwise, what
    /// becomes of it is then this node's to remember, over restarts, and to tell when it is lost (`watch_lost`).
    core::ClientId submit(ledger::SharedTx tx, std::function<void(const core::Answer&)> told,
                          core::Remember remember = core::Remember::UntilSettled);
    void forget(core::ClientId client);
    /// What is known of a transaction that is on no block: it waits, or was refused when a client of this node asked
    /// for it (the last 4,096 of those are remembered), or lost.
    struct Fate {
        ledger::SharedTx pending{};
        std::optional<ledger::Reject> refused{};
    };
    /// Calls `told` on the strand.
    void fate_of(const ledger::TxId& id, std::function<void(const Fate&)> told);
    /// Calls `look` on the strand with the node as it stands between two steps; with null once the host has stopped.
    /// For what a view cannot answer, and short: the node waits meanwhile.
    void inspect(std::function<void(const core::Node*)> look);
    /// What happens, from now on, on the strand; until the handle is gone.
    [[nodiscard]] std::shared_ptr<void> watch(std::function<void(const core::Notice&, const NodeView&)> told);

    /// Accepted transactions that were lost, from now on, on the strand; until the handle is gone. Those told before,
    /// also before the start, are in `lost`.
    /// Each is told once it is known whether it was made again: `remake` (null: nobody does) says whether it tries, and
    /// then says on any thread by which transaction it was, or that it was not. Returns when no call is under way.
    using Remade = std::function<void(std::optional<ledger::TxId> made_again)>;
    void set_remaker(std::function<bool(const ledger::TxId& lost, Remade told)> remake);
    [[nodiscard]] std::shared_ptr<void> watch_lost(std::function<void(const store::LostTx&)> told);
    /// The newest first; the last 4,096, as far as they fit into 8 MiB.
    [[nodiscard]] std::vector<store::LostTx> lost() const;

    // ---- on the strand: for links ----------------------------------------------------------------------------------

    /// Who of the voters is there now.
    [[nodiscard]] core::Node::Reach reach() const;
    /// Where what is meant for peers goes; null: nowhere.
    void set_peers(PeerPort* peers);
    /// An event of a link. Within another step it waits until that one's effects are carried out.
    void step(core::EventKind event);
    /// A small value for the disk (`store::Store::put_note`).
    Result<void> put_note(std::string_view table, std::string_view name, ByteView bytes);

    struct Inside;

private:
    explicit Host(std::unique_ptr<Inside> inside);
    std::unique_ptr<Inside> inside_;
};

}  // namespace rhizome::node
