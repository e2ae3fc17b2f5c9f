// SPDX-License-Identifier: Apache-2.0
#include "support/test_chain.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/ensure.h"
#include "crypto/derive.h"
#include "ledger/codec.h"
#include "ledger/limits.h"
#include "script/script.h"

namespace rhizome::test {

using namespace ledger;

crypto::SecretKey key_of(std::string_view person) {
    auto key = crypto::SecretKey::from_bytes(crypto::sha256(as_bytes(fmt::format("person {}", person))).view());
    ensure(key.has_value(), "a hash is a secret key");
    return *std::move(key);
}

crypto::NodeKeys node_keys_of(std::string_view node) {
    return crypto::derive(crypto::NodeSeed{crypto::sha256(as_bytes(fmt::format("node {}", node))).view()});
}

namespace {

Bytes lock_of_key(const crypto::PublicKey& key) {
    script::ScriptBuilder lock;
    lock.op(script::OP_DUP).op(script::OP_HASH160).data(key.address().view());
    lock.op(script::OP_EQUALVERIFY).op(script::OP_CHECKSIG);
    return std::move(lock).take();
}

}  // namespace

Bytes lock_of(std::string_view person) { return lock_of_key(key_of(person).public_key()); }

Bytes lock_of_any(unsigned m, const std::vector<std::string>& people) {
    script::ScriptBuilder lock;
    lock.number(m);
    for (const auto& person : people) lock.data(key_of(person).public_key().bytes());
    lock.number(static_cast<std::int64_t>(people.size())).op(script::OP_CHECKMULTISIG);
    return std::move(lock).take();
}

std::string document(std::string_view api_version, std::string_view kind, std::string_view namespace_name,
                     std::string_view name, std::string_view note) {
    json::Object metadata;
    if (!namespace_name.empty()) metadata.set("namespace", namespace_name);
    metadata.set("name", name);
    json::Object object{{"apiVersion", api_version}, {"kind", kind}, {"metadata", std::move(metadata)}};
    if (!note.empty()) object.set("spec", json::Object{{"note", note}});
    return json::print(std::move(object));
}

TestChain::TestChain(std::string_view spec, std::string_view creator) {
    const std::string cluster = fmt::format(
        R"({{"apiVersion":"rhizome.dev/v1","kind":"Cluster","metadata":{{"name":"demo"}},"spec":{}}})", spec);
    auto genesis = make_genesis(cluster, lock_of(creator), Time::from_unix_seconds(1'800'000'000), {}, {});
    EXPECT_TRUE(genesis) << to_text(genesis.error());
    blocks_.push_back(genesis->block);
    commits_.push_back(genesis->commit);
    state_ = std::make_unique<LedgerState>(genesis->commit.view);
}

TestChain TestChain::fork(std::size_t blocks) const {
    ensure(blocks >= 1 && blocks <= blocks_.size(), "a fork begins with blocks of its chain");
    TestChain other{Empty{}};
    other.consensus = consensus;
    other.blocks_.assign(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(blocks));
    other.commits_.assign(commits_.begin(), commits_.begin() + static_cast<std::ptrdiff_t>(blocks));
    other.state_ = std::make_unique<LedgerState>(other.commits_.back().view);
    return other;
}

const state::Entry* TestChain::get(std::string_view path) const {
    const auto parsed = state::Path::parse(path);
    EXPECT_TRUE(parsed) << path;
    return state_->view().get(*parsed);
}

TestChain& TestChain::by(Draft& draft, std::string_view path, std::string_view signer) {
    const state::Entry* entry = get(path);
    EXPECT_NE(entry, nullptr) << path;
    draft.inputs.push_back(
        {entry->origin().lock.output, std::string{signer}, to_bytes(entry->script()), SpentValue::of_authority()});
    return *this;
}

TestChain& TestChain::version(Draft& draft, std::string_view path, std::string_view signer) {
    const state::Entry* entry = get(path);
    EXPECT_NE(entry, nullptr) << path;
    draft.inputs.push_back({entry->origin().latest.output, std::string{signer}, to_bytes(entry->script()),
                            SpentValue::of_document(entry->document_hash())});
    return *this;
}

Tx TestChain::sign_raw(const Draft& draft) const {
    Tx tx{.outputs = draft.outputs, .lock_time = draft.lock_time, .expiry = draft.expiry};
    for (std::size_t i = 0; i < draft.inputs.size(); ++i)
        tx.inputs.push_back({.previous = draft.inputs[i].previous,
                             .sequence = i < draft.sequences.size() ? draft.sequences[i] : kSequenceFinal});
    const auto unsigned_tx = check_tx(tx);
    if (!unsigned_tx) return tx;  // malformed on purpose: nothing to sign
    for (std::size_t i = 0; i < draft.inputs.size(); ++i) {
        const Draft::In& input = draft.inputs[i];
        if (input.signer.empty()) continue;
        // A report is locked to its member's chain key, whatever its Node's lock.
        const bool node = input.signer.starts_with("node:");
        const Bytes lock = node ? lock_of_key(node_keys_of(input.signer.substr(5)).public_keys().chain) : input.lock;
        const auto digest = signature_digest(**unsigned_tx, chain_id(), i, lock, input.spent);
        script::ScriptBuilder unlocking;
        // `a,b` signs a multisig, `node:n` a report with a node's chain key; a plain name a P2PKH lock.
        const auto signature_of = [&](std::string_view person) {
            Bytes signature = crypto::sign(key_of(person), digest).to_der();
            signature.push_back(kHashTypeAll);
            return signature;
        };
        if (node) {
            const auto keys = node_keys_of(input.signer.substr(5));
            Bytes signature = crypto::sign(keys.chain, digest).to_der();
            signature.push_back(kHashTypeAll);
            unlocking.data(signature).data(keys.chain.public_key().bytes());
        } else if (input.signer.find(',') != std::string::npos) {
            unlocking.number(0);
            std::string_view rest = input.signer;
            while (!rest.empty()) {
                const auto comma = std::min(rest.find(','), rest.size());
                unlocking.data(signature_of(rest.substr(0, comma)));
                rest.remove_prefix(std::min(comma + 1, rest.size()));
            }
        } else {
            unlocking.data(signature_of(input.signer)).data(key_of(input.signer).public_key().bytes());
        }
        tx.inputs[i].unlocking = std::move(unlocking).take();
    }
    return tx;
}

SharedTx TestChain::sign(const Draft& draft) const {
    Draft complete = draft;
    const auto consumes = [&](const Draft::In& in) { return in.spent.hash != SpentValue::of_authority().hash; };
    if (complete.expiry == 0 && std::none_of(complete.inputs.begin(), complete.inputs.end(), consumes))
        complete.expiry = static_cast<std::uint32_t>(now().unix_seconds() + 3600);
    auto tx = check_tx(sign_raw(complete));
    EXPECT_TRUE(tx) << to_text(tx.error());
    return tx ? *tx : nullptr;
}

SharedTx TestChain::create(std::string_view parent, std::string_view signer, std::string text, Bytes lock) const {
    Draft draft;
    const_cast<TestChain*>(this)->by(draft, parent, signer);
    draft.outputs.push_back({.value = std::move(text), .locking = std::move(lock)});
    return sign(draft);
}

SharedTx TestChain::update(std::string_view path, std::string_view signer, std::string text, Bytes lock) const {
    Draft draft;
    const_cast<TestChain*>(this)->version(draft, path, signer);
    draft.outputs.push_back({.value = std::move(text), .locking = std::move(lock)});
    return sign(draft);
}

NextBlock TestChain::next(milliseconds after) const {
    return {
        .parent = hash_of(tip()), .height = tip().height + 1, .time = tip().time + after, .parent_time = tip().time};
}

Result<Effects, Reject> TestChain::decide(const SharedTx& tx) {
    const WorkingState working{state_->view(), state_->index()};
    const NextBlock where = next();
    const Place place = place_of(*state_, where);
    return ledger::decide(tx, working, place, rules, cache, kBlockChecksMax);
}

std::string TestChain::verdict(const SharedTx& tx) {
    const auto effects = decide(tx);
    return effects ? "OK" : std::string{name(effects.error().code)};
}

BlockDraft TestChain::draft_block(const std::vector<SharedTx>& txs, milliseconds after) {
    BlockDraft draft = build_block(*state_, next(after), txs, consensus, 0, rules, cache, parallel);
    draft.header.seal_root = seal_root_of({});
    return draft;
}

std::size_t TestChain::mine(const std::vector<SharedTx>& txs, milliseconds after) {
    const BlockDraft draft = draft_block(txs, after);
    const auto block = decode_block(encode(draft.to_block({})));
    EXPECT_TRUE(block) << to_text(block.error());
    SignatureCache cold;
    const auto applied = ledger::apply(*state_, tip(), *block, consensus, rules, cold, parallel);
    EXPECT_TRUE(applied) << to_text(applied.error());
    if (!applied) return 0;
    state_->advance(applied->commit);
    blocks_.push_back(*block);
    commits_.push_back(applied->commit);
    return draft.txs.size();
}

void TestChain::mine_all(const std::vector<SharedTx>& txs, milliseconds after) {
    for (const auto& tx : txs) {
        const auto effects = decide(tx);
        if (!effects && txs.size() == 1) ADD_FAILURE() << to_text(effects.error());
    }
    EXPECT_EQ(mine(txs, after), txs.size());
}

Result<Applied, Reject> TestChain::apply(const Block& block) {
    SignatureCache cold;
    return ledger::apply(*state_, tip(), block, consensus, rules, cold, parallel);
}

}  // namespace rhizome::test
