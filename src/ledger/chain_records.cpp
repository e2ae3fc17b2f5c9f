// SPDX-License-Identifier: Apache-2.0
#include "ledger/chain_records.h"

#include <algorithm>
#include <bit>
#include <charconv>

#include <fmt/core.h>

#include "base/codec.h"
#include "base/ensure.h"

namespace rhizome::ledger::records {
namespace {

state::Path path(std::initializer_list<std::string_view> parts) {
    auto made = state::Path::chain(parts);
    ensure(made.has_value(), "the ledger's own paths are well formed");
    return *std::move(made);
}

state::Prefix prefix(std::string_view part) {
    auto made = state::Prefix::chain({part});
    ensure(made.has_value(), "the ledger's own prefixes are well formed");
    return *std::move(made);
}

std::string_view shown(std::string_view group) { return group.empty() ? "core" : group; }

crypto::Hash256 join(const crypto::Hash256& left, const crypto::Hash256& right) {
    static constexpr std::array<std::uint8_t, 1> kNode{0x01};
    return crypto::sha256(ByteView{kNode}, left.view(), right.view());
}

}  // namespace

state::Path chain_id() { return path({"id"}); }
state::Path parameters() { return path({"parameters"}); }
state::Path clock() { return path({"clock"}); }
state::Path lease(const MemberKey& key) { return path({"leases", to_hex(key)}); }
state::Path member(const MemberKey& key) { return path({"members", to_hex(key)}); }
state::Path node(std::string_view name) { return path({"nodes", name}); }
state::Path replay(std::uint32_t expiry, const TxId& id) {
    // Made several times for every transaction that creates something, so it is put together by hand.
    constexpr std::string_view kFront{"chain\0replay\0", 13};
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string key;
    key.reserve(kFront.size() + 8 + 1 + 2 * TxId::kSize + 1);
    key += kFront;
    for (int shift = 28; shift >= 0; shift -= 4) key += kDigits[expiry >> shift & 0xf];
    key += '\0';
    for (const std::uint8_t byte : id.view()) (key += kDigits[byte >> 4]) += kDigits[byte & 0xf];
    key += '\0';
    return state::Path::from_checked_key(key);
}
state::Path definition(const GroupKind& type) { return path({"definitions", shown(type.group), type.kind}); }
state::Path history() { return path({"history"}); }
state::Path pardon(std::string_view evidence) { return path({"pardons", evidence}); }
state::Path voters() { return path({"voters"}); }

state::Prefix all_replay() { return prefix("replay"); }
state::Prefix all_leases() { return prefix("leases"); }
state::Prefix all_members() { return prefix("members"); }

std::uint32_t replay_expiry(const state::Path& path) {
    const std::string_view key = path.key();
    constexpr std::size_t kStart = sizeof("chain") + sizeof("replay");  // both with their zero bytes
    ensure(key.size() > kStart + 8, "a replay path has an expiry");
    std::uint32_t expiry = 0;
    const auto read = std::from_chars(key.data() + kStart, key.data() + kStart + 8, expiry, 16);
    ensure(read.ec == std::errc{}, "a replay path has an expiry in hexadecimal");
    return expiry;
}

Bytes encode_number(std::uint64_t number) {
    Writer out;
    out.u64(number);
    return std::move(out).take();
}

std::uint64_t decode_number(ByteView bytes) {
    Reader in{bytes};
    const auto number = in.u64();
    ensure(number && in.empty(), "a record of ours that holds a number");
    return *number;
}

Bytes encode(const Definition& definition) {
    Writer out;
    out.boolean(definition.scope == Scope::Namespaced).short_blob(as_bytes(definition.name));
    return std::move(out).take();
}

Definition decode_definition(ByteView bytes) {
    Reader in{bytes};
    const auto namespaced = in.boolean();
    const auto name = in.short_blob(state::kNameBytesMax);
    ensure(namespaced && name && in.empty(), "a record of ours that holds a definition");
    return {*namespaced ? Scope::Namespaced : Scope::ClusterScoped, std::string{as_text(*name)}};
}

Bytes encode_voters(std::vector<MemberKey> voters) {
    std::sort(voters.begin(), voters.end());
    voters.erase(std::unique(voters.begin(), voters.end()), voters.end());
    ensure(voters.size() <= kVotersMax, "consensus keeps to the bound of voters");
    Writer out;
    for (const MemberKey& key : voters) out.raw(key);
    return std::move(out).take();
}

Result<std::vector<MemberKey>, DecodeFault> decode_voters(ByteView bytes) {
    constexpr std::size_t kKeyBytes = std::tuple_size_v<MemberKey>;
    if (bytes.size() % kKeyBytes != 0) return Fail{DecodeFault::Truncated};
    if (bytes.size() / kKeyBytes > kVotersMax) return Fail{DecodeFault::TooLong};
    Reader in{bytes};
    std::vector<MemberKey> voters;
    while (!in.empty()) {
        TRY(const auto key, in.array<kKeyBytes>());
        if (!voters.empty() && voters.back() >= key) return Fail{DecodeFault::NotCanonical};
        voters.push_back(key);
    }
    return voters;
}

void History::append(const BlockHash& hash) {
    static constexpr std::array<std::uint8_t, 1> kLeaf{0x00};
    crypto::Hash256 carry = crypto::sha256(ByteView{kLeaf}, hash.view());
    for (std::uint64_t bits = count; (bits & 1) != 0; bits >>= 1) {
        carry = join(peaks.back(), carry);
        peaks.pop_back();
    }
    peaks.push_back(carry);
    ++count;
}

crypto::Hash256 History::root() const {
    crypto::Hash256 folded{};
    for (std::size_t i = peaks.size(); i-- > 0;) folded = i + 1 == peaks.size() ? peaks[i] : join(peaks[i], folded);
    Writer out;
    out.u64(count).id(folded);
    return crypto::sha256(out.view());
}

Bytes encode(const History& history) {
    Writer out;
    out.u64(history.count);
    for (const auto& peak : history.peaks) out.id(peak);
    return std::move(out).take();
}

Result<History, DecodeFault> decode_history(ByteView bytes) {
    Reader in{bytes};
    History history;
    TRY(history.count, in.u64());
    for (int i = std::popcount(history.count); i > 0; --i) {
        TRY(auto peak, in.id<crypto::Hash256>());
        history.peaks.push_back(peak);
    }
    TRY(in.finish());
    return history;
}

}  // namespace rhizome::ledger::records
