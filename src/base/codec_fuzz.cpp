// SPDX-License-Identifier: Apache-2.0
// Drives a Reader with the first bytes as a script of calls and the rest as data: it must never read past the end, and
// whatever it accepts must encode back to the same bytes.
#include "base/codec.h"
#include "support/fuzz_target.h"

using namespace rhizome;

FUZZ_TARGET(codec_fuzz) {
    const ByteView input{data, size};
    const std::size_t calls = std::min<std::size_t>(size, 16);
    Reader in{input.subspan(calls)};
    Writer out;
    std::size_t good = 0;
    for (const std::uint8_t call : input.first(calls)) {
        bool accepted = false;
        switch (call % 8) {
            case 0:
                if (const auto v = in.u8()) accepted = true, out.u8(*v);
                break;
            case 1:
                if (const auto v = in.u16()) accepted = true, out.u16(*v);
                break;
            case 2:
                if (const auto v = in.u32()) accepted = true, out.u32(*v);
                break;
            case 3:
                if (const auto v = in.u64()) accepted = true, out.u64(*v);
                break;
            case 4:
                if (const auto v = in.boolean()) accepted = true, out.boolean(*v);
                break;
            case 5:
                if (const auto v = in.varint()) accepted = true, out.varint(*v);
                break;
            case 6:
                if (const auto v = in.blob(call)) accepted = true, out.blob(*v);
                break;
            case 7:
                if (const auto v = in.short_blob(call)) accepted = true, out.short_blob(*v);
                break;
            default: unreachable("a remainder of eight");
        }
        if (!accepted) break;
        good = in.position();
    }
    const ByteView read = input.subspan(calls).first(good);
    ensure(std::equal(read.begin(), read.end(), out.view().begin(), out.view().end()),
           "what a Reader accepts, a Writer writes again");
    return 0;
}
