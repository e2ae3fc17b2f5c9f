// SPDX-License-Identifier: Apache-2.0
#include "cluster/schema.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "base/json.h"

namespace rhizome::cluster {
namespace {

const Schema& at(std::string_view name) {
    const Schema* found = find_schema(name);
    if (found == nullptr) ADD_FAILURE() << name;
    static const Schema kNone{};
    return found == nullptr ? kNone : *found;
}

TEST(Schema, KnowsFieldsAndTheirTypes) {
    const Schema* pod = find_schema("", "v1", "Pod");
    ASSERT_NE(pod, nullptr);
    EXPECT_EQ(pod->name, "io.k8s.api.core.v1.Pod");
    EXPECT_EQ(pod->message, "k8s.io.api.core.v1.Pod");
    const Schema& spec = *pod->find("spec")->schema;
    EXPECT_EQ(pod->find("bogus"), nullptr);
    const Schema& containers = *spec.find("containers")->schema;
    EXPECT_EQ(containers.shape, Shape::List);
    EXPECT_EQ(containers.list_type, ListType::Map);
    EXPECT_EQ(containers.merge_key, "name");
    EXPECT_TRUE(containers.merges);
    EXPECT_TRUE(spec.find("containers")->required);
    const Schema& ports = *containers.element->find("ports")->schema;
    EXPECT_EQ(ports.merge_key, "containerPort");
    EXPECT_TRUE(std::equal(ports.keys.begin(), ports.keys.end(),
                           std::vector<std::string_view>{"containerPort", "protocol"}.begin()));
    EXPECT_EQ(ports.element->find("protocol")->fallback, "\"TCP\"");
    EXPECT_EQ(ports.element->find("containerPort")->schema->shape, Shape::Integer32);
    EXPECT_TRUE(spec.find("volumes")->schema->retains);
    EXPECT_TRUE(spec.find("nodeSelector")->schema->atomic);
    EXPECT_FALSE(containers.element->find("args")->schema->merges);
    const Schema& requests = *at("io.k8s.api.core.v1.ResourceRequirements").find("requests")->schema;
    EXPECT_EQ(requests.shape, Shape::Map);
    EXPECT_EQ(requests.element->shape, Shape::Quantity);
}

TEST(Schema, KnowsWhatIsSentButNeverStored) {
    for (const auto& [group, version, kind] :
         std::vector<std::array<std::string_view, 3>>{{"autoscaling", "v1", "Scale"},
                                                      {"policy", "v1", "Eviction"},

                                                      {"", "v1", "Status"},
                                                      {"authentication.k8s.io", "v1", "TokenRequest"},
                                                      {"apps", "v1", "DeploymentList"}})
        EXPECT_NE(find_schema(group, version, kind), nullptr) << kind;
    EXPECT_NE(find_schema("io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"), nullptr);
    EXPECT_EQ(find_schema("", "v2", "Pod"), nullptr);
    EXPECT_EQ(find_schema("io.k8s.Nothing"), nullptr);
}

TEST(Schema, NumbersInlinedStructsAsProtobufNestsThem) {
    const struct {
        std::string_view schema;
        std::string_view field;
        unsigned number;
        std::array<std::uint8_t, 2> inside;
    } rows[] = {
        {"io.k8s.api.core.v1.Volume", "name", 1, {0, 0}},
        {"io.k8s.api.core.v1.Volume", "hostPath", 1, {2, 0}},
        {"io.k8s.api.core.v1.Volume", "configMap", 19, {2, 0}},
        {"io.k8s.api.core.v1.Probe", "httpGet", 2, {1, 0}},
        {"io.k8s.api.core.v1.Probe", "periodSeconds", 4, {0, 0}},
        {"io.k8s.api.core.v1.EphemeralContainer", "image", 2, {1, 0}},
        {"io.k8s.api.core.v1.EphemeralContainer", "targetContainerName", 2, {0, 0}},
        {"io.k8s.api.core.v1.ConfigMapKeySelector", "name", 1, {1, 0}},
        {"io.k8s.api.core.v1.ConfigMapKeySelector", "key", 2, {0, 0}},
        {"io.k8s.api.networking.v1.IngressRule", "http", 1, {2, 0}},
        {"io.k8s.api.admissionregistration.v1.NamedRuleWithOperations", "operations", 1, {2, 0}},
        {"io.k8s.api.admissionregistration.v1.NamedRuleWithOperations", "resources", 3, {2, 2}},
    };
    for (const auto& row : rows) {
        const Field* field = at(row.schema).find(row.field);
        ASSERT_NE(field, nullptr) << row.field;
        EXPECT_EQ(field->number, row.number) << row.schema << ' ' << row.field;
        EXPECT_EQ(field->inside, row.inside) << row.schema << ' ' << row.field;
    }
}

TEST(Schema, SpeaksOfTypesAsGoDoes) {
    EXPECT_EQ(go_type(*at("io.k8s.api.apps.v1.DeploymentSpec").find("replicas")->schema), "int32");
    EXPECT_EQ(go_type(*at("io.k8s.api.core.v1.PodSpec").find("containers")->schema), "[]v1.Container");
    EXPECT_EQ(go_type(*at("io.k8s.api.core.v1.ConfigMap").find("data")->schema), "map[string]string");
    EXPECT_EQ(go_type(*at("io.k8s.api.core.v1.Secret").find("data")->schema), "map[string][]uint8");
    EXPECT_EQ(go_type(at("io.k8s.api.core.v1.PodSpec")), "v1.PodSpec");
    EXPECT_EQ(short_name(at("io.k8s.api.core.v1.PodSpec")), "PodSpec");
}

/// Every node that can be reached, once.
void collect(const Schema* schema, std::set<const Schema*>& seen) {
    if (!seen.insert(schema).second) return;
    if (schema->element != nullptr) collect(schema->element, seen);
    for (const Field& field : schema->fields) collect(field.schema, seen);
}

TEST(Schema, TablesHoldTogether) {
    std::set<const Schema*> nodes;
    std::string_view last;
    for (const NamedSchema& each : all_schemas()) {
        EXPECT_LT(last, each.name);
        last = each.name;
        EXPECT_EQ(find_schema(each.name), each.schema);
        collect(each.schema, nodes);
    }
    EXPECT_GT(nodes.size(), all_schemas().size());
    for (const Schema* node : nodes) {
        EXPECT_EQ(node->element != nullptr, node->shape == Shape::List || node->shape == Shape::Map) << node->name;
        EXPECT_EQ(node->shape == Shape::List && node->list_type == ListType::Map, !node->keys.empty()) << node->name;
        std::set<std::pair<std::array<std::uint8_t, 2>, unsigned>> numbers;
        for (std::size_t i = 0; i < node->fields.size(); ++i) {
            const Field& field = node->fields[i];
            if (i != 0) {
                EXPECT_LT(node->fields[i - 1].name, field.name) << node->name;
            }
            if (field.number != 0) {
                EXPECT_TRUE(numbers.emplace(field.inside, field.number).second)
                    << node->name << '.' << field.name << " has the number of another field";
            }
            if (!field.fallback.empty()) {
                EXPECT_TRUE(json::parse(field.fallback)) << node->name << '.' << field.name;
            }
        }
        for (const std::string_view key : node->keys) {
            EXPECT_NE(node->element->find(key), nullptr) << key;
        }
        if (!node->merge_key.empty()) {
            EXPECT_NE(node->element->find(node->merge_key), nullptr) << node->merge_key;
        }
    }
}

}  // namespace
}  // namespace rhizome::cluster
