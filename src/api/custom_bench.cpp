// SPDX-License-Identifier: Apache-2.0
// Lists of 10,000 objects of a custom kind, against as many ConfigMaps of the same size.
#include "api/call.h"
#include "api/testing.h"
#include "base/ensure.h"
#include "support/bench.h"

namespace rhizome::api {
namespace {

constexpr std::size_t kObjects = 10'000;

std::string definition(std::string_view more) {
    return fmt::format(
        R"({{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{{"name":"foos.a.example"}},)"
        R"("spec":{{"group":"a.example","scope":"Namespaced","names":{{"plural":"foos","singular":"foo","kind":"Foo","listKind":"FooList"}},)"
        R"("versions":[{{"name":"v1","served":true,"storage":true,"schema":{{"openAPIV3Schema":{{"type":"object","properties":{{)"
        R"("data":{{"type":"object","properties":{{"v":{{"type":"string"}},"n":{{"type":"integer","default":1}}{}}}}}}}}}}},)"
        R"("additionalPrinterColumns":[{{"name":"V","type":"string","jsonPath":".data.v"}}]}}]}}}})",
        more);
}

struct Scene {
    testing::World world;
    SharedRegistry fresh;  ///< the objects were written under its definition
    SharedRegistry newer;  ///< and here before it: each is cut and filled in whenever it is shown

    Scene() {
        const std::string value(200, 'x');
        world.put(definition(""));
        state::Batch batch{world.revisions.view(Layer::Chain)};
        for (std::size_t i = 0; i < kObjects; ++i) {
            const std::string name = fmt::format("o{:05}", i);
            batch.put(world.entry_of(testing::World::config_map("default", name, value)));
            batch.put(world.entry_of(testing::World::document("a.example/v1", "Foo", "default", name,
                                                              fmt::format(R"(,"data":{{"v":"{}"}})", value))));
        }
        world.feed(std::move(batch));
        fresh = make_registry(world.revisions.view(Layer::Chain), "bench", nullptr);
        world.put(definition(R"(,"m":{"type":"string"})"));
        newer = make_registry(world.revisions.view(Layer::Chain), "bench", nullptr);
    }
};

Scene& scene() {
    static Scene made;
    return made;
}

void list_all(std::uint64_t times, const SharedRegistry& registry, std::string_view group, std::string_view plural,
              Form form) {
    Call call{.verb = Verb::List, .form = form, .registry = registry};
    call.kind = registry->kinds.find(group, "v1", plural);
    ensure(call.kind != nullptr, "the benchmark's kind is served");
    call.now = Time::from_unix_seconds(1'790'001'000);
    const Selection selection{.kind = call.kind, .name_space = "default"};
    for (std::uint64_t t = 0; t < times; ++t) {
        const Listing listing = list(scene().world.revisions, selection, 0, {}, {});
        ensure(listing.items.size() == kObjects, "all of them");
        bench::keep(list_verb(call, selection, listing, {}).body.size());
    }
}

bench::Body custom(SharedRegistry Scene::*registry, Form form) {
    return [=](std::uint64_t times) { list_all(times, scene().*registry, "a.example", "foos", form); };
}
bench::Body config_maps(Form form) {
    return [=](std::uint64_t times) { list_all(times, scene().fresh, "", "configmaps", form); };
}

const bool registered = bench::add({.name = "api.list_10k_custom",
                                    .unit = "objects",
                                    .subject = custom(&Scene::fresh, Form::Object),
                                    .anchor = config_maps(Form::Object),
                                    .aim = 0.5,
                                    .units_each = kObjects}) &&
                        bench::add({.name = "api.table_10k_custom",
                                    .unit = "objects",
                                    .subject = custom(&Scene::fresh, Form::Table),
                                    .anchor = config_maps(Form::Table),
                                    .aim = 0.5,
                                    .units_each = kObjects}) &&
                        bench::add({.name = "api.table_10k_custom_from_before",
                                    .unit = "objects",
                                    .subject = custom(&Scene::newer, Form::Table),
                                    .anchor = config_maps(Form::Table),
                                    .aim = 0.5,
                                    .units_each = kObjects});

}  // namespace
}  // namespace rhizome::api
