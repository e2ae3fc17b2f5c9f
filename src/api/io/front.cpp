// SPDX-License-Identifier: Apache-2.0
// From a connection's request to a verb: who asks, what for, in which form; and reads.
#include "api/io/front.h"

#include <fmt/core.h>

#include "api/io/access.h"
#include "api/io/custom.h"
#include "api/io/service.h"
#include "api/service_token.h"
#include "api/watch.h"
#include "cluster/custom_definition.h"
#include "cluster/names.h"
#include "stream/tls.h"

namespace rhizome::api {
namespace {

using http::Exchange;
using http::Response;
using stream::Task;

/// Who asks: the certificate that TLS has checked, else a token.
std::optional<User> who(const Service& service, const Exchange& exchange) {
    const auto& request = exchange.request();
    if (const auto given = request.headers.find("Authorization")) {
        constexpr std::string_view kBearer = "Bearer ";
        if (!given->starts_with(kBearer)) return std::nullopt;
        auto known = authenticate(service, given->substr(kBearer.size()), {std::string{kApiAudience}});
        if (!known) return std::nullopt;
        return std::move(known->user);
    }
    const stream::TlsSession* tls = exchange.tls();
    if (tls == nullptr || !tls->peer) return std::nullopt;
    User user{.name = tls->peer->common_name(), .groups = tls->peer->organizations()};
    if (user.name.empty()) return std::nullopt;
    const auto voucher = service.backend.voucher_of(*tls->peer);
    if (!voucher) return std::nullopt;
    if (!voucher->empty()) {
        user.vouched_by = *voucher;
        user.extra.emplace_back(kVouchedBy, *voucher);
        std::erase(user.groups, kMasters);
    }
    user.groups.emplace_back(kAuthenticated);
    return user;
}

/// Somebody whom another machine vouches for only reads here. Reviews are questions, whatever their method.
Result<void, Status> check_may_write(const Call& call) {
    const bool reads = call.verb == Verb::Get || call.verb == Verb::List || call.verb == Verb::Watch;
    const bool asks = call.kind->keeping == cluster::Keeping::Nowhere && call.kind->kind != "Binding";
    if (call.user.vouched_by.empty() || reads || asks) return {};
    return Fail{forbidden(*call.kind, call.path.name, only_reads_here(call.user))};
}

/// Whether it is about what lives off the chain, which is with the nodes alone, and this is none.
bool is_elsewhere(const Service& service, const Call& call) {
    return Selection{.kind = call.kind}.layer() == Layer::Passing && !service.backend.has_passing();
}
std::string elsewhere_text(const Call& call) {
    return fmt::format(
        "{} live off the chain, among the cluster's nodes, and a proxy is none of them: ask a node's own "
        "API for them ('rhizome kubeconfig' there)",
        call.kind->plural);
}
/// A list of events is empty, with a warning: `kubectl describe` asks for one by the way and shows nothing at all
/// without it, and nobody decides by events. A lease that is not there is free to take, so of the rest nothing is said.
Result<void, Status> check_is_kept_here(const Service& service, const Call& call) {
    if (!is_elsewhere(service, call) || (call.verb == Verb::List && call.kind->kind == "Event")) return {};
    return Fail{Status{.code = 405, .reason = "MethodNotAllowed", .message = elsewhere_text(call)}};
}

std::string media_of(const http::Request& request) {
    std::string_view media = request.headers.find("Content-Type").value_or("");
    media = media.substr(0, media.find(';'));
    while (media.ends_with(' ')) media.remove_suffix(1);
    return std::string{media};
}

/// As the tables of kinds call it.
cluster::Verb in_tables(Verb verb) {
    switch (verb) {
        case Verb::Get: return cluster::Verb::Get;
        case Verb::List: return cluster::Verb::List;
        case Verb::Watch: return cluster::Verb::Watch;
        case Verb::Create: return cluster::Verb::Create;
        case Verb::Update: return cluster::Verb::Update;
        case Verb::Patch: return cluster::Verb::Patch;
        case Verb::Delete: return cluster::Verb::Delete;
        case Verb::DeleteCollection: return cluster::Verb::DeleteCollection;
    }
    unreachable("a Verb is one of eight");
}

/// Whether what the path names has this verb, as discovery says. What is new is sent to its collection, what there is
/// already is changed by its name.
bool has_verb(const Call& call) {
    if (call.path.subresource == "origin") return call.verb == Verb::Get;
    if (call.subresource != nullptr) return call.subresource->verbs.contains(in_tables(call.verb));
    const bool changes = call.verb == Verb::Update || call.verb == Verb::Patch;
    if (call.path.name.empty() ? changes : call.verb == Verb::Create) return false;
    return call.kind->verbs.contains(in_tables(call.verb));
}

/// The request as the verbs see it; its body is still to be read.
Result<Call, Status> call_of(const Service& service, const http::Request& request, User user) {
    auto path = parse_resource_path(request.path());
    if (!path) return Fail{no_such_path()};
    auto query = http::parse_query(request.query());
    if (!query) return Fail{bad_request("the query is malformed")};
    Call call{.path = *std::move(path), .query = Query{*std::move(query)}, .user = std::move(user)};
    call.registry = service.registry();
    call.kind = call.registry->kinds.find(call.path.group, call.path.version, call.path.resource);
    if (call.kind == nullptr) return Fail{no_such_path()};
    if (!call.kind->namespaced && !call.path.name_space.empty()) return Fail{no_such_path()};
    const auto verb = verb_of(request.method, call.path, call.query);
    if (!verb) return Fail{method_not_allowed()};
    call.verb = *verb;
    if (!call.path.subresource.empty() && call.path.subresource != "origin") {
        call.subresource = call.kind->find_subresource(call.path.subresource);
        if (call.subresource == nullptr) return Fail{no_such_path()};
    }
    if (!has_verb(call)) return Fail{method_not_allowed()};
    // One object of a namespaced kind has a namespace.
    if (call.kind->namespaced && call.path.name_space.empty() &&
        (!call.path.name.empty() || call.verb == Verb::Create || call.verb == Verb::DeleteCollection))
        return Fail{call.kind->custom || !call.path.name.empty() ? no_such_path() : method_not_allowed()};
    const bool is_passed_on = call.path.subresource == "proxy";  // whose form is somebody else's business
    const auto form = form_wanted(is_passed_on ? "" : request.headers.find("Accept").value_or(""));
    if (!form) return Fail{not_acceptable("application/json, application/json;as=Table;v=v1;g=meta.k8s.io")};
    call.form = *form;
    call.media = media_of(request);
    call.agent = request.headers.find("User-Agent").value_or("");
    call.now = service.backend.now();
    service.backend.fill_with_entropy(call.entropy);
    return call;
}

/// What the chain knows of an object's version, for people: `…/NAME/origin`.
Reply origin_reply(const Standing& object, state::Height final_height) {
    const state::Origin& origin = object.document->origin();
    const auto mark = [](const state::Mark& one) {
        return json::Object{{"txid", one.output.change.hex()},
                            {"output", one.output.index},
                            {"height", one.height.number()},
                            {"time", to_rfc3339(one.time, Precision::Millis)}};
    };
    const bool is_final = origin.latest.height <= final_height;
    return {.body = json::print(json::Object{{"created", mark(origin.born)},
                                             {"written", mark(origin.latest)},
                                             {"locked", mark(origin.lock)},
                                             {"lock", to_hex(object.document->script())},
                                             {"finality", is_final ? "final" : "included"}}) +
                    "\n"};
}

Task<Reply> get(SharedService service, const Call& call) {
    const auto path = path_of(*call.kind, call.path.name_space, call.path.name);
    if (!path) co_return reply_of(path.error());
    const Layer layer = Selection{.kind = call.kind}.layer();
    Standing found = service->backend.live().read([&](const Revisions& now) { return now.find(layer, *path); });
    if (found && call.path.subresource == "origin") co_return origin_reply(found, service->backend.final_height());
    if (is_pod_stream(call)) co_return pod_stream_verb(call, found, service->backend.heard_of());
    if (auto unreachable = answer_unreachable(call, found)) co_return *std::move(unreachable);
    auto object = co_await open_one(service, call.kind, std::move(found), call.user);
    if (!object) co_return reply_of(status_of(object.error(), *call.kind, call.path.name));
    std::vector<Standing*> shown{&*object};
    if (const auto failed = co_await convert_shown(service, call, std::move(shown))) co_return reply_of(*failed);
    Reply reply = get_verb(call, *object, service->backend.heard_of());
    if (*object && layer == Layer::Chain) add_origin(reply, *object, service->backend.final_height());
    co_return reply;
}

Task<Reply> list_all(SharedService service, const Call& call) {
    const auto selection = selection_of(call);
    if (!selection) co_return reply_of(selection.error());
    const auto limit = call.query.number("limit");
    if (!limit) co_return reply_of(limit.error());
    const std::string_view token_text = call.query.text("continue");
    const auto token = parse_continue(token_text);
    if (!token_text.empty() && !token) co_return reply_of(bad_request("continue key is not valid"));
    const HeardOf heard_of = service->backend.heard_of();
    using Found = Result<Listing, Status>;
    Found found = service->backend.live().read([&](const Revisions& now) -> Found {
        TRY(check_list_revision(now, call.query.text("resourceVersion"), call.query.text("resourceVersionMatch"),
                                token.has_value()));
        if (token && (!now.is_ours(token->revision) || token->revision < now.oldest()))
            return Fail{
                expired("The provided continue parameter is too old to display a consistent list result. You "
                        "can start a new list without the continue parameter.")};
        Selection all = *selection;
        all.matches = nullptr;
        return list(now, all, selection->matches ? 0 : limit->value_or(0), token ? token->after : std::string{},
                    heard_of);
    });
    if (!found) co_return reply_of(found.error());
    narrow(*found, *selection, limit->value_or(0), heard_of);
    std::vector<std::string> warnings;
    const auto opened = co_await open_listing(service, call.kind, &*found, call.user, &warnings);
    if (!opened) co_return reply_of(opened.error());
    std::vector<Standing*> shown;
    for (Standing& one : found->items) shown.push_back(&one);
    if (const auto failed = co_await convert_shown(service, call, std::move(shown))) co_return reply_of(*failed);
    if (is_elsewhere(*service, call)) warnings.push_back(elsewhere_text(call));
    Reply reply = list_verb(call, *selection, *found, heard_of);
    reply.warnings = std::move(warnings);
    co_return reply;
}

Task<void> serve_resource(SharedService service, Exchange& exchange, Call call) {
    if (call.path.subresource == "proxy") {
        co_await serve_proxied(service, exchange, std::move(call));
        co_return;
    }
    if (call.verb == Verb::Watch) {
        co_await stream_watch(service, exchange, std::move(call));
        co_return;
    }
    if (call.verb == Verb::Get || call.verb == Verb::List) {
        Reply reply;
        if (call.verb == Verb::Get) {
            reply = co_await get(service, call);
        } else {
            reply = co_await list_all(service, call);
        }
        if (call.kind->rules != nullptr && !call.kind->rules->deprecation.empty())
            reply.warnings.push_back(call.kind->rules->deprecation);
        auto response = prettied(exchange.request(), http_response(std::move(reply)));
        (void)co_await exchange.respond(std::move(response));
        co_return;
    }
    const UnderWay writing{service->writing};
    if (writing.count() > service->options.writing_max) {
        auto refused = http_response(reply_of(too_many_requests("too many writes are under way", 1)));
        (void)co_await exchange.respond(std::move(refused));
        co_return;
    }
    auto body = co_await exchange.read_body(service->options.body_bytes_max);
    if (!body) {
        auto refused = http_response(reply_of(body_refusal(*service, body.error())));
        (void)co_await exchange.respond(std::move(refused));
        co_return;
    }
    call.body = *std::move(body);
    std::string wait{exchange.request().headers.find("Rhizome-Wait").value_or("")};
    stream::Strand strand = exchange.strand();
    Patience patience{.leave = std::make_shared<Leave>()};
    exchange.when_ending([leave = patience.leave](http::Ending) { leave->tell(); });
    Reply reply;
    if (call.verb == Verb::DeleteCollection) {
        reply = co_await delete_collection(service, std::move(call), std::move(strand), std::move(wait), patience);
    } else {
        reply = co_await write(service, std::move(call), std::move(strand), std::move(wait), patience);
    }
    auto response = prettied(exchange.request(), http_response(std::move(reply)));
    (void)co_await exchange.respond(std::move(response));
}

/// The user whose rights count: the one who asks, or the one named by headers.
Result<User, Status> user_of(const Service& service, ObservedExchange& exchange) {
    const auto asks = who(service, exchange);
    if (!asks) return Fail{unauthorized()};
    std::vector<Header> headers;
    for (const auto& [name, value] : exchange.request().headers) headers.push_back({name, value});
    auto counts = impersonated(*asks, headers);
    exchange.note_user(*asks, counts ? *counts : *asks);
    return counts;
}

/// Under which a request is found in the audit log: what a proxy in front has given it, or one of our own.
std::string audit_id(const Service& service, const http::Request& request) {
    constexpr std::size_t kIdMax = 64;
    if (!service.observer.is_auditing()) return {};
    if (const auto given = request.headers.find("Audit-Id"); given && !given->empty() && given->size() <= kIdMax)
        return std::string{*given};
    std::array<std::uint8_t, 32> entropy{};
    service.backend.fill_with_entropy(entropy);
    return cluster::uid_from(entropy);
}

/// What can only be read.
Response to_reader(const http::Request& request, Response response) {
    if (request.method == "GET" || request.method == "HEAD") return prettied(request, std::move(response));
    return http_response(reply_of(method_not_allowed()));
}

Task<void> serve(SharedService service, Exchange& asked) {
    ObservedExchange exchange{service->observer, asked, [service] { return service->backend.now(); },
                              audit_id(*service, asked.request())};
    if (auto open = answer_open(*service, exchange.request())) {
        auto response = to_reader(exchange.request(), *std::move(open));
        (void)co_await exchange.respond(std::move(response));
        co_return;
    }
    auto user = user_of(*service, exchange);
    if (!user) {
        auto refused = http_response(reply_of(user.error()));
        (void)co_await exchange.respond(std::move(refused));
        co_return;
    }
    if (auto found = answer_discovery(*service, exchange.request())) {
        auto response = to_reader(exchange.request(), *std::move(found));
        (void)co_await exchange.respond(std::move(response));
        co_return;
    }
    auto call = call_of(*service, exchange.request(), *std::move(user));
    if (!call) {
        auto refused = http_response(reply_of(call.error()));
        (void)co_await exchange.respond(std::move(refused));
        co_return;
    }
    exchange.note_request(call->verb, call->path, call->media, call->is_dry());
    auto may = check_may_write(*call);
    if (may) may = check_is_kept_here(*service, *call);
    if (!may) {
        auto refused = http_response(reply_of(may.error()));
        (void)co_await exchange.respond(std::move(refused));
        co_return;
    }
    co_await serve_resource(service, exchange, *std::move(call));
}

}  // namespace

Status body_refusal(const Service& service, const Error& error) {
    switch (error.kind) {
        case ErrorKind::Exhausted: return too_large(service.options.body_bytes_max);
        case ErrorKind::Unavailable:
            return {.code = 408, .reason = "Timeout", .message = "the body did not come in time: " + error.message};
        default: return from_error(error);
    }
}

Response http_response(Reply reply) {
    Response response{.status = reply.code,
                      .headers = {{"Content-Type", reply.media}, {"Cache-Control", "no-cache, private"}},
                      .body = std::move(reply.body)};
    for (const auto& [name, value] : reply.headers) response.headers.add(name, value);
    for (const std::string& warning : reply.warnings) {
        std::string text;
        for (const char c : warning) text += c == '"' || c == '\\' ? fmt::format("\\{}", c) : std::string{c};
        response.headers.add("Warning", fmt::format("299 - \"{}\"", text));
    }
    return response;
}

void add_origin(Reply& reply, const Standing& object, state::Height final_height) {
    const state::Mark& latest = object.document->origin().latest;
    reply.headers.emplace_back("Rhizome-Txid", latest.output.change.hex());
    reply.headers.emplace_back("Rhizome-Height", std::to_string(latest.height.number()));
    reply.headers.emplace_back("Rhizome-Finality", latest.height <= final_height ? "final" : "included");
}

SharedService make_service(Backend& backend, FrontOptions options) {
    return std::make_shared<Service>(backend, std::move(options));
}

http::Handler make_front(SharedService service) {
    return [service = std::move(service)](Exchange& exchange) { return serve(service, exchange); };
}

Response front_refusal(unsigned status, std::string_view message) {
    Status refused{.code = status, .reason = std::string{http::reason(status)}, .message = std::string{message}};
    std::erase(refused.reason, ' ');
    // Where Kubernetes has another word than HTTP.
    if (status == 413) refused.reason = "RequestEntityTooLarge";
    if (status == 408) refused.reason = "Timeout";
    return http_response(reply_of(refused));
}

}  // namespace rhizome::api
