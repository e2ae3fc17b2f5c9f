// SPDX-License-Identifier: Apache-2.0
#include "http/detail/gzip.h"

#include <zlib.h>

#include <array>

#include "base/ensure.h"

namespace rhizome::http::detail {
namespace {

/// Lists of documents shrink tenfold at the cheapest level; the dearest takes five times as long for a tenth more.
constexpr int kLevel = 1;
constexpr int kGzipWindow = 15 + 16;  ///< 32 KB, with gzip's frame

}  // namespace

struct Gzip::Inside {
    z_stream stream{};
};

Gzip::Gzip() : inside_(std::make_unique<Inside>()) {
    ensure(deflateInit2(&inside_->stream, kLevel, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) == Z_OK,
           "there is memory to compress with");
}
Gzip::~Gzip() { deflateEnd(&inside_->stream); }

std::string Gzip::add(std::string_view piece, bool last) {
    std::string out;
    std::array<char, 16 * 1024> room;  // NOLINT(cppcoreguidelines-pro-type-member-init): written before it is read
    z_stream& stream = inside_->stream;
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
    stream.avail_in = static_cast<uInt>(piece.size());
    do {
        stream.next_out = reinterpret_cast<Bytef*>(room.data());
        stream.avail_out = room.size();
        const int result = deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
        ensure(result != Z_STREAM_ERROR, "compressing goes on where it stopped");
        out.append(room.data(), room.size() - stream.avail_out);
    } while (stream.avail_out == 0);
    return out;
}

Result<std::string> gunzip(std::string_view packed, std::size_t bytes_max) {
    z_stream stream{};
    if (inflateInit2(&stream, kGzipWindow) != Z_OK) return fail(ErrorKind::Exhausted, "no memory to unfold gzip with");
    const std::unique_ptr<z_stream, int (*)(z_stream*)> guard{&stream, &inflateEnd};
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream.avail_in = static_cast<uInt>(packed.size());
    std::string out;
    std::array<char, 16 * 1024> room;  // NOLINT(cppcoreguidelines-pro-type-member-init): written before it is read
    for (int result = Z_OK; result != Z_STREAM_END;) {
        stream.next_out = reinterpret_cast<Bytef*>(room.data());
        stream.avail_out = room.size();
        result = inflate(&stream, Z_NO_FLUSH);
        const std::size_t got = room.size() - stream.avail_out;
        if (result != Z_OK && result != Z_STREAM_END)
            return fail(ErrorKind::Invalid, "the gzip text is damaged or cut");
        if (got > bytes_max - out.size())
            return fail(ErrorKind::Exhausted, "the gzip text unfolds into more than is taken here");
        out.append(room.data(), got);
    }
    return out;
}

}  // namespace rhizome::http::detail
