// SPDX-License-Identifier: Apache-2.0
#include "consensus/authority.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/ensure.h"
#include "consensus/beacon.h"

namespace rhizome::consensus {
namespace {

using ledger::Reject;
using ledger::RejectCode;

Order draw_order_of(const Turn& turn) {
    return draw_order(turn.parent.view(), turn.parent.parameters(), turn.electorate, turn.parent_header.height + 1);
}

std::shared_ptr<const Order> order_of(const Turn& turn) {
    if (turn.orders == nullptr) return std::make_shared<const Order>(draw_order_of(turn));
    const BlockHash parent = hash_of(turn.parent_header);
    auto order = turn.orders->find_order(parent);
    if (order) return order;
    order = std::make_shared<const Order>(draw_order_of(turn));
    turn.orders->keep_order(parent, order);
    return order;
}

milliseconds wait_of(const Order& order, std::size_t rank, const ledger::Parameters& parameters) {
    const milliseconds delay = parameters.min_interval + delay_of(rank, order.ranked.size(), parameters.rank_delay);
    return order.is_newcomer(rank) ? std::max(delay, kNewcomerDelay) : delay;
}

bool begins_epoch(const Turn& turn) {
    const milliseconds epoch = turn.parent.parameters().epoch;
    return epoch_of(turn.time, epoch) > epoch_of(turn.parent_header.time, epoch);
}

/// The VRF key of a member; nothing for the first voter before its Node is written: its blocks leave the seed alone.
std::optional<std::array<std::uint8_t, 32>> vrf_key_of(const MemberKey& key, const state::StateView& view) {
    const state::Entry* record = view.get(ledger::records::member(key));
    if (record == nullptr) return std::nullopt;
    const auto member = ledger::decode_member(record->bytes());
    if (!member) return std::nullopt;
    return member->vrf;
}

Result<void, Reject> carry_seed(const Turn& turn, ByteView data, const Signatures& signatures, EngineEffect& effect) {
    const auto key = vrf_key_of(turn.proposer, turn.parent.view());
    if (!key || !begins_epoch(turn)) {
        if (!data.empty())
            return ledger::reject(RejectCode::BadSeal, "only the first block of an epoch carries a VRF proof");
        return {};
    }
    if (data.size() != crypto::VrfProof::kSize)
        return ledger::reject(RejectCode::BadSeal, "the first block of an epoch carries a VRF proof and nothing else");
    const auto seed = records::seed_of(turn.parent.view());
    const auto output =
        signatures.vrf_output(*key, seed.view(), crypto::VrfProof{data.first<crypto::VrfProof::kSize>()});
    if (!output) return ledger::reject(RejectCode::BadSeal, "the VRF proof is not the proposer's over the seed");
    effect.records.emplace_back(records::seed(), to_bytes(next_seed(seed, *output).view()));
    return {};
}

/// Who was passed over is absent; who was heard is not.
void keep_standing(const Turn& turn, const Order& order, std::size_t rank, std::span<const Vote> attested,
                   EngineEffect& effect) {
    const state::StateView& view = turn.parent.view();
    const ledger::Parameters& parameters = turn.parent.parameters();
    const Epoch epoch = epoch_of(turn.time, parameters.epoch);
    const milliseconds own = delay_of(rank, order.ranked.size(), parameters.rank_delay);
    for (std::size_t before = 0; before < rank; ++before) {
        if (own - delay_of(before, order.ranked.size(), parameters.rank_delay) < parameters.rank_delay) break;
        const auto path = records::absent(order.ranked[before]);
        if (view.get(path) == nullptr)
            effect.records.emplace_back(path, ledger::records::encode_number(epoch.number()));
    }
    const auto heard = [&](const MemberKey& key, Epoch when) {
        const auto path = records::absent(key);
        const state::Entry* record = view.get(path);
        if (record != nullptr && record->bytes().size() == 8 &&
            when.number() > ledger::records::decode_number(record->bytes()))
            effect.records.emplace_back(path, Bytes{});
    };
    heard(turn.proposer, Epoch{UINT64_MAX});
    for (const Vote& vote : attested) heard(vote.voter, vote.ballot.target.epoch);
}

}  // namespace

std::optional<milliseconds> Authority::earliest(const Turn& turn) const {
    const auto order = order_of(turn);
    const auto rank = order->rank_of(turn.proposer);
    if (!rank) return std::nullopt;
    return wait_of(*order, *rank, turn.parent.parameters());
}

Bytes Authority::seal_data(const Turn& turn, const Signer& signer) const {
    if (!begins_epoch(turn) || !vrf_key_of(turn.proposer, turn.parent.view())) return {};
    return to_bytes(signer.prove(records::seed_of(turn.parent.view()).view()).view());
}

Result<EngineEffect, Reject> Authority::judge(const Turn& turn, ByteView data, std::span<const Vote> attested,
                                              const Signatures& signatures) const {
    const Order order = draw_order_of(turn);
    const auto rank = order.rank_of(turn.proposer);
    if (!rank) return ledger::reject(RejectCode::NotYourTurn, "the proposer is no member, or is under evidence");
    const milliseconds wait = wait_of(order, *rank, turn.parent.parameters());
    if (turn.time < turn.parent_header.time + wait)
        return ledger::reject(RejectCode::NotYourTurn,
                              fmt::format("rank {} may seal {} ms after the parent, not before", *rank, wait.count()));
    EngineEffect effect;
    TRY(carry_seed(turn, data, signatures, effect));
    keep_standing(turn, order, *rank, attested, effect);
    return effect;
}

Result<void, Reject> Authority::judge_header(const Turn&, const ledger::Header& header) const {
    if (header.bits != 0 || header.nonce != 0)
        return ledger::reject(RejectCode::BadSeal, "bits and nonce belong to chains that work");
    return {};
}

std::vector<std::pair<state::Path, Bytes>> Authority::genesis_records(const MemberKey& proposer,
                                                                      const ledger::Parameters&, Time) const {
    // Anything that differs between chains will do: the first proof is made over it.
    return {{records::seed(), to_bytes(crypto::sha256(proposer).view())}};
}

}  // namespace rhizome::consensus
