// SPDX-License-Identifier: Apache-2.0
// What requests do to the owners of fields, from the body to what is stored.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "api/call.h"
#include "api/shown.h"
#include "api/testing.h"
#include "support/read_json.h"

namespace rhizome::api {
namespace {

using test::read;

constexpr std::string_view kApplyMedia = "application/apply-patch+yaml";
constexpr std::string_view kMergeMedia = "application/merge-patch+json";

struct Done {
    unsigned code = 0;
    std::string message{};
    bool wrote = false;
    std::vector<std::string> warnings{};
};

class ApplyVerb : public ::testing::Test {
protected:
    /// Runs a verb and keeps what it drafts.
    Done run(Verb verb, std::string_view target, Query::Pairs query, std::string body,
             std::string_view media = "application/json") {
        const auto path = parse_resource_path(target);
        Call call{.verb = verb, .path = *path, .query = Query{std::move(query)}, .body = std::move(body)};
        call.kind = world_.kinds.find(path->group, path->version, path->resource);
        call.media = media;
        call.agent = "curl/8";
        call.now = Time::from_unix_seconds(1'800'000'000 + ++now_);
        call.entropy[0] = static_cast<std::uint8_t>(now_);
        const auto where = path_of(*call.kind, path->name_space, path->name);
        const Present present{.object = world_.revisions.find(Layer::Chain, *where)};
        const Planned planned = call.path.subresource == "scale" ? scale_verb(call, present, {})
                                : verb == Verb::Create           ? create_verb(call, present, path->name)
                                : verb == Verb::Update           ? update_verb(call, present, {})
                                                                 : patch_verb(call, present, {});
        if (!planned) return {.code = planned.error().code, .message = planned.error().message};
        if (const auto* reply = std::get_if<Reply>(&*planned)) return {.code = reply->code, .message = "unchanged"};
        const Draft& draft = std::get<Draft>(*planned);
        if (draft.object) world_.put(json::print(*draft.object));
        return {.code = draft.code, .wrote = true, .warnings = draft.warnings};
    }
    Done apply(std::string_view target, std::string manager, std::string body, bool force = false) {
        return run(Verb::Patch, target, {{"fieldManager", std::move(manager)}, {"force", force ? "true" : "false"}},
                   std::move(body), kApplyMedia);
    }
    json::Value object(std::string_view target) {
        const auto path = parse_resource_path(target);
        const Kind* kind = world_.kinds.find(path->group, path->version, path->resource);
        const Standing found = world_.revisions.find(Layer::Chain, *path_of(*kind, path->name_space, path->name));
        return found ? shown_value(*kind, found, {}) : json::Value{};
    }
    /// A line for each manager.
    std::string owners(std::string_view target) {
        const json::Value shown = object(target);
        const json::Value* entries = shown.find_path({"metadata", "managedFields"});
        std::string out;
        if (entries != nullptr)
            for (const json::Value& entry : *entries->if_array()) {
                const std::string_view below = entry.text_at({"subresource"});
                out += fmt::format("{} {} {}{}{} {}\n", entry.text_at({"manager"}), entry.text_at({"operation"}),
                                   entry.text_at({"apiVersion"}), below.empty() ? "" : "/", below,
                                   json::print(*entry.find("fieldsV1")));
            }
        return out;
    }

    testing::World world_;
    int now_ = 0;
};

constexpr std::string_view kMap = "/api/v1/namespaces/default/configmaps/m";
constexpr std::string_view kWeb = "/apis/apps/v1/namespaces/default/deployments/web";

std::string config_map(std::string_view data, std::string_view metadata = "") {
    return fmt::format(R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"m"{}}},"data":{}}})", metadata,
                       data);
}
std::string deployment(std::string_view members) {
    return fmt::format(R"({{"apiVersion":"apps/v1","kind":"Deployment","metadata":{{"name":"web"}}{}}})", members);
}
constexpr std::string_view kSpec =
    R"(,"spec":{"replicas":2,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},)"
    R"("spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"0.5"}}}]}}})";

