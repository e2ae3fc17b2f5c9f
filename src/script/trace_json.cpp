// SPDX-License-Identifier: Apache-2.0
#include "script/trace_json.h"

#include <limits>

namespace rhizome::script {
namespace {

json::Array hex_items(const std::vector<Bytes>& stack) {
    json::Array items;
    for (const Bytes& item : stack) items.emplace_back(to_hex(item));
    return items;
}

std::optional<std::vector<Bytes>> items_at(const json::Value& form, std::string_view key) {
    const json::Value* found = form.find(key);
    const json::Array* items = found == nullptr ? nullptr : found->if_array();
    if (items == nullptr) return std::nullopt;
    std::vector<Bytes> out;
    for (const json::Value& item : *items) {
        auto bytes = item.is_string() ? from_hex(*item.if_string()) : std::nullopt;
        if (!bytes) return std::nullopt;
        out.push_back(*std::move(bytes));
    }
    return out;
}

std::optional<std::uint32_t> number_at(const json::Value& form, std::string_view key) {
    const json::Value* found = form.find(key);
    const auto number = found == nullptr ? std::nullopt : found->if_int64();
    if (!number || *number < 0 || *number > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
    return static_cast<std::uint32_t>(*number);
}

bool is_true(const json::Value& form, std::string_view key) {
    const json::Value* found = form.find(key);
    return found != nullptr && found->if_boolean().value_or(false);
}

std::optional<ScriptError> error_named(std::string_view word) {
    for (unsigned i = 0; i <= static_cast<unsigned>(ScriptError::Expired); ++i)
        if (name(static_cast<ScriptError>(i)) == word) return static_cast<ScriptError>(i);
    return std::nullopt;
}
ScriptPart part_named(std::string_view word) {
    return word == name(ScriptPart::Unlocking) ? ScriptPart::Unlocking : ScriptPart::Locking;
}

Fail<Error> no_trace() { return fail(ErrorKind::Invalid, "this is no trace of a script"); }

}  // namespace

json::Object to_json(const Verdict& verdict) {
    json::Object data{{"ok", verdict.ok()}, {"error", name(verdict.error)}};
    if (!verdict.ok()) {
        data.set("why", explain(verdict.error));
        data.set("script", name(verdict.part));
        data.set("offset", verdict.offset);
    }
    data.set("signatureChecks", verdict.signature_checks);
    data.set("dependsOnBlock", verdict.depends_on_block);
    return data;
}

json::Object to_json(const Trace& trace) {
    json::Array steps;
    for (const TraceStep& step : trace.steps)
        steps.emplace_back(json::Object{{"step", steps.size() + 1},
                                        {"script", name(step.part)},
                                        {"offset", step.offset},
                                        {"instruction", step.instruction},
                                        {"executed", step.executed},
                                        {"openBranches", step.open_branches},
                                        {"stack", hex_items(step.stack)},
                                        {"altStack", hex_items(step.alt_stack)},
                                        {"rest", step.rest},
                                        {"what", step.what}});
    return {{"steps", std::move(steps)}, {"stepsLeftOut", trace.left_out}, {"verdict", to_json(trace.verdict)}};
}

Result<Trace> trace_from_json(const json::Value& form) {
    const json::Value* steps = form.find("steps");
    const json::Value* verdict = form.find("verdict");
    const auto left_out = number_at(form, "stepsLeftOut");
    if (steps == nullptr || !steps->is_array() || verdict == nullptr || !left_out) return no_trace();
    Trace trace;
    trace.left_out = *left_out;
    const auto error = error_named(verdict->text_at({"error"}));
    if (!error) return no_trace();
    trace.verdict.error = *error;
    trace.verdict.part = part_named(verdict->text_at({"script"}));
    trace.verdict.offset = number_at(*verdict, "offset").value_or(0);
    trace.verdict.signature_checks = number_at(*verdict, "signatureChecks").value_or(0);
    trace.verdict.depends_on_block = is_true(*verdict, "dependsOnBlock");
    for (const json::Value& one : *steps->if_array()) {
        const auto offset = number_at(one, "offset");
        auto stack = items_at(one, "stack");
        auto alt_stack = items_at(one, "altStack");
        if (!offset || !stack || !alt_stack) return no_trace();
        TraceStep step{.part = part_named(one.text_at({"script"})),
                       .offset = *offset,
                       .instruction = std::string{one.text_at({"instruction"})},
                       .executed = is_true(one, "executed"),
                       .open_branches = number_at(one, "openBranches").value_or(0),
                       .stack = *std::move(stack),
                       .alt_stack = *std::move(alt_stack),
                       .rest = std::string{one.text_at({"rest"})},
                       .what = std::string{one.text_at({"what"})}};
        // A run ends at the step that fails.
        const bool failed = !trace.verdict.ok() && step.part == trace.verdict.part &&
                            step.offset == trace.verdict.offset && step.executed;
        if (failed) step.error = trace.verdict.error;
        trace.steps.push_back(std::move(step));
    }
    return trace;
}

}  // namespace rhizome::script
