// SPDX-License-Identifier: Apache-2.0
#include "cluster/structural_schema.h"

#include <gtest/gtest.h>

#include "cluster/structural_values.h"

namespace rhizome::cluster {
namespace {

json::Value value_of(std::string_view text) {
    auto value = json::parse(text);
    EXPECT_TRUE(value) << text;
    return value ? *std::move(value) : json::Value{};
}

/// What is wrong with a schema; empty when it is taken.
std::string faults_of(std::string_view schema) {
    FieldErrors errors;
    const auto read = read_structural(value_of(schema), Where{"s"}, errors);
    EXPECT_EQ(read != nullptr, errors.empty());
    return errors.empty() ? std::string{} : text(errors);
}

std::shared_ptr<const StructuralSchema> schema_of(std::string_view schema) {
    FieldErrors errors;
    auto read = read_structural(value_of(schema), Where{}, errors);
    EXPECT_TRUE(errors.empty()) << text(errors);
    return read;
}

TEST(StructuralSchema, RefusesWhatIsNotStructuralWithKubernetesCauses) {
    struct Row {
        std::string_view schema;
        std::string_view says;  // a part of it
    };
    const Row rows[] = {
        {R"({"type":"object"})", ""},
        {R"({"type":"object","properties":{"spec":{"type":"object","properties":{"n":{"type":"integer"}}}}})", ""},
        {R"({})", "s.type: Required value: must not be empty at the root"},
        {R"({"type":"string"})", "s.type: Invalid value: \"string\": must be object at the root"},
        {R"({"type":"object","properties":{"a":{}}})",
         "s.properties[a].type: Required value: must not be empty for specified object fields"},
        {R"({"type":"object","properties":{"a":{"type":"array"}}})",
         "s.properties[a].items: Required value: must be specified"},
        {R"({"type":"object","properties":{"a":{"type":"array","items":{}}}})",
         "s.properties[a].items.type: Required value: must not be empty for specified array items"},
        {R"({"type":"object","properties":{"a":{"type":"text"}}})",
         "s.properties[a].type: Unsupported value: \"text\""},
        {R"({"type":"object","properties":{"a":{"type":"null"}}})",
         "type cannot be set to null, use nullable as an alternative"},
        {R"({"type":"object","properties":{"a":{"$ref":"#"}}})",
         "s.properties[a].$ref: Forbidden: $ref is not supported"},
        {R"({"type":"object","definitions":{"a":{}}})", "s.definitions: Forbidden: definitions is not supported"},
        {R"({"type":"object","patternProperties":{"a":{}}})", "patternProperties is not supported"},
        {R"({"type":"object","properties":{"a":{"type":"array","uniqueItems":true,"items":{"type":"string"}}}})",
         "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"},
        {R"({"type":"object","properties":{"a":{"type":"array","items":[{"type":"string"}]}}})",
         "items must be a schema object and not an array"},
        {R"({"type":"object","additionalProperties":{"type":"string"}})",
         "s.additionalProperties: Forbidden: must not be used at the root"},
        {R"({"type":"object","properties":{"a":{"type":"object","additionalProperties":false}}})",
         "additionalProperties cannot be set to false"},
        {R"({"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"string"}},
             "additionalProperties":{"type":"string"}}}})",
         "additionalProperties and properties are mutual exclusive"},
        {R"({"type":"object","properties":{"a":{"type":"string","pattern":"("}}})",
         "must be a valid regular expression, but isn't"},
        {R"({"type":"object","properties":{"a":{"type":"string"}},"anyOf":[{"properties":{"b":{"minLength":1}}}]})",
         "s.properties[b]: Required value: because it is defined in s.anyOf[0].properties[b]"},
        {R"({"type":"object","properties":{"a":{"type":"string"}},"oneOf":[{"properties":{"a":{"type":"string"}}}]})",
         "s.oneOf[0].properties[a].type: Forbidden: must be empty to be structural"},
        {R"({"type":"object","not":{"description":"x"}})",
         "s.not.description: Forbidden: must be empty to be structural"},
        {R"({"type":"object","properties":{"metadata":{"type":"object","properties":{"labels":{"type":"object"}}}}})",
         "must not specify anything other than name and generateName"},
        {R"({"type":"object","properties":{"a":{"x-kubernetes-int-or-string":true}}})", ""},
        {R"({"type":"object","properties":{"a":{"x-kubernetes-int-or-string":true,
             "anyOf":[{"type":"integer"},{"type":"string"}]}}})",
         ""},
        {R"({"type":"object","properties":{"a":{"type":"object","x-kubernetes-embedded-resource":true}}})",
         "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"},
        {R"({"type":"object","properties":{"a":{"type":"array","x-kubernetes-list-type":"map","items":{"type":"object"}}}})",
         "must not be empty if x-kubernetes-list-type is map"},
        {R"({"type":"object","properties":{"a":{"type":"array","x-kubernetes-list-type":"map",
             "x-kubernetes-list-map-keys":["k"],"items":{"type":"object","properties":{"k":{"type":"string"}}}}}})",
         "it must have a default or be a required property"},
        {R"({"type":"object","properties":{"a":{"type":"array","x-kubernetes-list-type":"map",
             "x-kubernetes-list-map-keys":["k"],
             "items":{"type":"object","required":["k"],"properties":{"k":{"type":"string"}}}}}})",
         ""},
        {R"({"type":"object","properties":{"a":{"type":"object","x-kubernetes-preserve-unknown-fields":false}}})",
         "must be true or undefined"},
        {R"({"type":"object","properties":{"a":{"type":"integer","minimum":2,"default":1}}})",
         "s.properties[a].default: Invalid value: 1: s.properties[a].default in body should be greater than or equal "
         "to 2"},
        {R"({"type":"object","properties":{"a":{"type":"object","default":{"b":1}}}})", "must not have unknown fields"},
    };
    for (const Row& row : rows) {
        const std::string said = faults_of(row.schema);
        if (row.says.empty())
            EXPECT_EQ(said, "") << row.schema;
        else
            EXPECT_NE(said.find(row.says), std::string::npos) << row.schema << "\n" << said;
    }
}

