// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <fmt/core.h>

#include "api/revisions.h"
#include "api/selection.h"
#include "cluster/kinds.h"
#include "state/tree.h"

/// A state that changes by hand, with its revisions: for tests of what the API shows.
namespace rhizome::api::testing {

class World {
public:
    explicit World(Revisions::Limits limits = {})
        : revisions(first_revision(Time::from_unix_seconds(1'790'000'000), 7), state::StateView{}, limits) {
        state::Batch batch{state::StateView{}};
        for (const std::string_view name : {"default", "web"})
            batch.put(entry_of(document("v1", "Namespace", "", name)));
        feed(std::move(batch));
    }

    static std::string document(std::string_view version, std::string_view kind, std::string_view name_space,
                                std::string_view name, std::string_view more = "") {
        return fmt::format(R"({{"apiVersion":"{}","kind":"{}","metadata":{{{}"name":"{}"}}{}}})", version, kind,
                           name_space.empty() ? "" : fmt::format(R"("namespace":"{}",)", name_space), name, more);
    }
    static std::string config_map(std::string_view name_space, std::string_view name, std::string_view value) {
        return document("v1", "ConfigMap", name_space, name, fmt::format(R"(,"data":{{"v":"{}"}})", value));
    }

    /// The next version of a document: of the one that stands in `view`, if any.
    state::EntryPtr entry_of(const std::string& text, const state::StateView& view = {}) {
        const json::Value value = *json::parse(text);
        const std::string_view version = value.text_at({"apiVersion"});
        const std::size_t slash = version.find('/');
        const auto path =
            state::Path::of(slash == std::string_view::npos ? "" : version.substr(0, slash), value.text_at({"kind"}),
                            value.text_at({"metadata", "namespace"}), value.text_at({"metadata", "name"}));
        const state::Mark mark{.output = {.change = {}, .index = static_cast<std::uint16_t>(writes_ & 0xffff)},
                               .height = state::Height{++writes_},
                               .time = Time::from_unix_millis(1'790'000'000'000 + static_cast<std::int64_t>(writes_))};
        const state::Entry* before = view.get(*path);
        const state::Mark born = before == nullptr ? mark : before->origin().born;
        return *state::Entry::written(*path, {.born = born, .latest = mark, .lock = born}, {}, text);
    }

    void feed(state::Batch&& batch, Layer layer = Layer::Chain) {
        state::Commit commit = std::move(batch).finish();
        revisions.feed(layer, commit.delta, commit.view);
    }
    void put(const std::string& text, Layer layer = Layer::Chain) {
        state::Batch batch{revisions.view(layer)};
        batch.put(entry_of(text, revisions.view(layer)));
        feed(std::move(batch), layer);
    }
    void erase(std::string_view path) {
        state::Batch batch{revisions.view(Layer::Chain)};
        batch.erase_under(state::Path::parse(path)->subtree());
        feed(std::move(batch));
    }

    [[nodiscard]] Selection of(std::string_view group, std::string_view version, std::string_view plural,
                               std::string_view name_space = "") const {
        return {.kind = kinds.find(group, version, plural), .name_space = std::string{name_space}};
    }

    cluster::Kinds kinds;
    Revisions revisions;

private:
    std::uint64_t writes_ = 0;
};

}  // namespace rhizome::api::testing
