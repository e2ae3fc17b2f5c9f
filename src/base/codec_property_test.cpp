// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/codec.h"

namespace rhizome {
namespace {

RC_GTEST_PROP(CodecProperty, WhatIsWrittenIsReadBack,
              (std::uint64_t varint, std::uint32_t number, bool flag, const Bytes& blob, const Bytes& short_blob)) {
    Writer out;
    out.varint(varint).u32(number).boolean(flag).blob(blob).short_blob(short_blob);
    Reader in{out.view()};
    RC_ASSERT(in.varint() == (Result<std::uint64_t, DecodeFault>{varint}));
    RC_ASSERT(in.u32() == (Result<std::uint32_t, DecodeFault>{number}));
    RC_ASSERT(in.boolean() == (Result<bool, DecodeFault>{flag}));
    RC_ASSERT(to_bytes(*in.blob(blob.size())) == blob);
    RC_ASSERT(to_bytes(*in.short_blob(short_blob.size())) == short_blob);
    RC_ASSERT(in.finish().has_value());
}

// A varint that decodes at all is the only encoding of its value.
RC_GTEST_PROP(CodecProperty, ADecodedVarintEncodesToTheSameBytes, (const Bytes& bytes)) {
    Reader in{bytes};
    const auto value = in.varint();
    if (!value) return;
    Writer out;
    out.varint(*value);
    RC_ASSERT(to_hex(out.view()) == to_hex(ByteView{bytes}.first(in.position())));
}

}  // namespace
}  // namespace rhizome
