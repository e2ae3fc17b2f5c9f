// SPDX-License-Identifier: Apache-2.0
#include "api/apply.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "api/last_applied.h"
#include "cluster/kinds.h"
#include "support/read_json.h"

namespace rhizome::api {
namespace {

using test::read;

const cluster::Schema* schema_of(std::string_view kind) {
    for (const std::string_view group : {"", "apps", "networking.k8s.io"})
        if (const auto* schema = cluster::find_schema(group, "v1", kind)) return schema;
    return nullptr;
}

/// One object and who owns what of it; every step is a second later.
class Object {
public:
    explicit Object(std::string_view kind) : schema_(schema_of(kind)) {}

    /// Empty when it was applied, else the message of the conflict.
    std::string apply(std::string name, std::string_view configuration, bool force = false,
                      std::string subresource = "") {
        const json::Value written = read(configuration);
        auto fields = named_fields(written, schema_, schema_ == nullptr);
        if (!fields) return fields.error().message;
        // As decoding leaves it; custom objects keep their nulls.
        json::Value decoded = schema_ == nullptr ? written : without_nulls(written);
        auto applied = apply_configuration(object_, {std::move(decoded), *std::move(fields)}, schema_, entries_,
                                           manager(std::move(name), std::move(subresource)), force);
        if (!applied) return apply_conflict(applied.error()).message;
        object_ = std::move(applied->object);
        entries_ = std::move(applied->entries);
        return "";
    }
    void update(std::string name, std::string_view document) {
        const json::Value after = read(document);
        entries_ = track_update(object_.if_object()->empty() ? nullptr : &object_, after, schema_, entries_,
                                manager(std::move(name), ""));
        object_ = after;
    }

    [[nodiscard]] std::string text() const { return json::print_canonical(object_); }
    [[nodiscard]] std::string fields(std::string_view name, std::string_view operation = "Apply") const {
        const json::Value* entry = find(name, operation);
        return entry == nullptr ? "" : json::print_canonical(*entry->find("fieldsV1"));
    }
    [[nodiscard]] std::string_view time(std::string_view name) const {
        const json::Value* entry = find(name, "Apply");
        return entry == nullptr ? "none" : entry->text_at({"time"});
    }
    [[nodiscard]] const json::Array& entries() const { return entries_; }

private:
    FieldManager manager(std::string name, std::string subresource) {
        return {.name = std::move(name),
                .api_version = "v1",
                .subresource = std::move(subresource),
                .time = Time::from_unix_seconds(++now_)};
    }
    [[nodiscard]] const json::Value* find(std::string_view name, std::string_view operation) const {
        for (const json::Value& entry : entries_)
            if (entry.text_at({"manager"}) == name && entry.text_at({"operation"}) == operation) return &entry;
        return nullptr;
    }
    static json::Value without_nulls(const json::Value& value) {
        if (!value.is_object()) return value;
        json::Object out;
        for (const auto& member : *value.if_object())
            if (!member.value.is_null()) out.set(member.key, without_nulls(member.value));
        return out;
    }

    const cluster::Schema* schema_;
    json::Value object_{json::Object{}};
    json::Array entries_{};
    std::int64_t now_ = 0;
};

std::string canonical(std::string_view text) { return json::print_canonical(read(text)); }

TEST(Apply, OwnsWhatItNamesAndNoStructOnTheWay) {
    Object deployment{"Deployment"};
    ASSERT_EQ(deployment.apply("one", R"({"metadata":{"name":"web","labels":{"app":"web"},"creationTimestamp":null},
        "spec":{"replicas":3,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"creationTimestamp":null},
        "spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80}],"args":["a","b"],"resources":{}}]}}}})"),
              "");
    EXPECT_EQ(deployment.fields("one"),
              canonical(
                  R"({"f:metadata":{"f:labels":{"f:app":{}}},"f:spec":{"f:replicas":{},"f:selector":{},
        "f:template":{"f:metadata":{"f:creationTimestamp":{}},"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:args":{},
        "f:image":{},"f:name":{},"f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}},
        "f:resources":{}}}}}}})"))
        << "selectors and args are atomic, ports have two keys of which one has a default, an empty object is a leaf";
}

