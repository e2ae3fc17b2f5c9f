// SPDX-License-Identifier: Apache-2.0
// Parses a stranger's YAML. What is accepted must print to YAML and to JSON of the same value, and JSON that our JSON
// parser accepts must mean the same as YAML, if it is YAML at all.
#include "base/bytes.h"
#include "base/yaml.h"
#include "support/fuzz_target.h"

using namespace rhizome;

FUZZ_TARGET(yaml_fuzz) {
    constexpr json::Limits kLimits{.bytes = 1u << 16, .depth = 64};
    constexpr json::Limits kWide{.bytes = 1u << 24, .depth = 64};
    const std::string_view text = as_text({data, size});
    if (const auto value = json::parse(text, kLimits)) {
        // A marker in front keeps the shortcut for JSON away.
        const auto as_yaml = yaml::parse("--- " + std::string(text), kWide);
        ensure(!as_yaml.has_value() || *as_yaml == *value, "JSON means the same as YAML");
    }
    const auto documents = yaml::parse_all(text, kLimits);
    if (!documents) {
        ensure(documents.error().offset <= size && !documents.error().what.empty(), "a fault has a place and words");
        return 0;
    }
    for (const json::Value& value : *documents) {
        const auto again = yaml::parse(yaml::print(value), kWide);
        ensure(again.has_value() && *again == value, "what is printed as YAML is read back");
        const auto json_again = json::parse(json::print(value), kWide);
        ensure(json_again.has_value() && *json_again == value, "what is printed as JSON is read back");
    }
    return 0;
}
