// SPDX-License-Identifier: Apache-2.0
#include "sim/founding.h"

#include <atomic>
#include <tuple>

#include <fmt/core.h>

#include "base/ensure.h"
#include "base/safety_rule.h"
#include "consensus/miner.h"
#include "ledger/block_factory.h"
#include "ledger/special_kinds.h"

namespace rhizome::sim {
namespace {

using ledger::LedgerState;
using ledger::SharedTx;
using ledger::Tx;

constexpr std::string_view kWord = "rhizome simulation";

state::Path path_of(std::string_view text) {
    auto path = state::Path::parse(text);
    ensure(path.has_value(), "a path of the simulation");
    return *std::move(path);
}

state::Path map_path(const std::string& name) { return path_of("/namespaces/work/core/ConfigMap/" + name); }

/// An input that lends the authority of the resource at `path`.
ledger::Input authority(const LedgerState& state, const state::Path& path) {
    const state::Entry* entry = state.view().get(path);
    ensure(entry != nullptr, "what the simulation's people own exists");
    const state::Origin& origin = entry->origin();
    return {.previous = holds(SafetyRule::LockPoints) ? origin.lock.output : origin.latest.output,
            .unlocking = owner_unlock()};
}

SharedTx checked(Tx tx) {
    auto made = ledger::check_tx(std::move(tx));
    ensure(made.has_value(), "the simulation's own transactions are well formed");
    return *std::move(made);
}

std::uint32_t expiry_after(Time now) { return static_cast<std::uint32_t>(now.unix_seconds() + 86'400); }

std::string map_document(const std::string& name, const std::string& text) {
    return fmt::format(
        R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"namespace":"work","name":"{}"}},"data":{{"text":"{}"}}}})",
        name, text);
}

/// What was made once, for as long as the process lives. Histories run on many threads at once, so it is a list that
/// only grows: what is in it never changes, and two who make the same thing at the same moment only waste some time.
template <class Key, class Value>
class Made {
public:
    template <class Make>
    const Value& get(const Key& key, const Make& make) {
        for (const One* one = newest_.load(std::memory_order_acquire); one != nullptr; one = one->before)
            if (one->key == key) return one->value;
        One* const fresh = new One{key, make(), nullptr};  // stays
        fresh->before = newest_.load(std::memory_order_acquire);
        while (!newest_.compare_exchange_weak(fresh->before, fresh, std::memory_order_acq_rel)) {
        }
        return fresh->value;
    }

private:
    struct One {
        Key key;
        Value value;
        const One* before;
    };
    std::atomic<const One*> newest_{nullptr};
};

std::string node_document(std::size_t machine, const ledger::ChainId& chain) {
    json::Object node{
        {"apiVersion", "v1"},
        {"kind", "Node"},
        {"metadata",
         json::Object{{"name", name_of(machine)},
                      {"annotations", ledger::member_annotations(keys_of(machine), name_of(machine), chain)}}}};
    return json::print(json::Value{std::move(node)});
}

Founding make_founding(std::size_t machines, const std::string& spec, Time time) {
    static const FastSignatures signatures;
    const auto keys = keys_of(0);
    const FastSigner signer{keys.chain.public_key().bytes(), {}};
    const std::string cluster = fmt::format(
        R"({{"apiVersion":"rhizome.dev/v1","kind":"Cluster","metadata":{{"name":"sim"}},"spec":{}}})", spec);
    auto genesis = consensus::seal_genesis(cluster, owner_lock(), time, signer);
    ensure(genesis.has_value(), "a genesis block can be made");
    Founding founding{.genesis = *std::move(genesis)};
    const auto genesis_hash = hash_of(founding.genesis.block.header);
    founding.chain = ledger::ChainId{genesis_hash.view()};

    const LedgerState state{founding.genesis.commit.view};
    std::vector<SharedTx> txs;
    for (std::size_t i = 0; i < machines; ++i) txs.push_back(register_machine(state, i, founding.chain, time));
    txs.push_back(checked({.inputs = {authority(state, state::Path::cluster())},
                           .outputs = {{.value = R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"work"}})",
                                        .locking = owner_lock()}},
                           .expiry = expiry_after(time)}));
    const consensus::Judge judge{signatures};
    const ledger::Rules rules;
    ledger::SignatureCache cache;
    Inline parallel;
    const Time next_time = time + milliseconds{1'000};
    const auto sealing = judge.prepare(state, founding.genesis.block.header, next_time, {}, signer);
    ensure(sealing.has_value(), "the founder may seal");
    const ledger::NextBlock next{
        .parent = genesis_hash, .height = ledger::Height{1}, .time = next_time, .parent_time = time};
    auto draft = build_block(state, next, txs, sealing->part, sealing->seal.proof.size(), rules, cache, parallel);
    ensure(draft.txs.size() == txs.size(), "all members are registered");
    founding.applied = draft.applied;
    ledger::Block block = consensus::assemble(std::move(draft), *sealing);
    if (block.header.bits != 0) block.header.nonce = consensus::find_nonce(block.header);
    consensus::sign(block, signer);
    founding.members = std::make_shared<const ledger::Block>(std::move(block));
    return founding;
}

}  // namespace