TEST(Apply, TwiceIsNoChange) {
    Object map{"ConfigMap"};
    ASSERT_EQ(map.apply("one", R"({"data":{"a":"1"}})"), "");
    const std::string before = map.text();
    const json::Array entries = map.entries();
    ASSERT_EQ(map.apply("one", R"({"data":{"a":"1"}})"), "");
    EXPECT_EQ(map.text(), before);
    EXPECT_EQ(map.entries(), entries) << "times and all";
}

TEST(Apply, SharesWhatBothWantAlike) {
    Object map{"ConfigMap"};
    ASSERT_EQ(map.apply("one", R"({"data":{"a":"1","b":"1"}})"), "");
    ASSERT_EQ(map.apply("two", R"({"data":{"a":"1"}})"), "");
    EXPECT_EQ(map.fields("one"), R"({"f:data":{"f:a":{},"f:b":{}}})");
    EXPECT_EQ(map.fields("two"), R"({"f:data":{"f:a":{}}})");
    EXPECT_EQ(map.time("two"), "") << "it changed nothing yet";
    // Neither may change it alone, either may leave it.
    EXPECT_EQ(map.apply("two", R"({"data":{"a":"2"}})"),
              R"(Apply failed with 1 conflict: conflict with "one": .data.a)");
    ASSERT_EQ(map.apply("one", R"({"data":{"b":"1"}})"), "");
    EXPECT_EQ(map.text(), R"({"data":{"a":"1","b":"1"}})");
    ASSERT_EQ(map.apply("two", R"({"data":{"a":"2"}})"), "");
    ASSERT_EQ(map.apply("two", "{}"), "");
    EXPECT_EQ(map.text(), R"({"data":{"b":"1"}})") << "what nobody owns any more is gone";
    EXPECT_EQ(map.fields("two"), "");
}

TEST(Apply, ConflictsNameManagersAndFields) {
    Object map{"ConfigMap"};
    map.update("kubectl-edit", R"({"data":{"a":"1","b":"1"},"metadata":{"labels":{"x":"y"}}})");
    EXPECT_EQ(map.apply("one", R"({"data":{"a":"2"}})"),
              R"(Apply failed with 1 conflict: conflict with "kubectl-edit" using v1: .data.a)");
    ASSERT_EQ(map.apply("other", R"({"data":{"c":"1"}})"), "");
    ASSERT_EQ(map.apply("scaler", R"({"data":{"d":"1"}})", false, "scale"), "");
    EXPECT_EQ(map.apply("one", R"({"data":{"a":"2","b":"2","c":"2","d":"2"},"metadata":{"labels":{"x":"z"}}})"),
              "Apply failed with 5 conflicts: conflicts with \"kubectl-edit\" using v1:\n- .data.a\n- .data.b\n"
              "- .metadata.labels.x\nconflicts with \"other\":\n- .data.c\n"
              "conflicts with \"scaler\" with subresource \"scale\":\n- .data.d");
    const Status status = apply_conflict({{"\"m\" using v1", ".data.a"}});
    EXPECT_EQ(json::print(status.to_json()),
              R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Apply failed with 1 )"
              R"(conflict: conflict with \"m\" using v1: .data.a","reason":"Conflict","details":{"causes":[{"reason":)"
              R"("FieldManagerConflict","message":"conflict with \"m\" using v1","field":".data.a"}]},"code":409})");
}

TEST(Apply, ForceMovesOwnership) {
    Object map{"ConfigMap"};
    map.update("edit", R"({"data":{"a":"1","b":"1"}})");
    ASSERT_EQ(map.apply("one", R"({"data":{"a":"2"}})", true), "");
    EXPECT_EQ(map.fields("one"), R"({"f:data":{"f:a":{}}})");
    EXPECT_EQ(map.fields("edit", "Update"), R"({"f:data":{".":{},"f:b":{}}})");
    EXPECT_EQ(map.text(), R"({"data":{"a":"2","b":"1"}})");
    map.update("edit", R"({"data":{"a":"3","b":"1"}})");
    EXPECT_EQ(map.fields("one"), "") << "an update takes without asking";
}

