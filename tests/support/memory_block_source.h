// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>

#include "ledger/block_source.h"
#include "ledger/codec.h"
#include "ledger/seal_judge.h"

namespace rhizome::test {

/// Blocks and changes as a disk would keep them: as bytes. Counts what was asked for, and can lose or damage things.
class MemoryBlockSource final : public ledger::BlockSource {
public:
    void put(const ledger::Block& block) { blocks_[hash_of(block.header)] = ledger::encode(block); }
    void put_change(const ledger::BlockHash& hash, const state::Delta& delta) { changes_[hash] = state::encode(delta); }
    void forget_block(const ledger::BlockHash& hash) { blocks_.erase(hash); }
    void forget_change(const ledger::BlockHash& hash) { changes_.erase(hash); }
    void forget_changes() { changes_.clear(); }
    /// Flips a bit in the middle of the record.
    void damage_change(const ledger::BlockHash& hash) {
        Bytes& bytes = changes_.at(hash);
        bytes[bytes.size() / 2] ^= 1;
    }
    [[nodiscard]] bool has_change(const ledger::BlockHash& hash) const { return changes_.contains(hash); }

    [[nodiscard]] Result<ledger::Block> block(const ledger::BlockHash& hash) const override {
        ++blocks_read;
        const auto at = blocks_.find(hash);
        if (at == blocks_.end()) return fail(ErrorKind::NotFound, "there is no such block");
        auto read = ledger::decode_block(at->second);
        if (!read) return fail(ErrorKind::Corrupt, to_text(read.error()));
        return *std::move(read);
    }
    [[nodiscard]] Result<state::Delta> change(const ledger::BlockHash& hash) const override {
        ++changes_read;
        const auto at = changes_.find(hash);
        if (at == changes_.end()) return fail(ErrorKind::NotFound, "there is no record of that block's changes");
        auto read = state::decode_delta(at->second);
        if (!read) return fail(ErrorKind::Corrupt, to_error(read.error()).message);
        return *std::move(read);
    }

    mutable std::size_t blocks_read = 0;
    mutable std::size_t changes_read = 0;

private:
    std::map<ledger::BlockHash, Bytes> blocks_;
    std::map<ledger::BlockHash, Bytes> changes_;
};

/// A judge that takes every seal but those it was told to refuse, and counts what it was asked.
class CountingJudge final : public ledger::SealJudge {
public:
    [[nodiscard]] Result<ledger::ConsensusPart, ledger::Reject> judge(const ledger::LedgerState&, const ledger::Header&,
                                                                      const ledger::Block& block) const override {
        ++judged;
        if (refused.contains(hash_of(block.header)))
            return ledger::reject(ledger::RejectCode::BadSeal, "this seal is refused");
        return ledger::ConsensusPart{};
    }
    [[nodiscard]] Result<ledger::ConsensusPart, ledger::Reject> judge_genesis(const ledger::Block&) const override {
        return ledger::ConsensusPart{};
    }

    std::set<ledger::BlockHash> refused;
    mutable std::size_t judged = 0;
};

}  // namespace rhizome::test
