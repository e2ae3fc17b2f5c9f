// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/random.h"
#include "state/document.h"
#include "state/tree.h"

/// Random states, and the plain map that a tree is compared with.
namespace rhizome::test {

inline state::Path path_at(std::string_view text) {
    auto path = state::Path::parse(text);
    ensure(path.has_value(), "a test's path is a path");
    return *path;
}

inline state::Origin origin_from(std::uint64_t seed) {
    Random random{seed};
    state::Origin origin;
    for (state::Mark* mark : {&origin.born, &origin.latest, &origin.lock}) {
        random.fill(mark->output.change.writable());
        mark->output.index = static_cast<std::uint16_t>(random.below(8));
        mark->height = state::Height{random.below(1'000'000)};
        mark->time = Time::from_unix_millis(static_cast<std::int64_t>(random.below(2'000'000'000'000)));
    }
    return origin;
}

/// An entry that says which one it is: different `version`s differ in document, origin and script.
inline state::EntryPtr entry_at(const state::Path& path, std::uint64_t version) {
    const std::string document = "{\"v\":" + std::to_string(version) + "}";
    if (path.shape() == state::Path::Shape::Chain) return *state::Entry::plain(path, as_bytes(document));
    const Bytes script(version % 30, 0x51);
    return *state::Entry::written(path, origin_from(version), script, document);
}

/// Few names, many of them beginnings of one another, so that random operations meet.
inline state::Path random_path(Random& random) {
    static constexpr std::string_view kNames[] = {"a",   "b",     "ab",     "aa", "abc",
                                                  "web", "web-1", "web-10", "w",  "\xc3\xa9"};
    const auto name = [&] { return std::string{kNames[random.below(std::size(kNames))]}; };
    switch (random.below(12)) {
        case 0: return state::Path::cluster();
        case 1: return *state::Path::node(name());
        case 2: return *state::Path::node_report(name());
        case 3: return *state::Path::join_token(name());
        case 4: return *state::Path::namespace_(name());
        case 5: return *state::Path::cluster_scoped("storage.k8s.io", "StorageClass", name());
        case 6: return *state::Path::chain({"voters", name()});
        case 7: return *state::Path::chain({name()});
        default:
            return *state::Path::namespaced(name(), random.chance(1, 2) ? "" : "apps",
                                            random.chance(1, 2) ? "Pod" : "Set", name());
    }
}

inline state::Prefix random_prefix(Random& random) {
    switch (random.below(8)) {
        case 0: return *state::Prefix::chain({});
        case 1: return state::Prefix::nodes();
        case 2: return state::Prefix::namespaces();
        case 3: return *state::Prefix::kind_in_namespace("a", "", "Pod");
        case 4: return random.chance(1, 4) ? state::Prefix::everything() : state::Prefix::documents();
        default: return random_path(random).subtree();
    }
}

/// What a tree should hold: the newest version at each key.
using Model = std::map<std::string, state::EntryPtr, std::less<>>;

/// A batch of random changes to both.
inline void change(state::Batch& batch, Model& model, Random& random, std::size_t operations) {
    for (; operations > 0; --operations) {
        switch (random.below(16)) {
            case 0: {
                const state::Prefix prefix = random_prefix(random);
                if (prefix == state::Prefix::everything() && !random.chance(1, 4)) break;
                batch.erase_under(prefix);
                std::erase_if(model, [&](const auto& item) { return prefix.covers(item.first); });
                break;
            }
            case 1:
            case 2:
            case 3:
            case 4: {
                const state::Path path = random_path(random);
                const bool there = batch.erase(path);
                ensure(there == (model.erase(path.key()) > 0), "erase says what the model says");
                break;
            }
            default: {
                const state::EntryPtr entry = entry_at(random_path(random), random.below(50));
                batch.put(entry);
                model.insert_or_assign(std::string{entry->key()}, entry);
            }
        }
    }
}

/// The same state, built in key order from nothing.
inline state::StateView build(const Model& model) {
    state::OrderedBuilder builder;
    for (const auto& [key, entry] : model) ensure(builder.add(entry), "a map is in order");
    return std::move(builder).finish();
}

}  // namespace rhizome::test
