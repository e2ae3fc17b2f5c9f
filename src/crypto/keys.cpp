// SPDX-License-Identifier: Apache-2.0
// The only file that knows libsecp256k1.
#include "crypto/keys.h"

#include <cstring>

#include <secp256k1.h>

namespace rhizome::crypto {
namespace {

static_assert(sizeof(secp256k1_pubkey) == 64, "PublicKey keeps room for the library's form of a point");

/// For everything but secrets: immutable, part of the library. The library asks for its self test before first use.
const secp256k1_context* public_context() {
    static const secp256k1_context* const context = [] {
        secp256k1_selftest();
        return secp256k1_context_static;
    }();
    return context;
}

/// For secrets without blinding: made at first use, never changed, so any thread may use it, and never destroyed, so
/// that nothing at the program's end can meet it gone.
const secp256k1_context* plain_context() {
    static const secp256k1_context* const context = [] {
        const secp256k1_context* made = secp256k1_context_create(SECP256K1_CONTEXT_NONE);
        ensure(made != nullptr, "there is memory for a signing context");
        return made;
    }();
    return context;
}

bool parse_point(ByteView bytes, secp256k1_pubkey& point) {
    return secp256k1_ec_pubkey_parse(public_context(), &point, bytes.data(), bytes.size()) == 1;
}

bool is_compressed(ByteView bytes) {
    return bytes.size() == PublicKey::kSize && (bytes[0] == 0x02 || bytes[0] == 0x03);
}

/// The last step of every verification: form, range and low S are known to be right.
Verdict verify_point(const secp256k1_pubkey& point, const Digest& digest, const Signature& signature) {
    secp256k1_ecdsa_signature numbers;
    const int parsed =
        secp256k1_ecdsa_signature_parse_compact(public_context(), &numbers, signature.to_compact().data());
    ensure(parsed == 1, "a Signature's numbers are in range");
    if (secp256k1_ecdsa_verify(public_context(), &numbers, digest.view().data(), &point) != 1) {
        return Fail{SignatureFault::WrongSignature};
    }
    return {};
}

}  // namespace

/// Lets this file build keys and signatures from the library's forms.
struct KeyAccess {
    static PublicKey key_of(const secp256k1_pubkey& point) {
        PublicKey key;
        std::size_t size = key.compressed_.size();
        secp256k1_ec_pubkey_serialize(public_context(), key.compressed_.data(), &size, &point, SECP256K1_EC_COMPRESSED);
        std::memcpy(key.point_.data(), &point, sizeof point);
        return key;
    }

    static secp256k1_pubkey point_of(const PublicKey& key) {
        secp256k1_pubkey point;
        std::memcpy(&point, key.point_.data(), sizeof point);
        return point;
    }

    static PublicKey public_key(const secp256k1_context* context, const SecretKey& secret) {
        secp256k1_pubkey point;
        const int made = secp256k1_ec_pubkey_create(context, &point, secret.reveal().data());
        ensure(made == 1, "a SecretKey that was not moved from is in range");
        return key_of(point);
    }

