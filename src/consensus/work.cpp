// SPDX-License-Identifier: Apache-2.0
#include "consensus/work.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/ensure.h"
#include "consensus/evidence.h"
#include "crypto/compact_target.h"

namespace rhizome::consensus {
namespace {

using ledger::Reject;
using ledger::RejectCode;

/// The period of the parent's state. Nothing when there is none that fits its block: the state came from elsewhere.
std::optional<records::WorkPeriod> period_of(const Turn& turn) {
    const auto period = records::work_period_of(turn.parent.view());
    if (!period || period->height > turn.parent_header.height || period->time > turn.parent_header.time)
        return std::nullopt;
    return period;
}

Fail<Reject> no_period() {
    return ledger::reject(RejectCode::BadSeal, "the parent's state does not say what work is asked for");
}

U256 easiest_target() {
    static const U256 target = crypto::decode_compact(kEasiestBits).target;
    return target;
}

}  // namespace

bool meets(const ledger::BlockHash& hash, const U256& target) { return U256::from_big_endian(hash.view()) <= target; }

std::uint32_t first_bits(const ledger::WorkRules& rules) {
    const U256 hashes =
        multiply_divide(U256{rules.hash_rate}, static_cast<std::uint64_t>(rules.block_time.count()), 1'000).value;
    if (hashes <= U256{1}) return kEasiestBits;
    // work_of(t) is ⌊2^256/(t + 1)⌋, so this is ⌊2^256/hashes⌋.
    const U256 target = crypto::work_of(subtract(hashes, U256{1}).value);
    return crypto::encode_compact(std::min(target, easiest_target()));
}

records::WorkPeriod period_after(const records::WorkPeriod& period, ledger::Height height, Time time,
                                 const ledger::WorkRules& rules) {
    const std::uint64_t intervals = height - period.height;
    if (intervals < rules.period) return period;
    // A period never had more blocks than the longest one allowed, whatever a state from elsewhere says.
    const auto counted = static_cast<std::int64_t>(std::min<std::uint64_t>(intervals, ledger::kWorkPeriodMax));
    const auto took = std::chrono::duration_cast<milliseconds>(time - period.time);
    const auto bits = crypto::retarget(period.bits, took, rules.block_time * counted, kEasiestBits);
    // Bits above the limit cannot come from us; from there the easiest is the nearest that is allowed.
    return {.bits = bits ? *bits : kEasiestBits, .height = height, .time = time};
}

std::optional<milliseconds> Work::earliest(const Turn& turn) const {
    const state::StateView& view = turn.parent.view();
    const bool known =
        view.get(ledger::records::member(turn.proposer)) != nullptr || turn.electorate.is_voter(turn.proposer);
    if (!known || is_accused(turn.proposer, view)) return std::nullopt;
    return turn.parent.parameters().min_interval;
}

std::uint32_t Work::bits(const Turn& turn) const {
    const auto period = period_of(turn);
    return period ? period->bits : 0;
}

Result<EngineEffect, Reject> Work::judge(const Turn& turn, ByteView data, std::span<const Vote>,
                                         const Signatures&) const {
    const auto wait = earliest(turn);
    if (!wait) return ledger::reject(RejectCode::NotYourTurn, "the proposer is no member, or is under evidence");
    if (turn.time < turn.parent_header.time + *wait)
        return ledger::reject(
            RejectCode::NotYourTurn,
            fmt::format("a block comes at least {} ms after its parent, whatever work it shows", wait->count()));
    if (!data.empty())
        return ledger::reject(RejectCode::BadSeal, "a seal of work has the proposer's key and nothing else");
    const auto period = period_of(turn);
    if (!period) return no_period();

    EngineEffect effect{.weight = crypto::work_of(crypto::decode_compact(period->bits).target)};
    const auto after = period_after(*period, turn.parent_header.height + 1, turn.time, turn.parent.parameters().work);
    if (after != *period) effect.records.emplace_back(records::work(), encode(after));
    return effect;
}

Result<void, Reject> Work::judge_header(const Turn& turn, const ledger::Header& header) const {
    const auto period = period_of(turn);
    if (!period) return no_period();
    if (header.bits != period->bits)
        return ledger::reject(RejectCode::BadSeal, fmt::format("the block's bits are {:08x}, the chain asks for {:08x}",
                                                               header.bits, period->bits));
    const auto hash = hash_of(header);
    if (!meets(hash, crypto::decode_compact(period->bits).target))
        return ledger::reject(RejectCode::BadSeal,
                              fmt::format("the hash {} does not meet the target of bits {:08x}", hash, header.bits));
    return {};
}

std::vector<std::pair<state::Path, Bytes>> Work::genesis_records(const MemberKey&, const ledger::Parameters& parameters,
                                                                 Time time) const {
    return {{records::work(), encode(records::WorkPeriod{.bits = first_bits(parameters.work), .time = time})}};
}

}  // namespace rhizome::consensus
