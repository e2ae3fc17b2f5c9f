// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "ledger/codec.h"
#include "store/chain.h"
#include "support/test_chain.h"

/// Everything a stored chain can be asked, compared with the same chain in memory.
namespace rhizome::test {

struct Answers {
    std::vector<Error> refusals{};  ///< questions that got an error instead of an answer
    std::string wrong{};            ///< the first answer that is not the right one; empty when all are
};

/// `blocks` begin with genesis and end with the tip; `commits` are what they changed. With `bodies_from` above 0 older
/// blocks may have lost their bodies, and nothing else.
inline Answers ask_everything(store::Chain& chain, std::span<const ledger::Block> blocks,
                              std::span<const state::Commit> commits, std::size_t bodies_from = 0) {
    Answers answers;
    const store::Store& store = chain.store();
    const auto wrong = [&](std::string what) {
        if (answers.wrong.empty()) answers.wrong = std::move(what);
    };
    /// Whether there is an answer to compare.
    const auto answered = [&](const auto& result) {
        if (!result) answers.refusals.push_back(result.error());
        return result.has_value();
    };
    const ledger::Header& tip = blocks.back().header;
    if (store.tip().header != tip) wrong(fmt::format("the tip is {}", store.tip().height()));
    if (chain.tip() != tip) wrong("the chain's tip is another than the store's");
    if (chain.state().view().root() != tip.state_root) wrong("the state at the tip");
    if (const auto extent = store.extent(); answered(extent)) {
        std::uint64_t transactions = 0;
        for (const ledger::Block& block : blocks) transactions += block.txs.size();
        if (extent->headers_from != ledger::Height{0} || extent->blocks != blocks.size()) wrong("the number of blocks");
        if (extent->transactions != transactions) wrong(fmt::format("{} transactions", extent->transactions));
        if (extent->bodies_from.number() > bodies_from) wrong(fmt::format("bodies from {}", extent->bodies_from));
    }
    for (std::size_t height = 0; height < blocks.size(); ++height) {
        const ledger::Block& block = blocks[height];
        const auto hash = hash_of(block.header);
        const auto at = store.info_at(block.header.height);
        if (answered(at) && (at->hash != hash || at->header != block.header || at->signature != block.signature))
            wrong(fmt::format("the block at {}", height));
        if (at && !at->has_body && height >= bodies_from) wrong(fmt::format("the body of block {} is gone", height));
        if (at && !at->has_body) continue;
        if (const auto read = store.block(hash); answered(read) && *read != block)
            wrong(fmt::format("the content of block {}", height));
        if (const auto bytes = store.block_bytes(hash); answered(bytes) && *bytes != ledger::encode(block))
            wrong(fmt::format("the bytes of block {}", height));
        if (const auto all = store.all_at(block.header.height); answered(all) && all->empty())
            wrong(fmt::format("no block is known at {}", height));
        for (std::size_t i = 0; i < block.txs.size(); ++i)
            if (const auto place = store.find_tx(id_of(block.txs[i]));
                answered(place) && (place->block.hash != hash || place->index != i))
                wrong(fmt::format("the place of transaction {} of block {}", i, height));
        if (height == 0) continue;
        if (const auto change = store.change(hash);
            answered(change) && state::encode(*change) != state::encode(commits[height].delta))
            wrong(fmt::format("what block {} changed", height));
    }
    if (const auto above = store.info_at(tip.height + 1); above || above.error().kind != ErrorKind::NotFound)
        wrong("there is something above the tip");
    return answers;
}

inline std::string text(const std::vector<Error>& errors) {
    std::string all;
    for (const Error& error : errors) all += fmt::format("{}: {}\n", name(error.kind), error.message);
    return all;
}

}  // namespace rhizome::test
