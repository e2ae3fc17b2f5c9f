// SPDX-License-Identifier: Apache-2.0
#include "cluster/decode.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "cluster/testing.h"
#include "support/read_json.h"

namespace rhizome::cluster {
namespace {

using test::read;
using testing::kind;

TEST(Decode, FindsUnknownFields) {
    const auto body = read(
        R"({"apiVersion":"apps/v1","kind":"Deployment","spec":{"bogus":1,"template":{"spec":{"containers":[{"name":"a","imagee":"b"}]}}}})");
    const auto strict = decode(body, kind("apps", "deployments"), FieldValidation::Strict);
    ASSERT_FALSE(strict);
    EXPECT_EQ(strict.error().message,
              "Deployment in version \"v1\" cannot be handled as a Deployment: strict decoding error: unknown field "
              "\"spec.bogus\", unknown field \"spec.template.spec.containers[0].imagee\"");
    const auto warned = decode(body, kind("apps", "deployments"), FieldValidation::Warn);
    ASSERT_TRUE(warned);
    EXPECT_EQ(warned->warnings.size(), 2u);
    EXPECT_EQ(warned->warnings[0], "unknown field \"spec.bogus\"");
    EXPECT_EQ(
        json::print(warned->object),
        R"({"apiVersion":"apps/v1","kind":"Deployment","spec":{"template":{"spec":{"containers":[{"name":"a"}]}}}})");
    const auto ignored = decode(body, kind("apps", "deployments"), FieldValidation::Ignore);
    ASSERT_TRUE(ignored);
    EXPECT_TRUE(ignored->warnings.empty());
    EXPECT_EQ(ignored->object, warned->object);
}

TEST(Decode, NamesTypesAsGoDoes) {
    const struct {
        std::string_view group;
        std::string_view plural;
        std::string_view body;
        std::string_view why;  // after "cannot be handled as a Kind: "
    } rows[] = {
        {"apps", "deployments", R"({"spec":{"replicas":"3"}})",
         "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32"},
        {"apps", "deployments", R"({"spec":{"replicas":1.5}})",
         "json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32"},
        {"apps", "deployments", R"({"spec":{"replicas":3000000000}})",
         "json: cannot unmarshal number 3000000000 into Go struct field DeploymentSpec.spec.replicas of type int32"},
        {"apps", "deployments", R"({"spec":[]})",
         "json: cannot unmarshal array into Go struct field Deployment.spec of type v1.DeploymentSpec"},
        {"", "configmaps", R"({"data":{"a":1}})",
         "json: cannot unmarshal number into Go struct field ConfigMap.data of type string"},
        {"", "configmaps", R"({"metadata":{"labels":["a"]}})",
         "json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type map[string]string"},
        {"", "pods", R"({"spec":{"containers":{}}})",
         "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container"},
        {"", "pods", R"({"spec":{"containers":[{"ports":[{"containerPort":"80"}]}]}})",
         "json: cannot unmarshal string into Go struct field ContainerPort.spec.containers.ports.containerPort of type "
         "int32"},
        {"", "pods", R"({"spec":{"hostNetwork":"yes"}})",
         "json: cannot unmarshal string into Go struct field PodSpec.spec.hostNetwork of type bool"},
        {"", "pods", R"({"spec":{"containers":[{"resources":{"limits":{"cpu":"a lot"}}}]}})",
         "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
        {"", "services", R"({"spec":{"ports":[{"targetPort":true}]}})",
         "json: cannot unmarshal bool into Go value of type int32"},
        {"", "secrets", R"({"data":{"a":"a b"}})", "illegal base64 data at input byte 1"},
        {"", "secrets", R"({"data":{"a":"abc"}})", "illegal base64 data at input byte 3"},
        {"", "pods", R"({"metadata":{"creationTimestamp":"yesterday"}})",
         "parsing time \"yesterday\" as \"2006-01-02T15:04:05Z07:00\": it is no time of RFC 3339"},
    };
    for (const auto& row : rows) {
        const Kind& about = kind(row.group, row.plural);
        const auto decoded = decode(read(row.body), about, FieldValidation::Strict);
        ASSERT_FALSE(decoded) << row.body;
        EXPECT_EQ(decoded.error().message,
                  fmt::format("{} in version \"v1\" cannot be handled as a {}: {}", about.kind, about.kind, row.why));
    }
}

TEST(Decode, BringsValuesIntoTheirOneForm) {
    const auto decoded = decode(
        read(
            R"({"metadata":{"name":"p","creationTimestamp":null,"deletionTimestamp":"2026-11-16T19:00:00.5+01:00","labels":{"a":null}},
                "spec":{"nodeName":null,"containers":[{"name":"a","resources":{"limits":{"cpu":0.5,"memory":"1024Mi"}}}]}})"),
        kind("", "pods"), FieldValidation::Strict);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(
        decoded->object,
        read(
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","deletionTimestamp":"2026-11-16T18:00:00Z","labels":{"a":""}},
                "spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":"500m","memory":"1Gi"}}}]}})"))
        << json::print(decoded->object);
    // Decoding again changes nothing.
    EXPECT_EQ(decode(decoded->object, kind("", "pods"), FieldValidation::Strict)->object, decoded->object);
}

