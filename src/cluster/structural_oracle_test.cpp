// SPDX-License-Identifier: Apache-2.0
// Somebody else's judgement: npm's ajv, on random schemas and documents.
#include <gtest/gtest.h>

#include "base/random.h"
#include "cluster/structural_values.h"
#include "support/npm_oracle.h"
#include "support/seed.h"

namespace rhizome::cluster {
namespace {

constexpr std::string_view kNames[] = {"a", "b", "c", "d"};
constexpr std::string_view kTexts[] = {"", "x", "xy", "xyz", "ä", "10", "x y"};

json::Value random_scalar(Random& random) {
    switch (random.below(4)) {
        case 0: return static_cast<std::int64_t>(random.below(8)) - 2;
        case 1: return random.chance(1, 2);
        case 2: return json::Value(*json::Number::from_text(random.chance(1, 2) ? "1.5" : "2.0"));
        default: return std::string(kTexts[random.below(std::size(kTexts))]);
    }
}

/// What judges values and stands below `allOf`, `anyOf`, `oneOf` and `not`, or beside a type.
void add_judgement(Random& random, json::Object& schema) {
    const auto number = [&](std::uint64_t most) { return static_cast<std::int64_t>(random.below(most)); };
    switch (random.below(9)) {
        case 0: schema.set("minimum", number(4)); break;
        case 1:
            schema.set("maximum", number(4));
            if (random.chance(1, 2)) schema.set("exclusiveMaximum", true);
            break;
        case 2: schema.set("minLength", number(4)); break;
        case 3: schema.set("maxLength", number(4)); break;
        case 4: schema.set("pattern", random.chance(1, 2) ? "^x" : "y+|[0-9]{2}"); break;
        case 5: schema.set("minProperties", number(3)); break;
        case 6: schema.set("maxItems", number(3)); break;
        case 7: schema.set("multipleOf", 1 + number(3)); break;
        default: {
            json::Array values;
            for (std::uint64_t left = 1 + random.below(3); left > 0; --left) values.push_back(random_scalar(random));
            schema.set("enum", std::move(values));
        }
    }
    if (random.chance(1, 4)) schema.set("required", json::Array{std::string(kNames[random.below(std::size(kNames))])});
}

/// A place that is judged besides: only members that `shape` has.
json::Object random_nested(Random& random, const json::Object& shape, unsigned depth) {
    json::Object schema;
    add_judgement(random, schema);
    const json::Value* properties = shape.find("properties");
    if (depth > 0 && properties != nullptr && !properties->if_object()->empty() && random.chance(1, 2)) {
        const auto& member = *(properties->if_object()->begin() +
                               static_cast<std::ptrdiff_t>(random.below(properties->if_object()->size())));
        schema.set("properties",
                   json::Object{{member.key, random_nested(random, *member.value.if_object(), depth - 1)}});
    }
    if (depth > 0 && random.chance(1, 6)) schema.set("not", random_nested(random, shape, depth - 1));
    return schema;
}

json::Object random_schema(Random& random, unsigned depth, bool root) {
    constexpr std::string_view kTypes[] = {"string", "integer", "number", "boolean", "object", "array"};
    const std::string_view type = root ? "object" : kTypes[random.below(depth == 0 ? 4 : 6)];
    json::Object schema{{"type", type}};
    if (!root && random.chance(1, 8)) {
        schema.set("nullable", true);
        return type == "object" || type == "array" ? json::Object{{"type", "string"}, {"nullable", true}} : schema;
    }
    if (type == "array") schema.set("items", random_schema(random, depth - 1, false));
    if (type == "object") {
        if (!root && random.chance(1, 3)) {
            schema.set("additionalProperties", random_schema(random, depth - 1, false));
        } else {
            json::Object properties;
            for (const std::string_view name : kNames)
                if (random.chance(1, 2)) properties.set(name, random_schema(random, depth - 1, false));
            schema.set("properties", std::move(properties));
        }
    }
    if (random.chance(1, 2)) add_judgement(random, schema);
    for (const std::string_view junctor : {"allOf", "anyOf", "oneOf"}) {
        if (!random.chance(1, 6)) continue;
        json::Array list;
        for (std::uint64_t left = 1 + random.below(3); left > 0; --left)
            list.emplace_back(random_nested(random, schema, 2));
        schema.set(junctor, std::move(list));
    }
    if (random.chance(1, 10)) schema.set("not", random_nested(random, schema, 2));
    return schema;
}

/// Mostly what the schema asks for, so that judgements deeper down are reached.
json::Value random_document(Random& random, const json::Value& schema, unsigned depth) {
    if (random.chance(1, 12)) return random.chance(1, 3) ? json::Value{} : random_scalar(random);
    const std::string_view type = schema.text_at({"type"});
    if (type == "integer") return static_cast<std::int64_t>(random.below(8)) - 2;
    if (type == "number") return json::Value(*json::Number::from_text(random.chance(1, 2) ? "1.5" : "3"));
    if (type == "boolean") return random.chance(1, 2);
    if (type == "string") return std::string(kTexts[random.below(std::size(kTexts))]);
    if (type == "array") {
        json::Array array;
        for (std::uint64_t left = random.below(4); left > 0; --left)
            array.push_back(random_document(random, *schema.find("items"), depth + 1));
        return array;
    }
    json::Object object;
    for (const std::string_view name : kNames) {
        if (!random.chance(2, 3)) continue;
        const json::Value* inside = schema.find_path({"properties", name});
        if (inside == nullptr) inside = schema.find("additionalProperties");
        object.set(name, inside == nullptr ? random_scalar(random) : random_document(random, *inside, depth + 1));
    }
    return object;
}

TEST(StructuralOracle, AgreesWithAjv) {
    test::NpmOracle oracle;
    if (const auto brought = oracle.bring("json_schema.js", {"ajv@8"}); !brought)
        GTEST_SKIP() << brought.error().message;

    constexpr int kSchemas = 1'500;
    constexpr int kDocuments = 12;
    Random random{test::seed_for(1906)};
    std::vector<json::Value> asked;
    for (int round = 0; round < kSchemas; ++round) {
        json::Value schema = random_schema(random, 3, true);
        json::Array documents;
        for (int i = 0; i < kDocuments; ++i) documents.push_back(random_document(random, schema, 0));
        asked.emplace_back(json::Object{{"schema", std::move(schema)}, {"documents", std::move(documents)}});
    }
    const auto answers = oracle.ask(asked);
    ASSERT_TRUE(answers) << answers.error().message;
    std::size_t taken = 0;
    std::size_t refused = 0;
    for (std::size_t round = 0; round < asked.size(); ++round) {
        const json::Value& question = asked[round];
        const json::Value& answer = (*answers)[round];
        FieldErrors errors;
        const auto schema = read_structural(*question.find("schema"), Where{}, errors);
        ASSERT_NE(schema, nullptr) << json::print(question) << text(errors);
        for (std::size_t i = 0; i < kDocuments; ++i) {
            const json::Value& document = (*question.find("documents")->if_array())[i];
            const auto faults = validate_structural(document, *schema);
            const bool theirs = *(*answer.if_array())[i].if_boolean();
            ASSERT_EQ(faults.empty(), theirs) << json::print(*question.find("schema")) << "\n"
                                              << json::print(document) << "\n"
                                              << text(faults);
            ++(theirs ? taken : refused);
        }
    }
    EXPECT_GT(taken, 1'000u);
    EXPECT_GT(refused, 1'000u);
}

}  // namespace
}  // namespace rhizome::cluster
