// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/// What the reader and the writer of JSON both ask about bytes. Not for other modules.
namespace rhizome::json::detail {

/// A byte that stands for itself inside a JSON string and needs no second look: ASCII, no control, no `"`, no `\`.
inline bool is_plain(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

/// The first byte in [at, end) that is not plain, or `end`. Most strings are plain to their end, so this decides the
/// speed of the whole parser: sixteen bytes at a time.
inline const char* skip_plain(const char* at, const char* end) {
#if defined(__SSE2__)
    const __m128i quotes = _mm_set1_epi8('"');
    const __m128i slashes = _mm_set1_epi8('\\');
    const __m128i blanks = _mm_set1_epi8(0x20);
    while (end - at >= 16) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
        // As signed numbers, bytes from 0x80 are negative: one comparison finds them and the controls.
        const __m128i special = _mm_or_si128(
            _mm_or_si128(_mm_cmpeq_epi8(bytes, quotes), _mm_cmpeq_epi8(bytes, slashes)), _mm_cmplt_epi8(bytes, blanks));
        const auto mask = static_cast<unsigned>(_mm_movemask_epi8(special));
        if (mask != 0) return at + __builtin_ctz(mask);
        at += 16;
    }
#endif
    while (at != end && is_plain(*at)) ++at;
    return at;
}

constexpr int kUtf8Cut = -1;  ///< the text ends inside a sequence that is good so far
constexpr int kUtf8Invalid = 0;

/// How many bytes (1 to 4) the UTF-8 sequence at `at` has; `at != end`. Refuses overlong forms, surrogates and what is
/// above U+10FFFF (Unicode 15, table 3-7).
inline int utf8_length(const char* at, const char* end) {
    const auto byte = [at](int i) { return static_cast<unsigned char>(at[i]); };
    const unsigned lead = byte(0);
    if (lead < 0x80) return 1;
    if (lead < 0xc2 || lead > 0xf4) return kUtf8Invalid;
    const int length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    unsigned low = 0x80, high = 0xbf;  // of the second byte
    if (lead == 0xe0) low = 0xa0;
    if (lead == 0xed) high = 0x9f;
    if (lead == 0xf0) low = 0x90;
    if (lead == 0xf4) high = 0x8f;
    for (int i = 1; i < length; ++i) {
        if (at + i == end) return kUtf8Cut;
        if (byte(i) < low || byte(i) > high) return kUtf8Invalid;
        low = 0x80, high = 0xbf;
    }
    return length;
}

/// The end of the JSON number that begins at `at`; `good` says whether it is one, otherwise the answer is the place
/// that is wrong (`end` when the number is cut).
inline const char* skip_number(const char* at, const char* end, bool& good) {
    const auto digit = [&] { return at != end && *at >= '0' && *at <= '9'; };
    good = false;
    if (at != end && *at == '-') ++at;
    if (!digit()) return at;
    if (*at == '0')
        ++at;
    else
        while (digit()) ++at;
    if (at != end && *at == '.') {
        ++at;
        if (!digit()) return at;
        while (digit()) ++at;
    }
    if (at != end && (*at == 'e' || *at == 'E')) {
        ++at;
        if (at != end && (*at == '+' || *at == '-')) ++at;
        if (!digit()) return at;
        while (digit()) ++at;
    }
    good = true;
    return at;
}

}  // namespace rhizome::json::detail
