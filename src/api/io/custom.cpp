// SPDX-License-Identifier: Apache-2.0
#include "api/io/custom.h"

#include <algorithm>

#include <fmt/core.h>

#include "api/conversion.h"
#include "api/io/webhook_client.h"
#include "base/ensure.h"
#include "cluster/custom_definition.h"
#include "cluster/names.h"
#include "cluster/object.h"

namespace rhizome::api {
namespace {

using stream::Task;

constexpr json::Limits kStored{.bytes = state::kDocumentBytesMax, .depth = 1000};
/// Objects of one review: a webhook's answer to that many stays within its bound when they are of usual size.
constexpr std::size_t kObjectsAtOnce = 250;
/// As kube-apiserver.
constexpr seconds kConversionTime{30};
constexpr std::size_t kAnswerBytesMax = 64u << 20;

json::Value document_of(const Standing& standing) {
    auto parsed = json::parse(standing.document->document(), kStored);
    ensure(parsed.has_value(), "a document in the state is strict JSON");
    return *std::move(parsed);
}

/// The same place in the chain with another document.
state::EntryPtr with_document(const state::EntryPtr& entry, const json::Value& document) {
    auto made = state::Entry::written(entry->path(), entry->origin(), entry->script(), json::print(document));
    return made ? *std::move(made) : entry;  // larger than any document may be: shown as it is stored
}

Task<Result<json::Array>> ask(SharedService service, const Call& call, std::string wanted, json::Array objects) {
    const state::StateView chain =
        service->backend.live().read([](const Revisions& now) { return now.view(Layer::Chain); });
    const json::Value* config = call.kind->rules->conversion.find("clientConfig");
    if (config == nullptr) co_return fail(ErrorKind::Invalid, "it names no webhook");
    CO_TRY(WebhookTarget target, webhook_target(*config, chain));
    std::array<std::uint8_t, 32> entropy{};
    service->backend.fill_with_entropy(entropy);
    const std::string uid = cluster::uid_from(entropy);
    json::Value review = conversion_review(uid, wanted, objects);
    WebhookLimits limits{.timeout = kConversionTime, .answer_bytes_max = kAnswerBytesMax};
    CO_TRY(const json::Value answer, co_await ask_webhook(std::move(target), std::move(review), limits));
    co_return converted_objects(answer, uid, wanted, objects);
}

bool has_finalizers(const state::Entry& entry) {
    // Most documents have none, and looking for the word is cheaper than reading all of them.
    if (entry.document().find("\"finalizers\"") == std::string_view::npos) return false;
    const auto document = json::parse(entry.document(), kStored);
    const json::Value* finalizers = document ? document->find_path({"metadata", "finalizers"}) : nullptr;
    return finalizers != nullptr && finalizers->is_array() && !finalizers->if_array()->empty();
}

/// The kind that a definition of this name makes, in whatever version; null when it is not served.
const Kind* kind_of(const Registry& registry, std::string_view definition) {
    for (const Registry::Defined& one : registry.definitions)
        if (one.name == definition && !one.kinds.empty())
            return registry.kinds.find(one.kinds.front()->group, one.kinds.front()->version, one.kinds.front()->plural);
    return nullptr;
}

Listing instances_of(const Service& service, const Kind& kind, std::size_t limit) {
    return service.backend.live().read(
        [&](const Revisions& now) { return list(now, Selection{.kind = &kind}, limit, {}, {}); });
}

}  // namespace

Task<std::optional<Status>> convert_shown(SharedService service, const Call& call, std::vector<Standing*> objects) {
    if (call.kind->rules == nullptr || call.kind->rules->conversion.is_null()) co_return std::nullopt;
    const std::string wanted = call.kind->api_version();
    std::vector<Standing*> others;
    json::Array documents;
    for (std::size_t i = 0; i < objects.size(); ++i) {
        if (*objects[i]) {
            json::Value document = document_of(*objects[i]);
            if (needs_conversion(*call.kind, document.text_at({"apiVersion"}))) {
                others.push_back(objects[i]);
                documents.push_back(std::move(document));
            }
        }
        if (documents.empty() || (documents.size() < kObjectsAtOnce && i + 1 < objects.size())) continue;
        const std::string from{documents.front().text_at({"apiVersion"})};
        const auto converted = co_await ask(service, call, wanted, std::move(documents));
        if (!converted) co_return conversion_failed(*call.kind, from, wanted, converted.error().message);
        for (std::size_t k = 0; k < others.size(); ++k)
            others[k]->document = with_document(others[k]->document, (*converted)[k]);
        others.clear();
        documents = {};
    }
    co_return std::nullopt;
}

Task<Result<json::Value, Status>> convert_for_storage(SharedService service, const Call& call, json::Value object) {
    if (call.kind->rules == nullptr) co_return std::move(object);
    const std::string wanted = fmt::format("{}/{}", call.kind->group, call.kind->rules->storage_version);
    const std::string from{object.text_at({"apiVersion"})};
    if (from == wanted) co_return std::move(object);
    if (call.kind->rules->conversion.is_null()) {
        object["apiVersion"] = wanted;
        co_return std::move(object);
    }
    json::Array one;
    one.push_back(std::move(object));
    auto converted = co_await ask(service, call, wanted, std::move(one));
    if (!converted) co_return Fail{conversion_failed(*call.kind, from, wanted, converted.error().message)};
    co_return std::move(converted->front());
}

Planned delete_definition(const Service& service, const Call& call, const Present& present, const HeardOf& heard_of) {
    if (!present.object) return delete_verb(call, present, heard_of);
    const Kind* kind = kind_of(*call.registry, call.path.name);
    bool waits = false;
    if (kind != nullptr) {
        const Listing all = instances_of(service, *kind, 0);
        waits = std::any_of(all.items.begin(), all.items.end(),
                            [](const Standing& one) { return has_finalizers(*one.document); });
    }
    // As if the finalizer that stands for its objects were there, or gone: the rest is as with any other object.
    json::Value document = document_of(present.object);
    json::Value& finalizers = document["metadata"]["finalizers"];
    if (!finalizers.is_array()) finalizers = json::Array{};
    const json::Value ours = fmt::format("{}", cluster::kCleanupFinalizer);  // g++ 12 warns of a plain copy
    std::erase(*finalizers.if_array(), ours);
    if (waits) finalizers.make_array().push_back(ours);
    if (finalizers.if_array()->empty()) document["metadata"].make_object().erase("finalizers");
    Present altered = present;
    altered.object.document = with_document(present.object.document, document);
    return delete_verb(call, altered, heard_of);
}

Task<void> delete_instances(SharedService service, Call call, stream::Strand strand, std::string wait_header,
                            Patience patience) {
    Call one = call;
    one.registry = service->registry();
    one.kind = kind_of(*one.registry, call.path.name);
    if (one.kind == nullptr) co_return;
    one.verb = Verb::Delete;
    one.body.clear();
    const Listing all = instances_of(*service, *one.kind, 0);
    for (const Standing& object : all.items) {
        // Whoever asks for the deletion again goes on with the rest.
        if (patience.is_over()) co_return;
        const state::Path path = object.document->path();
        one.path = {.group = std::string{one.kind->group},
                    .version = std::string{one.kind->version},
                    .name_space = std::string{path.namespace_name()},
                    .resource = std::string{one.kind->plural},
                    .name = std::string{path.name()}};
        // What this user may not delete stays, and the definition with it.
        (void)co_await write(service, one, strand, wait_header, patience);
    }
}

Task<void> finish_definition(SharedService service, Call call, stream::Strand strand, std::string wait_header,
                             Patience patience) {
    const std::string name = call.kind->rules->definition;
    Call last = call;
    last.registry = service->registry();
    const Kind* kind = kind_of(*last.registry, name);
    if (kind == nullptr || !kind->rules->terminating || !instances_of(*service, *kind, 1).items.empty()) co_return;
    last.verb = Verb::Delete;
    last.body.clear();
    last.subresource = nullptr;
    last.kind = last.registry->kinds.find(cluster::kDefinitionGroup, "v1", "customresourcedefinitions");
    constexpr std::string_view kPlural = "customresourcedefinitions";
    last.path = {.group = std::string{cluster::kDefinitionGroup}, .version = "v1", .resource = {}, .name = name};
    last.path.resource = kPlural;
    // Where this user may not, somebody who may touches it again.
    (void)co_await write(service, std::move(last), std::move(strand), std::move(wait_header), std::move(patience));
}

}  // namespace rhizome::api