TEST_F(ApplyVerb, CreatesChangesAndLeavesAlone) {
    EXPECT_EQ(apply(kMap, "one", config_map(R"({"a":"1"})")).code, 201u);
    const json::Value first = object(kMap);
    const Done same = apply(kMap, "one", config_map(R"({"a":"1"})"));
    EXPECT_EQ(same.code, 200u);
    EXPECT_FALSE(same.wrote) << "no transaction";
    EXPECT_EQ(object(kMap), first);
    EXPECT_EQ(apply(kMap, "one", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata:\n  b: \"2\"\n").code,
              200u);
    EXPECT_EQ(json::print(*object(kMap).find("data")), R"({"b":"2"})");
    EXPECT_EQ(object(kMap).text_at({"metadata", "uid"}), first.text_at({"metadata", "uid"}));
    EXPECT_EQ(owners(kMap), "one Apply v1 {\"f:data\":{\"f:b\":{}}}\n");
}

TEST_F(ApplyVerb, RefusesWithKubernetesSentences) {
    ASSERT_EQ(run(Verb::Create, kMap, {}, config_map(R"({"a":"1"})")).code, 201u);
    struct Row {
        Query::Pairs query;
        std::string body;
        std::string_view media;
        unsigned code;
        std::string_view message;
    };
    const Query::Pairs one{{"fieldManager", "one"}};
    const Row rows[] = {
        {{},
         config_map("{}"),
         kApplyMedia,
         422,
         R"(PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch)"},
        {{{"force", "true"}},
         "{}",
         kMergeMedia,
         422,
         R"(PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch)"},
        {{{"fieldManager", std::string(129, 'x')}},
         "{}",
         kMergeMedia,
         422,
         R"(PatchOptions.meta.k8s.io "" is invalid: fieldManager: Too long: may not be more than 128 bytes)"},
        {one, config_map("{}", R"(,"managedFields":[])"), kApplyMedia, 400, "metadata.managedFields must be nil"},
        {one, R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"m"}})", kApplyMedia, 400,
         "invalid object type: /v1, Kind=Secret"},
        {one, R"({"metadata":{"name":"m"}})", kApplyMedia, 400, "invalid object type: /, Kind="},
        {one, "a: [", kApplyMedia, 400, ""},
        {one, "- 1", kApplyMedia, 400, "error decoding YAML: what is applied is no object"},
        {one, config_map(R"({"a":"2"})"), kApplyMedia, 409,
         R"(Apply failed with 1 conflict: conflict with "curl" using v1: .data.a)"},
        {one, config_map(R"({"a":2})"), kApplyMedia, 400, ""},
        {one, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"},"x":1})", kApplyMedia, 400,
         "failed to create typed patch object (/m; /v1, Kind=ConfigMap): .x: field not declared in schema"},
        {one, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"other"}})", kApplyMedia, 400,
         "the name of the object (other) does not match the name on the URL (m)"},
        {one, config_map("{}", R"(,"resourceVersion":"1")"), kApplyMedia, 409, ""},
        {one, config_map("{}", R"(,"uid":"u")"), kApplyMedia, 409, ""},
        {one, config_map("{}", R"(,"namespace":"web")"), kApplyMedia, 400, ""},
    };
    for (const Row& row : rows) {
        const Done done = run(Verb::Patch, kMap, row.query, row.body, row.media);
        EXPECT_EQ(done.code, row.code) << row.body << done.message;
        if (!row.message.empty()) {
            EXPECT_EQ(done.message, row.message);
        }
        EXPECT_FALSE(done.wrote);
    }
    const std::string version{object(kMap).text_at({"metadata", "resourceVersion"})};
    EXPECT_EQ(apply(kMap, "one", config_map(R"({"b":"1"})", R"(,"resourceVersion":")" + version + '"')).code, 200u);
    constexpr std::string_view kNone = "/api/v1/namespaces/default/configmaps/none";
    EXPECT_EQ(
        run(Verb::Patch, kNone, one, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"none","uid":"u"}})",
            kApplyMedia)
            .message,
        R"(Operation cannot be fulfilled on configmaps "none": uid mismatch: the provided object specified uid u, )"
        "and no existing object was found");
    EXPECT_EQ(run(Verb::Patch, kNone, one, R"({"apiVersion":"v1","kind":"ConfigMap"})", kApplyMedia).code, 400u);
    EXPECT_EQ(run(Verb::Patch, kNone, {}, "{}", kMergeMedia).code, 404u);
}

