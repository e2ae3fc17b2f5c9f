// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "crypto/derive.h"
#include "ledger/apply.h"
#include "ledger/block_factory.h"
#include "ledger/pending_pool.h"

/// A chain in memory with people who hold keys, for tests of the ledger: write drafts, sign them for real, put them
/// into blocks that are built and then applied like a stranger's.
namespace rhizome::test {

/// A key that is the same in every run.
crypto::SecretKey key_of(std::string_view person);
crypto::NodeKeys node_keys_of(std::string_view node);
/// DUP HASH160 <address> EQUALVERIFY CHECKSIG.
Bytes lock_of(std::string_view person);
/// M of these people.
Bytes lock_of_any(unsigned m, const std::vector<std::string>& people);

/// `{"apiVersion":…,"kind":…,"metadata":{…},"spec":{"note":…}}`.
std::string document(std::string_view api_version, std::string_view kind, std::string_view namespace_name,
                     std::string_view name, std::string_view note = {});

/// A transaction being written. Inputs are named by the resource they stand for, as it is in the chain's present state.
struct Draft {
    struct In {
        ledger::Outpoint previous{};
        std::string signer{};  ///< empty: the unlocking script stays empty
        Bytes lock{};
        ledger::SpentValue spent{};
    };
    std::vector<In> inputs{};
    std::vector<ledger::Output> outputs{};
    std::vector<std::uint32_t> sequences{};
    std::uint32_t lock_time = 0;
    std::uint32_t expiry = 0;
};

class TestChain {
public:
    /// The Cluster belongs to `creator`; `spec` is its spec as JSON.
    explicit TestChain(std::string_view spec = "{}", std::string_view creator = "creator");

    /// Another chain that begins with the first `blocks` blocks of this one (at least genesis).
    [[nodiscard]] TestChain fork(std::size_t blocks) const;

    // ---- writing ---------------------------------------------------------------------------------------------------
    /// Names the lock of the resource at `path` (its text) as authority, signed by `signer`.
    TestChain& by(Draft& draft, std::string_view path, std::string_view signer);
    /// Names the latest output of the resource; signed by `signer`, or only as a version when that is empty.
    TestChain& version(Draft& draft, std::string_view path, std::string_view signer = {});
    /// Signs and checks. An expiry in an hour is set when nothing else is said and no version is named.
    ledger::SharedTx sign(const Draft& draft) const;
    /// The transaction before `check_tx`.
    ledger::Tx sign_raw(const Draft& draft) const;

    /// Creates a document under the authority of `parent`.
    ledger::SharedTx create(std::string_view parent, std::string_view signer, std::string document,
                            Bytes lock = {}) const;
    /// Writes a new version, unlocked by the resource's own lock.
    ledger::SharedTx update(std::string_view path, std::string_view signer, std::string document, Bytes lock) const;

    // ---- judging ---------------------------------------------------------------------------------------------------
    /// What would happen to `tx` in the next block, alone.
    Result<ledger::Effects, ledger::Reject> decide(const ledger::SharedTx& tx);
    /// The code of that refusal, "OK" for none.
    std::string verdict(const ledger::SharedTx& tx);

    /// Builds a block of what is valid in `txs`, encodes, decodes and applies it. Returns how many got in.
    std::size_t mine(const std::vector<ledger::SharedTx>& txs, milliseconds after = milliseconds{1000});
    /// The same, and every one of them must get in.
    void mine_all(const std::vector<ledger::SharedTx>& txs, milliseconds after = milliseconds{1000});
    /// Applies a block exactly as it is; the chain does not move when it is refused.
    Result<ledger::Applied, ledger::Reject> apply(const ledger::Block& block);
    ledger::BlockDraft draft_block(const std::vector<ledger::SharedTx>& txs, milliseconds after = milliseconds{1000});

    [[nodiscard]] const state::Entry* get(std::string_view path) const;
    [[nodiscard]] const ledger::LedgerState& state() const { return *state_; }
    [[nodiscard]] const std::vector<ledger::Block>& blocks() const { return blocks_; }
    [[nodiscard]] const std::vector<state::Commit>& commits() const { return commits_; }
    [[nodiscard]] const ledger::Header& tip() const { return blocks_.back().header; }
    [[nodiscard]] ledger::NextBlock next(milliseconds after = milliseconds{1000}) const;
    [[nodiscard]] Time now() const { return tip().time; }
    ledger::ChainId chain_id() const { return ledger::ChainId{hash_of(blocks_.front().header).view()}; }

    ledger::Rules rules;
    ledger::SignatureCache cache;
    Inline parallel;
    ledger::ConsensusPart consensus;  ///< what the next block's consensus part is

private:
    struct Empty {};
    explicit TestChain(Empty) {}

    std::vector<ledger::Block> blocks_;
    std::vector<state::Commit> commits_;
    std::unique_ptr<ledger::LedgerState> state_;
};

}  // namespace rhizome::test
