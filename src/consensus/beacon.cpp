// SPDX-License-Identifier: Apache-2.0
#include "consensus/beacon.h"

#include <algorithm>

#include "base/random.h"
#include "base/safety_rule.h"
#include "consensus/evidence.h"

namespace rhizome::consensus {
namespace {

enum class Standing : std::uint8_t { Good, Absent, Newcomer };

struct Candidate {
    MemberKey key{};
    Standing standing = Standing::Good;
};

std::uint64_t number_in(const state::Entry* entry) {
    return entry == nullptr || entry->bytes().size() != 8 ? 0 : ledger::records::decode_number(entry->bytes());
}

/// Walks the entries of one prefix beside the members, which come in the same order: one pass instead of a search for
/// every member.
class Beside {
public:
    Beside(const state::StateView& view, const state::Prefix& prefix) : cursor_(view.walk(prefix)) { step(); }
    const state::Entry* at(const MemberKey& key) {
        while (entry_ != nullptr && key_ < key) step();
        return entry_ != nullptr && key_ == key ? entry_ : nullptr;
    }

private:
    void step() {
        entry_ = cursor_.next();
        if (entry_ != nullptr) key_ = records::key_in(*entry_);
    }
    state::Cursor cursor_;
    const state::Entry* entry_ = nullptr;
    MemberKey key_{};
};

bool is_newcomer(const state::Entry& member, const state::StateView& view, ledger::Height settled) {
    const auto read = ledger::decode_member(member.bytes());
    if (!read) return true;
    const auto path = state::Path::node(read->node);
    const state::Entry* node = path ? view.get(*path) : nullptr;
    return node == nullptr || !node->is_written() || node->origin().born.height > settled;
}

std::vector<Candidate> candidates(const state::StateView& view, const ledger::Parameters& parameters,
                                  const Electorate& electorate) {
    std::vector<Candidate> all;
    const auto clock = number_in(view.get(ledger::records::clock()));
    const auto lease = static_cast<std::uint64_t>(parameters.lease().count());
    const ledger::Height settled = records::shown_final_of(view).height_before;
    Beside leases{view, ledger::records::all_leases()};
    Beside absent{view, records::all_absent()};
    Beside accused{view, all_evidence()};
    state::Cursor members = view.walk(ledger::records::all_members());
    while (const state::Entry* member = members.next()) {
        Candidate one{.key = records::key_in(*member)};
        if (accused.at(one.key) != nullptr) continue;
        const state::Entry* heard = leases.at(one.key);
        if (!electorate.is_voter(one.key) && is_newcomer(*member, view, settled)) {
            one.standing = Standing::Newcomer;
        } else if (!holds(SafetyRule::Standing)) {
            one.standing = Standing::Good;
        } else if (absent.at(one.key) != nullptr || (heard != nullptr && clock > number_in(heard) + lease)) {
            one.standing = Standing::Absent;
        }
        all.push_back(one);
    }
    // The first voter seals before its own Node is written.
    for (const MemberKey& voter : electorate.voters)
        if (view.get(ledger::records::member(voter)) == nullptr && !is_accused(voter, view))
            all.push_back({.key = voter});
    std::sort(all.begin(), all.end(), [](const Candidate& l, const Candidate& r) { return l.key < r.key; });
    return all;
}

}  // namespace

crypto::Hash256 next_seed(const crypto::Hash256& seed, const crypto::VrfOutput& output) {
    return crypto::sha256(seed.view(), output.view());
}

std::optional<std::size_t> Order::rank_of(const MemberKey& key) const {
    const auto at = std::find(ranked.begin(), ranked.end(), key);
    if (at == ranked.end()) return std::nullopt;
    return static_cast<std::size_t>(at - ranked.begin());
}

Order draw_order(const state::StateView& parent, const ledger::Parameters& parameters, const Electorate& electorate,
                 ledger::Height height) {
    auto all = candidates(parent, parameters, electorate);
    const Bytes number = ledger::records::encode_number(height.number());
    const auto drawn = crypto::sha256(records::seed_of(parent).view(), number);
    std::uint64_t start = 0;
    std::memcpy(&start, drawn.view().data(), sizeof start);
    Random random{start};
    random.shuffle(all);
    std::stable_sort(all.begin(), all.end(),
                     [](const Candidate& left, const Candidate& right) { return left.standing < right.standing; });
    Order order;
    order.ranked.reserve(all.size());
    for (const Candidate& one : all) {
        order.ranked.push_back(one.key);
        order.newcomers += one.standing == Standing::Newcomer ? 1 : 0;
    }
    return order;
}

milliseconds delay_of(std::size_t rank, std::size_t members, milliseconds rank_delay) {
    constexpr std::size_t kSteep = 8;
    if (rank <= kSteep) return rank_delay * static_cast<std::int64_t>(rank);
    const milliseconds step = std::min(milliseconds{20}, milliseconds{2'000} / static_cast<std::int64_t>(members));
    return rank_delay * static_cast<std::int64_t>(kSteep) + step * static_cast<std::int64_t>(rank - kSteep);
}

}  // namespace rhizome::consensus