TEST_F(ApplyVerb, EveryWriteHasOwners) {
    ASSERT_EQ(run(Verb::Create, kMap, {{"fieldManager", "maker"}}, config_map(R"({"a":"1","b":"1"})")).code, 201u);
    EXPECT_EQ(owners(kMap), "maker Update v1 {\"f:data\":{\".\":{},\"f:a\":{},\"f:b\":{}}}\n");
    ASSERT_EQ(run(Verb::Patch, kMap, {}, R"({"data":{"a":"2"}})", kMergeMedia).code, 200u);
    ASSERT_EQ(run(Verb::Update, kMap, {{"fieldManager", "putter"}}, config_map(R"({"a":"2","c":"1"})")).code, 200u);
    EXPECT_EQ(owners(kMap),
              "maker Update v1 {\"f:data\":{}}\ncurl Update v1 {\"f:data\":{\"f:a\":{}}}\n"
              "putter Update v1 {\"f:data\":{\"f:c\":{}}}\n")
        << "the list of managers that was left out stays, what is gone has no owner";
    // Sent back unchanged, the entries stay; changed, they count; malformed, they do not.
    json::Value sent = object(kMap);
    sent["data"]["d"] = "1";
    ASSERT_EQ(run(Verb::Update, kMap, {{"fieldManager", "putter"}}, json::print(sent)).code, 200u);
    EXPECT_EQ(owners(kMap),
              "maker Update v1 {\"f:data\":{}}\ncurl Update v1 {\"f:data\":{\"f:a\":{}}}\n"
              "putter Update v1 {\"f:data\":{\"f:c\":{},\"f:d\":{}}}\n");
    sent = object(kMap);
    sent["metadata"]["managedFields"].if_array()->resize(2);
    ASSERT_TRUE(run(Verb::Update, kMap, {}, json::print(sent)).wrote);
    EXPECT_EQ(owners(kMap), "maker Update v1 {\"f:data\":{}}\ncurl Update v1 {\"f:data\":{\"f:a\":{}}}\n");
    sent["metadata"]["managedFields"] = read(R"([{"manager":"x","operation":"Odd"}])");
    sent["metadata"].if_object()->erase("resourceVersion");
    EXPECT_FALSE(run(Verb::Update, kMap, {}, json::print(sent)).wrote);
    sent["metadata"]["managedFields"] = json::Array{};
    EXPECT_FALSE(run(Verb::Update, kMap, {}, json::print(sent)).wrote) << "an empty list is no wish";
    sent["metadata"]["managedFields"] = read("[{}]");
    EXPECT_TRUE(run(Verb::Update, kMap, {}, json::print(sent)).wrote);
    EXPECT_EQ(owners(kMap), "");
    ASSERT_EQ(run(Verb::Patch, kMap, {}, R"({"data":{"z":"1"}})", kMergeMedia).code, 200u);
    EXPECT_EQ(owners(kMap), "") << "an object without entries gets none by updates";
    ASSERT_EQ(apply(kMap, "one", config_map(R"({"a":"2"})")).code, 200u);
    EXPECT_EQ(owners(kMap),
              "one Apply v1 {\"f:data\":{\"f:a\":{}}}\nbefore-first-apply Update v1 {\"f:data\":{\".\":{},\"f:a\":{},"
              "\"f:c\":{},\"f:d\":{},\"f:z\":{}}}\n");
}

