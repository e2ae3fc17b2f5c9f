// SPDX-License-Identifier: Apache-2.0
#include "api/call.h"

#include <algorithm>

#include <fmt/core.h>

#include "api/admission.h"
#include "api/only_stored.h"
#include "api/protobuf.h"
#include "api/shown.h"
#include "cluster/custom_definition.h"
#include "cluster/decode.h"
#include "cluster/names.h"
#include "cluster/object.h"
#include "cluster/selector.h"

namespace rhizome::api {
namespace {

constexpr std::string_view kMediaTypes = "application/json, application/yaml, application/vnd.kubernetes.protobuf";

/// A text that is no document at all is called so; of one that is, what is wrong with it stands for itself.
Status unreadable(const Kind& kind, std::string_view why) {
    if (why.starts_with("strict decoding error")) return bad_request(why);
    return bad_request(
        fmt::format("the object provided is unrecognized (must be of type {}): couldn't get version/kind; json parse "
                    "error: {}",
                    kind.kind, why));
}

}  // namespace

Reply reply_of(const Status& status) {
    Reply reply{.code = status.code, .body = json::print(status.to_json()) + "\n"};
    if (status.retry_after_seconds != 0)
        reply.headers.emplace_back("Retry-After", std::to_string(status.retry_after_seconds));
    return reply;
}

Result<json::Value, Status> read_object(const Call& call) {
    if (call.body.empty()) return Fail{bad_request("the request has no body")};
    Result<json::Value> parsed{json::Value{}};
    if (call.media == "application/json" || call.media.empty()) {
        parsed = cluster::parse_json(call.body);
    } else if (call.media == "application/yaml") {
        parsed = cluster::parse_yaml(call.body);
    } else if (call.media == kProtobufType) {
        parsed = decode_protobuf(as_bytes(call.body));
    } else {
        return Fail{unsupported_media_type(kMediaTypes)};
    }
    if (!parsed) return Fail{unreadable(*call.kind, parsed.error().message)};
    if (!parsed->is_object()) return Fail{bad_request("the body is no object")};
    return *std::move(parsed);
}

Result<void, Status> decode_object(const Call& call, json::Value& value, std::vector<std::string>& warnings) {
    const auto validation = cluster::parse_field_validation(call.query.text("fieldValidation"));
    if (!validation) return Fail{bad_request("fieldValidation is Strict, Warn or Ignore")};
    strip_shown_notes(value);
    auto decoded = cluster::decode(std::move(value), *call.kind, *validation);
    if (!decoded) return Fail{bad_request(decoded.error().message)};
    value = std::move(decoded->object);
    for (std::string& warning : decoded->warnings) warnings.push_back(std::move(warning));
    return {};
}

Result<Selection, Status> selection_of(const Call& call) {
    Selection selection{.kind = call.kind, .name_space = call.path.name_space, .name = call.path.name};
    auto labels = cluster::LabelSelector::parse(call.query.text("labelSelector"));
    if (!labels) return Fail{bad_request(labels.error().message)};
    auto fields = cluster::FieldSelector::parse(call.query.text("fieldSelector"));
    if (!fields) return Fail{bad_request(fields.error().message)};
    if (const auto known = fields->check(*call.kind); !known) return Fail{bad_request(known.error().message)};
    if (const std::string* name = fields->required("metadata.name"); name != nullptr && selection.name.empty())
        selection.name = *name;
    // Where the name is all that is asked for, it is found without looking into documents.
    const bool only_name =
        fields->is_everything() || (fields->terms().size() == 1 && fields->terms().front().field == "metadata.name" &&
                                    fields->terms().front().equal && !selection.name.empty());
    if (labels->is_everything() && only_name) return selection;
    selection.matches = [labels = *std::move(labels), fields = *std::move(fields),
                         kind = call.kind](const json::Value& object) {
        return labels.matches_object(object) && fields.matches(object, *kind);
    };
    return selection;
}

Result<std::string, Status> name_of_creation(const Call& call, const json::Value& object) {
    std::string name{cluster::name_of(object)};
    if (!call.path.name.empty() && name.empty()) name = call.path.name;
    if (!call.path.name.empty() && name != call.path.name) return Fail{names_another(call, name)};
    if (!name.empty()) return name;
    const std::string_view base = object.text_at({"metadata", "generateName"});
    if (!base.empty()) return cluster::generated_name(base, call.entropy);
    cluster::FieldErrors errors;
    errors.push_back(cluster::required(cluster::Where("metadata.name"), "name or generateName is required"));
    return Fail{invalid(*call.kind, "", errors)};
}

std::vector<std::string> standing_warnings(const Kind& kind) {
    if (kind.rules != nullptr) {
        std::vector<std::string> warnings;
        if (!kind.rules->deprecation.empty()) warnings.push_back(kind.rules->deprecation);
        if (kind.rules->has_rules)
            warnings.push_back(fmt::format(
                "the rules (x-kubernetes-validations) of {} are not enforced by this version of Rhizome yet",
                kind.resource()));
        return warnings;
    }
    if (!is_only_stored(kind)) return {};
    return {fmt::format("{} is stored and shown; nothing in this version of Rhizome acts on it yet", kind.resource())};
}

}  // namespace rhizome::api
