// SPDX-License-Identifier: Apache-2.0
#include "support/bench_load.h"

#include <fmt/core.h>
#include <secp256k1.h>

#include "base/ensure.h"
#include "script/script.h"
#include "support/bench.h"

namespace rhizome::bench {

using namespace ledger;

namespace {

std::string pod(std::size_t number, std::size_t version) {
    std::string document = fmt::format(
        R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"namespace":"web","name":"pod-{}","labels":{{"app":"web"}}}},"spec":{{"containers":[{{"name":"c","image":"registry.example.com/web:1.{}"}}],"note":")",
        number, version);
    document += std::string(820 - document.size(), 'x') + "\"}}";
    return document;
}

}  // namespace

Load::Load() : key_(*crypto::SecretKey::from_bytes(crypto::sha256(as_bytes("bench")).view())) {
    script::ScriptBuilder lock;
    lock.op(script::OP_DUP).op(script::OP_HASH160).data(key_.public_key().address().view());
    lock.op(script::OP_EQUALVERIFY).op(script::OP_CHECKSIG);
    lock_ = std::move(lock).take();
    genesis_ = *make_genesis(R"({"apiVersion":"rhizome.dev/v1","kind":"Cluster","metadata":{"name":"b"}})", lock_,
                             Time::from_unix_seconds(1'800'000'000), {}, {});
    chain_ = ChainId{hash_of(genesis_.block.header).view()};
    for (int i = 0; i < 256; ++i) {
        digests_.push_back(crypto::sha256(as_bytes(fmt::format("{}", i))));
        signatures_.push_back(crypto::sign(key_, digests_.back()).to_der());
    }
}

void Load::unlock(Tx& tx, const SpentValue& spent) const {
    const auto bare = *check_tx(tx);
    Bytes signature = crypto::sign(key_, signature_digest(*bare, chain_, 0, lock_, spent)).to_der();
    signature.push_back(kHashTypeAll);
    script::ScriptBuilder unlocking;
    unlocking.data(signature).data(key_.public_key().bytes());
    tx.inputs[0].unlocking = std::move(unlocking).take();
}

SharedTx Load::namespace_tx(const LedgerState& state) const {
    Tx tx{
        .inputs = {{.previous = state.view().get(state::Path::cluster())->origin().lock.output}},
        .outputs = {{.value = R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"web"}})", .locking = lock_}},
        .expiry = static_cast<std::uint32_t>(genesis_.block.header.time.unix_seconds() + 3600)};
    unlock(tx, SpentValue::of_authority());
    return *check_tx(std::move(tx));
}

state::Path Load::pod_path(std::size_t number) {
    return *state::Path::parse(fmt::format("/namespaces/web/core/Pod/pod-{}", number));
}

Tx Load::create_pod(const LedgerState& state, std::size_t number, Time now) const {
    static const auto web = *state::Path::parse("/namespaces/web");
    Tx tx{.inputs = {{.previous = state.view().get(web)->origin().lock.output}},
          .outputs = {{.value = pod(number, 0), .locking = lock_}},
          .expiry = static_cast<std::uint32_t>(now.unix_seconds() + 3600)};
    unlock(tx, SpentValue::of_authority());
    return tx;
}

Tx Load::update_pod(const LedgerState& state, std::size_t number, std::size_t version) const {
    const state::Entry* entry = state.view().get(pod_path(number));
    ensure(entry != nullptr, "a pod that exists");
    Tx tx{.inputs = {{.previous = entry->origin().latest.output}},
          .outputs = {{.value = pod(number, version), .locking = lock_}}};
    unlock(tx, SpentValue::of_document(entry->document_hash()));
    return tx;
}

Block Load::seal(BlockDraft& draft) {
    draft.header.seal_root = seal_root_of({});
    return draft.to_block({});
}

void Load::raw_verifies(std::size_t count, Parallel& parallel) const {
    const auto key_bytes = key_.public_key().bytes();
    parallel.for_ranges(count, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            secp256k1_pubkey key;
            secp256k1_ecdsa_signature signature;
            const Bytes& der = signatures_[i % signatures_.size()];
            int good = secp256k1_ec_pubkey_parse(secp256k1_context_static, &key, key_bytes.data(), key_bytes.size());
            good &= secp256k1_ecdsa_signature_parse_der(secp256k1_context_static, &signature, der.data(), der.size());
            good &= secp256k1_ecdsa_verify(secp256k1_context_static, &signature,
                                           digests_[i % digests_.size()].view().data(), &key);
            keep(good);
        }
    });
}

}  // namespace rhizome::bench
