// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bitset>
#include <memory>
#include <variant>
#include <vector>

#include "consensus/signatures.h"
#include "ledger/reject.h"
#include "state/document.h"

/// What nodes tell each other about documents that live off the chain (events, leases), as values and as bytes
/// (docs/spec/p2p.md). Types 128 to 191 of a frame.
namespace rhizome::core {

/// One version of such a document, or that it is gone, signed by the member that took the write. Of two versions of one
/// document the one with the later stamp stands everywhere, whoever heard of which first; of two with the same stamp
/// the one with the larger digest.
struct PassingRecord {
    consensus::MemberKey writer{};
    Time stamp{};  ///< of the write: the writer's clock, but later than what it had of the document
    Time until{};  ///< then it goes by itself, everywhere
    state::Path path = state::Path::cluster();
    state::EntryPtr entry{};  ///< null: deleted
    consensus::CompactSignature signature{};
};
using SharedRecord = std::shared_ptr<const PassingRecord>;

/// No document off the chain is larger, or stays longer after it was written.
inline constexpr std::size_t kPassingDocumentMax = 64u << 10;
inline constexpr std::chrono::hours kPassingLifeMax{25};

/// What a record's writer signs, and the name of this version: all of it but the signature, on this chain.
crypto::Digest digest_of(const PassingRecord& record, const ledger::ChainId& chain);

/// A document by the first bytes of its key's hash.
using PassingId = Id<struct PassingIdTag, 16>;
PassingId passing_id(const state::Path& path);

/// The first bytes of a version's digest. As many as it takes: who could make two versions with one stamp and one tag
/// would have half of the nodes keep one and half the other, and nobody would notice. With 8 bytes that is an
/// afternoon's work, with 16 it is 2⁶⁴ hashes for one document.
using PassingTag = Id<struct PassingTagTag, 16>;

/// A version by its stamp and its tag: enough to say which of two is newer.
struct PassingVersion {
    Time stamp{};
    PassingTag tag{};
    friend auto operator<=>(const PassingVersion&, const PassingVersion&) = default;
    friend bool operator==(const PassingVersion&, const PassingVersion&) = default;
};
PassingVersion version_of(const PassingRecord& record, const crypto::Digest& digest);
struct PassingName {
    PassingId id{};
    PassingVersion version{};
    friend bool operator==(const PassingName&, const PassingName&) = default;
};

/// As it is written in messages, and in what groups are summed over.
void encode(Writer& out, const PassingName& name);

/// Documents fall into so many groups, by the first byte of their id.
inline constexpr std::size_t kPassingGroups = 256;
/// The first bytes of the hash over a group's names, ids rising. No sum of tags: with some 130 documents of one's
/// choice linear algebra makes two different groups have the same one.
using PassingGroupSum = Id<struct PassingGroupSumTag, 16>;

/// Versions that the receiver may not have.
struct PassingRecords {
    std::vector<SharedRecord> records{};
};
/// "I have these": said of what came from elsewhere.
struct PassingHave {
    std::vector<PassingName> names{};
};
/// "Then send me these."
struct PassingWant {
    std::vector<PassingId> ids{};
};
/// All that the sender has, in one number: said to who connects, and now and then.
struct PassingSum {
    std::uint32_t count = 0;
    crypto::Hash256 sum{};
};
/// The answer of one whose sum is another: the sum of each group.
struct PassingGroups {
    std::array<PassingGroupSum, kPassingGroups> sums{};
};
/// The answer to that: everything that the sender has in the groups that differ, in rising order of the ids. Who hears
/// it asks for what is newer there and sends what is newer here.
struct PassingList {
    std::bitset<kPassingGroups> groups{};
    std::vector<PassingName> names{};
};

using PassingMessage = std::variant<PassingRecords, PassingHave, PassingWant, PassingSum, PassingGroups, PassingList>;
using SharedPassing = std::shared_ptr<const PassingMessage>;

/// First byte of a message, and the place of its type in `PassingMessage` plus 128. Numbers are never used again.
enum class PassingType : std::uint8_t { Records = 128, Have, Want, Sum, Groups, List };
inline constexpr std::uint8_t kFirstPassingType = 128;
std::string_view name(PassingType type);

/// Records in one message: what its signatures cost is paid at once.
inline constexpr std::size_t kPassingRecordsMax = 64;
inline constexpr std::size_t kPassingNamesMax = 1'024;
/// Of a list: more than a node keeps.
inline constexpr std::size_t kPassingListMax = 10'240;
/// Records are sent together up to so much; a larger one goes alone.
inline constexpr std::size_t kPassingBytesTogether = 128u << 10;

/// The most that a payload of this type may have, type included; 0: there is no such type.
[[nodiscard]] std::size_t passing_bytes_max(std::uint8_t type);

Bytes encode(const PassingMessage& message);
/// How many bytes of a message a record takes, about.
[[nodiscard]] std::size_t encoded_size(const PassingRecord& record);
/// BadEncoding or TooLarge with what was wrong. Documents are strict JSON that names itself as its path does; nothing
/// more is known of them, and no signature was looked at.
Result<PassingMessage, ledger::Reject> decode_passing(ByteView bytes);

}  // namespace rhizome::core
