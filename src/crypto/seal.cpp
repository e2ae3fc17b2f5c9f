// SPDX-License-Identifier: Apache-2.0
#include "crypto/seal.h"

#include <algorithm>
#include <array>
#include <vector>

#include <sodium.h>

#include "base/codec.h"
#include "crypto/detail/sodium.h"
#include "crypto/hash.h"
#include "crypto/hkdf.h"

namespace rhizome::crypto {
namespace {

constexpr std::string_view kMagic = "RHZE";
constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kTagBytes = crypto_aead_xchacha20poly1305_ietf_ABYTES;
constexpr std::size_t kKeyBytes = crypto_aead_xchacha20poly1305_ietf_KEYBYTES;
constexpr std::size_t kNonceBytes = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES;
constexpr std::size_t kHintBytes = 8;
constexpr std::size_t kCommitmentBytes = 32;
constexpr std::size_t kEntryBytes = kHintBytes + kKeyBytes + kTagBytes;
static_assert(kEntryBytes == 56);

using Entry = std::array<std::uint8_t, kEntryBytes>;
using Entropy = std::span<const std::uint8_t, kSealEntropyBytes>;

/// A key and a nonce that are used together once, then `Rest` public bytes that go with them.
template <std::size_t Rest>
class KeyAndNonce {
public:
    std::span<std::uint8_t> writable() { return bytes_.writable(); }
    [[nodiscard]] ByteView rest() const { return bytes_.view().template last<Rest>(); }

    void encrypt(ByteView plain, ByteView associated, std::span<std::uint8_t> out) const {
        ensure(out.size() == plain.size() + kTagBytes, "the sealed form has a tag more");
        crypto_aead_xchacha20poly1305_ietf_encrypt(out.data(), nullptr, plain.data(), plain.size(), associated.data(),
                                                   associated.size(), nullptr, nonce(), key());
    }
    [[nodiscard]] bool decrypt(ByteView sealed, ByteView associated, std::span<std::uint8_t> out) const {
        ensure(sealed.size() == out.size() + kTagBytes, "the sealed form has a tag more");
        return crypto_aead_xchacha20poly1305_ietf_decrypt(out.data(), nullptr, nullptr, sealed.data(), sealed.size(),
                                                          associated.data(), associated.size(), nonce(), key()) == 0;
    }

private:
    [[nodiscard]] const std::uint8_t* key() const { return bytes_.view().data(); }
    [[nodiscard]] const std::uint8_t* nonce() const { return bytes_.view().data() + kKeyBytes; }

