// SPDX-License-Identifier: Apache-2.0
// Apply and update against a naive model: values and owners by the text of their path.
#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "api/apply.h"
#include "base/random.h"
#include "support/seed.h"

namespace rhizome::api {
namespace {

constexpr const char* kManagers[] = {"one", "two", "three"};

const cluster::Schema* pod_schema() { return cluster::find_schema("", "v1", "Pod"); }
const cluster::Schema* map_schema() { return cluster::find_schema("", "v1", "ConfigMap"); }

std::string letter(Random& random, unsigned letters) {
    return std::string(1, static_cast<char>('a' + random.below(letters)));
}
/// Few values, so that managers often want the same.
std::string value(Random& random) { return std::to_string(random.below(3)); }

/// Labels, finalizers, containers with ports and environment: maps, sets, lists by one key and by two.
json::Value random_pod(Random& random) {
    json::Value pod{json::Object{{"metadata", json::Object{{"name", "p"}}}}};
    for (std::uint64_t left = random.below(3); left > 0; --left)
        pod["metadata"]["labels"][letter(random, 4)] = value(random);
    std::set<std::string> finalizers;
    for (std::uint64_t left = random.below(3); left > 0; --left) finalizers.insert(letter(random, 4) + "/x");
    if (!finalizers.empty()) pod["metadata"]["finalizers"] = json::Array(finalizers.begin(), finalizers.end());
    if (random.chance(1, 2)) pod["spec"]["hostname"] = value(random);
    if (random.chance(1, 4)) pod["spec"]["nodeSelector"][letter(random, 2)] = value(random);
    std::set<std::string> names;
    for (std::uint64_t left = random.below(3); left > 0; --left) names.insert(letter(random, 3));
    for (const std::string& name : names) {
        json::Value container{json::Object{{"name", name}}};
        if (random.chance(1, 2)) container["image"] = value(random);
        if (random.chance(1, 3)) container["args"] = json::Array{value(random)};
        std::map<std::pair<std::uint64_t, bool>, json::Value> ports;
        for (std::uint64_t left = random.below(3); left > 0; --left) {
            const std::uint64_t number = 80 + random.below(2);
            const bool udp = random.chance(1, 2);
            json::Object port{{"containerPort", number}};
            if (udp || random.chance(1, 2)) port.set("protocol", udp ? "UDP" : "TCP");
            if (random.chance(1, 2)) port.set("name", value(random));
            ports.insert_or_assign({number, udp}, std::move(port));
        }
        for (auto& [key, port] : ports) container["ports"].make_array().push_back(std::move(port));
        pod["spec"]["containers"].make_array().push_back(std::move(container));
    }
    return pod;
}

json::Value random_map(Random& random, unsigned letters = 5, unsigned first = 0) {
    json::Value map{json::Object{}};
    for (std::uint64_t left = random.below(4); left > 0; --left)
        map["data"][std::string(1, static_cast<char>('a' + first + random.below(letters)))] = value(random);
    return map;
}

/// An object that is applied to and updated.
struct Tracked {
    const cluster::Schema* schema = nullptr;
    json::Value object{json::Object{}};
    json::Array entries{};
    std::int64_t now = 0;

