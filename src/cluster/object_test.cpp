// SPDX-License-Identifier: Apache-2.0
#include "cluster/object.h"

#include <gtest/gtest.h>

#include "cluster/testing.h"
#include "support/read_json.h"

namespace rhizome::cluster {
namespace {

using test::read;
using testing::kind;

TEST(Object, ReadsMetadata) {
    const json::Value pod = read(R"({"metadata":{"name":"p","namespace":"d","uid":"u","resourceVersion":"7",
        "labels":{"app":"web"},"annotations":{"a/b":"c"},"creationTimestamp":"2026-11-16T18:00:00Z",
        "finalizers":["orphan"],"ownerReferences":[{"name":"x"},{"name":"y","controller":true}]},
        "status":{"conditions":[{"type":"Ready","status":"True"}]}})");
    EXPECT_EQ(name_of(pod), "p");
    EXPECT_EQ(namespace_of(pod), "d");
    EXPECT_EQ(uid_of(pod), "u");
    EXPECT_EQ(resource_version_of(pod), "7");
    EXPECT_EQ(label(pod, "app"), "web");
    EXPECT_FALSE(label(pod, "tier"));
    EXPECT_EQ(annotation(pod, "a/b"), "c");
    EXPECT_EQ(to_rfc3339(*creation_time(pod)), "2026-11-16T18:00:00Z");
    EXPECT_TRUE(has_finalizer(pod, "orphan"));
    EXPECT_EQ(controller_of(pod)->text_at({"name"}), "y");
    EXPECT_EQ(condition(pod, "Ready"), "True");
    EXPECT_EQ(condition(pod, "Other"), "");
    EXPECT_FALSE(is_terminating(pod));
    for (const char* odd : {"null", "[]", "{}", "{\"metadata\":7}", "{\"metadata\":{\"name\":7,\"labels\":[]}}"}) {
        EXPECT_EQ(name_of(read(odd)), "") << odd;
        EXPECT_FALSE(label(read(odd), "a")) << odd;
        EXPECT_EQ(controller_of(read(odd)), nullptr) << odd;
    }
}

TEST(Object, ChecksMetadata) {
    const struct {
        std::string_view plural;
        std::string_view group;
        std::string_view metadata;
        std::vector<std::string_view> errors;  // beginnings of their texts
    } rows[] = {
        {"configmaps", "", R"({"name":"a.b","namespace":"d"})", {}},
        {"configmaps", "", R"({"namespace":"d"})", {"metadata.name: Required value: name or generateName is required"}},
        {"configmaps",
         "",
         R"({"name":"A","namespace":"d"})",
         {"metadata.name: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist"}},
        {"configmaps", "", R"({"name":"a"})", {"metadata.namespace: Required value"}},
        {"namespaces", "", R"({"name":"a.b"})", {"metadata.name: Invalid value: \"a.b\": a lowercase RFC 1123 label"}},
        {"namespaces",
         "",
         R"({"name":"a","namespace":"b"})",
         {"metadata.namespace: Forbidden: not allowed on this type"}},
        {"services",
         "",
         R"({"name":"1a","namespace":"d"})",
         {"metadata.name: Invalid value: \"1a\": a DNS-1035 label"}},
        {"roles", "rbac.authorization.k8s.io", R"({"name":"system:x","namespace":"d"})", {}},
        {"pods", "", R"({"name":"a","namespace":"d","generateName":"web-"})", {}},
        {"pods", "", R"({"name":"a","namespace":"d","generateName":"Web-"})", {"metadata.generateName: Invalid value"}},
        {"pods",
         "",
         R"({"name":"a","namespace":"d","labels":{"a b":"x","c":"-"}})",
         {"metadata.labels: Invalid value: \"a b\": name part",
          "metadata.labels: Invalid value: \"-\": a valid label"}},
        {"pods",
         "",
         R"({"name":"a","namespace":"d","annotations":{"/x":"any thing"}})",
         {"metadata.annotations: Invalid value: \"/x\": prefix part must be non-empty"}},
        {"pods",
         "",
         R"({"name":"a","namespace":"d","finalizers":["foregroundDeletion","a.com/x","mine"]})",
         {"metadata.finalizers[2]: Invalid value: \"mine\": name is neither a standard finalizer"}},
        {"pods",
         "",
         R"({"name":"a","namespace":"d","ownerReferences":[{"apiVersion":"v1","kind":"X","name":"x"}]})",
         {"metadata.ownerReferences[0].uid: Invalid value: \"\": must not be empty"}},
    };
    for (const auto& row : rows) {
        json::Value object;
        object["metadata"] = read(row.metadata);
        const FieldErrors errors = check_metadata(object, kind(row.group, row.plural));
        ASSERT_EQ(errors.size(), row.errors.size()) << row.metadata << ' ' << text(errors);
        for (std::size_t i = 0; i < errors.size(); ++i)
            EXPECT_TRUE(errors[i].text().starts_with(row.errors[i])) << errors[i].text();
    }
    json::Value large = read(R"({"metadata":{"name":"a","namespace":"d"}})");
    large["metadata"]["annotations"]["x"] = std::string(kAnnotationBytesMax, 'y');
    EXPECT_EQ(text(check_metadata(large, kind("", "pods"))),
              "metadata.annotations: Too long: may not be more than 262144 bytes");
}

