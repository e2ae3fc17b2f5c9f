// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "crypto/key_file.h"
#include "support/vectors.h"

namespace rhizome::crypto {
namespace {

using test::text;

std::optional<ByteView> passphrase_of(const boost::json::value& row) {
    const auto* held = row.at("passphrase").if_string();
    if (held == nullptr) return std::nullopt;
    return as_bytes(std::string_view{*held});
}

TEST(KeyFileVectors, Good) {
    const auto file = test::own_vectors("crypto/key_file.json");
    for (const auto& row : file.at("good").as_array()) {
        SCOPED_TRACE(text(row, "why"));
        const auto opened = open_key_file(text(row, "text"), passphrase_of(row));
        ASSERT_TRUE(opened);
        EXPECT_EQ(to_hex(opened->reveal()), text(row, "secret"));
        const auto info = read_key_file_public(text(row, "text"));
        ASSERT_TRUE(info);
        EXPECT_EQ(info->public_key, opened->public_key());

        const Bytes entropy = *from_hex(text(row, "entropy"));
        const auto made =
            make_key_file(info->name, *opened, passphrase_of(row), ByteView{entropy}.first<kKeyFileEntropyBytes>(),
                          info->created, info->cost.value_or(KdfCost{}));
        ASSERT_TRUE(made);
        EXPECT_EQ(*made, text(row, "text"));
    }
}

TEST(KeyFileVectors, Bad) {
    const auto file = test::own_vectors("crypto/key_file.json");
    for (const auto& row : file.at("bad").as_array()) {
        SCOPED_TRACE(text(row, "why"));
        const auto opened = open_key_file(text(row, "text"), passphrase_of(row));
        ASSERT_FALSE(opened);
        EXPECT_EQ(name(opened.error()), text(row, "fault"));
    }
}

}  // namespace
}  // namespace rhizome::crypto
