// SPDX-License-Identifier: Apache-2.0
#include "api/registry.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "api/discovery.h"
#include "api/openapi.h"
#include "api/shown.h"
#include "api/testing.h"
#include "cluster/custom_definition.h"

namespace rhizome::api {
namespace {

using testing::World;

std::string definition(std::string_view group, std::string_view plural, std::string_view kind,
                       std::string_view more_names = "", std::string_view schema = R"({"type":"object"})") {
    return fmt::format(
        R"({{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{{"name":"{1}.{0}"}},)"
        R"("spec":{{"group":"{0}","scope":"Namespaced","names":{{"plural":"{1}","singular":"{1}one","kind":"{2}","listKind":"{2}List"{3}}},)"
        R"("versions":[{{"name":"v1","served":true,"storage":true,"schema":{{"openAPIV3Schema":{4}}}}}]}}}})",
        group, plural, kind, more_names, schema);
}

class Definitions : public ::testing::Test {
protected:
    SharedRegistry now() {
        registry = make_registry(world.revisions.view(Layer::Chain), "test", registry);
        return registry;
    }
    json::Value shown(std::string_view name) {
        const SharedRegistry held = now();
        const auto* kind = held->kinds.find("apiextensions.k8s.io", "v1", "customresourcedefinitions");
        const auto path = state::Path::of("apiextensions.k8s.io", "CustomResourceDefinition", "", name);
        return shown_value(*kind, world.revisions.find(Layer::Chain, *path), {});
    }
    static std::string condition(const json::Value& object, std::string_view type) {
        for (const json::Value& one : *object.find_path({"status", "conditions"})->if_array())
            if (one.text_at({"type"}) == type)
                return fmt::format("{} {} {}", one.text_at({"status"}), one.text_at({"reason"}),
                                   one.text_at({"message"}));
        return {};
    }
    World world;
    SharedRegistry registry;
};

TEST_F(Definitions, AreServedAsLongAsTheyStandInTheState) {
    const SharedRegistry before = now();
    EXPECT_EQ(before->kinds.find("a.example", "v1", "foos"), nullptr);
    world.put(definition("a.example", "foos", "Foo"));
    const SharedRegistry with = now();
    const auto* foo = with->kinds.find("a.example", "v1", "foos");
    ASSERT_NE(foo, nullptr);
    EXPECT_NE(with->groups_v2.etag, before->groups_v2.etag);
    EXPECT_NE(with->openapi_index.etag, before->openapi_index.etag);
    EXPECT_EQ(with->core_v2.etag, before->core_v2.etag);
    EXPECT_NE(with->openapi_index.body.find("apis/a.example/v1"), std::string::npos);

    // What defines nothing new gives the same one; another definition leaves the kind where it is.
    world.put(World::config_map("default", "c", "1"));
    EXPECT_EQ(now(), with);
    world.put(definition("b.example", "bars", "Bar"));
    EXPECT_EQ(now()->kinds.find("a.example", "v1", "foos"), foo);

    world.erase("/global/apiextensions.k8s.io/CustomResourceDefinition/foos.a.example");
    EXPECT_EQ(now()->kinds.find("a.example", "v1", "foos"), nullptr);
    EXPECT_EQ(foo->kind, "Foo") << "whoever began with it keeps it";
    world.erase("/global/apiextensions.k8s.io/CustomResourceDefinition/bars.b.example");
    EXPECT_EQ(now()->groups_v2.etag, before->groups_v2.etag) << "as if nothing had been";
    EXPECT_EQ(now()->openapi_index.etag, before->openapi_index.etag);
}

TEST_F(Definitions, ChangeTheOpenapiDocumentOfTheirGroupAlone) {
    world.put(definition("a.example", "foos", "Foo"));
    world.put(definition("b.example", "bars", "Bar"));
    const auto hash_of = [&](std::string_view group) {
        const std::string& body = now()->openapi_index.body;
        const std::size_t at = body.find(fmt::format("apis/{}/v1?hash=", group));
        return body.substr(at, 60);
    };
    const std::string a = hash_of("a.example");
    const std::string b = hash_of("b.example");
    world.put(
        definition("a.example", "foos", "Foo", "", R"({"type":"object","properties":{"spec":{"type":"object"}}})"));
    EXPECT_NE(hash_of("a.example"), a);
    EXPECT_EQ(hash_of("b.example"), b);
    const json::Value document = openapi_document(now()->kinds, "a.example", "v1");
    const json::Value* schema = document.find_path({"components", "schemas", "example.a.v1.Foo"});
    ASSERT_NE(schema, nullptr);
    EXPECT_NE(schema->find_path({"properties", "spec"}), nullptr);
    EXPECT_NE(schema->find_path({"properties", "metadata"}), nullptr);
}

TEST_F(Definitions, ShareNoNamesWithinAGroupAndTheOlderOneKeepsThem) {
    world.put(definition("a.example", "foos", "Foo", R"(,"shortNames":["f"])"));
    world.put(definition("a.example", "others", "Other", R"(,"shortNames":["f"])"));
    world.put(definition("b.example", "foos", "Foo"));
    EXPECT_EQ(condition(shown("foos.a.example"), "Established"),
              "True InitialNamesAccepted the initial names have been accepted");
    EXPECT_EQ(condition(shown("others.a.example"), "NamesAccepted"),
              "False ShortNamesConflict \"f\" is already in use");
    EXPECT_EQ(condition(shown("others.a.example"), "Established"), "False NotAccepted not all names are accepted");
    EXPECT_EQ(condition(shown("foos.b.example"), "NamesAccepted"), "True NoConflicts no conflicts found");
    EXPECT_EQ(now()->kinds.find("a.example", "v1", "others"), nullptr);
    // The name is free again when its holder goes.
    world.erase("/global/apiextensions.k8s.io/CustomResourceDefinition/foos.a.example");
    EXPECT_EQ(condition(shown("others.a.example"), "NamesAccepted"), "True NoConflicts no conflicts found");
    EXPECT_NE(now()->kinds.find("a.example", "v1", "others"), nullptr);
}

TEST_F(Definitions, ThatAreNoneAreNotServedAndSaySo) {
    world.put(definition("a.example", "foos", "Foo", "", R"({"type":"object","properties":{"a":{"$ref":"#"}}})"));
    EXPECT_EQ(now()->kinds.find("a.example", "v1", "foos"), nullptr);
    EXPECT_NE(condition(shown("foos.a.example"), "NonStructuralSchema").find("$ref is not supported"),
              std::string::npos);
    EXPECT_EQ(condition(shown("foos.a.example"), "Established"), "False NotAccepted not all names are accepted");
}

TEST_F(Definitions, ShowDocumentsFromBeforeThemselvesAsTheyAreNow) {
    world.put(
        definition("a.example", "foos", "Foo", "", R"({"type":"object","x-kubernetes-preserve-unknown-fields":true})"));
    world.put(World::document("a.example/v1", "Foo", "default", "x", R"(,"spec":{"old":1})"));
    const auto path = *state::Path::of("a.example", "Foo", "default", "x");
    const auto text = [&] {
        const SharedRegistry held = now();
        return shown_text(*held->kinds.find("a.example", "v1", "foos"), world.revisions.find(Layer::Chain, path), {});
    };
    EXPECT_NE(text().find(R"("spec":{"old":1})"), std::string::npos);
    world.put(definition(
        "a.example", "foos", "Foo", "",
        R"({"type":"object","properties":{"spec":{"type":"object","properties":{"n":{"type":"integer","default":3}}}}})"));
    EXPECT_NE(text().find(R"("spec":{"n":3})"), std::string::npos) << text();
}

}  // namespace
}  // namespace rhizome::api
