// SPDX-License-Identifier: Apache-2.0
// A segment whose end is whatever a crash left there: opening finds an end that can be appended to, or says that
// something is damaged. The input is a list of records, each right or spoilt in a way of its own.
#include "store/segment_log.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

#include "base/codec.h"
#include "base/ensure.h"
#include "support/fuzz_target.h"

using namespace rhizome;
using namespace rhizome::store;

namespace {

constexpr std::size_t kSegmentBytes = 8192;

/// In memory where there is such a place; goes away with the process.
class Folder {
public:
    Folder() {
        std::error_code ignored;
        std::string name = std::filesystem::exists("/dev/shm", ignored) ? "/dev/shm/" : "/tmp/";
        name += "rhizome-fuzz-XXXXXX";
        ensure(::mkdtemp(name.data()) != nullptr, "a place for a log");
        path = name;
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
    std::filesystem::path path;
};

void put_record(Writer& out, RecordHead head, ByteView payload) {
    const auto front = encode_head(head, std::span{&payload, 1});
    out.raw(front).raw(payload);
    while (out.size() % kRecordAlignment != 0) out.u8(0);
}

Bytes segment_of(ByteView input) {
    Writer out;
    out.raw(encode_head(SegmentHead{.schema = 1, .number = 1}));
    std::uint64_t sequence = 1;
    const Bytes carry{'c'};
    RecordHead last{.kind = RecordKind::Carry, .sequence = sequence};
    const ByteView first{carry};
    put_record(out, last, first);
    (void)encode_head(last, std::span{&first, 1});
    for (Reader in{input}; out.size() + 600 < kSegmentBytes;) {
        const auto kind = in.u8();
        const auto flags = in.u8();
        const auto length = in.u8();
        if (!kind || !flags || !length) break;
        const auto payload = in.raw(std::min<std::size_t>(*length, in.left()));
        if (!payload) break;
        if ((*flags & 1) != 0) {  // no record at all
            out.raw(*payload);
            while (out.size() % kRecordAlignment != 0) out.u8(0);
            continue;
        }
        RecordHead head{.kind = static_cast<RecordKind>(1 + *kind % 11),
                        .sequence = ++sequence + ((*flags & 2) != 0 ? 1 : 0),
                        .durable = (*flags & 4) != 0 ? sequence - 1 : *kind,
                        .link = (*flags & 8) != 0 ? 0 : last.checksum};
        const std::size_t at = out.size();
        put_record(out, head, *payload);
        const ByteView view = *payload;
        (void)encode_head(head, std::span{&view, 1});
        last = head;
        if ((*flags & 16) != 0) {  // a byte of it changed
            Bytes bytes = std::move(out).take();
            bytes[at + *kind % (bytes.size() - at)] ^= static_cast<std::uint8_t>(*flags | 1);
            out = Writer{};
            out.raw(bytes);
        }
    }
    Bytes bytes = std::move(out).take();
    bytes.resize(kSegmentBytes);
    return bytes;
}

}  // namespace

FUZZ_TARGET(segment_log_fuzz) {
    static const Folder folder;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path)) std::filesystem::remove(entry.path());
    const Bytes bytes = segment_of({data, size});
    std::ofstream{folder.path / "0000000001.log", std::ios::binary}.write(reinterpret_cast<const char*>(bytes.data()),
                                                                          static_cast<std::streamsize>(bytes.size()));

    std::size_t records = 0;
    LogTail tail;
    const auto open = [&] {
        records = 0;
        tail = {};
        return SegmentLog::open(
            {.folder = folder.path, .segment_bytes = kSegmentBytes, .carry = [] { return Bytes{}; }}, std::nullopt, 0,
            [&](const LogRecord&) -> Result<void> {
                ++records;
                return {};
            },
            tail);
    };
    auto log = open();
    if (!log) {
        ensure(log.error().kind == ErrorKind::Corrupt, log.error().message);
        return 0;
    }
    ensure((*log)->end().position.offset + tail.dropped_bytes <= kSegmentBytes, "the end is inside the segment");
    ensure((*log)->end().sequence == records + 1, "every record up to the end was shown");
    const std::size_t before = records;
    const Bytes vote(40, 1);
    const ByteView view{vote};
    ensure((*log)->append(RecordKind::Vote, std::span{&view, 1}).has_value(), "the end can be appended to");
    log->reset();
    log = open();
    ensure(log.has_value() && records == before + 1 && tail.dropped_bytes == 0, "what was opened opens again");
    return 0;
}
