// SPDX-License-Identifier: Apache-2.0
#include "consensus/electorate.h"

#include <algorithm>

#include "base/safety_rule.h"
#include "consensus/evidence.h"

namespace rhizome::consensus {
namespace {

std::vector<MemberKey> keys_at(const state::StateView& view, const state::Path& path) {
    const state::Entry* record = view.get(path);
    if (record == nullptr) return {};
    auto keys = ledger::records::decode_voters(record->bytes());
    return keys ? *std::move(keys) : std::vector<MemberKey>{};
}

std::vector<MemberKey> keys_of_nodes(const std::vector<std::string>& nodes, const state::StateView& view) {
    std::vector<MemberKey> keys;
    for (const std::string& node : nodes) {
        const state::Entry* record = view.get(ledger::records::node(node));
        if (record == nullptr || record->bytes().size() != std::tuple_size_v<MemberKey>) continue;
        MemberKey key{};
        std::copy(record->bytes().begin(), record->bytes().end(), key.begin());
        keys.push_back(key);
    }
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    return keys;
}

std::size_t count_common(std::span<const MemberKey> left, std::span<const MemberKey> right) {
    std::size_t common = 0;
    for (auto l = left.begin(), r = right.begin(); l != left.end() && r != right.end();) {
        if (*l < *r) {
            ++l;
        } else if (*r < *l) {
            ++r;
        } else {
            ++common, ++l, ++r;
        }
    }
    return common;
}

}  // namespace

std::size_t quorum_of(std::size_t voters, ledger::Trust trust) {
    return trust == ledger::Trust::Crash ? voters / 2 + 1 : voters * 2 / 3 + 1;
}

Electorate Electorate::of(const state::StateView& view, const ledger::Parameters& parameters) {
    Electorate now{.voters = keys_at(view, ledger::records::voters()), .next = keys_at(view, records::next())};
    if (const state::Entry* record = view.get(records::electorate())) {
        Reader in{record->bytes()};
        const auto generation = in.u64();
        const auto voters_since = in.u64();
        const auto next_since = in.u64();
        if (generation && voters_since && next_since) {
            now.generation = *generation;
            now.voters_since = ledger::Height{*voters_since};
            now.next_since = ledger::Height{*next_since};
        }
    }
    if (parameters.recovery.generation > now.generation) {
        now.generation = parameters.recovery.generation;
        if (auto named = keys_of_nodes(parameters.recovery.voters, view); !named.empty()) now.voters = std::move(named);
        const state::Entry* cluster = view.get(state::Path::cluster());
        now.voters_since = cluster == nullptr ? ledger::Height{} : cluster->origin().latest.height;
        now.next.clear();
        now.next_since = {};
    }
    return now;
}

bool Electorate::is_voter(const MemberKey& key) const {
    return std::binary_search(voters.begin(), voters.end(), key) || std::binary_search(next.begin(), next.end(), key);
}

bool Electorate::has_quorum(std::span<const MemberKey> keys, ledger::Trust trust) const {
    if (voters.empty() || count_common(voters, keys) < quorum_of(voters.size(), trust)) return false;
    return next.empty() || !holds(SafetyRule::JointVoters) || count_common(next, keys) >= quorum_of(next.size(), trust);
}

bool Electorate::is_only_voter(const MemberKey& key) const {
    return next.empty() && voters.size() == 1 && voters.front() == key;
}

std::vector<std::pair<state::Path, Bytes>> Electorate::to_records() const {
    Writer out;
    out.u64(generation).u64(voters_since.number()).u64(next_since.number());
    return {{ledger::records::voters(), ledger::records::encode_voters(voters)},
            {records::next(), next.empty() ? Bytes{} : ledger::records::encode_voters(next)},
            {records::electorate(), std::move(out).take()}};
}

std::vector<MemberKey> wanted_voters(const Electorate& now, const state::StateView& view) {
    std::vector<MemberKey> wanted;
    for (const MemberKey& voter : now.voters)
        if (view.get(ledger::records::member(voter)) != nullptr) wanted.push_back(voter);
    state::Cursor heard = view.walk(records::all_slots());
    while (const state::Entry* entry = heard.next()) {
        const MemberKey key = records::key_in(*entry);
        if (view.get(ledger::records::member(key)) != nullptr) wanted.push_back(key);
    }
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    std::erase_if(wanted, [&](const MemberKey& key) { return is_accused(key, view); });
    return wanted.empty() ? now.voters : wanted;
}

}  // namespace rhizome::consensus