    FieldManager manager(std::string_view name) {
        return {.name = std::string(name), .api_version = "v1", .time = Time::from_unix_seconds(++now)};
    }
    Result<void, FieldConflicts> apply(std::string_view name, const json::Value& wanted, bool force) {
        auto fields = named_fields(wanted, schema, false);
        EXPECT_TRUE(fields) << json::print(wanted);
        TRY(Applied applied,
            apply_configuration(object, {wanted, *std::move(fields)}, schema, entries, manager(name), force));
        object = std::move(applied.object);
        entries = std::move(applied.entries);
        return {};
    }
    void update(std::string_view name, const json::Value& after) {
        entries = track_update(&object, after, schema, entries, manager(name));
        object = after;
    }
    [[nodiscard]] FieldSet fields(std::string_view name, std::string_view operation = "Apply") const {
        for (const json::Value& entry : entries)
            if (entry.text_at({"manager"}) == name && entry.text_at({"operation"}) == operation)
                return FieldSet::from_json(*entry.find("fieldsV1")).value();
        return {};
    }
};

TEST(ApplyProperty, TwiceIsOnce) {
    Random random{test::seed_for(41)};
    for (int round = 0; round < 1000; ++round) {
        Tracked pod{.schema = pod_schema()};
        pod.update("edit", random_pod(random));
        for (const char* name : kManagers) ASSERT_TRUE(pod.apply(name, random_pod(random), true));
        const json::Value wanted = random_pod(random);
        ASSERT_TRUE(pod.apply("one", wanted, true));
        const Tracked once = pod;
        ASSERT_TRUE(pod.apply("one", wanted, false)) << "what is so already is no conflict";
        EXPECT_EQ(pod.object, once.object);
        EXPECT_EQ(pod.entries, once.entries);
    }
}

TEST(ApplyProperty, DisjointManagersNeverConflictAndKeepWhatTheyWant) {
    Random random{test::seed_for(42)};
    for (int round = 0; round < 1000; ++round) {
        Tracked map{.schema = map_schema()};
        json::Value wanted[3];
        for (int step = 0; step < 9; ++step) {
            const auto who = static_cast<unsigned>(random.below(3));
            wanted[who] = random_map(random, 4, who * 4);
            ASSERT_TRUE(map.apply(kManagers[who], wanted[who], false));
        }
        json::Object all;
        for (const json::Value& one : wanted)
            if (const json::Value* data = one.find("data"))
                for (const auto& member : *data->if_object()) all.set(member.key, member.value);
        const json::Value* data = map.object.find("data");
        EXPECT_EQ(data == nullptr ? json::Object{} : *data->if_object(), all);
    }
}

TEST(ApplyProperty, AConflictNamesAnOwnerAndAFieldAndForceMovesThem) {
    Random random{test::seed_for(43)};
    int conflicts = 0;
    for (int round = 0; round < 2000; ++round) {
        Tracked pod{.schema = pod_schema()};
        pod.update("edit", random_pod(random));
        ASSERT_TRUE(pod.apply("two", random_pod(random), true));
        const json::Value wanted = random_pod(random);
        const Tracked before = pod;
        const auto done = pod.apply("one", wanted, false);
        const auto own = named_fields(wanted, pod.schema, false)->named.paths();
        if (done) {
            for (const char* who : {"two", "edit"}) {
                const FieldSet lost = before.fields(who, who[0] == 'e' ? "Update" : "Apply");
                EXPECT_EQ(lost.without(pod.fields(who, who[0] == 'e' ? "Update" : "Apply")), FieldSet{})
                    << "without a conflict nobody loses a field: " << json::print(wanted);
            }
            continue;
        }
        ++conflicts;
        EXPECT_EQ(pod.object, before.object) << "a conflict changes nothing";
        ASSERT_TRUE(pod.apply("one", wanted, true));
        for (const FieldConflict& conflict : done.error()) {
            const bool applier = conflict.manager == R"("two")";
            ASSERT_TRUE(applier || conflict.manager == R"("edit" using v1)") << conflict.manager;
            const std::string_view who = applier ? "two" : "edit";
            const auto had = before.fields(who, applier ? "Apply" : "Update").paths();
            const auto has = pod.fields(who, applier ? "Apply" : "Update").paths();
            EXPECT_NE(std::find(had.begin(), had.end(), conflict.field), had.end()) << conflict.field;
            EXPECT_EQ(std::find(has.begin(), has.end(), conflict.field), has.end()) << conflict.field;
            EXPECT_NE(std::find(own.begin(), own.end(), conflict.field), own.end()) << conflict.field;
        }
    }
    EXPECT_GT(conflicts, 200);
}

/// Values and owners by path. Knows that what lies in an element goes with it, and nothing else.
struct Model {
    std::map<std::string, std::string> values{};  ///< elements of lists have an empty one
    std::map<std::string, std::set<std::string>> owners{};