TEST(Decode, ComparesTheDocumentWithItsPath) {
    const Kind& pods = kind("", "pods");
    EXPECT_EQ(decode(read(R"({"apiVersion":"apps/v1","kind":"Pod"})"), pods, FieldValidation::Warn).error().message,
              "the API version in the data (apps/v1) does not match the expected API version (v1)");
    EXPECT_TRUE(decode(read(R"({"apiVersion":"v1","kind":"Secret"})"), pods, FieldValidation::Warn)
                    .error()
                    .message.starts_with("Secret in version \"v1\" cannot be handled as a Pod: "));
    EXPECT_FALSE(decode(read("[]"), pods, FieldValidation::Warn));
    EXPECT_FALSE(decode(read("null"), pods, FieldValidation::Warn));
}

TEST(Decode, RefusesMembersNamedTwice) {
    EXPECT_EQ(parse_json(R"({"spec":{"a":[{"b":1},{"b":1, "c" : "x,{" ,"b":2}]}})").error().message,
              "strict decoding error: duplicate field \"spec.a[1].b\"");
    EXPECT_TRUE(parse_json("{").error().message.starts_with("error parsing JSON: "));
    EXPECT_TRUE(parse_yaml("a: 1\na: 2\n").error().message.starts_with("strict decoding error: yaml: "));
    EXPECT_EQ(parse_yaml("a: 1\n").value(), read(R"({"a":1})"));
}

TEST(Decode, KnowsWhatToDoAboutUnknownFields) {
    EXPECT_EQ(parse_field_validation(""), FieldValidation::Warn);
    EXPECT_EQ(parse_field_validation("Strict"), FieldValidation::Strict);
    EXPECT_EQ(parse_field_validation("Ignore"), FieldValidation::Ignore);
    EXPECT_FALSE(parse_field_validation("strict"));
}

TEST(Decode, TakesCustomKindsWithoutASchema) {
    Kinds kinds;
    ASSERT_TRUE(kinds.add({.group = "e.com", .version = "v1", .kind = "W", .plural = "ws", .singular = "w"}));
    const Kind& custom = *kinds.find("e.com", "v1", "ws");
    const auto decoded =
        decode(read(R"({"metadata":{"name":"a","odd":1},"anything":{"goes":null}})"), custom, FieldValidation::Warn);
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->object,
              read(R"({"metadata":{"name":"a"},"anything":{"goes":null},"apiVersion":"e.com/v1","kind":"W"})"));
    EXPECT_EQ(decoded->warnings.size(), 1u);
}

}  // namespace
}  // namespace rhizome::cluster
