// SPDX-License-Identifier: Apache-2.0
#include "api/last_applied.h"

#include "api/apply.h"
#include "cluster/decode.h"
#include "cluster/object.h"

namespace rhizome::api {

FieldSet last_applied_fields(const json::Value& live, const cluster::Kind& kind) {
    const auto text = cluster::annotation(live, kLastAppliedAnnotation);
    if (!text || text->empty()) return {};
    const auto written = json::parse(*text);
    if (!written || !written->is_object() || written->text_at({"apiVersion"}) != kind.api_version()) return {};
    const auto fields = named_fields(*written, kind.schema, kind.custom);
    const auto decoded = cluster::decode(*written, kind, cluster::FieldValidation::Ignore);
    if (!fields || !decoded) return {};
    const FieldChanges since = compare_fields(decoded->object, live, kind.schema);
    FieldSet same = fields->named.without(since.written);
    same.subtract(since.removed);
    return same;
}

void follow_last_applied(json::Value& object, json::Value written) {
    if (!cluster::annotation(object, kLastAppliedAnnotation)) return;
    if (json::Value* metadata = written.find("metadata"))
        if (json::Value* notes = metadata->find("annotations"); notes != nullptr && notes->is_object())
            notes->if_object()->erase(kLastAppliedAnnotation);
    json::Object& notes = *object["metadata"]["annotations"].if_object();
    notes.set(kLastAppliedAnnotation, json::print_canonical(written) + "\n");
    if (!cluster::check_annotations(json::Value{notes}, cluster::Where("metadata.annotations")).empty())
        notes.erase(kLastAppliedAnnotation);
}

}  // namespace rhizome::api