TEST_F(ApplyVerb, WhatNoRequestMadeHasAMakerOnceItIsChanged) {
    world_.put(config_map(R"({"a":"1","b":"1"})", R"(,"namespace":"default")"));
    EXPECT_EQ(owners(kMap), "");
    EXPECT_FALSE(run(Verb::Patch, kMap, {}, R"({"data":{"a":"1"}})", kMergeMedia).wrote) << "no change, no entries";
    ASSERT_EQ(run(Verb::Patch, kMap, {}, R"({"data":{"a":"2"}})", kMergeMedia).code, 200u);
    EXPECT_EQ(owners(kMap),
              "rhizome Update v1 {\"f:data\":{\".\":{},\"f:b\":{}}}\ncurl Update v1 {\"f:data\":{\"f:a\":{}}}\n");
}

TEST_F(ApplyVerb, StatusIsWrittenBelowOnly) {
    const std::string status = R"(,"status":{"replicas":7})";
    ASSERT_EQ(apply(kWeb, "one", deployment(std::string(kSpec) + status)).code, 201u);
    EXPECT_EQ(owners(kWeb).find("f:status"), std::string::npos);
    EXPECT_EQ(object(kWeb).find_path({"status", "replicas"}), nullptr);
    const std::string below = fmt::format("{}/status", kWeb);
    const std::string main_owners = owners(kWeb);
    ASSERT_EQ(apply(below, "controller",
                    R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","labels":{"x":"y"}},)"
                    R"("spec":{"replicas":9},"status":{"replicas":7}})")
                  .code,
              200u);
    EXPECT_EQ(owners(kWeb), main_owners + "controller Apply apps/v1/status {\"f:status\":{\"f:replicas\":{}}}\n");
    EXPECT_EQ(object(kWeb).find_path({"spec", "replicas"})->if_int64(), 2);
    EXPECT_EQ(object(kWeb).find_path({"metadata", "labels"}), nullptr);
    EXPECT_EQ(
        apply(below, "other", deployment(R"(,"status":{"replicas":8})")).message,
        R"(Apply failed with 1 conflict: conflict with "controller" with subresource "status": .status.replicas)");
    ASSERT_EQ(run(Verb::Patch, below, {}, R"({"status":{"observedGeneration":1}})", kMergeMedia).code, 200u);
    EXPECT_NE(owners(kWeb).find("curl Update apps/v1/status {\"f:status\":{\"f:observedGeneration\":{}}}"),
              std::string::npos)
        << owners(kWeb);
    EXPECT_EQ(apply("/apis/apps/v1/namespaces/default/deployments/none/status", "c",
                    R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"none"}})")
                  .code,
              404u);
}

TEST_F(ApplyVerb, ScaleOwnsTheNumberOnly) {
    ASSERT_EQ(apply(kWeb, "one", deployment(kSpec)).code, 201u);
    const std::string below = fmt::format("{}/scale", kWeb);
    const auto scale = [](int replicas) {
        return fmt::format(
            R"({{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{{"name":"web"}},"spec":{{"replicas":{}}}}})",
            replicas);
    };
    EXPECT_EQ(apply(below, "scaler", scale(5)).message,
              R"(Apply failed with 1 conflict: conflict with "one": .spec.replicas)");
    ASSERT_EQ(apply(below, "scaler", scale(5), true).code, 200u);
    EXPECT_EQ(object(kWeb).find_path({"spec", "replicas"})->if_int64(), 5);
    EXPECT_NE(owners(kWeb).find("scaler Apply apps/v1/scale {\"f:spec\":{\"f:replicas\":{}}}\n"), std::string::npos)
        << owners(kWeb);
    EXPECT_EQ(owners(kWeb).find("one Apply apps/v1 {\"f:spec\":{\"f:replicas\""), std::string::npos) << owners(kWeb);
    EXPECT_FALSE(apply(below, "scaler", scale(5)).wrote);
    EXPECT_EQ(apply(kWeb, "one", deployment(kSpec)).message,
              R"(Apply failed with 1 conflict: conflict with "scaler" with subresource "scale": .spec.replicas)");
    // An update of the number moves it as well.
    ASSERT_EQ(run(Verb::Patch, below, {}, R"({"spec":{"replicas":6}})", kMergeMedia).code, 200u);
    EXPECT_NE(owners(kWeb).find("curl Update apps/v1/scale {\"f:spec\":{\"f:replicas\":{}}}\n"), std::string::npos);
    EXPECT_EQ(owners(kWeb).find("scaler"), std::string::npos);
    EXPECT_EQ(apply(below, "scaler", scale(7)).message,
              R"(Apply failed with 1 conflict: conflict with "curl" with subresource "scale" using autoscaling/v1: )"
              ".spec.replicas");
    EXPECT_EQ(apply(below, "scaler", deployment("")).code, 400u);
}