std::string name_of(std::size_t machine) { return fmt::format("n{}", machine); }

crypto::NodeKeys keys_of(std::size_t machine) {
    const auto hash =
        crypto::sha256(as_bytes(std::string_view{"simulated machine"}), ledger::records::encode_number(machine));
    return crypto::derive(crypto::NodeSeed{hash.view()});
}

Bytes owner_lock() {
    const auto hash = crypto::sha256(as_bytes(kWord));
    Writer lock;
    lock.u8(0xa8).u8(0x20).id(hash).u8(0x87);  // SHA256 <hash> EQUAL
    return std::move(lock).take();
}

Bytes owner_unlock() {
    Writer unlock;
    unlock.u8(static_cast<std::uint8_t>(kWord.size())).raw(as_bytes(kWord));
    return std::move(unlock).take();
}

const Founding& found(std::size_t machines, const std::string& spec, Time time) {
    static Made<std::tuple<std::size_t, std::string, Time>, Founding> made;
    return made.get({machines, spec, time}, [&] { return make_founding(machines, spec, time); });
}

FirstStates first_states(const Founding& founding) {
    FirstStates first{.genesis = {.commit = founding.genesis.commit}, .members = founding.applied};
    state::Batch batch{{}};
    auto entries = founding.genesis.commit.view.walk(state::Prefix::everything());
    while (const state::Entry* entry = entries.next()) batch.put(state::EntryPtr{entry});
    first.genesis.commit.view = std::move(batch).finish().view;
    auto members = state::apply(first.genesis.commit.view, founding.applied.commit.delta);
    ensure(members.has_value(), "the second block follows the first");
    first.members.commit.view = *std::move(members);
    return first;
}

SharedTx create_map(const LedgerState& state, const std::string& name, const std::string& text, Time now) {
    return checked({.inputs = {authority(state, path_of("/namespaces/work"))},
                    .outputs = {{.value = map_document(name, text)}},
                    .expiry = expiry_after(now)});
}

SharedTx update_map(const LedgerState& state, const std::string& name, const std::string& text) {
    const state::Entry* entry = state.view().get(map_path(name));
    if (entry == nullptr) return nullptr;
    return checked(
        {.inputs = {{.previous = entry->origin().latest.output}, authority(state, path_of("/namespaces/work"))},
         .outputs = {{.value = map_document(name, text)}}});
}

SharedTx delete_map(const LedgerState& state, const std::string& name) {
    const state::Entry* entry = state.view().get(map_path(name));
    if (entry == nullptr) return nullptr;
    return checked(
        {.inputs = {{.previous = entry->origin().latest.output}, authority(state, path_of("/namespaces/work"))},
         .outputs = {{}}});
}

SharedTx relabel_namespace(const LedgerState& state, const std::string& label) {
    const state::Entry* entry = state.view().get(path_of("/namespaces/work"));
    ensure(entry != nullptr, "there is a namespace");
    json::Value document = ledger::parse_checked(entry->document());
    document["metadata"]["labels"] = json::Object{{"label", label}};
    return checked({.inputs = {{.previous = entry->origin().latest.output, .unlocking = owner_unlock()}},
                    .outputs = {{.value = json::print(document), .locking = owner_lock()}}});
}

SharedTx register_machine(const LedgerState& state, std::size_t machine, const ledger::ChainId& chain, Time now) {
    static Made<std::pair<std::size_t, ledger::ChainId>, std::string> documents;
    const std::string& document = documents.get({machine, chain}, [&] { return node_document(machine, chain); });
    return checked({.inputs = {authority(state, state::Path::cluster())},
                    .outputs = {{.value = document, .locking = owner_lock()}},
                    .expiry = expiry_after(now)});
}

SharedTx remove_machine(const LedgerState& state, std::size_t machine) {
    const state::Entry* entry = state.view().get(path_of("/nodes/" + name_of(machine)));
    if (entry == nullptr) return nullptr;
    return checked(
        {.inputs = {{.previous = entry->origin().latest.output, .unlocking = owner_unlock()}}, .outputs = {{}}});
}

SharedTx recover(const LedgerState& state, std::uint64_t generation, const std::vector<std::size_t>& machines,
                 const std::map<consensus::MemberKey, ledger::VoteRecordId>& records) {
    const state::Entry* cluster = state.view().get(state::Path::cluster());
    ensure(cluster != nullptr, "there is a Cluster");
    json::Value document = ledger::parse_checked(cluster->document());
    json::Array voters;
    for (const std::size_t machine : machines) voters.emplace_back(name_of(machine));
    json::Object named;
    for (const auto& [key, id] : records) named[to_hex(key).substr(0, 16)] = to_hex(id);
    json::Object recovery{{"generation", generation}, {"voters", std::move(voters)}};
    if (!named.empty()) recovery["records"] = std::move(named);
    document["spec"]["recovery"] = std::move(recovery);
    document["spec"]["rulesVersion"] = consensus::kRulesForgetting;
    return checked({.inputs = {{.previous = cluster->origin().latest.output, .unlocking = owner_unlock()}},
                    .outputs = {{.value = json::print(document), .locking = owner_lock()}}});
}

}  // namespace rhizome::sim
