// SPDX-License-Identifier: Apache-2.0
#include "base/base64.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace rhizome {
namespace {

TEST(Base64, IsThatOfRfc4648) {
    const std::pair<std::string_view, std::string_view> rows[] = {{"", ""},
                                                                  {"f", "Zg=="},
                                                                  {"fo", "Zm8="},
                                                                  {"foo", "Zm9v"},
                                                                  {"foob", "Zm9vYg=="},
                                                                  {"fooba", "Zm9vYmE="},
                                                                  {"foobar", "Zm9vYmFy"}};
    for (const auto& [plain, coded] : rows) {
        EXPECT_EQ(to_base64(as_bytes(plain)), coded);
        EXPECT_EQ(from_base64(coded), to_bytes(as_bytes(plain)));
    }
}

TEST(Base64, HasOneSpelling) {
    for (const std::string_view bad :
         {"Zg", "Zg=", "Zg===", "====", "=", "Z===", "Zh==", "Zm9=", "Zm 9", "Zm9v\n", "Zm-_", "Zg==Zg==", "Z=g="})
        EXPECT_FALSE(from_base64(bad)) << bad;
}

TEST(Base64, ComesBackAsItWent) {
    Random random{11};
    for (std::size_t size = 0; size < 200; ++size) {
        Bytes bytes(size);
        random.fill(bytes);
        EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
    }
}

}  // namespace
}  // namespace rhizome