TEST(StructuralSchema, IsBoundedInDepthAndSize) {
    std::string deep = R"({"type":"object"})";
    for (std::size_t i = 0; i < kSchemaDepthMax + 1; ++i) deep = R"({"type":"object","properties":{"a":)" + deep + "}}";
    FieldErrors errors;
    const auto value = json::parse(deep, {.depth = 1000});
    ASSERT_TRUE(value);
    EXPECT_EQ(read_structural(*value, Where{}, errors), nullptr);
    json::Object many;
    for (std::size_t i = 0; i <= kSchemaNodesMax; ++i)
        many.set("p" + std::to_string(i), json::Object{{"type", "string"}});
    errors.clear();
    EXPECT_EQ(read_structural(json::Object{{"type", "object"}, {"properties", std::move(many)}}, Where{}, errors),
              nullptr);
    EXPECT_NE(text(errors).find("Too many"), std::string::npos);
}

constexpr std::string_view kCron = R"({"type":"object","properties":{
  "spec":{"type":"object","required":["cronSpec"],"properties":{
    "cronSpec":{"type":"string","pattern":"^(\\d+|\\*)(/\\d+)?(\\s+(\\d+|\\*)(/\\d+)?){4}$"},
    "image":{"type":"string","minLength":3,"maxLength":8},
    "replicas":{"type":"integer","minimum":1,"maximum":10,"default":1},
    "ratio":{"type":"number","multipleOf":0.01},
    "mode":{"type":"string","enum":["Fast","Slow"],"default":"Slow"},
    "port":{"x-kubernetes-int-or-string":true},
    "at":{"type":"string","format":"date-time"},
    "note":{"type":"string","nullable":true},
    "free":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
    "labels":{"type":"object","maxProperties":2,"additionalProperties":{"type":"string"}},
    "tags":{"type":"array","maxItems":3,"x-kubernetes-list-type":"set","items":{"type":"string"}},
    "ports":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["port"],
      "items":{"type":"object","required":["port"],"properties":{
        "port":{"type":"integer","format":"int32"},"protocol":{"type":"string","default":"TCP"}}}}
  },"oneOf":[{"required":["image"]},{"required":["free"]}]},
  "status":{"type":"object","properties":{"replicas":{"type":"integer"}}}}})";