TEST(Apply, RemovesOnlyWhatWasItsOwn) {
    Object map{"ConfigMap"};
    ASSERT_EQ(map.apply("one", R"({"metadata":{"annotations":{"a":"1"}},"data":{"a":"1"}})"), "");
    map.update("edit", R"({"metadata":{"annotations":{"a":"1","b":"1"}},"data":{"a":"1","z":"1"}})");
    ASSERT_EQ(map.apply("one", "{}"), "");
    EXPECT_EQ(map.text(), R"({"data":{"z":"1"},"metadata":{"annotations":{"b":"1"}}})");
    EXPECT_EQ(map.entries().size(), 1u);
    // A struct that is its own goes with what the server filled in.
    Object deployment{"Deployment"};
    ASSERT_EQ(deployment.apply("one", R"({"spec":{"replicas":1,"strategy":{"type":"RollingUpdate"}}})"), "");
    const json::Array entries = deployment.entries();
    Object filled{"Deployment"};
    ASSERT_EQ(filled.apply("one", R"({"spec":{"replicas":1,"strategy":{"type":"RollingUpdate","rollingUpdate":{}}}})"),
              "");
    ASSERT_EQ(deployment.apply("one", R"({"spec":{"replicas":1}})"), "");
    EXPECT_EQ(deployment.text(), R"({"spec":{"replicas":1}})");
}

