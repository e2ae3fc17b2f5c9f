// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/json.h"
#include "support/vectors.h"

namespace rhizome::json {
namespace {

using test::text;

TEST(JsonVectors, AcceptedTextsHaveOneCanonicalText) {
    const auto file = test::own_vectors("json/texts.json");
    for (const auto& row : file.at("accepted").as_array()) {
        const std::string input = text(row, "text");
        const auto value = parse(input);
        ASSERT_TRUE(value.has_value()) << text(row, "name") << ": " << value.error().what;
        EXPECT_TRUE(check(input).has_value()) << text(row, "name");
        EXPECT_EQ(print_canonical(*value), text(row, "canonical")) << text(row, "name");
        EXPECT_EQ(print(*value), text(row, "printed")) << text(row, "name");
    }
}

TEST(JsonVectors, RefusedTextsAreNamedWithTheirPlace) {
    const auto file = test::own_vectors("json/texts.json");
    for (const auto& row : file.at("refused").as_array()) {
        const auto bytes = from_hex(text(row, "hex"));
        ASSERT_TRUE(bytes.has_value()) << text(row, "name");
        const auto value = parse(as_text(*bytes));
        ASSERT_FALSE(value.has_value()) << text(row, "name");
        EXPECT_EQ(name(value.error().fault), text(row, "fault")) << text(row, "name");
        EXPECT_EQ(value.error().offset, row.at("offset").to_number<std::size_t>()) << text(row, "name");
        EXPECT_EQ(check(as_text(*bytes)).error(), value.error()) << text(row, "name");
    }
}

}  // namespace
}  // namespace rhizome::json
