// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/yaml.h"
#include "support/json_values.h"

namespace rhizome::yaml {
namespace {

RC_GTEST_PROP(YamlProperty, WhatIsPrintedIsReadBack, (std::uint64_t seed)) {
    Random random{seed};
    for (int i = 0; i < 20; ++i) {
        const json::Value value = test::random_json(random);
        const std::string text = yaml::print(value);
        const auto parsed = parse(text);
        if (!parsed) RC_FAIL(parsed.error().what + "\n" + text);
        if (!(*parsed == value)) RC_FAIL(json::print(value) + "\n" + json::print(*parsed) + "\n" + text);
    }
}

// YAML is a superset of JSON: the compact text of a value is a YAML document of the same value.
RC_GTEST_PROP(YamlProperty, JsonIsYaml, (std::uint64_t seed)) {
    Random random{seed};
    for (int i = 0; i < 20; ++i) {
        const json::Value value = test::random_json(random);
        // A marker in front keeps the shortcut for JSON away.
        for (const std::string& text :
             {json::print(value), "--- " + json::print(value), "--- " + json::print_pretty(value)}) {
            const auto parsed = parse(text);
            if (!parsed) RC_FAIL(parsed.error().what + "\n" + text);
            if (!(*parsed == value)) RC_FAIL(json::print(value) + "\n" + json::print(*parsed) + "\n" + text);
        }
    }
}

RC_GTEST_PROP(YamlProperty, ManyDocumentsMakeAStream, (std::uint64_t seed)) {
    Random random{seed};
    std::vector<json::Value> values;
    std::string text;
    for (std::uint64_t left = random.below(5); left > 0; --left) {
        values.push_back(test::random_json(random, 2));
        text += "---\n" + yaml::print(values.back());
    }
    const auto parsed = parse_all(text);
    if (!parsed) RC_FAIL(parsed.error().what + "\n" + text);
    RC_ASSERT(*parsed == values);
}

}  // namespace
}  // namespace rhizome::yaml
