// SPDX-License-Identifier: Apache-2.0
// Bytes as a broken disk may give them: the first byte says whether they are a record (with a salt in front), the head
// of a segment, or facts. What is decoded is written back to the same bytes.
#include "store/record.h"

#include <algorithm>
#include <cstring>

#include "base/ensure.h"
#include "store/facts.h"
#include "support/fuzz_target.h"

using namespace rhizome;
using namespace rhizome::store;

namespace {

void same(ByteView left, ByteView right, std::string_view what) {
    ensure(std::equal(left.begin(), left.end(), right.begin(), right.end()), what);
}

void try_record(ByteView bytes) {
    if (bytes.size() < 8) return;
    std::uint64_t salt = 0;
    std::memcpy(&salt, bytes.data(), sizeof salt);
    Bytes copy{bytes.begin() + 8, bytes.end()};
    const auto as_given = decode_record(copy, salt);
    const auto head = decode_head(copy);
    ensure(head.has_value() || !as_given, "a record has a head");
    if (!head || copy.size() < record_bytes(head->length)) return;
    // No fuzzer finds a checksum, so the right one is put in place of what stands there.
    const ByteView payload = ByteView{copy}.subspan(kRecordHeadBytes, head->length);
    RecordHead right = *head;
    const auto front = encode_head(right, std::span{&payload, 1}, salt);
    if (as_given) same(front, ByteView{copy}.first(kRecordHeadBytes), "there is one form of a record's head");
    std::copy(front.begin(), front.end(), copy.begin());
    const auto record = decode_record(copy, salt);
    const std::size_t end = kRecordHeadBytes + head->length;
    const ByteView padding = ByteView{copy}.subspan(end, record_bytes(head->length) - end);
    const bool padded = std::all_of(padding.begin(), padding.end(), [](std::uint8_t byte) { return byte == 0; });
    ensure(record.has_value() == padded, "a record is whole when its checksum and its padding are right");
    if (record) ensure(record->head == right, "a head comes back as it was written");
    if (record) same(record->payload, payload, "a payload comes back as it was written");
}

}  // namespace

FUZZ_TARGET(record_fuzz) {
    if (size == 0) return 0;
    const ByteView bytes{data + 1, size - 1};
    switch (data[0] % 3) {
        case 0: try_record(bytes); break;
        case 1:
            if (const auto head = decode_segment_head(bytes))
                same(encode_head(*head), bytes.first(kSegmentHeadBytes), "there is one form of a segment's head");
            break;
        default:
            if (const auto facts = decode_facts(bytes)) same(encode(*facts), bytes, "there is one form of facts");
    }
    return 0;
}