TEST(Object, ChecksWhatMayNotChange) {
    const json::Value before =
        read(R"({"metadata":{"name":"a","uid":"1","deletionTimestamp":"x","finalizers":["b/c"]}})");
    EXPECT_TRUE(check_metadata_update(before, before).empty());
    const json::Value renamed = read(R"({"metadata":{"name":"b","uid":"1","finalizers":["b/c","d/e"]}})");
    EXPECT_EQ(
        text(check_metadata_update(renamed, before)),
        "[metadata.name: Invalid value: \"b\": field is immutable, metadata.finalizers: Forbidden: no new finalizers "
        "can be added if the object is being deleted, found new finalizers [\"d/e\"]]");
}

TEST(Metadata, ManyFinalizersOfAnObjectThatEndsAreComparedThroughASet) {
    const auto object = [](int first) {
        json::Value made = read(R"({"metadata":{"name":"a","deletionTimestamp":"2026-01-01T00:00:00Z"}})");
        json::Array& list = made["metadata"]["finalizers"].make_array();
        for (int i = first; i < first + 50'000; ++i) list.emplace_back("a/" + std::to_string(i));
        return made;
    };
    EXPECT_TRUE(check_metadata_update(object(0), object(0)).empty());
    EXPECT_TRUE(text(check_metadata_update(object(1), object(0))).ends_with(R"(found new finalizers ["a/50000"])"));
}

TEST(FieldError, SpeaksAsKubernetes) {
    EXPECT_EQ(required(Where("a") / "b").text(), "a.b: Required value");
    EXPECT_EQ(invalid(Where("a") / 0, -1, "must be greater than or equal to 0").text(),
              "a[0]: Invalid value: -1: must be greater than or equal to 0");
    EXPECT_EQ(not_supported(Where("p"), "x", {"UDP", "TCP"}).text(),
              "p: Unsupported value: \"x\": supported values: \"TCP\", \"UDP\"");
    EXPECT_EQ(duplicate(Where("p"), "x").text(), "p: Duplicate value: \"x\"");
    EXPECT_EQ(too_many(Where("p"), 3, 2).text(), "p: Too many: 3: must have at most 2 items");
    EXPECT_EQ(text(FieldErrors{required(Where("a")), required(Where("b")), required(Where("a"))}),
              "[a: Required value, b: Required value]");
    EXPECT_EQ(reason(FieldError::Cause::NotSupported), "FieldValueNotSupported");
}

TEST(FieldError, KeepsTheFirstOfManyAndCountsTheRest) {
    FieldErrors errors;
    for (std::size_t i = 0; i < FieldErrors::kKept + 7; ++i) errors.push_back(required(Where("a") / i));
    EXPECT_EQ(errors.size(), FieldErrors::kKept);
    EXPECT_EQ(errors.left_out(), 7u);
    EXPECT_TRUE(text(errors).ends_with(", a[255]: Required value, and 7 more]")) << text(errors);
    FieldErrors more;
    more.append(errors);
    more.append(errors);
    EXPECT_EQ(more.size() + more.left_out(), 2 * (FieldErrors::kKept + 7));
    FieldErrors uncounted;
    uncounted.leave_out(3);
    EXPECT_FALSE(uncounted.empty());
    EXPECT_EQ(text(uncounted), "and 3 more");
}

TEST(FieldError, AHundredThousandBadLabelsCostNoMinutes) {
    json::Object labels;
    for (int i = 0; i < 100'000; ++i) labels.set("a b " + std::to_string(i), "x");
    const FieldErrors errors = check_labels(labels, Where("metadata.labels"));
    EXPECT_EQ(errors.size() + errors.left_out(), 100'000u);
    EXPECT_LT(text(errors).size(), 256u << 10);
}

TEST(Where, AStepCostsItsOwnLength) {
    const Where place = Where("spec") / std::string(1u << 20, 'x');
    for (std::size_t i = 0; i < 200'000; ++i) (void)(place / i / "name");
    EXPECT_EQ((Where("spec") / "containers" / 0u / "name").text(), "spec.containers[0].name");
    EXPECT_EQ((Where{} / "a").key("b").text(), "a[b]");
    EXPECT_EQ((Where{""} / 3u / "a").text(), "[3].a");
    // Cut between letters, wherever the bytes end.
    for (const std::string_view before : {"", "a", "ab"}) {
        std::string letters{before};
        while (letters.size() < 5000) letters += "\xe2\x82\xac";
        const std::string cut = (Where{} / letters).text();
        EXPECT_LE(cut.size(), 4096u + 3);
        EXPECT_TRUE(cut.ends_with("..."));
        EXPECT_EQ((cut.size() - 3 - before.size()) % 3, 0u);
    }
}

}  // namespace
}  // namespace rhizome::cluster
