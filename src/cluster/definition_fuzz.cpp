// SPDX-License-Identifier: Apache-2.0
// A stranger's CustomResourceDefinition: checked, served, shown. What passes the check can be served.
#include "base/bytes.h"
#include "base/ensure.h"
#include "cluster/custom_definition.h"
#include "cluster/decode.h"
#include "cluster/defaults.h"
#include "cluster/validate.h"
#include "support/fuzz_target.h"

using namespace rhizome;

FUZZ_TARGET(definition_fuzz) {
    static const cluster::Kinds kKinds;
    const cluster::Kind& kind = *kKinds.find(cluster::kDefinitionGroup, "v1", "customresourcedefinitions");
    auto document = cluster::parse_json(as_text({data, size}));
    if (!document) return 0;
    (void)cluster::read_definition(*document, 1);
    auto decoded = cluster::decode(*std::move(document), kind, cluster::FieldValidation::Ignore);
    if (!decoded) return 0;
    json::Value object = std::move(decoded->object);
    cluster::prepare_for_create(object, kind);
    cluster::apply_defaults(object, kind);
    const bool good = cluster::validate_create(object, kind).empty();
    const auto read = cluster::read_definition(object, 1);
    ensure(!good || read.has_value(), "what passes the check is read");
    if (read)
        for (const cluster::CustomKind& custom : read->kinds) (void)cluster::hold_kind(custom);
    cluster::show_definition(object, nullptr);
    cluster::strip_definition(object);
    return 0;
}
