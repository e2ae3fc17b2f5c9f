// SPDX-License-Identifier: Apache-2.0
#include "api/managed_fields.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "api/detail/manager_entries.h"
#include "api/field_set.h"
#include "base/random.h"
#include "support/read_json.h"

namespace rhizome::api {
namespace {

using test::read;
const cluster::Schema& deployment() { return *cluster::find_schema("apps", "v1", "Deployment"); }
const cluster::Schema& config_map() { return *cluster::find_schema("", "v1", "ConfigMap"); }

FieldManager manager(std::string name, std::int64_t at = 0) {
    return {.name = std::move(name), .api_version = "v1", .time = Time::from_unix_seconds(at)};
}
const json::Value& fields(const json::Array& entries, std::string_view name) {
    static const json::Value kNone;
    for (const json::Value& entry : entries)
        if (entry.text_at({"manager"}) == name) return *entry.find("fieldsV1");
    return kNone;
}

/// The form that Kubernetes gives them: `.` where a struct, map or list was not there before, none where it always is.
TEST(ManagedFields, NameEveryFieldOfANewDeployment) {
    const json::Value object =
        read(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","labels":{"app":"web"}},
        "spec":{"progressDeadlineSeconds":600,"replicas":1,"selector":{"matchLabels":{"app":"web"}},
        "strategy":{"rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"},"type":"RollingUpdate"},
        "template":{"metadata":{"creationTimestamp":null,"labels":{"app":"web"}},"spec":{"containers":[{"name":"nginx","image":"nginx",
        "ports":[{"containerPort":80,"protocol":"TCP"}],"resources":{}}],"dnsPolicy":"ClusterFirst","securityContext":{}}}},"status":{}})");
    const json::Array entries = track_update(nullptr, object, &deployment(), {}, manager("kubectl-create"));
    ASSERT_EQ(entries.size(), 1u);
    EXPECT_EQ(entries[0].text_at({"operation"}), "Update");
    EXPECT_EQ(entries[0].text_at({"time"}), "1970-01-01T00:00:00Z");
    EXPECT_EQ(json::print_canonical(fields(entries, "kubectl-create")),
              json::print_canonical(
                  read(R"({"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:progressDeadlineSeconds":{},
        "f:replicas":{},"f:selector":{},"f:strategy":{"f:rollingUpdate":{".":{},"f:maxSurge":{},"f:maxUnavailable":{}},"f:type":{}},
        "f:template":{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"nginx\"}":{".":{},
        "f:image":{},"f:name":{},"f:ports":{".":{},"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},
        "f:protocol":{}}},"f:resources":{}}},"f:dnsPolicy":{},"f:securityContext":{}}}}})")));
}

TEST(ManagedFields, MoveToWhoeverWrites) {
    const json::Value first = read(R"({"data":{"a":"1","b":"2"}})");
    json::Array entries = track_update(nullptr, first, &config_map(), {}, manager("one", 1));
    EXPECT_EQ(json::print(fields(entries, "one")), R"({"f:data":{".":{},"f:a":{},"f:b":{}}})");
    const json::Value second = read(R"({"data":{"a":"9","c":"3"}})");
    entries = track_update(&first, second, &config_map(), entries, manager("two", 2));
    EXPECT_EQ(json::print(fields(entries, "one")), R"({"f:data":{}})") << "a was taken, b is gone";
    EXPECT_EQ(json::print(fields(entries, "two")), R"({"f:data":{"f:a":{},"f:c":{}}})");
    // A write that changes nothing leaves no trace.
    EXPECT_EQ(track_update(&second, second, &config_map(), entries, manager("three", 3)), entries);
    const json::Value third = read("{}");
    EXPECT_TRUE(track_update(&second, third, &config_map(), entries, manager("four", 4)).empty());
}

TEST(ManagedFields, ListElementsHaveOwnersOfTheirOwn) {
    const json::Value first = read(R"({"spec":{"template":{"spec":{"containers":[{"name":"a","image":"1"}]}}}})");
    json::Array entries = track_update(nullptr, first, &deployment(), {}, manager("one", 1));
    const json::Value second = read(
        R"({"spec":{"template":{"spec":{"containers":[{"name":"b","image":"2"},{"name":"a","image":"3"}]}}},"metadata":{"finalizers":["x/y"]}})");
    entries = track_update(&first, second, &deployment(), entries, manager("two", 2));
    EXPECT_EQ(
        json::print(fields(entries, "two")),
        R"({"f:metadata":{"f:finalizers":{".":{},"v:\"x/y\"":{}}},"f:spec":{"f:template":{"f:spec":{"f:containers":{)"
        R"("k:{\"name\":\"a\"}":{"f:image":{}},"k:{\"name\":\"b\"}":{".":{},"f:image":{},"f:name":{}}}}}}})");
    EXPECT_EQ(json::print(fields(entries, "one")),
              R"({"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:name":{}}}}}}})");
}

