// SPDX-License-Identifier: Apache-2.0
#include "api/conversion.h"

#include <fmt/core.h>

#include "cluster/custom_definition.h"
#include "cluster/object.h"

namespace rhizome::api {
namespace {

/// The metadata as it was, but for what a webhook may say in it.
Result<void> keep_metadata(json::Value& object, const json::Value& before) {
    const json::Value* metadata = object.find("metadata");
    if (metadata == nullptr || !metadata->is_object())
        return fail(ErrorKind::Invalid, "an object came back without metadata");
    for (const std::string_view field : {"name", "namespace", "uid"})
        if (object.text_at({"metadata", field}) != before.text_at({"metadata", field}))
            return fail(ErrorKind::Invalid, fmt::format("an object came back with another metadata.{}", field));
    json::Value kept = before.find("metadata") == nullptr ? json::Value{json::Object{}} : *before.find("metadata");
    for (const std::string_view field : {"labels", "annotations"}) {
        if (const json::Value* now = metadata->find(field))
            kept[field] = *now;
        else
            kept.make_object().erase(field);
    }
    object["metadata"] = std::move(kept);
    return {};
}

}  // namespace

bool needs_conversion(const cluster::Kind& kind, std::string_view stored_api_version) {
    return kind.rules != nullptr && !kind.rules->conversion.is_null() && stored_api_version != kind.api_version();
}

json::Value conversion_review(const std::string& uid, std::string_view wanted_api_version, json::Array objects) {
    return json::Object{
        {"kind", "ConversionReview"},
        {"apiVersion", "apiextensions.k8s.io/v1"},
        {"request",
         json::Object{{"uid", uid}, {"desiredAPIVersion", wanted_api_version}, {"objects", std::move(objects)}}}};
}

Result<json::Array> converted_objects(const json::Value& answer, const std::string& uid,
                                      std::string_view wanted_api_version, const json::Array& asked) {
    const json::Value* response = answer.find("response");
    if (answer.text_at({"kind"}) != "ConversionReview" || response == nullptr)
        return fail(ErrorKind::Invalid, "the webhook answered with no ConversionReview");
    if (response->text_at({"uid"}) != uid)
        return fail(ErrorKind::Invalid, "the webhook answered another question: the uid differs");
    if (response->text_at({"result", "status"}) != "Success") {
        const std::string_view why = response->text_at({"result", "message"});
        return fail(ErrorKind::Denied, why.empty() ? std::string{"the webhook gives no reason"} : std::string{why});
    }
    const json::Value* objects = response->find("convertedObjects");
    const json::Array* list = objects == nullptr ? nullptr : objects->if_array();
    if (list == nullptr || list->size() != asked.size())
        return fail(ErrorKind::Invalid, fmt::format("the webhook gave back {} objects instead of {}",
                                                    list == nullptr ? 0 : list->size(), asked.size()));
    json::Array converted = *list;
    for (std::size_t i = 0; i < converted.size(); ++i) {
        if (converted[i].text_at({"apiVersion"}) != wanted_api_version ||
            converted[i].text_at({"kind"}) != asked[i].text_at({"kind"}))
            return fail(ErrorKind::Invalid,
                        fmt::format("an object came back as {} {}", converted[i].text_at({"apiVersion"}),
                                    converted[i].text_at({"kind"})));
        TRY(keep_metadata(converted[i], asked[i]));
    }
    return converted;
}

Status conversion_failed(const cluster::Kind& kind, std::string_view from, std::string_view to, std::string_view why) {
    return {
        .code = 500,
        .reason = "InternalError",
        .message = fmt::format("Internal error occurred: conversion webhook for {}, Kind={} failed: from {} to {}: {}",
                               from, kind.kind, from, to, why)};
}

}  // namespace rhizome::api
