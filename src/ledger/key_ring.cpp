// SPDX-License-Identifier: Apache-2.0
#include "ledger/key_ring.h"

#include <algorithm>
#include <initializer_list>

#include <fmt/core.h>

#include "base/codec.h"
#include "base/ensure.h"
#include "crypto/hash.h"
#include "ledger/chain_records.h"
#include "ledger/limits.h"

namespace rhizome::ledger {
namespace {

constexpr std::string_view kApiVersion = "rhizome.dev/v1";
/// Digits of the digest behind the key in a name: enough that two documents of one key never share it by accident.
constexpr std::size_t kNameBytes = 8;

/// magic, version, ephemeral, commitment, count, wrapped keys, length, 32 bytes and their tag.
std::size_t sealed_size(std::size_t holders) {
    return 4 + 1 + 32 + 32 + (holders < 128 ? 1 : 2) + holders * 56 + 4 + 32 + 16;
}

Fail<Reject> malformed(std::string_view place, std::string_view what) {
    return reject(RejectCode::BadEncoding, fmt::format("{} {}", place, what));
}

Result<const json::Object*, Reject> object_with(const json::Value* value, std::string_view place,
                                                std::initializer_list<std::string_view> members) {
    const json::Object* object = value == nullptr ? nullptr : value->if_object();
    if (object == nullptr) return malformed(place, "is no object");
    for (const std::string_view key : members)
        if (!object->contains(key)) return malformed(place, fmt::format("has no \"{}\"", key));
    if (object->size() != members.size()) return malformed(place, "has a member that is not known");
    return object;
}

Result<std::string, Reject> text_in(const json::Object& object, std::string_view key) {
    const std::string* text = object.find(key)->if_string();
    if (text == nullptr) return malformed(key, "is no string");
    return *text;
}

/// In one spelling, so that a document has one form.
Result<Bytes, Reject> hex_in(const json::Object& object, std::string_view key) {
    TRY(const std::string digits, text_in(object, key));
    auto bytes = from_hex(digits);
    if (!bytes || to_hex(*bytes) != digits) return malformed(key, "is not in lower-case hexadecimal");
    return *std::move(bytes);
}

template <std::size_t N>
Result<void, Reject> fill_from(const json::Object& object, std::string_view key, std::span<std::uint8_t, N> out) {
    TRY(const Bytes bytes, hex_in(object, key));
    if (bytes.size() != N) return malformed(key, fmt::format("is not {} bytes", N));
    std::copy(bytes.begin(), bytes.end(), out.begin());
    return {};
}

Result<crypto::X25519Public, Reject> key_in(const json::Object& object) {
    crypto::X25519Public key;
    TRY(fill_from(object, "key", key.writable()));
    if (!crypto::is_canonical(key)) return malformed("key", "is no X25519 key in its one form");
    return key;
}

Result<std::vector<KeyRing::Holder>, Reject> holders_in(const json::Object& spec) {
    const json::Array* all = spec.find("holders")->if_array();
    if (all == nullptr || all->empty() || all->size() > kKeyRingHoldersMax)
        return malformed("holders", fmt::format("is not an array of 1 to {}", kKeyRingHoldersMax));
    std::vector<KeyRing::Holder> holders;
    for (const json::Value& each : *all) {
        TRY(const json::Object* one, object_with(&each, "holders", {"node", "key"}));
        KeyRing::Holder holder;
        TRY(holder.node, text_in(*one, "node"));
        if (holder.node.empty() || holder.node.size() > state::kNameBytesMax) return malformed("node", "is no name");
        TRY(holder.key, key_in(*one));
        if (!holders.empty() && !(holders.back().key < holder.key))
            return malformed("holders", "is not in the order of the keys, each once");
        holders.push_back(std::move(holder));
    }
    return holders;
}

std::string name_of(const KeyRing& ring, const ChainId& chain) {
    const crypto::Digest digest = digest_of(ring, chain);
    return fmt::format("{}.{}", ring.key, to_hex(digest.view().first<kNameBytes>()));
}

}  // namespace

crypto::Digest digest_of(const KeyRing& ring, const ChainId& chain) {
    // As `tagged_hash` does it, under a name of its own.
    static const crypto::Hash256 tag = crypto::sha256(as_bytes("rhizome/keyring"));
    Writer out;
    out.id(chain).id(ring.key).u64(ring.generation).raw(ring.by).varint(ring.holders.size());
    for (const KeyRing::Holder& one : ring.holders) out.id(one.key).short_blob(as_bytes(one.node));
    out.blob(ring.sealed);
    crypto::Sha256 hasher;
    hasher.update(tag.view()).update(tag.view()).update(out.view());
    return crypto::Digest{hasher.finish().view()};
}

Bytes key_ring_associated(const crypto::X25519Public& key, const ChainId& chain) {
    Writer out;
    out.raw(as_bytes("rhizome keyring 1")).id(chain).id(key);
    return std::move(out).take();
}

json::Object to_document(const KeyRing& ring, const ChainId& chain) {
    json::Array holders;
    for (const KeyRing::Holder& one : ring.holders)
        holders.emplace_back(json::Object{{"node", one.node}, {"key", one.key.hex()}});
    return {{"apiVersion", kApiVersion},
            {"kind", kKeyRingKind},
            {"metadata", json::Object{{"name", name_of(ring, chain)}}},
            {"spec", json::Object{{"key", ring.key.hex()},
                                  {"generation", ring.generation},
                                  {"holders", std::move(holders)},
                                  {"sealed", to_hex(ring.sealed)},
                                  {"by", to_hex(ring.by)},
                                  {"signature", to_hex(ring.signature)}}}};
}

Result<KeyRing, Reject> read_key_ring(const json::Value& document) {
    TRY(object_with(&document, "the KeyRing", {"apiVersion", "kind", "metadata", "spec"}));
    if (document.text_at({"apiVersion"}) != kApiVersion) return malformed("apiVersion", "is not rhizome.dev/v1");
    if (document.text_at({"kind"}) != kKeyRingKind) return malformed("kind", "is not KeyRing");
    TRY(object_with(document.find("metadata"), "metadata", {"name"}));
    TRY(const json::Object* spec,
        object_with(document.find("spec"), "spec", {"key", "generation", "holders", "sealed", "by", "signature"}));
    KeyRing ring;
    TRY(ring.key, key_in(*spec));
    const auto generation = spec->find("generation")->if_int64();
    if (!generation || *generation < 1 || static_cast<std::uint64_t>(*generation) > kGenerationMax)
        return malformed("generation", "is no number from 1 to 2^53");
    ring.generation = static_cast<std::uint64_t>(*generation);
    TRY(ring.holders, holders_in(*spec));
    TRY(ring.sealed, hex_in(*spec, "sealed"));
    if (ring.sealed.size() != sealed_size(ring.holders.size()))
        return malformed("sealed", "is no envelope for so many holders");
    TRY(fill_from(*spec, "by", std::span{ring.by}));
    TRY(fill_from(*spec, "signature", std::span{ring.signature}));
    return ring;
}

Result<void, Reject> check_key_ring(const json::Value& document, const WorkingState& state) {
    TRY(const KeyRing ring, read_key_ring(document));
    const state::Entry* id = state.find(records::chain_id());
    if (id == nullptr || id->bytes().size() != ChainId::kSize)
        return reject(RejectCode::NotAuthorised, "the state does not know its chain id yet: wait for the next block");
    const ChainId chain{id->bytes().first<ChainId::kSize>()};
    if (document.text_at({"metadata", "name"}) != name_of(ring, chain))
        return malformed("metadata.name", "does not follow from what the KeyRing says");
    if (state.find(records::member(ring.by)) == nullptr)
        return reject(RejectCode::NotAuthorised, fmt::format("{} is no member", to_hex(ring.by)));
    const auto key = crypto::PublicKey::parse(ring.by);
    const auto signature = crypto::Signature::from_compact(ring.signature);
    if (!key || !signature || !crypto::verify(*key, digest_of(ring, chain), *signature))
        return reject(RejectCode::NotAuthorised, "the member it names did not sign it");
    return {};
}

Tx key_ring_tx(const KeyRing& ring, const ChainId& chain, const state::StateView& state, Time now) {
    const state::Entry* cluster = state.get(state::Path::cluster());
    ensure(cluster != nullptr, "a chain has a Cluster");
    return {.inputs = {{.previous = cluster->origin().lock.output}},
            .outputs = {{.value = json::print(to_document(ring, chain))}},
            .expiry = static_cast<std::uint32_t>(now.unix_seconds() + kExpirySecondsDefault)};
}

state::Prefix all_key_rings() {
    auto prefix = state::Prefix::cluster_scoped_kind(kKeyRingGroup, kKeyRingKind);
    ensure(prefix.has_value(), "a kind's name is a name");
    return *std::move(prefix);
}

}  // namespace rhizome::ledger