    void drop(const std::string& path) {
        const auto inside = [&](const std::string& other) {
            return other == path || other.starts_with(path + ".") || other.starts_with(path + "[");
        };
        std::erase_if(values, [&](const auto& each) { return inside(each.first); });
        for (auto& [who, paths] : owners) std::erase_if(paths, inside);
    }
    bool apply(const std::string& who, const std::map<std::string, std::string>& wanted, bool force) {
        std::set<std::string> changed;
        for (const auto& [path, text] : wanted)
            if (const auto at = values.find(path); at == values.end() || at->second != text) changed.insert(path);
        const auto is_taken = [&](const std::string& path) {
            return std::any_of(owners.begin(), owners.end(),
                               [&](const auto& owner) { return owner.first != who && owner.second.contains(path); });
        };
        if (!force && std::any_of(changed.begin(), changed.end(), is_taken)) return false;
        for (const std::string& path : changed) {
            values[path] = wanted.at(path);
            for (auto& [other, paths] : owners) paths.erase(path);
        }
        const std::set<std::string> last = std::exchange(owners[who], {});
        for (const auto& [path, text] : wanted) owners[who].insert(path);
        for (const std::string& path : last)
            if (!wanted.contains(path) && !is_taken(path)) drop(path);
        return true;
    }
    void update(const std::string& who, const std::map<std::string, std::string>& after) {
        for (const auto& [path, text] : std::map(values))
            if (!after.contains(path)) drop(path);
        for (const auto& [path, text] : after) {
            if (const auto at = values.find(path); at != values.end() && at->second == text) continue;
            values[path] = text;
            for (auto& [other, paths] : owners) paths.erase(path);
            owners[who].insert(path);
        }
    }
};

/// The leaves and elements of a document with their values.
std::map<std::string, std::string> leaves(const json::Value& document, const cluster::Schema* schema) {
    std::map<std::string, std::string> out;
    for (const std::string& path : named_fields(document, schema, false)->named.paths()) out[path];
    for (auto& [path, text] : out) {
        // Found by walking the document along the text of the path.
        const json::Value* at = &document;
        std::string_view rest = path;
        bool leaf = false;
        while (!rest.empty() && at != nullptr) {
            const std::size_t end =
                rest[0] == '[' ? rest.find(']') + 1 : std::min(rest.find_first_of(".[", 1), rest.size());
            // Names of finalizers and labels have neither dots nor brackets here.
            const std::string_view step = rest.substr(0, end);
            rest.remove_prefix(end);
            leaf = step[0] == '.';
            if (leaf) {
                at = at->find(step.substr(1));
                continue;
            }
            const json::Value* found = nullptr;
            for (const json::Value& element : *at->if_array()) {
                std::string shown = "[" + json::print(element) + "]";
                if (const json::Value* name = element.find("name");
                    name != nullptr && element.find("containerPort") == nullptr)
                    shown = "[name=" + json::print(*name) + "]";
                if (const json::Value* port = element.find("containerPort"))
                    shown = "[containerPort=" + json::print(*port) + ",protocol=\"" +
                            (element.text_at({"protocol"}) == "UDP" ? "UDP" : "TCP") + "\"]";
                if (shown == step) found = &element;
            }
            at = found;
        }
        EXPECT_NE(at, nullptr) << path << " in " << json::print(document);
        if (leaf && at != nullptr) text = json::print(*at);
    }
    return out;
}

TEST(ApplyProperty, AgreesWithANaiveModel) {
    Random random{test::seed_for(44)};
    int refused = 0;
    for (int round = 0; round < 400; ++round) {
        Tracked pod{.schema = pod_schema()};
        Model model;
        for (int step = 0; step < 12; ++step) {
            const std::string who = kManagers[random.below(3)];
            const json::Value document = random_pod(random);
            if (random.chance(1, 4)) {
                pod.update("edit-" + who, document);
                model.update("edit-" + who, leaves(document, pod.schema));
            } else {
                const bool force = random.chance(1, 2);
                const json::Value before = pod.object;
                const auto done = pod.apply(who, document, force);
                ASSERT_EQ(done.has_value(), model.apply(who, leaves(document, pod.schema), force))
                    << who << " applies " << json::print(document) << " to " << json::print(before)
                    << (done ? "" : apply_conflict(done.error()).message);
                refused += done ? 0 : 1;
            }
            ASSERT_EQ(leaves(pod.object, pod.schema), model.values) << "round " << round << " step " << step;
            for (const char* name : kManagers)
                for (const bool applier : {true, false}) {
                    const std::string one = (applier ? "" : "edit-") + std::string(name);
                    std::set<std::string> owned;
                    for (const std::string& path : pod.fields(one, applier ? "Apply" : "Update").paths())
                        // Maps and lists that an update made are places, no values.
                        if (model.values.contains(path)) owned.insert(path);
                    ASSERT_EQ(owned, model.owners[one]) << one << " in round " << round << " step " << step;
                }
        }
    }
    EXPECT_GT(refused, 300);
}

}  // namespace
}  // namespace rhizome::api