    SecretArray<kKeyBytes + kNonceBytes + Rest> bytes_;
};
using WrapKey = KeyAndNonce<kHintBytes>;
using ContentKey = KeyAndNonce<kCommitmentBytes>;

WrapKey wrap_key(const SecretArray<32>& shared, const X25519Public& ephemeral, const X25519Public& recipient) {
    Writer salt;
    salt.id(ephemeral).id(recipient);
    WrapKey key;
    hkdf(salt.view(), shared.view(), as_bytes("rhizome seal 1 wrap"), key.writable());
    return key;
}

ContentKey content_key(const SecretArray<32>& secret) {
    ContentKey key;
    hkdf({}, secret.view(), as_bytes("rhizome seal 1 content"), key.writable());
    return key;
}

/// HMAC keyed with the entropy over everything else that is sealed: see `seal` on reuse.
HkdfKey root_key(ByteView plaintext, std::span<const X25519Public> recipients, ByteView associated, Entropy entropy) {
    Writer front;
    front.raw(as_bytes("rhizome seal 1 root")).u64(recipients.size()).u64(associated.size()).u64(plaintext.size());
    for (const auto& recipient : recipients) front.id(recipient);
    Hash256 hash = hmac_sha256(entropy, {front.view(), associated, plaintext});
    HkdfKey key{hash.view()};
    wipe(hash.writable());
    return key;
}

Bytes joined(ByteView header, ByteView associated) {
    Bytes both;
    both.reserve(header.size() + associated.size());
    both.insert(both.end(), header.begin(), header.end());
    both.insert(both.end(), associated.begin(), associated.end());
    return both;
}

struct Envelope {
    ByteView header;  ///< all before the content's length
    X25519Public ephemeral;
    ByteView commitment;
    ByteView entries;
    ByteView content;
};

SealFault from(DecodeFault fault) {
    return fault == DecodeFault::TooLong ? SealFault::TooLarge : SealFault::BadEncoding;
}

/// `TRY` for a Reader's faults.
template <class T>
Result<T, SealFault> read(Result<T, DecodeFault> result) {
    if (!result) return Fail{from(result.error())};
    return *std::move(result);
}

Result<Envelope, SealFault> decode(ByteView bytes) {
    if (bytes.size() > kSealEnvelopeBytesMax) return Fail{SealFault::TooLarge};
    Reader in{bytes};
    Envelope envelope;
    TRY(const ByteView magic, read(in.raw(kMagic.size())));
    if (as_text(magic) != kMagic) return Fail{SealFault::BadEncoding};
    TRY(const std::uint8_t version, read(in.u8()));
    if (version != kVersion) return Fail{SealFault::BadVersion};
    TRY(envelope.ephemeral, read(in.id<X25519Public>()));
    if (!is_canonical(envelope.ephemeral)) return Fail{SealFault::BadEncoding};
    TRY(envelope.commitment, read(in.raw(kCommitmentBytes)));

    TRY(const std::uint64_t count, read(in.varint()));
    if (count == 0) return Fail{SealFault::BadEncoding};
    if (count > kSealRecipientsMax) return Fail{SealFault::TooLarge};
    TRY(envelope.entries, read(in.raw(static_cast<std::size_t>(count) * kEntryBytes)));
    for (std::size_t at = kEntryBytes; at < envelope.entries.size(); at += kEntryBytes) {
        const ByteView before = envelope.entries.subspan(at - kEntryBytes, kEntryBytes);
        const ByteView entry = envelope.entries.subspan(at, kEntryBytes);
        if (!std::lexicographical_compare(before.begin(), before.end(), entry.begin(), entry.end()))
            return Fail{SealFault::BadEncoding};
    }

    envelope.header = bytes.first(in.position());
    TRY(envelope.content, read(in.blob(kSealPlaintextBytesMax + kTagBytes)));
    if (envelope.content.size() < kTagBytes || !in.empty()) return Fail{SealFault::BadEncoding};
    return envelope;
}

/// The content key for the holder of `wrap`, from the entries with its hint (one, unless somebody made a collision).
Result<SecretArray<32>, SealFault> unwrap(const Envelope& envelope, const WrapKey& wrap) {
    bool hinted = false;
    for (std::size_t at = 0; at < envelope.entries.size(); at += kEntryBytes) {
        const ByteView entry = envelope.entries.subspan(at, kEntryBytes);
        const ByteView hint = entry.first(kHintBytes);
        if (!std::equal(hint.begin(), hint.end(), wrap.rest().begin())) continue;  // hints are public
        hinted = true;
        SecretArray<32> secret;
        if (wrap.decrypt(entry.subspan(kHintBytes), envelope.commitment, secret.writable())) return secret;
    }
    return Fail{hinted ? SealFault::WrongKeyOrDamaged : SealFault::NotForMe};
}

}  // namespace

std::string_view name(SealFault fault) {
    switch (fault) {
        case SealFault::BadEncoding: return "BadEncoding";
        case SealFault::BadVersion: return "BadVersion";
        case SealFault::NotForMe: return "NotForMe";
        case SealFault::WrongKeyOrDamaged: return "WrongKeyOrDamaged";
        case SealFault::TooLarge: return "TooLarge";
        case SealFault::BadRecipient: return "BadRecipient";
    }
    unreachable("every SealFault has a name");
}

Error to_error(SealFault fault) {
    switch (fault) {
        case SealFault::BadEncoding: return {ErrorKind::Invalid, "this is no sealed envelope, or not in its one form"};
        case SealFault::BadVersion:
            return {ErrorKind::Unsupported,
                    "the sealed envelope has a version that this program does not know; upgrade"};
        case SealFault::NotForMe: return {ErrorKind::Denied, "the envelope is not sealed to this key"};
        case SealFault::WrongKeyOrDamaged:
            return {ErrorKind::Corrupt, "the sealed envelope was changed, or belongs to another place"};
        case SealFault::TooLarge: return {ErrorKind::Invalid, "the content or its recipients are too many to seal"};
        case SealFault::BadRecipient: return {ErrorKind::Invalid, "no recipients, or one without a usable X25519 key"};
    }
    unreachable("every SealFault has a sentence");
}

Result<Bytes, SealFault> seal(ByteView plaintext, std::span<const X25519Public> recipients, ByteView associated,
                              Entropy entropy) {
    if (plaintext.size() > kSealPlaintextBytesMax || associated.size() > kSealAssociatedBytesMax)
        return Fail{SealFault::TooLarge};
    std::vector<X25519Public> unique{recipients.begin(), recipients.end()};
    std::sort(unique.begin(), unique.end());
    unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
    if (unique.empty()) return Fail{SealFault::BadRecipient};
    if (unique.size() > kSealRecipientsMax) return Fail{SealFault::TooLarge};
    detail::prepare_sodium();

    const HkdfKey root = root_key(plaintext, unique, associated, entropy);
    const X25519Secret ephemeral{hkdf_expand(root, "ephemeral")};
    const SecretArray<32> secret = hkdf_expand(root, "content");
    const ContentKey key = content_key(secret);

    std::vector<Entry> entries;
    entries.reserve(unique.size());
    for (const auto& recipient : unique) {
        const auto shared = ephemeral.shared_with(recipient);
        if (!shared) return Fail{SealFault::BadRecipient};
        const WrapKey wrap = wrap_key(*shared, ephemeral.public_key(), recipient);
        auto& entry = entries.emplace_back();
        std::copy_n(wrap.rest().begin(), kHintBytes, entry.begin());
        wrap.encrypt(secret.view(), key.rest(), std::span{entry}.subspan<kHintBytes>());
    }
    std::sort(entries.begin(), entries.end());

    Writer out{kMagic.size() + 1 + 32 + kCommitmentBytes + 2 + entries.size() * kEntryBytes + 4 + plaintext.size() +
               kTagBytes};
    out.raw(as_bytes(kMagic)).u8(kVersion).id(ephemeral.public_key()).raw(key.rest()).varint(entries.size());
    for (const auto& entry : entries) out.raw(entry);
    Bytes content(plaintext.size() + kTagBytes);
    key.encrypt(plaintext, joined(out.view(), associated), content);
    out.blob(content);
    return std::move(out).take();
}

Result<SecretBytes, SealFault> open(ByteView bytes, const X25519Secret& mine, ByteView associated) {
    if (associated.size() > kSealAssociatedBytesMax) return Fail{SealFault::TooLarge};
    TRY(const Envelope envelope, decode(bytes));
    detail::prepare_sodium();
    const auto shared = mine.shared_with(envelope.ephemeral);
    if (!shared) return Fail{SealFault::BadEncoding};  // of low order: nobody honest sent it
    TRY(const auto secret, unwrap(envelope, wrap_key(*shared, envelope.ephemeral, mine.public_key())));

    const ContentKey key = content_key(secret);
    if (!equal_in_constant_time(key.rest(), envelope.commitment)) return Fail{SealFault::WrongKeyOrDamaged};
    SecretBytes plaintext(envelope.content.size() - kTagBytes);
    if (!key.decrypt(envelope.content, joined(envelope.header, associated), plaintext.writable()))
        return Fail{SealFault::WrongKeyOrDamaged};
    return plaintext;
}

}  // namespace rhizome::crypto
