// SPDX-License-Identifier: Apache-2.0
#include "net/beacon_message.h"

#include <algorithm>

#include "base/ensure.h"
#include "crypto/hash.h"

namespace rhizome::net {
namespace {

constexpr std::array<std::uint8_t, 4> kBeaconMagic{'r', 'h', 'z', 'b'};
constexpr std::uint8_t kBeaconVersion = 1;
constexpr std::size_t kSignedBytes = kBeaconBytes - crypto::Signature::kCompactSize;

crypto::Digest beacon_digest(ByteView body) {
    return crypto::Digest{crypto::tagged_hash(crypto::HashTag::Transport, as_bytes("rhizome/lan-beacon"), body).view()};
}

}  // namespace

Bytes encode_beacon(const BeaconMessage& message, const crypto::SecretKey& key) {
    Writer out;
    out.raw(kBeaconMagic).u8(kBeaconVersion).raw(message.chain).raw(message.key).u16(message.port);
    out.u64(static_cast<std::uint64_t>(message.time.unix_millis()));
    const auto signature = crypto::sign(key, beacon_digest(out.view())).to_compact();
    out.raw(signature);
    ensure(out.view().size() == kBeaconBytes, "a beacon has one size");
    return std::move(out).take();
}

Result<BeaconMessage, DecodeFault> decode_beacon(ByteView bytes) {
    Reader in{bytes};
    BeaconMessage message;
    TRY(const auto magic, in.array<4>());
    TRY(const auto version, in.u8());
    if (magic != kBeaconMagic || version != kBeaconVersion) return Fail{DecodeFault::BadValue};
    TRY(message.chain, in.array<32>());
    TRY(message.key, in.array<33>());
    TRY(message.port, in.u16());
    TRY(const auto millis, in.u64());
    // Beyond the year 9999 nothing is a time.
    if (message.port == 0 || millis > 253'402'300'799'999) return Fail{DecodeFault::BadValue};
    message.time = Time::from_unix_millis(static_cast<std::int64_t>(millis));
    TRY(in.array<crypto::Signature::kCompactSize>());
    TRY(in.finish());
    return message;
}

bool is_beacon_signed(const BeaconMessage& message, ByteView bytes) {
    if (bytes.size() != kBeaconBytes) return false;
    const auto key = crypto::PublicKey::parse(message.key);
    const auto signature = crypto::Signature::from_compact(bytes.subspan(kSignedBytes));
    return key && signature && crypto::verify(*key, beacon_digest(bytes.first(kSignedBytes)), *signature);
}

std::optional<BeaconMessage> BeaconGate::hear(ByteView bytes, const std::string& from, Time now) {
    const auto message = decode_beacon(bytes);
    if (!message) {
        ++counts_.malformed;
        return std::nullopt;
    }
    if (message->chain != chain_) {
        ++counts_.foreign;
        return std::nullopt;
    }
    if (message->key == self_) return std::nullopt;
    if (message->time > now + kClockApart || message->time < now - kClockApart) return std::nullopt;
    if (const auto known = known_.find(message->key); known != known_.end()) {
        const Known& last = known->second;
        const bool is_same = last.from == from && last.port == message->port;
        if (is_same && now >= last.heard && now < last.heard + kAgain) return std::nullopt;
    }
    if (now < second_ || now >= second_ + seconds{1}) {
        second_ = now;
        checks_ = 0;
    }
    if (checks_ >= kChecksPerSecond) {
        ++counts_.too_many;
        return std::nullopt;
    }
    ++checks_;
    ++counts_.checked;
    if (!is_beacon_signed(*message, bytes)) {
        ++counts_.forged;
        return std::nullopt;
    }
    if (!known_.contains(message->key) && known_.size() >= kKnownMax)
        known_.erase(std::min_element(known_.begin(), known_.end(), [](const auto& left, const auto& right) {
            return left.second.heard < right.second.heard;
        }));
    known_.insert_or_assign(message->key, Known{from, message->port, now});
    return *message;
}

}  // namespace rhizome::net
