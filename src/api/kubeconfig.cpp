// SPDX-License-Identifier: Apache-2.0
#include "api/kubeconfig.h"

#include <fmt/core.h>

#include "cluster/base64.h"

namespace rhizome::api {
namespace {

/// Puts `value` under `name` into a list of `{"name":…, KEY: …}`.
Result<void> put(json::Value& file, std::string_view list, std::string_view key, const std::string& name,
                 json::Object value) {
    json::Value& rows = file[list];
    if (rows.is_null()) rows = json::Array{};
    if (!rows.is_array()) return fail(ErrorKind::Invalid, fmt::format("{} is no list", list));
    json::Object row{{"name", name}, {key, std::move(value)}};
    for (json::Value& one : *rows.if_array()) {
        if (one.text_at({"name"}) != name) continue;
        one = std::move(row);
        return ok();
    }
    rows.make_array().emplace_back(std::move(row));
    return ok();
}

}  // namespace

Result<json::Value> with_kube_context(json::Value file, const KubeContext& context) {
    if (file.is_null()) file = json::Object{{"apiVersion", "v1"}, {"kind", "Config"}};
    if (!file.is_object() || (file.find("kind") != nullptr && file.text_at({"kind"}) != "Config"))
        return fail(ErrorKind::Invalid, "this is no kubeconfig: it has no kind: Config");
    const std::string user = fmt::format("{}-{}", context.name, context.user);
    TRY(put(file, "clusters", "cluster", context.name,
            {{"server", context.server},
             {"certificate-authority-data", cluster::base64(as_bytes(context.authority_pem))}}));
    TRY(put(file, "users", "user", user,
            {{"client-certificate-data", cluster::base64(as_bytes(context.certificate_pem))},
             {"client-key-data", cluster::base64(as_bytes(context.key_pem))}}));
    TRY(put(file, "contexts", "context", context.name, {{"cluster", context.name}, {"user", user}}));
    file["current-context"] = context.name;
    return file;
}

}  // namespace rhizome::api