    static Signature sign(const secp256k1_context* context, const SecretKey& secret, const Digest& digest) {
        secp256k1_ecdsa_signature numbers;
        const int made = secp256k1_ecdsa_sign(context, &numbers, digest.view().data(), secret.reveal().data(),
                                              secp256k1_nonce_function_rfc6979, nullptr);
        ensure(made == 1, "a SecretKey that was not moved from can sign");
        Signature signature;
        secp256k1_ecdsa_signature_serialize_compact(public_context(), signature.numbers_.data(), &numbers);
        ensure(signature.is_low_s(), "the library signs with low S");
        return signature;
    }
};

Result<PublicKey, SignatureFault> PublicKey::parse(ByteView bytes) {
    secp256k1_pubkey point;
    if (!is_compressed(bytes) || !parse_point(bytes, point)) return Fail{SignatureFault::BadKey};
    return KeyAccess::key_of(point);
}

Result<PublicKey, SignatureFault> PublicKey::parse_uncompressed(ByteView bytes) {
    secp256k1_pubkey point;
    if (bytes.size() != kUncompressedSize || bytes[0] != 0x04) return Fail{SignatureFault::BadKey};
    if (!parse_point(bytes, point)) return Fail{SignatureFault::BadKey};
    return KeyAccess::key_of(point);
}

Hash160 PublicKey::address() const { return hash160(compressed_); }

Result<SecretKey, SignatureFault> SecretKey::from_bytes(ByteView bytes) {
    if (bytes.size() != kSize || secp256k1_ec_seckey_verify(public_context(), bytes.data()) != 1) {
        return Fail{SignatureFault::BadSecret};
    }
    return SecretKey{SecretArray<kSize>{bytes.first<kSize>()}};
}

PublicKey SecretKey::public_key() const { return KeyAccess::public_key(plain_context(), *this); }

Signature sign(const SecretKey& secret, const Digest& digest) {
    return KeyAccess::sign(plain_context(), secret, digest);
}

Verdict verify(const PublicKey& key, const Digest& digest, const Signature& signature) {
    if (!signature.is_low_s()) return Fail{SignatureFault::HighS};
    return verify_point(KeyAccess::point_of(key), digest, signature);
}

Verdict verify_der(ByteView key, const Digest& digest, ByteView der) {
    TRY(const Signature signature, Signature::from_der(der));
    if (!signature.is_low_s()) return Fail{SignatureFault::HighS};
    secp256k1_pubkey point;
    if (!is_compressed(key) || !parse_point(key, point)) return Fail{SignatureFault::BadKey};
    return verify_point(point, digest, signature);
}

Verdict RecentKeys::verify_der(ByteView key, const Digest& digest, ByteView der) {
    TRY(const Signature signature, Signature::from_der(der));
    if (!signature.is_low_s()) return Fail{SignatureFault::HighS};
    if (!is_compressed(key)) return Fail{SignatureFault::BadKey};
    std::optional<PublicKey>& place = places_[key.back() % kPlaces];
    if (!place || !std::equal(key.begin(), key.end(), place->bytes().begin(), place->bytes().end())) {
        TRY(place, PublicKey::parse(key));
    }
    return verify_point(KeyAccess::point_of(*place), digest, signature);
}

std::vector<Verdict> verify_all(std::span<const VerifyJob> jobs, Parallel& parallel) {
    std::vector<Verdict> verdicts(jobs.size());
    parallel.for_ranges(jobs.size(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) verdicts[i] = verify_der(jobs[i].key, jobs[i].digest, jobs[i].der);
    });
    return verdicts;
}

struct SigningContext::Context {
    secp256k1_context* library = secp256k1_context_create(SECP256K1_CONTEXT_NONE);

    Context() { ensure(library != nullptr, "there is memory for a signing context"); }
    ~Context() { secp256k1_context_destroy(library); }
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;
};

SigningContext::SigningContext(std::span<const std::uint8_t, 32> entropy) : context_(std::make_unique<Context>()) {
    reblind(entropy);
}
SigningContext::~SigningContext() = default;
SigningContext::SigningContext(SigningContext&&) noexcept = default;
SigningContext& SigningContext::operator=(SigningContext&&) noexcept = default;

void SigningContext::reblind(std::span<const std::uint8_t, 32> entropy) {
    ensure(context_ != nullptr, "a SigningContext that was moved from is not used");
    const int blinded = secp256k1_context_randomize(context_->library, entropy.data());
    ensure(blinded == 1, "a context of our own can be blinded");
}

Signature SigningContext::sign(const SecretKey& secret, const Digest& digest) const {
    ensure(context_ != nullptr, "a SigningContext that was moved from is not used");
    return KeyAccess::sign(context_->library, secret, digest);
}

PublicKey SigningContext::public_key(const SecretKey& secret) const {
    ensure(context_ != nullptr, "a SigningContext that was moved from is not used");
    return KeyAccess::public_key(context_->library, secret);
}

}  // namespace rhizome::crypto