TEST(StructuralSchema, SaysWhatIsWrongWithADocumentInTheWordsOfKubernetes) {
    const auto schema = schema_of(kCron);
    const auto faults = [&](std::string_view spec) {
        const auto errors =
            validate_structural(value_of(std::string{R"({"spec":)"} + std::string{spec} + "}"), *schema);
        return errors.empty() ? std::string{} : text(errors);
    };
    struct Row {
        std::string_view spec;
        std::string_view says;
    };
    const Row rows[] = {
        {R"({"cronSpec":"* * * * */5","image":"abc"})", ""},
        {R"({"image":"abc"})", "spec.cronSpec: Required value"},
        {R"({"cronSpec":7,"image":"abc"})",
         R"(spec.cronSpec: Invalid value: "integer": spec.cronSpec in body must be of type string: "integer")"},
        {R"({"cronSpec":null,"image":"abc"})",
         R"(spec.cronSpec: Invalid value: "null": spec.cronSpec in body must be of type string: "null")"},
        {R"({"cronSpec":"x","image":"abc"})",
         R"(spec.cronSpec: Invalid value: "x": spec.cronSpec in body should match '^(\d+|\*)(/\d+)?(\s+(\d+|\*)(/\d+)?){4}$')"},
        {R"({"cronSpec":"* * * * *","image":"ab"})",
         R"(spec.image: Invalid value: "ab": spec.image in body should be at least 3 chars long)"},
        {R"({"cronSpec":"* * * * *","image":"123456789"})", "spec.image: Too long: may not be more than 8 bytes"},
        {R"({"cronSpec":"* * * * *","image":"abc","replicas":11})",
         "spec.replicas: Invalid value: 11: spec.replicas in body should be less than or equal to 10"},
        {R"({"cronSpec":"* * * * *","image":"abc","replicas":1.5})",
         R"(spec.replicas: Invalid value: "number": spec.replicas in body must be of type integer: "number")"},
        {R"({"cronSpec":"* * * * *","image":"abc","ratio":0.125})",
         "spec.ratio: Invalid value: 0.125: spec.ratio in body should be a multiple of 0.01"},
        {R"({"cronSpec":"* * * * *","image":"abc","ratio":12.34})", ""},
        {R"({"cronSpec":"* * * * *","image":"abc","mode":"Odd"})",
         R"(spec.mode: Unsupported value: "Odd": supported values: "Fast", "Slow")"},
        {R"({"cronSpec":"* * * * *","image":"abc","port":true})",
         R"(spec.port: Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean")"},
        {R"({"cronSpec":"* * * * *","image":"abc","at":"noon"})",
         R"(spec.at: Invalid value: "noon": spec.at in body must be of type date-time: "noon")"},
        {R"({"cronSpec":"* * * * *","image":"abc","note":null})", ""},
        {R"({"cronSpec":"* * * * *","image":"abc","labels":{"a":"1","b":"2","c":"3"}})",
         "spec.labels: Too many: 3: must have at most 2 items"},
        {R"({"cronSpec":"* * * * *","image":"abc","labels":{"a":1}})",
         R"(spec.labels.a: Invalid value: "integer": spec.labels.a in body must be of type string: "integer")"},
        {R"({"cronSpec":"* * * * *","image":"abc","tags":["a","b","a"]})", R"(spec.tags[2]: Duplicate value: "a")"},
        {R"({"cronSpec":"* * * * *","image":"abc","ports":[{"port":1},{"port":1,"protocol":"UDP"}]})",
         R"(spec.ports[1]: Duplicate value: {"port":1})"},
        {R"({"cronSpec":"* * * * *","image":"abc","ports":[{"port":3000000000}]})",
         "Checked value must be of type integer with format int32 in spec.ports[0].port"},
        {R"({"cronSpec":"* * * * *"})",
         R"(<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found none valid)"},
        {R"({"cronSpec":"* * * * *","image":"abc","free":{}})", "Found 2 valid alternatives"},
    };
    for (const Row& row : rows) {
        const std::string said = faults(row.spec);
        if (row.says.empty())
            EXPECT_EQ(said, "") << row.spec;
        else
            EXPECT_NE(said.find(row.says), std::string::npos) << row.spec << "\n" << said;
    }
}

TEST(StructuralSchema, CutsOutWhatIsUnknownAndFillsInWhatIsMissing) {
    const auto schema = schema_of(kCron);
    json::Value object = value_of(
        R"({"apiVersion":"a/v1","kind":"C","metadata":{"name":"x","labels":{"a":"b"}},"bogus":1,
            "spec":{"cronSpec":"*","odd":{"x":1},"replicas":null,"note":null,"free":{"any":{"thing":[1]}},
                    "labels":{"k":"v"},"ports":[{"port":1,"more":true}]}})");
    std::vector<std::string> unknown;
    prune(object, *schema, &unknown);
    EXPECT_EQ(unknown, (std::vector<std::string>{"bogus", "spec.odd", "spec.ports[0].more"}));
    fill_structural(object, *schema);
    const json::Value wanted = value_of(
        R"({"apiVersion":"a/v1","kind":"C","metadata":{"name":"x","labels":{"a":"b"}},
            "spec":{"cronSpec":"*","replicas":1,"mode":"Slow","note":null,"free":{"any":{"thing":[1]}},
                    "labels":{"k":"v"},"ports":[{"port":1,"protocol":"TCP"}]}})");
    EXPECT_EQ(object, wanted) << json::print(object);
    json::Value again = object;
    fill_structural(again, *schema);
    EXPECT_EQ(again, object);
}

