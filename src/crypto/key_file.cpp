// SPDX-License-Identifier: Apache-2.0
#include "crypto/key_file.h"

#include <algorithm>
#include <array>

#include <sodium.h>

#include "base/codec.h"
#include "base/json.h"
#include "crypto/detail/key_file_checksum.h"
#include "crypto/detail/sodium.h"
#include "crypto/hash.h"

namespace rhizome::crypto {
namespace {

constexpr std::string_view kKind = "rhizome-key";
constexpr std::int64_t kVersion = 1;
constexpr std::string_view kKdf = "argon2id";
constexpr std::string_view kCipher = "xchacha20-poly1305";
constexpr std::string_view kNotEncrypted = "none";
constexpr std::size_t kSealedBytes = SecretKey::kSize + crypto_aead_xchacha20poly1305_ietf_ABYTES;
static_assert(kKeyFileSaltBytes == crypto_pwhash_argon2id_SALTBYTES);
static_assert(kKeyFileNonceBytes == crypto_aead_xchacha20poly1305_ietf_NPUBBYTES);

struct Sealed {
    std::array<std::uint8_t, kKeyFileSaltBytes> salt{};
    std::array<std::uint8_t, kKeyFileNonceBytes> nonce{};
    std::array<std::uint8_t, kSealedBytes> secret{};
};

struct KeyFile {
    KeyFileInfo info;
    Sealed sealed;                        ///< when info.cost
    SecretArray<SecretKey::kSize> plain;  ///< when not
};

/// Takes known members out of an object one by one; what is left in the end is unknown.
class Members {
public:
    explicit Members(const json::Object& object) : object_(object) {}

