// SPDX-License-Identifier: Apache-2.0
#include "cluster/custom_definition.h"

#include <gtest/gtest.h>

#include "cluster/decode.h"
#include "cluster/defaults.h"
#include "cluster/validate.h"

namespace rhizome::cluster {
namespace {

constexpr std::string_view kCrontabs = R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
"metadata":{"name":"crontabs.stable.example.com"},"spec":{"group":"stable.example.com","scope":"Namespaced",
"names":{"plural":"crontabs","singular":"crontab","kind":"CronTab","listKind":"CronTabList","shortNames":["ct"],"categories":["all"]},
"versions":[
 {"name":"v1","served":true,"storage":true,
  "schema":{"openAPIV3Schema":{"type":"object","properties":{
    "spec":{"type":"object","properties":{"cronSpec":{"type":"string"},"replicas":{"type":"integer","default":1}}},
    "status":{"type":"object","properties":{"replicas":{"type":"integer"},"labelSelector":{"type":"string"}}}}}},
  "additionalPrinterColumns":[{"name":"Spec","type":"string","jsonPath":".spec.cronSpec"}],
  "selectableFields":[{"jsonPath":".spec.cronSpec"}],
  "subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas","labelSelectorPath":".status.labelSelector"}}},
 {"name":"v1beta1","served":true,"storage":false,"deprecated":true,
  "schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})";

json::Value crontabs() { return *json::parse(kCrontabs); }

std::string faults_of(const json::Value& document) {
    FieldErrors errors;
    check_definition(document, errors);
    return errors.empty() ? std::string{} : text(errors);
}

TEST(CustomDefinition, MakesAKindOfEachServedVersion) {
    const auto read = read_definition(crontabs(), 7);
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(read->kinds.size(), 2u);
    Kinds kinds;
    for (const CustomKind& kind : read->kinds) ASSERT_TRUE(kinds.add(kind));
    const Kind* v1 = kinds.find("stable.example.com", "v1", "crontabs");
    ASSERT_NE(v1, nullptr);
    EXPECT_TRUE(v1->custom && v1->namespaced && v1->preferred);
    EXPECT_EQ(v1->short_names[0], "ct");
    EXPECT_EQ(v1->list_kind(), "CronTabList");
    EXPECT_TRUE(v1->selects("spec.cronSpec"));
    ASSERT_NE(v1->find_subresource("scale"), nullptr);
    ASSERT_NE(v1->rules, nullptr);
    EXPECT_EQ(v1->rules->definition, "crontabs.stable.example.com");
    EXPECT_EQ(v1->rules->storage_version, "v1");
    EXPECT_EQ(v1->rules->scale->spec_replicas, (std::vector<std::string>{"spec", "replicas"}));
    const Kind* beta = kinds.find("stable.example.com", "v1beta1", "crontabs");
    ASSERT_NE(beta, nullptr);
    EXPECT_FALSE(beta->preferred);
    EXPECT_EQ(beta->find_subresource("status"), nullptr);
    EXPECT_EQ(beta->rules->deprecation, "stable.example.com/v1beta1 CronTab is deprecated");
}

TEST(CustomDefinition, RefusesWhatMakesNoSense) {
    const auto changed = [](const std::function<void(json::Value&)>& change) {
        json::Value document = crontabs();
        change(document);
        return faults_of(document);
    };
    EXPECT_EQ(changed([](json::Value&) {}), "");
    const auto version = [](json::Value& document, std::size_t i) -> json::Value& {
        return (*document["spec"]["versions"].if_array())[i];
    };
    struct Row {
        std::function<void(json::Value&)> change;
        std::string_view says;
    };
    const Row rows[] = {
        {[](json::Value& d) { d["metadata"]["name"] = "x"; }, "must be spec.names.plural+\".\"+spec.group"},
        {[](json::Value& d) { d["spec"]["group"] = "nodots"; }, "should be a domain with at least one dot"},
        {[](json::Value& d) { d["spec"]["scope"] = "Galaxy"; }, "spec.scope: Unsupported value: \"Galaxy\""},
        {[](json::Value& d) { d["spec"]["names"]["plural"] = "Cron"; }, "spec.names.plural: Invalid value"},
        {[](json::Value& d) { d["spec"]["names"]["listKind"] = "CronTab"; }, "kind and listKind may not be the same"},
        {[&](json::Value& d) { version(d, 1)["storage"] = true; },
         "must have exactly one version marked as storage version"},
        {[&](json::Value& d) { version(d, 1)["name"] = "v1"; }, "must contain unique version names"},
        {[&](json::Value& d) { version(d, 0).make_object().erase("schema"); },
         "spec.versions[0].schema.openAPIV3Schema: Required value: schemas are required"},
        {[&](json::Value& d) {
             version(d, 0)["additionalPrinterColumns"] =
                 json::Array{json::Object{{"name", "A"}, {"type", "odd"}, {"jsonPath", "x"}}};
         },
         "Unsupported value: \"odd\""},
        {[&](json::Value& d) { version(d, 0)["subresources"]["scale"]["specReplicasPath"] = ".status.x"; },
         "should be a json path under .spec"},
        {[&](json::Value& d) {
             version(d, 0)["selectableFields"] = json::Array{json::Object{{"jsonPath", ".spec.none"}}};
         },
         "does not refer to a valid field"},
        {[](json::Value& d) { d["spec"]["preserveUnknownFields"] = true; }, "cannot set to true"},
        {[](json::Value& d) {
             d["spec"]["conversion"] = json::Object{{"strategy", "Webhook"}};
         },
         "spec.conversion.webhook: Required value: required when strategy is set to Webhook"},
        {[](json::Value& d) {
             d["spec"]["group"] = "x.k8s.io";
             d["metadata"]["name"] = "crontabs.x.k8s.io";
         },
         "protected groups must have approval annotation"},
    };
    for (const Row& row : rows) {
        const std::string said = changed(row.change);
        EXPECT_NE(said.find(row.says), std::string::npos) << row.says << "\n" << said;
    }
}

TEST(CustomDefinition, ShowsThatItIsEstablishedAndRemembersWhatIsStored) {
    json::Value document = crontabs();
    keep_stored_versions(document, nullptr);
    show_definition(document, nullptr);
    const json::Array& conditions = *document.find_path({"status", "conditions"})->if_array();
    ASSERT_EQ(conditions.size(), 2u);
    EXPECT_EQ(conditions[0].text_at({"type"}), "NamesAccepted");
    EXPECT_EQ(conditions[1].text_at({"type"}), "Established");
    EXPECT_EQ(conditions[1].text_at({"status"}), "True");
    EXPECT_EQ(document.text_at({"status", "acceptedNames", "kind"}), "CronTab");
    strip_definition(document);
    EXPECT_EQ(json::print(*document.find("status")), R"({"storedVersions":["v1"]})");

    json::Value moved = crontabs();
    json::Array& versions = *moved["spec"]["versions"].if_array();
    versions[0]["storage"] = false;
    versions[1]["storage"] = true;
    keep_stored_versions(moved, &document);
    EXPECT_EQ(json::print(*moved.find("status")), R"({"storedVersions":["v1","v1beta1"]})");
    // A version that documents may be stored in stays.
    versions.erase(versions.begin());
    FieldErrors errors;
    check_definition_change(moved, document, errors);
    EXPECT_EQ(text(errors), "status.storedVersions[0]: Invalid value: \"v1\": must appear in spec.versions");

    ServedDefinitions served;
    served.by_name["crontabs.stable.example.com"].conflicts = {"PluralConflict", "\"crontabs\" is already in use"};
    json::Value refused = crontabs();
    show_definition(refused, &served);
    const json::Array& now = *refused.find_path({"status", "conditions"})->if_array();
    EXPECT_EQ(now[0].text_at({"status"}), "False");
    EXPECT_EQ(now[1].text_at({"reason"}), "NotAccepted");
}

class CustomObject : public ::testing::Test {
protected:
    CustomObject() {
        const auto read = read_definition(crontabs(), 0);
        for (const CustomKind& each : read->kinds) EXPECT_TRUE(kinds.add(each));
        kind = kinds.find("stable.example.com", "v1", "crontabs");
    }
    Kinds kinds;
    const Kind* kind = nullptr;
};

TEST_F(CustomObject, IsPrunedFilledInAndValidated) {
    const auto sent = *json::parse(
        R"({"apiVersion":"stable.example.com/v1","kind":"CronTab","metadata":{"name":"a","namespace":"n"},"spec":{"cronSpec":"x","bogus":1}})");
    const auto strict = decode(sent, *kind, FieldValidation::Strict);
    ASSERT_FALSE(strict);
    EXPECT_EQ(strict.error().message,
              "CronTab in version \"v1\" cannot be handled as a CronTab: strict decoding error: unknown field "
              "\"spec.bogus\"");
    auto warned = decode(sent, *kind, FieldValidation::Warn);
    ASSERT_TRUE(warned);
    EXPECT_EQ(warned->warnings, (std::vector<std::string>{"unknown field \"spec.bogus\""}));
    json::Value object = std::move(warned->object);
    object["status"] = json::Object{{"replicas", 9}};
    prepare_for_create(object, *kind);
    apply_defaults(object, *kind);
    EXPECT_EQ(object.find("status"), nullptr) << "not the creator's to write";
    EXPECT_EQ(json::print(*object.find("spec")), R"({"cronSpec":"x","replicas":1})");
    EXPECT_TRUE(validate_create(object, *kind).empty());
    object["spec"]["replicas"] = "many";
    EXPECT_EQ(text(validate_create(object, *kind)),
              R"(spec.replicas: Invalid value: "string": spec.replicas in body must be of type integer: "string")");
}

TEST_F(CustomObject, CountsItsGenerationByWhatIsNeitherMetadataNorStatus) {
    const auto of = [&](std::string_view rest) {
        return *json::parse(
            std::string{
                R"({"apiVersion":"stable.example.com/v1","kind":"CronTab","metadata":{"name":"a","generation":4})"} +
            std::string{rest} + "}");
    };
    const json::Value before = of(R"(,"spec":{"cronSpec":"x"},"status":{"replicas":1})");
    json::Value labelled = before;
    labelled["metadata"]["labels"] = json::Object{{"a", "b"}};
    labelled["status"] = json::Object{{"replicas", 2}};
    prepare_for_update(labelled, before, *kind, false);
    EXPECT_EQ(labelled.find_path({"metadata", "generation"})->if_int64(), 4);
    EXPECT_EQ(labelled.find_path({"status", "replicas"})->if_int64(), 1) << "the status has a way of its own";
    json::Value changed = of(R"(,"spec":{"cronSpec":"y"})");
    prepare_for_update(changed, before, *kind, false);
    EXPECT_EQ(changed.find_path({"metadata", "generation"})->if_int64(), 5);

    const Kind* beta = kinds.find("stable.example.com", "v1beta1", "crontabs");
    json::Value status = before;
    status["status"] = json::Object{{"replicas", 2}};
    prepare_for_update(status, before, *beta, false);
    EXPECT_EQ(status.find_path({"metadata", "generation"})->if_int64(), 5)
        << "without the subresource a field like any other";
}

}  // namespace
}  // namespace rhizome::cluster
