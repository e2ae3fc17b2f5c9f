// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "api/apply.h"
#include "cluster/decode.h"
#include "cluster/kinds.h"
#include "support/fuzz_target.h"

using namespace rhizome;

/// Three documents, a line each: what is applied, what stands there, its entries.
FUZZ_TARGET(apply_fuzz) {
    if (size == 0 || size > 64'000) return 0;
    static const cluster::Kinds kinds;
    static const cluster::Kind* const kFuzzed[] = {kinds.find("apps", "v1", "deployments"),
                                                   kinds.find("", "v1", "services"), nullptr};
    const cluster::Kind* kind = kFuzzed[data[0] % 3];
    const cluster::Schema* schema = kind == nullptr ? nullptr : kind->schema;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    const std::size_t first = text.find('\n');
    const std::size_t second = first == std::string_view::npos ? first : text.find('\n', first + 1);
    if (second == std::string_view::npos) return 0;
    auto written = cluster::parse_yaml(text.substr(0, first));
    auto live = json::parse(text.substr(first + 1, second - first - 1));
    auto entries = json::parse(text.substr(second + 1));
    if (!written || !written->is_object() || !live || !live->is_object()) return 0;
    auto fields = api::named_fields(*written, schema, kind == nullptr);
    if (!fields) return 0;
    if (kind != nullptr) {
        auto decoded = cluster::decode(*written, *kind, cluster::FieldValidation::Ignore);
        auto stored = cluster::decode(*live, *kind, cluster::FieldValidation::Ignore);
        if (!decoded || !stored) return 0;
        *written = std::move(decoded->object);
        *live = std::move(stored->object);
    }
    const json::Array known = entries && entries->is_array() ? *entries->if_array() : json::Array{};
    const api::Configuration wanted{*written, *fields};
    const api::FieldManager manager{.name = "fuzz", .api_version = "v1", .time = Time::from_unix_seconds(1)};
    const auto once = api::apply_configuration(*live, wanted, schema, known, manager, true);
    if (!once) std::abort();  // force has no conflicts
    const auto later = api::FieldManager{.name = "fuzz", .api_version = "v1", .time = Time::from_unix_seconds(2)};
    const auto twice = api::apply_configuration(once->object, wanted, schema, once->entries, later, false);
    if (!twice || twice->object != once->object || twice->entries != once->entries) std::abort();
    (void)api::apply_configuration(*live, wanted, schema, known, manager, false);
    (void)api::track_update(&*live, once->object, schema, known, manager);
    return 0;
}
