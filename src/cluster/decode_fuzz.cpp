// SPDX-License-Identifier: Apache-2.0
// A stranger's document on its way in: decoded, filled in, validated. The first byte chooses the kind. Decoding and
// filling in twice must change nothing.
#include "base/bytes.h"
#include "base/ensure.h"
#include "cluster/decode.h"
#include "cluster/defaults.h"
#include "cluster/validate.h"
#include "support/fuzz_target.h"

using namespace rhizome;

FUZZ_TARGET(decode_fuzz) {
    static const cluster::Kinds kKinds;
    if (size == 0) return 0;
    const auto all = kKinds.all();
    const cluster::Kind& kind = *all[data[0] % all.size()];
    auto document = cluster::parse_json(as_text({data + 1, size - 1}));
    if (!document) return 0;
    (void)cluster::decode(*document, kind, cluster::FieldValidation::Strict);
    auto decoded = cluster::decode(*std::move(document), kind, cluster::FieldValidation::Warn);
    if (!decoded) return 0;
    auto again = cluster::decode(decoded->object, kind, cluster::FieldValidation::Strict);
    ensure(again.has_value() && again->object == decoded->object, "decoding is done once");
    json::Value object = std::move(decoded->object);
    cluster::prepare_for_create(object, kind);
    cluster::apply_defaults(object, kind);
    json::Value filled = object;
    cluster::apply_defaults(filled, kind);
    ensure(filled == object, "filling in is done once");
    (void)cluster::validate_create(object, kind);
    ensure(cluster::validate_update(object, object, kind).size() <= cluster::validate_create(object, kind).size(),
           "what does not change breaks no rule of change");
    return 0;
}
