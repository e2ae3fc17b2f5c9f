// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cluster/detail/rules.h"
#include "cluster/names.h"
#include "cluster/selector.h"

namespace rhizome::cluster::detail {
namespace {

void client_config(const Checker& config) {
    const Checker url = config.at("url");
    const Checker service = config.at("service");
    const bool has_url = !url.text().empty();
    if (has_url == service.present()) {
        config.add(required(config.where(), "exactly one of url or service is required"));
        return;
    }
    if (has_url) {
        const std::string_view text = url.text();
        const std::string_view host = text.starts_with("https://") ? text.substr(8) : std::string_view{};
        if (!text.starts_with("https://"))
            url.add(invalid(url.where(), *url.value(),
                            "'https' is the only allowed URL scheme; desired format: "
                            "https://host[/path]"));
        else if (host.empty() || host.starts_with('/'))
            url.add(invalid(url.where(), *url.value(), "host must be specified; desired format: https://host[/path]"));
        if (host.substr(0, host.find('/')).find('@') != std::string_view::npos)
            url.add(invalid(url.where(), *url.value(), "user information is not permitted in the URL"));
        if (text.find('#') != std::string_view::npos)
            url.add(invalid(url.where(), *url.value(), "fragments are not permitted in the URL"));
        if (text.find('?') != std::string_view::npos)
            url.add(invalid(url.where(), *url.value(), "query parameters are not permitted in the URL"));
        return;
    }
    service.at("name").require("service name is required");
    service.at("namespace").require("service namespace is required");
    service.at("port").port();
    const Checker path = service.at("path");
    if (!path.text().empty() && !path.text().starts_with('/'))
        path.add(invalid(path.where(), *path.value(), "must start with a '/'"));
    if (path.text().find("//") != std::string_view::npos)
        path.add(invalid(path.where(), *path.value(), "segment[0] may not be empty"));
}

void rule(const Checker& each) {
    each.at("operations").require();
    each.at("operations").each([](const Checker& one) { one.one_of({"*", "CONNECT", "CREATE", "DELETE", "UPDATE"}); });
    for (const std::string_view list : {"operations", "apiGroups", "apiVersions"}) {
        const Checker all = each.at(list);
        if (list != "operations") all.require();
        bool any = false;
        all.each([&](const Checker& one) { any = any || one.text() == "*"; });
        if (any && all.size() > 1)
            all.add(invalid(all.where(), *all.value(), "if '*' is present, must not specify other entries"));
    }
    const Checker resources = each.at("resources");
    resources.require();
    bool everything = false;
    resources.each([&](const Checker& one) {
        if (one.text().empty()) one.add(required(one.where()));
        everything = everything || one.text() == "*/*";
    });
    if (everything && resources.size() > 1)
        resources.add(
            invalid(resources.where(), *resources.value(), "if '*/*' is present, must not specify other resources"));
    each.at("scope").one_of({"*", "Cluster", "Namespaced"});
}

void selector(const Checker& given) {
    if (!given.present()) return;
    const auto read = LabelSelector::from_document(given.value(), given.where());
    if (!read) given.add(read.error());
}

}  // namespace

void check_webhooks(const Checker& object) {
    object.at("webhooks").unique("name");
    object.at("webhooks").each([](const Checker& hook) {
        const Checker name = hook.at("name");
        if (name.require()) {
            name.named(check_dns_subdomain);
            if (std::count(name.text().begin(), name.text().end(), '.') < 2)
                name.add(invalid(name.where(), *name.value(),
                                 "should be a domain with at least three segments separated by dots"));
        }
        client_config(hook.at("clientConfig"));
        hook.at("rules").each(rule);
        hook.at("failurePolicy").one_of({"Fail", "Ignore"});
        hook.at("matchPolicy").one_of({"Equivalent", "Exact"});
        hook.at("reinvocationPolicy").one_of({"IfNeeded", "Never"});
        if (hook.at("sideEffects").require("must specify one of None, NoneOnDryRun"))
            hook.at("sideEffects").one_of({"None", "NoneOnDryRun"});
        const Checker wait = hook.at("timeoutSeconds");
        if (const auto held = wait.number(); held && (*held < 1 || *held > 30))
            wait.add(invalid(wait.where(), *held, "the timeout value must be between 1 and 30 seconds"));
        const Checker versions = hook.at("admissionReviewVersions");
        if (versions.require("must specify one of v1, v1beta1")) {
            bool known = false;
            versions.each([&](const Checker& one) { known = known || one.text() == "v1" || one.text() == "v1beta1"; });
            if (!known)
                versions.add(invalid(versions.where(), *versions.value(), "must include at least one of v1, v1beta1"));
        }
        selector(hook.at("namespaceSelector"));
        selector(hook.at("objectSelector"));
    });
}

}  // namespace rhizome::cluster::detail
