// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/yaml.h"
#include "support/vectors.h"

namespace rhizome::yaml {
namespace {

using test::text;

TEST(YamlVectors, AcceptedTextsMeanTheirJsonAndPrintAsStated) {
    const auto file = test::own_vectors("yaml/texts.json");
    for (const auto& row : file.at("accepted").as_array()) {
        const auto documents = yaml::parse_all(text(row, "text"));
        ASSERT_TRUE(documents.has_value()) << text(row, "name") << ": " << documents.error().what;
        const auto& expected = row.at("json").as_array();
        ASSERT_EQ(documents->size(), expected.size()) << text(row, "name");
        for (std::size_t i = 0; i < expected.size(); ++i)
            EXPECT_EQ(json::print((*documents)[i]), std::string(expected[i].as_string())) << text(row, "name");
        if (row.as_object().contains("printed")) {
            EXPECT_EQ(yaml::print(documents->front()), text(row, "printed")) << text(row, "name");
        }
    }
}

TEST(YamlVectors, RefusedTextsAreNamedWithTheirPlace) {
    const auto file = test::own_vectors("yaml/texts.json");
    for (const auto& row : file.at("refused").as_array()) {
        const auto value = yaml::parse(text(row, "text"));
        ASSERT_FALSE(value.has_value()) << text(row, "name");
        EXPECT_EQ(name(value.error().fault), text(row, "fault")) << text(row, "name");
        EXPECT_EQ(value.error().line, row.at("line").to_number<std::size_t>()) << text(row, "name");
        EXPECT_EQ(value.error().column, row.at("column").to_number<std::size_t>()) << text(row, "name");
    }
}

}  // namespace
}  // namespace rhizome::yaml
