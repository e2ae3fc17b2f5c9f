// SPDX-License-Identifier: Apache-2.0
#include "ledger/block_row.h"

#include <algorithm>

#include "base/ensure.h"

namespace rhizome::ledger {

/// A block goes through it from top to bottom.
struct BlockRow::Waiting {
    explicit Waiting(std::shared_ptr<const Block> waiting) : block(std::move(waiting)) {}

    /// Ends the checking: from here on its transactions are known, with all of their signatures open.
    void finish_check() {
        ahead.emplace(BodyAhead{.txs = std::move(*checking).finish()});
        checking.reset();
        if (ahead->txs) ahead->unverified = *ahead->txs;
    }
    void finish_verifying(SignatureCache& cache) {
        verifying->remember(cache);
        ahead->unverified = verifying->left_over();
        verifying.reset();
    }

    std::shared_ptr<const Block> block;
    std::optional<CheckWork> checking{};
    std::optional<BodyAhead> ahead{};  ///< once it is checked
    std::optional<SignatureWork> verifying{};
};

BlockRow::BlockRow(const BlockRules& rules, SignatureCache& cache, Parallel& parallel)
    : rules_(rules), cache_(cache), parallel_(parallel) {}
BlockRow::~BlockRow() = default;

void BlockRow::push(std::shared_ptr<const Block> block) {
    ensure(block != nullptr, "a row has blocks in it");
    waiting_.push_back(std::make_unique<Waiting>(std::move(block)));
}

/// Checks the first `count` where that has not been done.
void BlockRow::check(std::size_t count) {
    for (std::size_t i = 0; i < std::min(count, waiting_.size()); ++i) {
        Waiting& each = *waiting_[i];
        if (each.ahead) continue;
        each.checking.emplace(each.block->txs);
        parallel_.for_ranges(each.checking->size(),
                             [&](std::size_t begin, std::size_t end) { each.checking->check(begin, end); });
        each.finish_check();
    }
}

void BlockRow::step(const LedgerState& parent, const Header& parent_header, const Outcome& outcome) {
    ensure(!waiting_.empty(), "a row with a block to apply");
    check(2);  // at the beginning of a row; later they were checked when they stood third
    Waiting& first = *waiting_[0];

    std::size_t signatures = 0;
    Waiting* const second = waiting_.size() > 1 ? waiting_[1].get() : nullptr;
    // Only the block after genesis writes the chain's id, which signatures cover, into the state.
    if (second != nullptr && second->ahead->txs && !parent.chain().is_zero()) {
        const Header& header = second->block->header;
        second->verifying.emplace(parent,
                                  NextBlock{.parent = header.previous, .height = header.height, .time = header.time},
                                  *second->ahead->txs);
        signatures = second->verifying->size();
    }
    std::size_t transactions = 0;
    Waiting* const third = waiting_.size() > 2 && !waiting_[2]->ahead ? waiting_[2].get() : nullptr;
    if (third != nullptr) transactions = third->checking.emplace(third->block->txs).size();

    parallel_.beside(
        [&] {
            outcome(*first.block,
                    judge_and_apply(parent, parent_header, *first.block, rules_, cache_, parallel_, &*first.ahead));
        },
        signatures + transactions,
        [&](std::size_t begin, std::size_t end) {
            if (begin < signatures) second->verifying->verify(begin, std::min(end, signatures));
            if (end > signatures) third->checking->check(std::max(begin, signatures) - signatures, end - signatures);
        });

    if (second != nullptr && second->verifying) second->finish_verifying(cache_);
    if (third != nullptr) third->finish_check();
    waiting_.pop_front();
}

}  // namespace rhizome::ledger
