// SPDX-License-Identifier: Apache-2.0
// What goes on inside a pod: log, exec, attach, portforward. Agents answer it once there are any; until then what can
// be said without one.
#include <fmt/core.h>

#include "api/call.h"

namespace rhizome::api {
namespace {

bool has_container(const json::Value& pod, std::string_view name) {
    for (const std::string_view list : {"containers", "initContainers", "ephemeralContainers"})
        if (const json::Value* all = pod.find_path({"spec", list}); all != nullptr && all->is_array())
            for (const json::Value& one : *all->if_array())
                if (one.text_at({"name"}) == name) return true;
    return false;
}

}  // namespace

bool is_pod_stream(const Call& call) {
    const std::string& part = call.path.subresource;
    return call.kind->group.empty() && call.kind->kind == "Pod" &&
           (part == "log" || part == "exec" || part == "attach" || part == "portforward");
}

Reply pod_stream_verb(const Call& call, const Standing& object, const HeardOf& heard_of) {
    if (!object) return reply_of(not_found(*call.kind, call.path.name));
    const json::Value pod = shown_value(*call.kind, object, heard_of);
    const std::string_view container = call.query.text("container");
    if (!container.empty() && !has_container(pod, container))
        return reply_of(bad_request(fmt::format("container {} is not valid for pod {}", container, call.path.name)));
    const bool is_log = call.path.subresource == "log";
    if (pod.text_at({"spec", "nodeName"}).empty()) {
        // Where nothing runs nothing was printed.
        if (is_log) return {.body = "", .media = "text/plain"};
        return reply_of(bad_request(fmt::format("pod {} does not have a host assigned", call.path.name)));
    }
    return reply_of(Status{.code = 501,
                           .reason = "NotImplemented",
                           .message = fmt::format("{} of pod {}: nothing in this version of Rhizome runs containers "
                                                  "yet, so there is nothing to talk to",
                                                  call.path.subresource, call.path.name)});
}

}  // namespace rhizome::api