TEST_F(ApplyVerb, ValuesInAnotherFormAreTheSame) {
    ASSERT_EQ(apply(kWeb, "one", deployment(kSpec)).code, 201u);
    const json::Value first = object(kWeb);
    EXPECT_FALSE(apply(kWeb, "one", deployment(kSpec)).wrote) << "0.5 of a processor is 500m";
    EXPECT_EQ(json::print_pretty(object(kWeb)), json::print_pretty(first));
    EXPECT_FALSE(apply(kWeb, "two",
                       deployment(R"(,"spec":{"template":{"spec":{"containers":[{"name":"c","resources":{"limits":)"
                                  R"({"cpu":"500m"}}}]}}})"))
                     .message.starts_with("Apply failed"));
    // Nor is a label a change of the spec.
    ASSERT_TRUE(run(Verb::Patch, kWeb, {}, R"({"metadata":{"labels":{"l":"1"}}})", kMergeMedia).wrote);
    EXPECT_EQ(object(kWeb).find_path({"metadata", "generation"})->if_int64(), 1);
    // What nobody owns any more gets its default again.
    EXPECT_TRUE(apply(kWeb, "three", deployment(R"(,"spec":{"revisionHistoryLimit":3})"), true).wrote);
    EXPECT_EQ(object(kWeb).find_path({"spec", "revisionHistoryLimit"})->if_int64(), 3);
    EXPECT_TRUE(apply(kWeb, "three", deployment("")).wrote);
    EXPECT_EQ(object(kWeb).find_path({"spec", "revisionHistoryLimit"})->if_int64(), 10);
}

TEST_F(ApplyVerb, KubectlTakesWhatItAppliedAsAClient) {
    const std::string note =
        R"(,"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"apiVersion\":\"v1\",\"kind\":)"
        R"(\"ConfigMap\",\"metadata\":{\"name\":\"m\"},\"data\":{\"a\":\"1\",\"b\":\"0\"}}"})";
    ASSERT_EQ(run(Verb::Create, kMap, {{"fieldManager", "kubectl-client-side-apply"}},
                  config_map(R"({"a":"1","b":"1"})", note))
                  .code,
              201u);
    EXPECT_EQ(apply(kMap, "other", config_map(R"({"a":"2"})")).code, 409u);
    EXPECT_EQ(apply(kMap, "kubectl", config_map(R"({"a":"2","b":"2"})")).message,
              R"(Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using v1: .data.b)")
        << "b is not what the client applied";
    ASSERT_EQ(apply(kMap, "kubectl", config_map(R"({"a":"2"})")).code, 200u);
    EXPECT_EQ(object(kMap).text_at({"metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"}),
              "{\"apiVersion\":\"v1\",\"data\":{\"a\":\"2\"},\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"m\"}}\n");
    EXPECT_FALSE(apply(kMap, "kubectl", config_map(R"({"a":"2"})")).wrote);
}

TEST_F(ApplyVerb, WhatIsBeingDeletedTakesNoNewFinalizers) {
    world_.put(testing::World::config_map("default", "m", "1"));
    json::Value ending = object(kMap);
    ending["metadata"]["finalizers"] = json::Array{"example.com/f"};
    ending["metadata"]["deletionTimestamp"] = "2027-01-01T00:00:00Z";
    strip_shown(ending);
    world_.put(json::print(ending));
    EXPECT_EQ(apply(kMap, "one", config_map(R"({"b":"1"})")).code, 200u);
    EXPECT_EQ(apply(kMap, "two", config_map("{}", R"(,"finalizers":["example.com/g"])")).code, 422u);
}

}  // namespace
}  // namespace rhizome::api
