// SPDX-License-Identifier: Apache-2.0
#include "node/secrets/cluster_keys.h"

#include <algorithm>

#include <fmt/core.h>

#include "ledger/chain_records.h"
#include "ledger/sealed_secret.h"
#include "ledger/special_kinds.h"

namespace rhizome::node {
namespace {

using crypto::X25519Public;

/// How a former member is called of whom only the chain key is left.
constexpr std::string_view kWriter = "writer ";

std::optional<ledger::Member> member_in(const state::Entry& record) {
    auto member = ledger::decode_member(record.bytes());
    if (!member) return std::nullopt;
    return *std::move(member);
}

void add_ring(ClusterKeys& all, const ledger::KeyRing& ring, const state::StateView& state) {
    ClusterKey& key = all.keys[ring.key];
    key.generation = std::max(key.generation, ring.generation);
    ClusterKey::Envelope envelope{.sealed = ring.sealed};
    for (const ledger::KeyRing::Holder& one : ring.holders) {
        key.holders.emplace(one.key, one.node);
        envelope.holders.push_back(one.key);
    }
    key.envelopes.push_back(std::move(envelope));
    // Whoever wrote it knows it. One who left stands in no record any more: under a key of no member, so that it counts
    // as held by a stranger even when he did not name himself.
    if (const state::Entry* record = state.get(ledger::records::member(ring.by))) {
        if (const auto member = member_in(*record)) key.holders.emplace(X25519Public{member->wireguard}, member->node);
    } else {
        const auto unknown = crypto::sha256(ring.by);
        key.holders.emplace(X25519Public{unknown.array()}, std::string{kWriter} + to_hex(ring.by).substr(0, 16));
    }
}

}  // namespace

std::map<X25519Public, std::string> ClusterKeys::strangers(const ClusterKey& key) const {
    std::map<X25519Public, std::string> left;
    for (const auto& [holder, node] : key.holders)
        if (!members.contains(holder)) left.emplace(holder, node);
    return left;
}

std::optional<X25519Public> ClusterKeys::for_writing() const {
    std::optional<X25519Public> best;
    std::uint64_t generation = 0;
    for (const auto& [id, key] : keys) {
        if (best && key.generation <= generation) continue;
        if (!strangers(key).empty()) continue;
        best = id;
        generation = key.generation;
    }
    return best;
}

std::uint64_t ClusterKeys::newest_generation() const {
    std::uint64_t newest = 0;
    for (const auto& [id, key] : keys) newest = std::max(newest, key.generation);
    return newest;
}

ClusterKeys cluster_keys_of(const state::StateView& state) {
    ClusterKeys all;
    state::Cursor members = state.walk(ledger::records::all_members());
    while (const state::Entry* record = members.next())
        if (const auto member = member_in(*record)) all.members.emplace(X25519Public{member->wireguard}, member->node);
    state::Cursor rings = state.walk(ledger::all_key_rings());
    while (const state::Entry* entry = rings.next())
        if (const auto ring = ledger::read_key_ring(ledger::parse_checked(entry->document())))
            add_ring(all, *ring, state);
    return all;
}

std::shared_ptr<const ClusterKeys> ClusterKeysCache::of(const state::StateView& state) {
    std::vector<state::EntryPtr> now;
    for (const auto& prefix : {ledger::records::all_members(), ledger::all_key_rings()}) {
        state::Cursor cursor = state.walk(prefix);
        while (const state::Entry* entry = cursor.next()) now.emplace_back(entry);
    }
    const std::lock_guard hold{mutex_};
    if (read_ && now == seen_) return read_;
    read_ = std::make_shared<const ClusterKeys>(cluster_keys_of(state));
    seen_ = std::move(now);
    return read_;
}

std::vector<SealedAt> sealed_secrets_of(const state::StateView& state) {
    std::vector<SealedAt> all;
    std::vector<std::string> spaces;
    std::optional<state::Path> after;
    for (bool more = true; more;) {
        const auto page = state.list_children(state::Prefix::namespaces(), after, 1'000);
        for (const state::Entry* entry : page.entries) spaces.emplace_back(entry->path().name());
        after = page.next;
        more = after.has_value();
    }
    for (const std::string& space : spaces) {
        const auto prefix = state::Prefix::kind_in_namespace(space, "", "Secret");
        if (!prefix) continue;
        state::Cursor cursor = state.walk(*prefix);
        while (const state::Entry* entry = cursor.next())
            if (const auto key = ledger::key_of_secret(ledger::parse_checked(entry->document())); key && *key)
                all.push_back({.path = entry->path(), .key = **key});
    }
    return all;
}

std::vector<Exposure> exposures_of(const state::StateView& state, const ClusterKeys& keys) {
    std::map<X25519Public, std::map<X25519Public, std::string>> exposed;  // key → strangers that hold it
    for (const auto& [id, key] : keys.keys)
        if (auto strangers = keys.strangers(key); !strangers.empty()) exposed.emplace(id, std::move(strangers));
    if (exposed.empty()) return {};
    std::map<std::string, std::vector<std::string>> by_node;
    for (const SealedAt& one : sealed_secrets_of(state)) {
        const auto at = exposed.find(one.key);
        if (at == exposed.end()) continue;
        std::string secret = fmt::format("{}/{}", one.path.namespace_name(), one.path.name());
        for (const auto& [holder, node] : at->second)
            if (at->second.size() == 1 || !node.starts_with(kWriter)) by_node[node].push_back(secret);
    }
    std::vector<Exposure> all;
    for (auto& [node, secrets] : by_node) all.push_back({.node = node, .secrets = std::move(secrets)});
    return all;
}

}  // namespace rhizome::node
