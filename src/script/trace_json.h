// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "script/tracer.h"

/// How scripts ran, as data: what commands print with `-o json` and nodes answer.
namespace rhizome::script {

/// `{"ok","error","why","script","offset","signatureChecks","dependsOnBlock"}`; the middle three only of a failure.
json::Object to_json(const Verdict& verdict);

/// `{"steps":[{"step","script","offset","instruction","executed","openBranches","stack","altStack","rest","what"}],
/// "stepsLeftOut","verdict"}`. Items of stacks are hexadecimal.
json::Object to_json(const Trace& trace);
/// What `to_json` was given, without the stacks before each step. Invalid when it is no such form.
Result<Trace> trace_from_json(const json::Value& form);

}  // namespace rhizome::script