    Result<const json::Value*, KeyFileFault> take(std::string_view key) {
        const json::Value* value = object_.find(key);
        if (value == nullptr) return Fail{KeyFileFault::BadMember};
        ++taken_;
        return value;
    }
    Result<std::string_view, KeyFileFault> text(std::string_view key) {
        TRY(const json::Value* value, take(key));
        const std::string* held = value->if_string();
        if (held == nullptr) return Fail{KeyFileFault::BadMember};
        return std::string_view{*held};
    }
    Result<void, KeyFileFault> constant(std::string_view key, std::string_view expected) {
        TRY(const std::string_view held, text(key));
        if (held != expected) return Fail{KeyFileFault::BadMember};
        return {};
    }
    /// Lower-case hexadecimal of exactly this size.
    Result<void, KeyFileFault> bytes(std::string_view key, std::span<std::uint8_t> out) {
        TRY(const std::string_view hex, text(key));
        const bool upper = std::any_of(hex.begin(), hex.end(), [](char c) { return c >= 'A' && c <= 'F'; });
        if (upper || !from_hex_into(hex, out)) return Fail{KeyFileFault::BadMember};
        return {};
    }
    Result<std::uint32_t, KeyFileFault> number(std::string_view key, std::uint32_t least, std::uint32_t most) {
        TRY(const json::Value* value, take(key));
        const auto held = value->if_int64();
        if (!held || *held < least || *held > most) return Fail{KeyFileFault::BadMember};
        return static_cast<std::uint32_t>(*held);
    }
    Result<void, KeyFileFault> finish() const {
        if (taken_ != object_.size()) return Fail{KeyFileFault::BadMember};
        return {};
    }

private:
    const json::Object& object_;
    std::size_t taken_ = 0;
};

/// The document, once it is known to be a whole key file of our version.
Result<json::Object, KeyFileFault> read_document(std::string_view text) {
    if (text.size() > kKeyFileBytesMax) return Fail{KeyFileFault::TooLarge};
    auto parsed = json::parse(text, {.bytes = kKeyFileBytesMax, .depth = 4});
    if (!parsed) return Fail{KeyFileFault::NotAKeyFile};
    json::Object* object = parsed->if_object();
    if (object == nullptr || parsed->text_at({"kind"}) != kKind) return Fail{KeyFileFault::NotAKeyFile};
    const json::Value* version = object->find("version");
    const auto number = version != nullptr ? version->if_int64() : std::nullopt;
    if (!number || *number < 1) return Fail{KeyFileFault::NotAKeyFile};
    if (*number > kVersion) return Fail{KeyFileFault::NewerVersion};  // before the checksum, which may change with it
    if (parsed->text_at({"checksum"}) != detail::key_file_checksum(*object).hex()) return Fail{KeyFileFault::Damaged};
    return std::move(*object);
}

Result<KdfCost, KeyFileFault> read_encryption(const json::Value& value, Sealed& sealed) {
    const json::Object* object = value.if_object();
    if (object == nullptr) return Fail{KeyFileFault::BadMember};
    Members members{*object};
    KdfCost cost;
    TRY(members.constant("kdf", kKdf));
    TRY(cost.memory_kib, members.number("memoryKiB", KdfCost::kMemoryKibMin, KdfCost::kMemoryKibMax));
    TRY(cost.passes, members.number("passes", KdfCost::kPassesMin, KdfCost::kPassesMax));
    TRY(members.bytes("salt", sealed.salt));
    TRY(members.finish());
    return cost;
}

Result<KeyFile, KeyFileFault> read_key_file(const json::Object& document) {
    Members members{document};
    TRY(members.take("kind"));
    TRY(members.take("version"));
    TRY(members.take("checksum"));
    TRY(const std::string_view name, members.text("name"));
    if (!is_key_name(name)) return Fail{KeyFileFault::BadMember};
    TRY(const std::string_view created_text, members.text("created"));
    const auto created = from_rfc3339(created_text);
    if (!created) return Fail{KeyFileFault::BadMember};

    PublicKey::Array public_bytes;
    TRY(members.bytes("public", public_bytes));
    const auto public_key = PublicKey::parse(public_bytes);
    if (!public_key) return Fail{KeyFileFault::BadMember};
    Hash160 address;
    TRY(members.bytes("address", address.writable()));
    if (address != public_key->address()) return Fail{KeyFileFault::Mismatch};

    KeyFile file{.info = {std::string{name}, *public_key, *created, std::nullopt}, .sealed = {}, .plain = {}};
    TRY(const json::Value* encryption, members.take("encryption"));
    if (const std::string* none = encryption->if_string(); none != nullptr && *none == kNotEncrypted) {
        TRY(members.bytes("secret", file.plain.writable()));
    } else {
        TRY(file.info.cost, read_encryption(*encryption, file.sealed));
        TRY(members.constant("cipher", kCipher));
        TRY(members.bytes("nonce", file.sealed.nonce));
        TRY(members.bytes("sealed", file.sealed.secret));
    }
    TRY(members.finish());
    return file;
}

Result<SecretArray<32>, KeyFileFault> passphrase_key(ByteView passphrase, ByteView salt, KdfCost cost) {
    detail::prepare_sodium();
    SecretArray<32> key;
    const std::size_t memory = std::size_t{cost.memory_kib} << 10;
    if (crypto_pwhash_argon2id(key.writable().data(), key.size(), reinterpret_cast<const char*>(passphrase.data()),
                               passphrase.size(), salt.data(), cost.passes, memory,
                               crypto_pwhash_argon2id_ALG_ARGON2ID13) != 0)
        return Fail{KeyFileFault::NoMemory};
    return key;
}

Bytes associated_data(const PublicKey& key) {
    Writer out;
    out.raw(as_bytes("rhizome/keyfile/1")).raw(key.bytes()).id(key.address());
    return std::move(out).take();
}

std::string print_with_checksum(json::Object document) {
    document.set("checksum", detail::key_file_checksum(document).hex());
    return json::print_pretty(std::move(document));
}

}  // namespace

Hash256 detail::key_file_checksum(json::Object members) {
    members.erase("checksum");
    return tagged_hash(HashTag::KeyFile, as_bytes(json::print_canonical(std::move(members))));
}

std::string_view name(KeyFileFault fault) {
    switch (fault) {
        case KeyFileFault::NotAKeyFile: return "NotAKeyFile";
        case KeyFileFault::TooLarge: return "TooLarge";
        case KeyFileFault::NewerVersion: return "NewerVersion";
        case KeyFileFault::Damaged: return "Damaged";
        case KeyFileFault::BadMember: return "BadMember";
        case KeyFileFault::Mismatch: return "Mismatch";
        case KeyFileFault::PassphraseNeeded: return "PassphraseNeeded";
        case KeyFileFault::WrongPassphrase: return "WrongPassphrase";
        case KeyFileFault::BadPassphrase: return "BadPassphrase";
        case KeyFileFault::BadName: return "BadName";
        case KeyFileFault::TooCostly: return "TooCostly";
        case KeyFileFault::NoMemory: return "NoMemory";
    }
    unreachable("every KeyFileFault has a name");
}

Error to_error(KeyFileFault fault) {
    switch (fault) {
        case KeyFileFault::NotAKeyFile: return {ErrorKind::Invalid, "this is not a key file"};
        case KeyFileFault::TooLarge: return {ErrorKind::Invalid, "this is larger than any key file (16 KiB)"};
        case KeyFileFault::NewerVersion:
            return {ErrorKind::Unsupported, "the key file was made by a newer version of rhizome; upgrade to use it"};
        case KeyFileFault::Damaged:
            return {ErrorKind::Corrupt, "the key file is damaged: its checksum differs; restore it from a backup"};
        case KeyFileFault::BadMember:
            return {ErrorKind::Invalid, "the key file has a member that is missing, unknown or out of bounds"};
        case KeyFileFault::Mismatch:
            return {ErrorKind::Invalid, "the key file's public key, address and secret do not belong together"};
        case KeyFileFault::PassphraseNeeded: return {ErrorKind::Denied, "the key file is encrypted: give a passphrase"};
        case KeyFileFault::WrongPassphrase: return {ErrorKind::Denied, "wrong passphrase"};
        case KeyFileFault::BadPassphrase: return {ErrorKind::Usage, "a passphrase has 1 to 1024 bytes"};
        case KeyFileFault::BadName:
            return {ErrorKind::Usage,
                    "a key name has 1 to 63 lower-case letters and digits, and inside also '-', '_' and '.'"};
        case KeyFileFault::TooCostly:
            return {ErrorKind::Exhausted, "the key file asks for more memory or passes than allowed here"};
        case KeyFileFault::NoMemory:
            return {ErrorKind::Exhausted, "not enough memory to work the passphrase into a key"};
    }
    unreachable("every KeyFileFault has a sentence");
}

bool is_key_name(std::string_view name) {
    const auto is_word = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
    if (name.empty() || name.size() > 63 || !is_word(name.front()) || !is_word(name.back())) return false;
    return std::all_of(name.begin(), name.end(),
                       [&](char c) { return is_word(c) || c == '-' || c == '_' || c == '.'; });
}

Result<std::string, KeyFileFault> make_key_file(std::string_view name, const SecretKey& secret,
                                                std::optional<ByteView> passphrase,
                                                std::span<const std::uint8_t, kKeyFileEntropyBytes> entropy,
                                                Time created, KdfCost cost) {
    if (!is_key_name(name)) return Fail{KeyFileFault::BadName};
    const PublicKey public_key = secret.public_key();
    json::Object document{
        {"kind", kKind},
        {"version", kVersion},
        {"name", name},
        {"public", public_key.hex()},
        {"address", public_key.address().hex()},
        {"created", to_rfc3339(created)},
    };
    if (!passphrase) {
        document.set("encryption", kNotEncrypted);
        document.set("secret", to_hex(secret.reveal()));
        return print_with_checksum(std::move(document));
    }

    // An empty passphrase would look like protection.
    if (passphrase->empty() || passphrase->size() > kPassphraseBytesMax) return Fail{KeyFileFault::BadPassphrase};
    ensure(cost.memory_kib >= KdfCost::kMemoryKibMin && cost.memory_kib <= KdfCost::kMemoryKibMax &&
               cost.passes >= KdfCost::kPassesMin && cost.passes <= KdfCost::kPassesMax,
           "the cost of a new key file is within its bounds");
    const auto salt = entropy.first<kKeyFileSaltBytes>();
    const auto nonce = entropy.last<kKeyFileNonceBytes>();
    TRY(const auto key, passphrase_key(*passphrase, salt, cost));
    const Bytes associated = associated_data(public_key);
    std::array<std::uint8_t, kSealedBytes> sealed;
    crypto_aead_xchacha20poly1305_ietf_encrypt(sealed.data(), nullptr, secret.reveal().data(), SecretKey::kSize,
                                               associated.data(), associated.size(), nullptr, nonce.data(),
                                               key.view().data());
    document.set(
        "encryption",
        json::Object{{"kdf", kKdf}, {"memoryKiB", cost.memory_kib}, {"passes", cost.passes}, {"salt", to_hex(salt)}});
    document.set("cipher", kCipher);
    document.set("nonce", to_hex(nonce));
    document.set("sealed", to_hex(sealed));
    return print_with_checksum(std::move(document));
}

Result<KeyFileInfo, KeyFileFault> read_key_file_public(std::string_view text) {
    TRY(const json::Object document, read_document(text));
    TRY(KeyFile file, read_key_file(document));
    return std::move(file.info);
}

Result<SecretKey, KeyFileFault> open_key_file(std::string_view text, std::optional<ByteView> passphrase,
                                              KdfCost limit) {
    TRY(const json::Object document, read_document(text));
    TRY(KeyFile file, read_key_file(document));
    if (file.info.cost) {
        if (!passphrase) return Fail{KeyFileFault::PassphraseNeeded};
        // No file is made with such a passphrase, so the work can be saved.
        if (passphrase->empty() || passphrase->size() > kPassphraseBytesMax) return Fail{KeyFileFault::WrongPassphrase};
        if (file.info.cost->memory_kib > limit.memory_kib || file.info.cost->passes > limit.passes)
            return Fail{KeyFileFault::TooCostly};
        TRY(const auto key, passphrase_key(*passphrase, file.sealed.salt, *file.info.cost));
        const Bytes associated = associated_data(file.info.public_key);
        if (crypto_aead_xchacha20poly1305_ietf_decrypt(
                file.plain.writable().data(), nullptr, nullptr, file.sealed.secret.data(), file.sealed.secret.size(),
                associated.data(), associated.size(), file.sealed.nonce.data(), key.view().data()) != 0)
            return Fail{KeyFileFault::WrongPassphrase};
    }
    auto secret = SecretKey::from_bytes(file.plain.view());
    if (!secret || secret->public_key() != file.info.public_key) return Fail{KeyFileFault::Mismatch};
    return *std::move(secret);
}

Result<std::string, KeyFileFault> rename_key_file(std::string_view text, std::string_view name) {
    if (!is_key_name(name)) return Fail{KeyFileFault::BadName};
    TRY(json::Object document, read_document(text));
    TRY(read_key_file(document));
    document.set("name", name);
    return print_with_checksum(std::move(document));
}

}  // namespace rhizome::crypto
