// SPDX-License-Identifier: Apache-2.0
#include "cluster/validate.h"

#include <algorithm>

#include "cluster/custom_definition.h"
#include "cluster/detail/rules.h"
#include "cluster/object.h"
#include "cluster/structural_values.h"

namespace rhizome::cluster {
namespace {

void check_content(const json::Value& object, const Kind& kind, FieldErrors& errors) {
    if (kind.custom) {
        if (kind.rules == nullptr || !kind.rules->schema) return;
        for (FieldError& error : validate_structural(object, *kind.rules->schema)) errors.push_back(std::move(error));
        return;
    }
    const detail::Checker root{&object, Where{}, errors};
    detail::check_workload(root, kind.group, kind.kind);
    detail::check_other(root, kind.group, kind.kind);
}

}  // namespace

FieldErrors validate_create(const json::Value& object, const Kind& kind) {
    FieldErrors errors = check_metadata(object, kind);
    check_content(object, kind, errors);
    return errors;
}

FieldErrors validate_update(const json::Value& object, const json::Value& before, const Kind& kind) {
    FieldErrors errors = check_metadata(object, kind);
    FieldErrors changed = check_metadata_update(object, before);
    errors.insert(errors.end(), changed.begin(), changed.end());
    if (!kind.custom) detail::check_immutable(object, before, kind.group, kind.kind, errors);
    if (is_definition(kind)) check_definition_change(object, before, errors);
    // What was let in before stays: an old object that breaks a rule of today can still be relabelled.
    FieldErrors content;
    check_content(object, kind, content);
    FieldErrors known;
    check_content(before, kind, known);
    for (FieldError& error : content)
        if (std::find(known.begin(), known.end(), error) == known.end()) errors.push_back(std::move(error));
    return errors;
}

}  // namespace rhizome::cluster
