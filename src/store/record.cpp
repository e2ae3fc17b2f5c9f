// SPDX-License-Identifier: Apache-2.0
#include "store/record.h"

#include <cstring>

#define XXH_STATIC_LINKING_ONLY  // the state on the stack: an allocation per record would be a waste
#include <xxhash.h>

#include "base/codec.h"
#include "base/ensure.h"

namespace rhizome::store {
namespace {

constexpr std::uint32_t kRecordMagic = 0x43455a52;             // "RZEC"
constexpr std::uint64_t kSegmentMagic = 0x31474f4c455a4952;    // "RIZELOG1"
constexpr std::size_t kChecksumOffset = kRecordHeadBytes - 8;  // the last field
constexpr std::size_t kSegmentChecksumOffset = kSegmentHeadBytes - 8;

std::uint64_t checksum_of(ByteView bytes, std::uint64_t salt = 0) {
    return XXH3_64bits_withSeed(bytes.data(), bytes.size(), salt);
}

std::uint64_t read_u64(ByteView bytes, std::size_t offset) {
    std::uint64_t value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

bool is_zero(ByteView bytes) {
    // Compared with itself one byte further on: as fast as memory.
    return bytes.empty() || (bytes[0] == 0 && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

}  // namespace

std::uint64_t checksum_of(std::span<const ByteView> parts, std::uint64_t salt) {
    if (parts.size() == 1) return checksum_of(parts[0], salt);
    XXH3_state_t state;  // several hundred bytes: on the stack, no allocation
    // Resetting believes a state that happens to have the same seed: what lies on the stack may be an older one whose
    // rest was overwritten.
    XXH3_INITSTATE(&state);
    XXH3_64bits_reset_withSeed(&state, salt);
    for (const ByteView part : parts) XXH3_64bits_update(&state, part.data(), part.size());
    return XXH3_64bits_digest(&state);
}

std::array<std::uint8_t, kRecordHeadBytes> encode_head(RecordHead& head, std::span<const ByteView> payload,
                                                       std::uint64_t salt) {
    std::size_t length = 0;
    for (const ByteView part : payload) length += part.size();
    ensure(length <= kPayloadBytesMax, "records are bounded before they come here");
    head.length = static_cast<std::uint32_t>(length);

    Writer out{kRecordHeadBytes};
    out.u32(kRecordMagic).u8(static_cast<std::uint8_t>(head.kind)).u8(0).u16(0).u32(head.length).u32(0);
    out.u64(head.sequence).u64(head.durable).u64(head.link);
    std::vector<ByteView> parts{out.view()};
    parts.insert(parts.end(), payload.begin(), payload.end());
    head.checksum = checksum_of(parts, salt);
    out.u64(head.checksum);
    std::array<std::uint8_t, kRecordHeadBytes> bytes{};
    std::memcpy(bytes.data(), out.view().data(), bytes.size());
    return bytes;
}

std::string_view name(RecordFault fault) {
    switch (fault) {
        case RecordFault::Empty: return "nothing was written here";
        case RecordFault::BadMagic: return "no record begins here";
        case RecordFault::BadHead: return "the record's head is damaged";
        case RecordFault::Truncated: return "the record runs past the end of its file";
        case RecordFault::BadChecksum: return "the record's checksum is wrong";
    }
    unreachable("every fault has a name");
}

Result<RecordHead, RecordFault> decode_head(ByteView bytes) {
    if (bytes.size() < kRecordHeadBytes) return Fail{is_zero(bytes) ? RecordFault::Empty : RecordFault::Truncated};
    bytes = bytes.first(kRecordHeadBytes);
    std::uint32_t magic;
    std::memcpy(&magic, bytes.data(), sizeof magic);
    if (magic != kRecordMagic) return Fail{is_zero(bytes) ? RecordFault::Empty : RecordFault::BadMagic};
    std::uint32_t length;
    std::memcpy(&length, bytes.data() + 8, sizeof length);
    const std::uint8_t kind = bytes[4];
    if (kind < static_cast<std::uint8_t>(RecordKind::Carry) ||
        kind > static_cast<std::uint8_t>(RecordKind::VotesKnown) || !is_zero(bytes.subspan(5, 3)) ||
        !is_zero(bytes.subspan(12, 4)) || length > kPayloadBytesMax)
        return Fail{RecordFault::BadHead};
    return RecordHead{.kind = static_cast<RecordKind>(kind),
                      .length = length,
                      .sequence = read_u64(bytes, 16),
                      .durable = read_u64(bytes, 24),
                      .link = read_u64(bytes, 32),
                      .checksum = read_u64(bytes, kChecksumOffset)};
}

Result<RecordView, RecordFault> decode_record(ByteView bytes, std::uint64_t salt) {
    TRY(const auto head, decode_head(bytes));
    if (bytes.size() < record_bytes(head.length)) return Fail{RecordFault::Truncated};
    const ByteView payload = bytes.subspan(kRecordHeadBytes, head.length);
    const std::array<ByteView, 2> parts{bytes.first(kChecksumOffset), payload};
    if (checksum_of(parts, salt) != head.checksum) return Fail{RecordFault::BadChecksum};
    const std::size_t end = kRecordHeadBytes + head.length;
    if (!is_zero(bytes.subspan(end, record_bytes(head.length) - end))) return Fail{RecordFault::BadChecksum};
    return RecordView{.head = head, .payload = payload};
}

std::array<std::uint8_t, kSegmentHeadBytes> encode_head(const SegmentHead& head) {
    Writer out{kSegmentHeadBytes};
    out.u64(kSegmentMagic).u32(head.schema).u32(head.number).raw(head.chain).u64(head.salt);
    out.u64(checksum_of(out.view()));
    std::array<std::uint8_t, kSegmentHeadBytes> bytes{};
    std::memcpy(bytes.data(), out.view().data(), bytes.size());
    return bytes;
}

Result<SegmentHead, RecordFault> decode_segment_head(ByteView bytes) {
    if (bytes.size() < kSegmentHeadBytes) return Fail{is_zero(bytes) ? RecordFault::Empty : RecordFault::Truncated};
    bytes = bytes.first(kSegmentHeadBytes);
    if (is_zero(bytes)) return Fail{RecordFault::Empty};
    if (read_u64(bytes, 0) != kSegmentMagic) return Fail{RecordFault::BadMagic};
    if (checksum_of(bytes.first(kSegmentChecksumOffset)) != read_u64(bytes, kSegmentChecksumOffset))
        return Fail{RecordFault::BadChecksum};
    SegmentHead head;
    std::memcpy(&head.schema, bytes.data() + 8, 4);
    std::memcpy(&head.number, bytes.data() + 12, 4);
    std::memcpy(head.chain.data(), bytes.data() + 16, head.chain.size());
    head.salt = read_u64(bytes, 48);
    return head;
}

}  // namespace rhizome::store
