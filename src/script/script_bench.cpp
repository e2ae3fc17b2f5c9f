// SPDX-License-Identifier: Apache-2.0
// What the script language adds to a signature check: the most common lock, opened through the interpreter with a
// digest over 300 bytes, against a bare libsecp256k1 verification of the same signature.
#include <secp256k1.h>

#include <cstring>

#include "base/ensure.h"
#include "crypto/keys.h"
#include "script/interpreter.h"
#include "support/bench.h"

namespace rhizome::script {
namespace {

/// A digest of about the size that a transaction's is, computed anew for every question.
class BenchHost final : public Host {
public:
    static crypto::Digest digest(ByteView script_code) {
        static const Bytes front(300 - 25, 0x5a);
        return crypto::sha256(front, script_code);
    }
    [[nodiscard]] bool check_signature(const SignatureQuestion& question) const override {
        const ByteView der = question.signature.first(question.signature.size() - 1);
        return crypto::verify_der(question.key, digest(question.script_code), der).has_value();
    }
};

struct Material {
    Material() {
        const auto secret = *crypto::SecretKey::from_bytes(crypto::sha256(as_bytes("bench")).view());
        key = secret.public_key().bytes();
        locking = to_bytes(ScriptBuilder{}
                               .op(OP_DUP)
                               .op(OP_HASH160)
                               .data(secret.public_key().address().view())
                               .op(OP_EQUALVERIFY)
                               .op(OP_CHECKSIG)
                               .view());
        digest = BenchHost::digest(locking);
        der = crypto::sign(secret, digest).to_der();
        Bytes signature = der;
        signature.push_back(1);
        unlocking = to_bytes(ScriptBuilder{}.data(signature).data(key).view());
    }
    crypto::PublicKey::Array key{};
    Bytes der, unlocking, locking;
    crypto::Digest digest;
};

const Material& material() {
    static const Material made;
    return made;
}

void anchor(std::uint64_t times) {
    const Material& with = material();
    static secp256k1_context* const context = secp256k1_context_create(SECP256K1_CONTEXT_VERIFY);
    for (; times > 0; --times) {
        secp256k1_pubkey key;
        secp256k1_ecdsa_signature signature;
        int good = secp256k1_ec_pubkey_parse(context, &key, with.key.data(), with.key.size());
        good &= secp256k1_ecdsa_signature_parse_der(context, &signature, with.der.data(), with.der.size());
        good &= secp256k1_ecdsa_verify(context, &signature, with.digest.view().data(), &key);
        ensure(good == 1, "the benchmark's signature is good");
    }
}

const bool p2pkh_overhead = bench::add({
    .name = "script.p2pkh_overhead",
    .unit = "unlocks",
    .subject =
        [](std::uint64_t times) {
            const Material& with = material();
            const BenchHost host;
            for (; times > 0; --times) ensure(verify(with.unlocking, with.locking, host).ok(), "the lock opens");
        },
    .anchor = anchor,
    // The whole of a P2PKH input may cost 8 % more than its signature.
    .aim = 0.92,
});

/// The script alone, with a host that says yes: compared with the hash that it cannot do without.
class YesHost final : public Host {
public:
    [[nodiscard]] bool check_signature(const SignatureQuestion& /*question*/) const override { return true; }
};

const bool p2pkh_script_only = bench::add({
    .name = "script.p2pkh_without_signature",
    .unit = "runs",
    .subject =
        [](std::uint64_t times) {
            const Material& with = material();
            const YesHost host;
            for (; times > 0; --times) ensure(verify(with.unlocking, with.locking, host).ok(), "the lock opens");
        },
    .anchor =
        [](std::uint64_t times) {
            for (; times > 0; --times) bench::keep(crypto::hash160(material().key));
        },
    // A HASH160 is about 0.4 µs; everything around it should cost less than another.
    .aim = 0.5,
});

}  // namespace
}  // namespace rhizome::script
