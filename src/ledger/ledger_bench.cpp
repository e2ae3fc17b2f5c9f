// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>

#include <fmt/core.h>
#include <secp256k1.h>

#include "ledger/apply.h"
#include "ledger/block_factory.h"
#include "runtime/thread_pool.h"
#include "script/script.h"
#include "support/bench.h"

namespace rhizome::ledger {
namespace {

/// A namespace with a P2PKH lock, and a block's worth of creations of 1 KiB under it, each signed.
struct Scene {
    crypto::SecretKey key = *crypto::SecretKey::from_bytes(crypto::sha256(as_bytes("bench")).view());
    Bytes lock = lock_of(key);
    Inline one;
    runtime::ThreadPool two{2};
    Rules rules;
    SignatureCache cache;
    std::unique_ptr<LedgerState> state;
    Header tip;
    std::vector<SharedTx> txs;
    Block block;

    static Bytes lock_of(const crypto::SecretKey& key) {
        script::ScriptBuilder lock;
        lock.op(script::OP_DUP).op(script::OP_HASH160).data(key.public_key().address().view());
        lock.op(script::OP_EQUALVERIFY).op(script::OP_CHECKSIG);
        return std::move(lock).take();
    }

    SharedTx signed_tx(const ChainId& chain, const Outpoint& authority, std::string document) {
        Tx tx{.inputs = {{.previous = authority}},
              .outputs = {{.value = std::move(document), .locking = lock}},
              .expiry = static_cast<std::uint32_t>(tip.time.unix_seconds() + 3600)};
        const auto bare = *check_tx(tx);
        Bytes signature =
            crypto::sign(key, signature_digest(*bare, chain, 0, lock, SpentValue::of_authority())).to_der();
        signature.push_back(kHashTypeAll);
        script::ScriptBuilder unlocking;
        unlocking.data(signature).data(key.public_key().bytes());
        tx.inputs[0].unlocking = std::move(unlocking).take();
        return *check_tx(tx);
    }

    NextBlock next() const {
        return {.parent = hash_of(tip),
                .height = tip.height + 1,
                .time = tip.time + milliseconds{20},
                .parent_time = tip.time};
    }

    Scene() {
        auto genesis = make_genesis(R"({"apiVersion":"rhizome.dev/v1","kind":"Cluster","metadata":{"name":"b"}})", lock,
                                    Time::from_unix_seconds(1'800'000'000), {}, {});
        tip = genesis->block.header;
        const ChainId chain{hash_of(tip).view()};
        state = std::make_unique<LedgerState>(genesis->commit.view);
        const auto cluster = state->view().get(state::Path::cluster())->origin().lock.output;
        const std::vector<SharedTx> first{
            signed_tx(chain, cluster, R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"web"}})")};
        auto draft = build_block(*state, next(), first, {}, 0, rules, cache, one);
        draft.header.seal_root = seal_root_of({});
        state->advance(draft.applied.commit);
        tip = draft.header;
        const auto authority = state->view().get(*state::Path::parse("/namespaces/web"))->origin().lock.output;
        for (int i = 0; i < 2'000; ++i) {
            std::string document = fmt::format(
                R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"namespace":"web","name":"pod-{}","labels":{{"app":"web"}}}},"spec":{{"containers":[{{"name":"c","image":"registry.example.com/web:1.{}"}}],"note":")",
                i, i);
            document += std::string(820 - document.size(), 'x') + "\"}}";
            txs.push_back(signed_tx(chain, authority, std::move(document)));
        }
        auto full = build_block(*state, next(), txs, {}, 0, rules, cache, one);
        full.header.seal_root = seal_root_of({});
        block = full.to_block({});
    }
};

Scene& scene() {
    static Scene made;
    return made;
}

/// Digest, script and verification of every signature of the block with nothing cached, on two threads.
void signature_stage(std::uint64_t times) {
    Scene& s = scene();
    for (std::uint64_t t = 0; t < times; ++t) {
        SignatureCache cold;
        verify_ahead(*s.state, s.next(), std::span{s.txs}.first(256), cold, s.two);
        bench::keep(cold.size());
    }
}

/// The same number of bare verifications with their parsing, on the same threads.
void raw_verifies(std::uint64_t times) {
    Scene& s = scene();
    static const auto jobs = [&] {
        std::vector<crypto::VerifyJob> made;
        static std::vector<Bytes> ders;
        ders.reserve(256);
        for (int i = 0; i < 256; ++i) {
            const auto digest = crypto::sha256(as_bytes(fmt::format("{}", i)));
            ders.push_back(crypto::sign(s.key, digest).to_der());
            made.push_back({digest, s.key.public_key().bytes(), ders.back()});
        }
        return made;
    }();
    for (std::uint64_t t = 0; t < times; ++t) {
        s.two.for_ranges(jobs.size(), [](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                secp256k1_pubkey key;
                secp256k1_ecdsa_signature signature;
                const auto& job = jobs[i];
                int good = secp256k1_ec_pubkey_parse(secp256k1_context_static, &key, job.key.data(), job.key.size());
                good &= secp256k1_ecdsa_signature_parse_der(secp256k1_context_static, &signature, job.der.data(),
                                                            job.der.size());
                good &= secp256k1_ecdsa_verify(secp256k1_context_static, &signature, job.digest.view().data(), &key);
                bench::keep(good);
            }
        });
    }
}

/// Transactions per second of a block whose signatures are all known: everything but decoding, on two threads.
double whole_block() {
    Scene& s = scene();
    std::vector<double> rates;
    for (int round = 0; round < 15; ++round) {
        const auto start = std::chrono::steady_clock::now();
        const auto applied = apply(*s.state, s.tip, s.block, {}, s.rules, s.cache, s.two);
        ensure(applied.has_value(), "the benchmark's block is good");
        bench::keep(applied->commit.view.root());
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        rates.push_back(static_cast<double>(s.block.txs.size()) / took.count());
    }
    std::sort(rates.begin(), rates.end());
    return rates[rates.size() / 2];
}

const bool registered =
    bench::add({.name = "ledger.signature_stage_2_threads",
                .unit = "signatures",
                .subject = signature_stage,
                .anchor = raw_verifies,
                .aim = 0.85,
                .units_each = 256}) &&
    bench::add_figure({.name = "ledger.block_warm_1KiB", .unit = "tx/s", .measure = whole_block, .required = 40'000});

}  // namespace
}  // namespace rhizome::ledger
