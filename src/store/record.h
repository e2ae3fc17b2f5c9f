// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

/// How one record of the log looks: docs/spec/store.md. Pure; the files are `segment_log.h`'s business.
namespace rhizome::store {

/// What a record says. Values are on disks: never reuse one.
enum class RecordKind : std::uint8_t {
    Carry = 1,   ///< first in every segment: what older segments said that still holds
    Block = 2,   ///< a block, kept
    Append = 3,  ///< a block that became the tip
    Tip = 4,     ///< the tip is now another block kept before
    Final = 5,   ///< a block became final
    Vote = 6,    ///< what the node signed last
    // Only in backups, where records stand in one file:
    State = 7,  ///< the next bytes of a snapshot
    Note = 8,   ///< a small value of somebody else
    End = 9,    ///< nothing follows: the file is whole
    // In the log again:
    VotesLost = 10,   ///< the node may have signed more than its vote record says
    VotesKnown = 11,  ///< what may have been signed meanwhile no longer matters: the record is complete with this one
};

/// In front of every record: magic (4) ‖ kind (1) ‖ zeros (3) ‖ length of the payload (4) ‖ zeros (4) ‖ sequence (8) ‖
/// durable (8) ‖ link (8) ‖ checksum (8). Behind the payload zeros up to a multiple of 16.
struct RecordHead {
    RecordKind kind = RecordKind::Block;
    std::uint32_t length = 0;
    std::uint64_t sequence = 0;  ///< one more than the record's before, over all segments
    /// The highest sequence that was known to be durable when this one was written. What lies below it and cannot be
    /// read was damaged; what lies above it may never have reached the disk.
    std::uint64_t durable = 0;
    std::uint64_t link = 0;  ///< checksum of the record before: records of another history do not fit
    std::uint64_t checksum = 0;
    friend bool operator==(const RecordHead&, const RecordHead&) = default;
};

inline constexpr std::size_t kRecordHeadBytes = 48;
inline constexpr std::size_t kRecordAlignment = 16;
/// A block with its seal is at most 5 MiB; votes and carried facts are far below.
inline constexpr std::size_t kPayloadBytesMax = 16u << 20;

/// Bytes on the disk for a payload: head, payload, padding.
constexpr std::uint64_t record_bytes(std::uint64_t payload) {
    return (kRecordHeadBytes + payload + kRecordAlignment - 1) / kRecordAlignment * kRecordAlignment;
}

/// XXH3 with 64 bits: finds what a disk does to bytes. Against people there are the chain's own hashes.
std::uint64_t checksum_of(std::span<const ByteView> parts, std::uint64_t salt = 0);

/// The head's bytes, with the checksum over itself (without that field) and the payload, which it also sets. `salt` is
/// the segment's.
std::array<std::uint8_t, kRecordHeadBytes> encode_head(RecordHead& head, std::span<const ByteView> payload,
                                                       std::uint64_t salt = 0);

enum class RecordFault : std::uint8_t {
    Empty,  ///< only zeros: nothing was written here
    BadMagic,
    BadHead,    ///< an unknown kind, an impossible length, or bytes that must be zero
    Truncated,  ///< the record runs past the end of its segment
    BadChecksum,
};
std::string_view name(RecordFault fault);

/// The head at the front of `bytes`, if it looks like one; its checksum is not looked at yet.
Result<RecordHead, RecordFault> decode_head(ByteView bytes);

/// The whole record at the front of `bytes`, checked.
struct RecordView {
    RecordHead head{};
    ByteView payload{};
};
Result<RecordView, RecordFault> decode_record(ByteView bytes, std::uint64_t salt = 0);

/// In front of every segment: magic (8) ‖ schema (4) ‖ number (4) ‖ chain id (32) ‖ salt (8) ‖ checksum (8).
inline constexpr std::size_t kSegmentHeadBytes = 64;
struct SegmentHead {
    std::uint32_t schema = 0;
    std::uint32_t number = 0;
    std::array<std::uint8_t, 32> chain{};
    /// Drawn for each segment and known to nobody else: enters the checksums of its records. Without it a transaction
    /// could hold bytes that look like a record, and if the block it is in were torn by a power failure, opening would
    /// take them for proof that something durable is lost. 0 in backups.
    std::uint64_t salt = 0;
    friend bool operator==(const SegmentHead&, const SegmentHead&) = default;
};
std::array<std::uint8_t, kSegmentHeadBytes> encode_head(const SegmentHead& head);
Result<SegmentHead, RecordFault> decode_segment_head(ByteView bytes);

}  // namespace rhizome::store