TEST(StructuralSchema, IsBoundedInWhatItFillsInSaysAndDoes) {
    // A small document that asks for gigabytes of defaults.
    json::Object properties;
    for (int i = 0; i < 1000; ++i)
        properties.set("p" + std::to_string(i), json::Object{{"type", "string"}, {"default", std::string(1000, 'x')}});
    json::Value schema = json::Object{
        {"type", "object"},
        {"properties",
         json::Object{{"list", json::Object{{"type", "array"},
                                            {"items", json::Object{{"type", "object"},
                                                                   {"properties", std::move(properties)}}}}}}}};
    FieldErrors errors;
    const auto read = read_structural(schema, Where{}, errors);
    ASSERT_NE(read, nullptr) << text(errors);
    json::Value document = json::Object{{"list", json::Array(10'000, json::Value{json::Object{}})}};
    fill_structural(document, *read);
    EXPECT_LT(json::print(document).size(), 8u << 20);
    EXPECT_GT(json::print(document).size(), 2u << 20) << "and too large to be stored";

    // Many faults, of long texts.
    json::Array texts;
    for (int i = 0; i < 2000; ++i) texts.emplace_back(std::string(10'000, 'y'));
    const auto lists = schema_of(
        R"({"type":"object","properties":{"t":{"type":"array","items":{"type":"string","pattern":"^x","enum":["a","b"]}}}})");
    const FieldErrors faults = validate_structural(json::Object{{"t", std::move(texts)}}, *lists);
    EXPECT_FALSE(faults.empty());
    EXPECT_LT(text(faults).size(), 4u << 20);
}

TEST(StructuralSchema, BecomesNodesThatFieldOwnershipReads) {
    const auto nodes = schema_nodes(*schema_of(kCron));
    ASSERT_EQ(nodes->shape, Shape::Message);
    EXPECT_EQ(nodes->find("metadata")->schema, find_schema("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"));
    const Schema& spec = *nodes->find("spec")->schema;
    EXPECT_TRUE(spec.find("cronSpec")->required);
    EXPECT_EQ(spec.find("replicas")->fallback, "1");
    const Schema& ports = *spec.find("ports")->schema;
    EXPECT_EQ(ports.list_type, ListType::Map);
    ASSERT_EQ(ports.keys.size(), 1u);
    EXPECT_EQ(ports.keys[0], "port");
    EXPECT_EQ(spec.find("tags")->schema->list_type, ListType::Set);
    const Schema& free = *spec.find("free")->schema;
    EXPECT_EQ(free.shape, Shape::Map);
    EXPECT_EQ(free.element->element, free.element) << "free form all the way down";
    EXPECT_EQ(spec.find("port")->schema->shape, Shape::IntOrString);
}

TEST(StructuralSchema, KnowsTheFormatsOfTexts) {
    struct Row {
        std::string_view format;
        std::string_view text;
        bool fits;
    };
    const Row rows[] = {
        {"date-time", "2026-01-02T03:04:05Z", true},
        {"date", "2026-02-29", false},
        {"date", "2024-02-29", true},
        {"ipv4", "10.0.0.1", true},
        {"ipv4", "::1", false},
        {"ipv6", "::1", true},
        {"cidr", "10.0.0.0/8", true},
        {"cidr", "10.0.0.0", false},
        {"byte", "aGk=", true},
        {"byte", "a", false},
        {"mac", "00:11:22:33:44:55", true},
        {"uuid", "not", false},
        {"uuid4", "9b2f3c1e-6a8b-4c3d-9e2f-1a2b3c4d5e6f", true},
        {"email", "a@b.example", true},
        {"email", "ab", false},
        {"hostname", "web.example.com", true},
        {"uri", "https://a.example/x", true},
        {"uri", "no uri", false},
        {"duration", "1h30m", true},
        {"duration", "soon", false},
        {"isbn", "0306406152", true},
        {"isbn13", "9780306406157", true},
        {"creditcard", "4111 1111 1111 1111", true},
        {"creditcard", "4111 1111 1111 1112", false},
        {"hexcolor", "#ffe", true},
        {"whatever", "anything", true},
    };
    for (const Row& row : rows)
        EXPECT_EQ(is_of_format(row.text, row.format), row.fits) << row.format << " " << row.text;
}

TEST(TextPattern, TakesTimeLinearInTheText) {
    const auto pattern = TextPattern::compile("^(a+)+$");
    ASSERT_TRUE(pattern);
    std::string text(200'000, 'a');
    text.push_back('b');
    EXPECT_FALSE(pattern->matches(text));
    EXPECT_FALSE(TextPattern::compile("(?:a{1000}){1000}")) << "too large to compile";
    EXPECT_FALSE(TextPattern::compile(R"((a)\1)")) << "no references back";
}

}  // namespace
}  // namespace rhizome::cluster