TEST(Apply, ListsWithKeysMergeElementByElement) {
    Object deployment{"Deployment"};
    const auto containers = [](std::string_view list) {
        return R"({"spec":{"template":{"spec":{"containers":)" + std::string(list) + "}}}}";
    };
    ASSERT_EQ(deployment.apply("one", containers(R"([{"name":"a","image":"1"},{"name":"b","image":"1"}])")), "");
    ASSERT_EQ(deployment.apply("two", containers(R"([{"name":"c","image":"1"},{"name":"b","command":["x"]}])")), "");
    EXPECT_EQ(deployment.text(), canonical(containers(R"([{"name":"a","image":"1"},{"name":"c","image":"1"},
        {"name":"b","image":"1","command":["x"]}])")));
    EXPECT_EQ(deployment.apply("two", containers(R"([{"name":"b","image":"2"}])")),
              R"(Apply failed with 1 conflict: conflict with "one": )"
              R"(.spec.template.spec.containers[name="b"].image)");
    // The element stays while anybody names it; its parts go with their owner.
    ASSERT_EQ(deployment.apply("one", containers(R"([{"name":"a","image":"1"}])")), "");
    EXPECT_EQ(deployment.text(), canonical(containers(R"([{"name":"a","image":"1"},{"name":"c","image":"1"},
        {"name":"b","command":["x"]}])")));
    ASSERT_EQ(deployment.apply("two", "{}"), "");
    EXPECT_EQ(deployment.text(), canonical(containers(R"([{"name":"a","image":"1"}])")));
    // An element goes with what an editor added to it.
    deployment.update("edit", containers(R"([{"name":"a","image":"1","tty":true}])"));
    ASSERT_EQ(deployment.apply("one", "{}"), "");
    EXPECT_EQ(deployment.text(), "{}");
    EXPECT_TRUE(deployment.entries().empty());
}

TEST(Apply, ElementsOfTwoKeysAreKnownByBoth) {
    Object pod{"Pod"};
    const auto ports = [](std::string_view list) {
        return R"({"spec":{"containers":[{"name":"c","ports":)" + std::string(list) + "}]}}";
    };
    ASSERT_EQ(pod.apply("one", ports(R"([{"containerPort":53,"name":"t"}])")), "");
    ASSERT_EQ(pod.apply("two", ports(R"([{"containerPort":53,"protocol":"UDP","name":"u"}])")), "");
    EXPECT_EQ(pod.apply("two", ports(R"([{"containerPort":53,"protocol":"TCP","name":"v"}])")),
              R"(Apply failed with 1 conflict: conflict with "one": )"
              R"(.spec.containers[name="c"].ports[containerPort=53,protocol="TCP"].name)");
    ASSERT_EQ(pod.apply("two", ports("[]")), "");
    EXPECT_EQ(pod.text(), canonical(ports(R"([{"containerPort":53,"name":"t"}])")));
}

TEST(Apply, SetsMergeByValueAndAtomicListsAsWholes) {
    Object map{"ConfigMap"};
    ASSERT_EQ(map.apply("one", R"({"metadata":{"finalizers":["a/x","b/x"]}})"), "");
    ASSERT_EQ(map.apply("two", R"({"metadata":{"finalizers":["c/x","b/x"]}})"), "");
    EXPECT_EQ(map.text(), R"({"metadata":{"finalizers":["a/x","c/x","b/x"]}})");
    ASSERT_EQ(map.apply("one", R"({"metadata":{"finalizers":["a/x"]}})"), "");
    EXPECT_EQ(map.text(), R"({"metadata":{"finalizers":["a/x","c/x","b/x"]}})");
    ASSERT_EQ(map.apply("two", "{}"), "");
    EXPECT_EQ(map.text(), R"({"metadata":{"finalizers":["a/x"]}})");
    Object pod{"Pod"};
    ASSERT_EQ(pod.apply("one", R"({"spec":{"containers":[{"name":"c","args":["1","2"]}]}})"), "");
    EXPECT_EQ(pod.apply("two", R"({"spec":{"containers":[{"name":"c","args":["2"]}]}})"),
              R"(Apply failed with 1 conflict: conflict with "one": .spec.containers[name="c"].args)");
    ASSERT_EQ(pod.apply("two", R"({"spec":{"nodeSelector":{"a":"b"}}})"), "");
    EXPECT_EQ(pod.apply("one", R"({"spec":{"nodeSelector":{"c":"d"}}})"),
              R"(Apply failed with 1 conflict: conflict with "two": .spec.nodeSelector)")
        << "a map that is owned as a whole";
}

TEST(Apply, NullMeansThatNothingIsToStandThere) {
    Object deployment{"Deployment"};
    deployment.update("edit", R"({"spec":{"replicas":5,"paused":true}})");
    EXPECT_EQ(deployment.apply("one", R"({"spec":{"replicas":null}})"),
              R"(Apply failed with 1 conflict: conflict with "edit" using v1: .spec.replicas)");
    ASSERT_EQ(deployment.apply("one", R"({"spec":{"replicas":null}})", true), "");
    EXPECT_EQ(deployment.text(), R"({"spec":{"paused":true}})");
    EXPECT_EQ(deployment.fields("one"), R"({"f:spec":{"f:replicas":{}}})");
}

TEST(Apply, CustomObjectsMergeWithoutASchema) {
    Object thing{"none"};
    ASSERT_EQ(thing.apply("one", R"({"metadata":{"name":"t","finalizers":["a/x"]},"spec":{"a":{"b":1},"list":[1]}})"),
              "");
    EXPECT_EQ(
        thing.fields("one"),
        R"({"f:metadata":{"f:finalizers":{"v:\"a/x\"":{}}},"f:spec":{".":{},"f:a":{".":{},"f:b":{}},"f:list":{}}})");
    ASSERT_EQ(thing.apply("two", R"({"spec":{"a":{"c":null}}})"), "");
    EXPECT_EQ(thing.apply("two", R"({"spec":{"a":{"b":2},"list":[2]}})"),
              "Apply failed with 2 conflicts: conflicts with \"one\":\n- .spec.list\n- .spec.a.b");
    ASSERT_EQ(thing.apply("one", "{}"), "");
    EXPECT_EQ(thing.text(), R"({"metadata":{"name":"t"},"spec":{"a":{"c":null}}})");
    // Another sort of thing in the same place.
    ASSERT_EQ(thing.apply("two", R"({"spec":{"a":"text"}})", true), "");
    EXPECT_EQ(thing.fields("two"), R"({"f:spec":{".":{},"f:a":{}}})");
}

