// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>

#include "base/codec.h"
#include "base/ensure.h"
#include "store/chain.h"
#include "support/any_seal.h"
#include "support/test_chain.h"

/// A chain on a disk beside the same one in memory, so that what the disk gives back can be compared.
namespace rhizome::test {

/// One block with the namespace that `grow` writes to.
inline void grow_namespace(TestChain& chain) {
    chain.mine_all({chain.create("/", "creator", document("v1", "Namespace", "", "web"), lock_of("alice"))});
}
/// One block with `count` new ConfigMaps, all named after `prefix`.
inline void grow(TestChain& chain, std::string_view prefix, std::size_t count, std::size_t note_bytes = 40) {
    std::vector<ledger::SharedTx> txs;
    for (std::size_t i = 0; i < count; ++i) {
        const std::string name = fmt::format("{}-{}-{}", prefix, chain.tip().height.number(), i);
        txs.push_back(chain.create("/namespaces/web", "alice",
                                   document("v1", "ConfigMap", "web", name, std::string(note_bytes, 'x')),
                                   lock_of("alice")));
    }
    chain.mine_all(txs);
}

/// Many segments and many checkpoints within few blocks.
inline constexpr store::Options kSmallStore{.segment_bytes = 8u << 10, .checkpoint_bytes = 6u << 10};

/// What opening a chain takes besides its folder; every seal is good.
struct OpenRules {
    ledger::Rules rules;
    AnySeal judge;
    Inline parallel;
    [[nodiscard]] ledger::BlockRules block_rules() const { return {.rules = rules, .judge = judge}; }
    [[nodiscard]] Result<std::unique_ptr<store::Chain>> open(const std::filesystem::path& folder,
                                                             const store::Options& options) {
        return store::Chain::open(folder, block_rules(), parallel, options);
    }
};

inline ledger::GenesisBlock genesis_of(const TestChain& chain) {
    return {.block = chain.blocks().front(), .commit = chain.commits().front()};
}

/// A vote record to be told from others.
inline Bytes vote_of(std::uint64_t number) {
    Writer out;
    out.u64(number);
    return std::move(out).take();
}

class StoredChain {
public:
    explicit StoredChain(std::filesystem::path folder, const store::Options& options = {})
        : folder_(std::move(folder)), options_(options), memory_(std::make_unique<TestChain>()) {
        auto made = store::Chain::create(folder_, genesis(), rules(), parallel(), options_);
        ensure(made.has_value(), made ? "" : made.error().message);
        chain_ = *std::move(made);
    }

    /// Genesis, as it was made. The first block after it, made by the first `grow`, has the namespace only.
    [[nodiscard]] ledger::GenesisBlock genesis() const { return genesis_of(*memory_); }
    [[nodiscard]] TestChain& memory() { return *memory_; }
    [[nodiscard]] store::Chain& chain() { return *chain_; }
    /// The same chain in memory, to grow another branch.
    [[nodiscard]] TestChain fork() const { return memory_->fork(memory_->blocks().size()); }

    /// Adds a block with that many transactions to both.
    Result<void> try_grow(std::size_t count, std::size_t note_bytes = 40) {
        if (memory_->blocks().size() == 1) grow_namespace(*memory_);
        if (memory_->blocks().size() - 1 <= std::max<std::uint64_t>(stored(), 1))
            test::grow(*memory_, "main", count, note_bytes);
        while (stored() < memory_->blocks().size() - 1) TRY(chain_->add(memory_->blocks()[stored() + 1]));
        return {};
    }
    void grow(std::size_t count, std::size_t note_bytes = 40) {
        const auto grown = try_grow(count, note_bytes);
        ensure(grown.has_value(), grown ? "" : grown.error().message);
    }

    /// As if the process died now; nothing is written any more.
    void kill() { chain_.reset(); }
    Result<void> close() {
        auto closed = chain_->close();
        chain_.reset();
        return closed;
    }
    void reopen(const store::ProgressSink& progress = {}, std::optional<store::Options> options = {}) {
        chain_.reset();
        if (options) options_ = *options;
        auto opened = store::Chain::open(folder_, rules(), parallel(), options_, progress);
        ensure(opened.has_value(), opened ? "" : opened.error().message);
        chain_ = *std::move(opened);
    }
    [[nodiscard]] ledger::BlockRules rules() const { return rules_.block_rules(); }
    [[nodiscard]] Parallel& parallel() { return rules_.parallel; }

private:
    [[nodiscard]] std::uint64_t stored() const { return chain_->tip().height.number(); }

    std::filesystem::path folder_;
    store::Options options_;
    OpenRules rules_;
    std::unique_ptr<TestChain> memory_;
    std::unique_ptr<store::Chain> chain_;
};

}  // namespace rhizome::test
