// SPDX-License-Identifier: Apache-2.0
#include "ledger/sealed_secret.h"

#include "base/base64.h"
#include "base/codec.h"
#include "base/ensure.h"
#include "ledger/limits.h"

namespace rhizome::ledger {
namespace {

constexpr std::string_view kOurs = "rhizome.dev/";
constexpr json::Limits kContent{.bytes = crypto::kSealPlaintextBytesMax, .depth = kDocumentDepthMax};

struct Sealed {
    crypto::X25519Public key{};
    Bytes box{};
};

Result<Sealed, SecretFault> read_sealed(const json::Value& sealed) {
    const json::Object* members = sealed.if_object();
    if (members == nullptr || members->size() != 2) return Fail{SecretFault::Malformed};
    const std::string_view digits = sealed.text_at({"key"});
    const auto key = crypto::X25519Public::from_hex(digits);
    if (!key || key->hex() != digits || !crypto::is_canonical(*key)) return Fail{SecretFault::Malformed};
    auto box = from_base64(sealed.text_at({"box"}));
    if (!box || box->empty()) return Fail{SecretFault::Malformed};
    return Sealed{.key = *key, .box = *std::move(box)};
}

Bytes associated_of(const json::Value& secret, const ChainId& chain) {
    Writer out;
    out.raw(as_bytes("rhizome secret 1")).id(chain);
    for (const std::string_view part : {secret.text_at({"metadata", "namespace"}), secret.text_at({"metadata", "name"}),
                                        secret.text_at({"metadata", "uid"}), secret.text_at({"type"})})
        out.blob(as_bytes(part));
    return std::move(out).take();
}

/// Takes what is to be hidden out of a Secret.
json::Object take_content(json::Value& secret) {
    json::Object content;
    json::Object& members = secret.make_object();
    if (json::Value* data = secret.find("data")) content.set("data", std::move(*data));
    members.erase("data");
    json::Value* metadata = secret.find("metadata");
    if (metadata == nullptr || !metadata->is_object()) return content;
    if (json::Value* fields = metadata->find("managedFields")) content.set("managedFields", std::move(*fields));
    metadata->make_object().erase("managedFields");
    json::Value* annotations = metadata->find("annotations");
    if (annotations == nullptr || !annotations->is_object()) return content;
    json::Object hidden;
    json::Object open;
    for (const auto& [key, value] : *annotations->if_object())
        (std::string_view{key}.starts_with(kOurs) ? open : hidden).set(key, value);
    if (open.empty()) {
        metadata->make_object().erase("annotations");
    } else {
        *annotations = std::move(open);
    }
    if (!hidden.empty()) content.set("annotations", std::move(hidden));
    return content;
}

/// Puts it back. False when the content has anything else in it.
bool put_content(json::Value& secret, const json::Object& content) {
    for (const auto& [key, value] : content) {
        if (key == "data") {
            secret["data"] = value;
        } else if (key == "managedFields") {
            secret["metadata"]["managedFields"] = value;
        } else if (key == "annotations" && value.is_object()) {
            json::Value& annotations = secret["metadata"]["annotations"];
            if (!annotations.is_object()) annotations = json::Object{};
            for (const auto& [name, text] : *value.if_object()) annotations[name] = text;
        } else {
            return false;
        }
    }
    return true;
}

}  // namespace

std::string_view name(SecretFault fault) {
    switch (fault) {
        case SecretFault::Malformed: return "Malformed";
        case SecretFault::NotOpened: return "NotOpened";
        case SecretFault::TooLarge: return "TooLarge";
    }
    unreachable("a SecretFault has a name");
}

Error to_error(SecretFault fault) {
    switch (fault) {
        case SecretFault::Malformed: return {ErrorKind::Corrupt, "what is sealed there is not in the form of a Secret"};
        case SecretFault::NotOpened:
            return {ErrorKind::Corrupt,
                    "its sealed data do not open: they were changed, or moved there from another "
                    "Secret; write its data anew, or delete it"};
        case SecretFault::TooLarge: return {ErrorKind::Exhausted, "the Secret is too large to be sealed"};
    }
    unreachable("a SecretFault has a sentence");
}

Result<void, Reject> check_secret(const json::Value& document) {
    for (const std::string_view clear : {"data", "stringData"}) {
        const json::Value* found = document.find(clear);
        if (found == nullptr || found->is_null() || (found->is_object() && found->if_object()->empty())) continue;
        return reject(
            RejectCode::SchemaInvalid,
            "a Secret's data are never written to the chain in clear: use kubectl, or seal the document first "
            "(rhizome secret seal)");
    }
    const json::Value* sealed = document.find("sealed");
    if (sealed != nullptr && !read_sealed(*sealed))
        return reject(RejectCode::SchemaInvalid, "sealed is not {\"key\":<64 digits>,\"box\":<base64>}");
    return {};
}

Result<std::optional<crypto::X25519Public>, SecretFault> key_of_secret(const json::Value& document) {
    const json::Value* sealed = document.find("sealed");
    if (sealed == nullptr) return std::optional<crypto::X25519Public>{};
    TRY(const Sealed read, read_sealed(*sealed));
    return std::optional{read.key};
}

Result<json::Value, SecretFault> seal_secret(json::Value secret, const crypto::X25519Public& key, const ChainId& chain,
                                             std::span<const std::uint8_t, crypto::kSealEntropyBytes> entropy) {
    if (secret.find("sealed") != nullptr && secret.find("data") == nullptr) return secret;
    std::string content = json::print(take_content(secret));
    content.resize((content.size() + kSecretPadding - 1) / kSecretPadding * kSecretPadding, ' ');
    const auto box = crypto::seal(as_bytes(content), std::span{&key, 1}, associated_of(secret, chain), entropy);
    wipe({reinterpret_cast<std::uint8_t*>(content.data()), content.size()});
    if (!box) return Fail{box.error() == crypto::SealFault::TooLarge ? SecretFault::TooLarge : SecretFault::Malformed};
    secret["sealed"] = json::Object{{"key", key.hex()}, {"box", to_base64(*box)}};
    return secret;
}

Result<json::Value, SecretFault> open_secret(json::Value document, const crypto::X25519Secret& key,
                                             const ChainId& chain) {
    const json::Value* sealed = document.find("sealed");
    if (sealed == nullptr) return document;
    TRY(const Sealed read, read_sealed(*sealed));
    if (read.key != key.public_key()) return Fail{SecretFault::NotOpened};
    const auto content = crypto::open(read.box, key, associated_of(document, chain));
    if (!content) return Fail{SecretFault::NotOpened};
    const auto parsed = json::parse(as_text(content->view()), kContent);
    if (!parsed || !parsed->is_object()) return Fail{SecretFault::Malformed};
    document.make_object().erase("sealed");
    if (!put_content(document, *parsed->if_object())) return Fail{SecretFault::Malformed};
    return document;
}

}  // namespace rhizome::ledger