TEST(ManagedFields, KeepSubresourcesApartAndForgetTheOldest) {
    json::Value object = read(R"({"data":{"k":"0"}})");
    json::Array entries;
    for (int i = 0; i < 15; ++i) {
        json::Value next = object;
        next["data"]["k" + std::to_string(i)] = "x";
        entries = track_update(&object, next, &config_map(), entries, manager("m" + std::to_string(i), i));
        object = next;
    }
    EXPECT_EQ(entries.size(), 10u);
    EXPECT_EQ(entries[0].text_at({"manager"}), "ancient-changes");
    EXPECT_EQ(fields(entries, "ancient-changes").find("f:data")->if_object()->size(), 6u);
    FieldManager status = manager("m14", 20);
    status.subresource = "status";
    json::Value next = object;
    next["data"]["z"] = "x";
    const json::Array both = track_update(&object, next, &config_map(), entries, status);
    EXPECT_EQ(both.back().text_at({"subresource"}), "status");
}

TEST(ManagedFields, DropMalformedEntries) {
    const json::Value object = read(R"({"data":{"a":"1"}})");
    const json::Array odd{read("{}"), read("7"),
                          read(R"({"manager":"m","operation":"Update","apiVersion":"v1","fieldsV1":{"bad":{}}})"),
                          read(R"({"manager":"m","operation":"Odd","apiVersion":"v1","fieldsV1":{"f:a":{}}})")};
    EXPECT_EQ(track_update(&object, object, &config_map(), odd, manager("x")).size(), 0u);
    EXPECT_EQ(manager_from_user_agent("kubectl/v1.32.4 (linux/amd64)"), "kubectl");
    EXPECT_EQ(manager_from_user_agent(""), "unknown");
    EXPECT_TRUE(check_manager("kubectl-edit").empty());
    EXPECT_EQ(cluster::text(check_manager(std::string(129, 'a'))),
              "fieldManager: Too long: may not be more than 128 bytes");
    EXPECT_EQ(cluster::text(check_manager("a\n")),
              R"(fieldManager: Invalid value: "a\n": should only contain printable characters)");
}

TEST(ManagedFields, OldUpdatersOfOneVersionAreMergedAmongThemselves) {
    json::Value object = read(R"({"data":{"k":"0"}})");
    json::Array entries;
    for (int i = 0; i < 14; ++i) {
        FieldManager updater = manager("m" + std::to_string(i), i);
        updater.api_version = i % 3 == 0 ? "v2" : "v1";
        json::Value next = object;
        next["data"]["k" + std::to_string(i)] = "x";
        entries = track_update(&object, next, &config_map(), entries, updater);
        object = next;
    }
    std::map<std::string, std::size_t> ancient;
    for (const json::Value& entry : entries)
        if (entry.text_at({"manager"}) == "ancient-changes")
            ancient[std::string(entry.text_at({"apiVersion"}))] =
                entry.find("fieldsV1")->find("f:data")->if_object()->size();
    EXPECT_EQ(entries.size(), 10u);
    EXPECT_EQ(ancient, (std::map<std::string, std::size_t>{{"v1", 4}, {"v2", 2}}));
}

TEST(ManagedFields, TimesAloneAreNoChange) {
    const json::Value object =
        read(R"({"metadata":{"name":"a","managedFields":[{"manager":"m","time":"1"}]},"data":{}})");
    const std::pair<std::string_view, bool> rows[] = {
        {R"({"metadata":{"name":"a","managedFields":[{"manager":"m","time":"2"}]},"data":{}})", true},
        {R"({"data":{},"metadata":{"managedFields":[{"manager":"m"}],"name":"a"}})", true},
        {R"({"metadata":{"name":"a","managedFields":[{"manager":"n","time":"1"}]},"data":{}})", false},
        {R"({"metadata":{"name":"b","managedFields":[{"manager":"m","time":"1"}]},"data":{}})", false},
        {R"({"metadata":{"name":"a","managedFields":[]},"data":{}})", false},
        {R"({"metadata":{"name":"a"},"data":{}})", false},
        {R"({"metadata":{"name":"a","managedFields":[{"manager":"m","time":"1"}]}})", false},
        {R"({"metadata":{"name":"a","managedFields":[{"manager":"m","time":"1"}]},"data":{},"x":1})", false},
        {R"({"data":{}})", false},
    };
    for (const auto& [text, same] : rows) EXPECT_EQ(same_but_times(object, read(text)), same) << text;
}

