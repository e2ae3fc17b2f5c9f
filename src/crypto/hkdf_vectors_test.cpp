// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "crypto/hkdf.h"
#include "support/vectors.h"

namespace rhizome::crypto {
namespace {

using test::text;

TEST(HkdfVectors, OwnAndRfc5869) {
    const auto file = test::own_vectors("crypto/hkdf.json");
    for (const auto& row : file.at("rows").as_array()) {
        SCOPED_TRACE(text(row, "why"));
        const Bytes salt = *from_hex(text(row, "salt"));
        const Bytes material = *from_hex(text(row, "material"));
        const Bytes info = *from_hex(text(row, "info"));
        const HkdfKey key = hkdf_extract(salt, material);
        EXPECT_EQ(to_hex(key.view()), text(row, "key"));
        Bytes out(text(row, "out").size() / 2);
        hkdf_expand(key, info, out);
        EXPECT_EQ(to_hex(out), text(row, "out"));
        hkdf(salt, material, info, out);
        EXPECT_EQ(to_hex(out), text(row, "out"));
    }
}

TEST(HkdfVectors, MoreThanTheCounterAllowsStopsUs) {
    Bytes out(kHkdfBytesMax + 1);
    EXPECT_DEATH(hkdf({}, {}, {}, out), "255 blocks");
}

}  // namespace
}  // namespace rhizome::crypto