TEST(Apply, RefusesWhatHasNoOwnableForm) {
    struct Row {
        std::string_view kind;
        std::string_view configuration;
        std::string_view message;
    };
    const Row rows[] = {
        {"ConfigMap", R"({"data":{"a":"1"},"dta":{}})", ".dta: field not declared in schema"},
        {"Pod", R"({"spec":{"containers":[{"name":"c","x":1}],"y":1}})",
         "errors:\n  .spec.containers[name=\"c\"].x: field not declared in schema\n"
         "  .spec.y: field not declared in schema"},
        {"Pod", R"({"spec":{"containers":[{"name":"c"},{"name":"c"}]}})",
         R"(.spec.containers: duplicate entries for key [name="c"])"},
        {"ConfigMap", R"({"metadata":{"finalizers":["a/x","a/x"]}})",
         R"(.metadata.finalizers: duplicate entries for key ["a/x"])"},
        {"Pod", R"({"spec":{"hostAliases":[{"hostnames":["h"]}]}})", ""},
    };
    for (const Row& row : rows) {
        const auto fields = named_fields(read(row.configuration), schema_of(row.kind), false);
        EXPECT_EQ(fields ? "" : fields.error().message, row.message) << row.configuration;
    }
}

TEST(Apply, OfManyConflictsTheFirstAreTold) {
    Object map("ConfigMap");
    const auto document = [](std::string_view value) {
        std::string data;
        for (int i = 0; i < 20'000; ++i) data += fmt::format(R"({}"k{:05}":"{}")", i == 0 ? "" : ",", i, value);
        return fmt::format(R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"a"}},"data":{{{}}}}})", data);
    };
    map.update("edit", document("1"));
    const std::string refused = map.apply("me", document("2"));
    EXPECT_TRUE(refused.starts_with("Apply failed with 20000 conflicts: conflicts with \"edit\" using v1:\n- .data.k0"))
        << refused.substr(0, 200);
    EXPECT_TRUE(refused.ends_with("\n- .data.k00255\nand 19744 more")) << refused.substr(refused.size() - 100);
    EXPECT_EQ(map.apply("me", document("2"), true), "");
}

TEST(LastApplied, WhatAClientAppliedAndStillStands) {
    const cluster::Kinds kinds;
    const cluster::Kind& kind = *kinds.find("", "v1", "configmaps");
    json::Value live = read(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","annotations":{}},
        "data":{"a":"1","b":"9","d":"1"}})");
    EXPECT_TRUE(last_applied_fields(live, kind).empty());
    json::Value& note = live["metadata"]["annotations"][kLastAppliedAnnotation];
    note = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"1","b":"2","c":"3"}})";
    EXPECT_EQ(json::print(last_applied_fields(live, kind).to_json()), R"({"f:data":{"f:a":{}}})");
    json::Value written = read(R"({"kind":"ConfigMap","apiVersion":"v1","data":{"a":"2"}})");
    follow_last_applied(live, written);
    EXPECT_EQ(live.text_at({"metadata", "annotations", kLastAppliedAnnotation}),
              "{\"apiVersion\":\"v1\",\"data\":{\"a\":\"2\"},\"kind\":\"ConfigMap\"}\n");
    written["data"]["a"] = std::string(300'000, 'x');
    follow_last_applied(live, written);
    EXPECT_EQ(live.text_at({"metadata", "annotations", kLastAppliedAnnotation}), "") << "it would be too large";
    follow_last_applied(live, written);
    EXPECT_TRUE(live.find_path({"metadata", "annotations"})->if_object()->empty());
}

}  // namespace
}  // namespace rhizome::api
