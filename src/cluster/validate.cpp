// SPDX-License-Identifier: Apache-2.0
#include "cluster/validate.h"

#include <set>
#include <string>

#include "cluster/custom_definition.h"
#include "cluster/detail/rules.h"
#include "cluster/object.h"
#include "cluster/structural_values.h"

namespace rhizome::cluster {
namespace {

void check_content(const json::Value& object, const Kind& kind, FieldErrors& errors) {
    if (kind.custom) {
        if (kind.rules == nullptr || !kind.rules->schema) return;
        errors.append(validate_structural(object, *kind.rules->schema));
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
    errors.append(check_metadata_update(object, before));
    if (!kind.custom) detail::check_immutable(object, before, kind.group, kind.kind, errors);
    if (is_definition(kind)) check_definition_change(object, before, errors);
    // What was let in before stays: an old object that breaks a rule of today can still be relabelled.
    FieldErrors content;
    check_content(object, kind, content);
    FieldErrors known;
    check_content(before, kind, known);
    std::set<std::string> stood;
    for (const FieldError& error : known) stood.insert(error.text());
    for (const FieldError& error : content)
        if (!stood.contains(error.text())) errors.push_back(error);
    // Of those that nobody kept only the number can be compared.
    if (content.left_out() > known.left_out()) errors.leave_out(content.left_out() - known.left_out());
    return errors;
}

}  // namespace rhizome::cluster