FieldSet random_set(Random& random, unsigned depth) {
    FieldSet set{.member = random.chance(1, 2)};
    for (std::uint64_t left = depth == 0 ? 0 : random.below(4); left > 0; --left)
        set.children["f:" + std::string(1, static_cast<char>('a' + random.below(4)))] = random_set(random, depth - 1);
    std::erase_if(set.children, [](const auto& child) { return child.second.empty(); });
    if (set.empty()) set.member = true;
    return set;
}

TEST(FieldSet, ObeysItsLaws) {
    Random random{11};
    for (int round = 0; round < 2000; ++round) {
        const FieldSet left = random_set(random, 3);
        const FieldSet right = random_set(random, 3);
        EXPECT_EQ(FieldSet::from_json(left.to_json()).value(), left);
        FieldSet both = left;
        both.merge(right);
        EXPECT_EQ(both.intersect(left), left);
        EXPECT_EQ(left.intersect(right), right.intersect(left));
        FieldSet none = left;
        none.subtract(left);
        EXPECT_TRUE(none.empty()) << json::print(left.to_json());
        FieldSet rest = left;
        rest.subtract(right);
        rest.merge(left);
        EXPECT_EQ(rest, left) << "taking away adds nothing";
        // Whichever of the two is walked.
        FieldSet longer = right;
        for (char step = 'p'; step < 'z'; ++step) longer.children["f:" + std::string(1, step)].member = true;
        FieldSet once = left;
        FieldSet again = left;
        if (!right.children.empty()) {
            once.subtract(right);
            again.subtract(longer);
            EXPECT_EQ(once, again);
        }
        EXPECT_EQ(left.count(), left.paths().size());
    }
    EXPECT_FALSE(FieldSet::from_json(read(R"({"f:a":7})")));
    for (const std::string_view bad : {R"({"k:{\"a\":1":{}})", R"({"k:[1]":{}})", R"({"v:":{}})", R"({"i:x":{}})",
                                       R"({"k:{\"a\":}":{}})", R"({"k:{\"a\":1,}":{}})", R"({"v:\"a":{}})"})
        EXPECT_FALSE(FieldSet::from_json(read(bad))) << bad;
    // Steps in another form are the same steps.
    EXPECT_EQ(FieldSet::from_json(read(R"({"k:{ \"b\":\"x\",\"a\":1 }":{},"v:\"\\u0061\"":{},"i:3":{}})"))->to_json(),
              read(R"({"i:3":{},"k:{\"a\":1,\"b\":\"x\"}":{},"v:\"a\"":{}})"));
    EXPECT_FALSE(FieldSet::from_json(read(R"({"x":{}})")));
}

TEST(FieldSet, PathsAreFewAndShortEnoughToRead) {
    FieldSet set;
    FieldSet& inside = set.children["f:" + std::string(1u << 20, 'x')];
    for (int i = 0; i < 100'000; ++i) inside.children["f:" + std::to_string(i)].member = true;
    EXPECT_EQ(set.count(), 100'000u);
    const auto paths = set.paths(100);
    ASSERT_EQ(paths.size(), 100u);
    for (const std::string& path : paths) EXPECT_LE(path.size(), 4096u + 3);
    EXPECT_TRUE(set.paths(0).empty());
}

TEST(ManagedFields, ThereIsAnEndToHowManyManagersAreRead) {
    json::Array entries;
    for (std::size_t i = 0; i < detail::kEntriesMax; ++i)
        entries.push_back(read(fmt::format(
            R"({{"manager":"m{}","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{{"f:a{}":{{}}}}}})",
            i % 999, i)));
    const auto all = detail::read_entries(entries);
    ASSERT_TRUE(all);
    ASSERT_EQ(all->size(), 999u);
    EXPECT_NE((*all)[0].fields.find("f:a999"), nullptr) << "of two that are one the later counts";
    EXPECT_EQ((*all)[0].fields.find("f:a0"), nullptr);
    entries.push_back(entries.front());
    EXPECT_FALSE(detail::read_entries(entries));
}

}  // namespace
}  // namespace rhizome::api
