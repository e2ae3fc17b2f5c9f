// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "api/shown.h"
#include "api/table.h"
#include "cluster/convert.h"
#include "cluster/defaults.h"
#include "cluster/object.h"
#include "cluster/validate.h"
#include "support/fuzz_target.h"

using namespace rhizome;

/// A stored document, which may hold anything beside its name: shown, as a row, in each of its versions, judged.
FUZZ_TARGET(shown_fuzz) {
    if (size < 2 || size > 64'000) return 0;
    static const cluster::Kinds kinds;
    const cluster::Kind& kind = *kinds.all()[data[0] % kinds.all().size()];
    auto parsed = json::parse({reinterpret_cast<const char*>(data) + 1, size - 1});
    if (!parsed || !parsed->is_object()) return 0;
    json::Value& document = *parsed;
    document["apiVersion"] = kind.api_version();
    document["kind"] = kind.kind;
    json::Value& metadata = cluster::object_in(document, "metadata");
    metadata["name"] = "a";
    if (kind.namespaced) metadata["namespace"] = "b";
    const auto path = state::Path::of(cluster::kept_group(kind), kind.kind, kind.namespaced ? "b" : "", "a");
    if (!path) return 0;
    const state::Mark mark{.height = state::Height{3}, .time = Time::from_unix_seconds(5)};
    const auto entry =
        state::Entry::written(*path, {.born = mark, .latest = mark, .lock = mark}, {}, json::print(document));
    if (!entry) return 0;
    const api::Standing standing{.document = *entry, .report = *entry, .revision = 9};
    const api::HeardOf heard_of = [](std::string_view) { return api::Heard{.is_member = true}; };
    const Time now = Time::from_unix_seconds(7);
    for (const auto& other : kinds.all()) {
        if (other->kind != kind.kind || cluster::kept_group(*other) != cluster::kept_group(kind)) continue;
        json::Value shown = api::shown_value(*other, standing, heard_of);
        if (cluster::name_of(shown) != "a") std::abort();
        const auto text = json::parse(api::shown_text(*other, standing, heard_of), {.depth = json::kDepthMax});
        if (!text || json::print_canonical(*text) != json::print_canonical(shown)) std::abort();
        (void)api::table_row(shown, *other, api::RowObject::Object, now);
        (void)api::partial_metadata(shown);
        (void)cluster::validate_update(shown, shown, *other);
        api::strip_shown(shown);
        cluster::apply_defaults(shown, *other);
    }
    return 0;
}
