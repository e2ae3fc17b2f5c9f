// SPDX-License-Identifier: Apache-2.0
// Asks admission webhooks: mutating ones one after the other, in the order of their configurations' names, validating
// ones all at once. Each within its time and bounds; nothing waits on a thread.
#include "api/webhooks.h"

#include <algorithm>

#include <fmt/core.h>

#include "api/admission.h"
#include "api/io/service.h"
#include "api/io/webhook_client.h"
#include "api/patch.h"
#include "api/shown.h"
#include "api/tracking.h"
#include "cluster/names.h"
#include "cluster/object.h"
#include "stream/timers.h"

namespace rhizome::api {
namespace {

using stream::Task;

constexpr std::string_view kGroup = "admissionregistration.k8s.io";

state::Prefix configurations(bool mutating) {
    const auto prefix = state::Prefix::cluster_scoped_kind(
        kGroup, mutating ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration");
    ensure(prefix.has_value(), "the kinds of webhook configurations make a path");
    return *prefix;
}

/// In the order of their configurations' names, which is that of the state's keys.
std::vector<Webhook> all_webhooks(const state::StateView& chain, bool mutating) {
    std::vector<Webhook> all;
    state::Cursor cursor = chain.walk(configurations(mutating));
    while (const state::Entry* entry = cursor.next()) {
        const auto configuration = json::parse(entry->document());
        if (!configuration || configuration->find_path({"metadata", "deletionTimestamp"}) != nullptr) continue;
        for (Webhook& one : webhooks_of(*configuration, mutating)) all.push_back(std::move(one));
    }
    return all;
}

/// The labels of the namespace that a write is in, the one that tells its name among them.
std::optional<json::Value> space_labels(const Call& call, const state::StateView& chain, const json::Value* object,
                                        const json::Value* before) {
    const bool is_space = call.kind->group.empty() && call.kind->kind == "Namespace";
    if (!call.kind->namespaced && !is_space) return std::nullopt;
    json::Value labels = json::Object{};
    const auto take = [&](const json::Value* from) {
        const json::Value* held = from == nullptr ? nullptr : from->find_path({"metadata", "labels"});
        if (held != nullptr && held->is_object()) labels = *held;
    };
    const std::string& name = is_space ? call.path.name : call.path.name_space;
    if (is_space) {
        take(object != nullptr ? object : before);
    } else if (const auto path = state::Path::namespace_(name)) {
        const state::Entry* entry = chain.get(*path);
        const auto parsed = entry == nullptr ? std::nullopt : std::optional{json::parse(entry->document())};
        if (parsed && *parsed) take(&**parsed);
    }
    labels["kubernetes.io/metadata.name"] = name;
    return labels;
}

/// What a webhook is asked for, and everything that asking needs.
class Asking {
public:
    Asking(SharedService service, const Call& call, Draft& draft, const Present& present, state::StateView chain,
           const stream::Strand& strand, stream::Deadline deadline)
        : service_(std::move(service)),
          call_(call),
          draft_(draft),
          chain_(std::move(chain)),
          strand_(strand),
          deadline_(deadline) {
        // An apply of what is not there creates it.
        const bool creates = call.verb == Verb::Create || (call.verb == Verb::Patch && !present.object);
        operation_ = creates ? Operation::Create : call.verb == Verb::Delete ? Operation::Delete : Operation::Update;
        if (present.object) before_ = shown_value(*call.kind, present.object, service_->backend.heard_of());
        const std::string_view part = call.path.subresource;
        is_part_ = part == "eviction" || part == "binding" || part == "scale";
        if (part == "scale") {
            // Whichever way it was sent, as a whole or as a patch, it is about two Scales.
            if (draft.object) object_ = scale_of(*call.kind, shown_form(*draft.object));
            if (before_) told_before_ = scale_of(*call.kind, *before_);
        } else if (is_part_) {
            // What is asked about is what was sent, not the object that it leads to; there was none before.
            if (auto sent = read_object(call)) object_ = *std::move(sent);
        } else if (operation_ != Operation::Delete && draft.object) {
            object_ = shown_form(*draft.object);
        } else if (operation_ != Operation::Delete && draft.last) {
            // It goes with this change, which is an update of it nevertheless.
            object_ = shown_form(*draft.last);
        }
        if (!is_part_) told_before_ = before_;
    }

    Task<Result<void, Status>> run() {
        if (auto mutated = co_await mutate(); !mutated) co_return Fail{mutated.error()};
        if (auto fits = judge(); !fits) co_return Fail{fits.error()};
        co_return co_await validate();
    }

private:
    struct Outcome {
        std::optional<Status> refused{};
        std::optional<AdmissionAnswer> answer{};
    };

    /// With what a client would see beside what is stored.
    json::Value shown_form(const json::Value& object) const {
        json::Value shown = object;
        if (before_)
            for (const std::string_view key : {"resourceVersion", "creationTimestamp"})
                if (const auto text = before_->text_at({"metadata", key}); !text.empty()) shown["metadata"][key] = text;
        return shown;
    }
    [[nodiscard]] const json::Value* object() const { return object_ ? &*object_ : nullptr; }
    [[nodiscard]] const json::Value* before() const { return before_ ? &*before_ : nullptr; }

    [[nodiscard]] std::optional<AdmissionTarget> wanted_by(const Webhook& hook) const {
        const auto labels = space_labels(call_, chain_, object(), before());
        const bool deletes = operation_ == Operation::Delete;
        return wants(
            hook, call_, operation_, call_.registry->kinds,
            {.space = labels ? &*labels : nullptr, .object = deletes ? nullptr : object(), .before = before()});
    }

    Task<Result<void, Status>> mutate() {
        const std::vector<Webhook> hooks = all_webhooks(chain_, true);
        std::vector<std::optional<json::Value>> seen(hooks.size());  // the object as each one left it
        for (const bool again : {false, true})
            for (std::size_t i = 0; i < hooks.size(); ++i) {
                // A second time only those that asked for it, and only if somebody changed the object since.
                if (again && (!hooks[i].again_if_needed || !seen[i] || object_ == seen[i])) continue;
                const auto target = wanted_by(hooks[i]);
                if (!target) continue;
                Outcome outcome = co_await ask(hooks[i], *target, again ? i + hooks.size() : i);
                if (outcome.refused) co_return Fail{*std::move(outcome.refused)};
                if (outcome.answer && outcome.answer->patch && object_ && !is_part_)
                    if (auto done = patch(hooks[i], *outcome.answer->patch); !done) co_return Fail{done.error()};
                seen[i] = object_;
            }
        co_return Result<void, Status>{};
    }

    Result<void, Status> patch(const Webhook& hook, const json::Value& operations) {
        const auto broken = [&](std::string_view why) {
            return Fail{internal(fmt::format("admission webhook \"{}\" returned a patch that {}", hook.name, why))};
        };
        auto patched = apply_json_patch(*object_, operations);
        if (!patched) return broken(fmt::format("cannot be applied: {}", patched.error().message));
        if (!patched->is_object()) return broken("leaves no object");
        Call lenient = call_;
        lenient.query = Query{{{"fieldValidation", "Ignore"}}};
        std::vector<std::string> ignored;
        if (const auto fits = decode_object(lenient, *patched, ignored); !fits)
            return broken(fmt::format("breaks the object: {}", fits.error().message));
        object_ = *std::move(patched);
        changed_ = true;
        return {};
    }

    /// The object as the webhooks left it becomes what is to be written.
    Result<void, Status> judge() {
        const std::string_view part = call_.path.subresource;
        const bool direct = part == "eviction" || part == "binding" || part == "finalize" || part == "approval";
        if (operation_ == Operation::Delete || direct || !draft_.object) return {};
        json::Value wanted = changed_ ? *object_ : *draft_.object;
        TRY(readmit(call_, wanted, before(), part == "status"));
        if (changed_) own_changes(wanted);
        if (changed_ && !before_) draft_.lock = cluster::annotation(wanted, kLockAnnotation).value_or("");
        draft_.object = std::move(wanted);
        if (!is_part_) object_ = shown_form(*draft_.object);
        return {};
    }

    /// What webhooks changed belongs to whoever sent the request. But for an apply: what it names is its own already,
    /// and what it does not name would be taken out by the next one.
    void own_changes(json::Value& wanted) {
        const auto manager = manager_of(call_);
        const bool applies = call_.verb == Verb::Patch && patch_type(call_.media) == PatchType::Apply;
        if (manager && !applies) track_change(call_, *manager, *draft_.object, wanted);
    }

    Task<Result<void, Status>> validate() {
        const std::vector<Webhook> hooks = all_webhooks(chain_, false);
        struct Round {
            explicit Round(const stream::Strand& strand) : done(strand) {}
            stream::Event done;
            std::size_t running = 0;
            std::vector<std::optional<Status>> refused{};
        };
        const auto round = std::make_shared<Round>(strand_);
        round->refused.resize(hooks.size());
        for (std::size_t i = 0; i < hooks.size(); ++i)
            if (const auto target = wanted_by(hooks[i])) {
                ++round->running;
                stream::spawn(strand_, ask_beside(hooks[i], *target, i, &round->refused[i]), [round] {
                    if (--round->running == 0) round->done.set();
                });
            }
        // Each ends by its own deadline, so this does.
        if (round->running != 0) co_await round->done.wait();
        for (const auto& one : round->refused)
            if (one) co_return Fail{*one};
        co_return Result<void, Status>{};
    }

    Task<void> ask_beside(Webhook hook, AdmissionTarget target, std::size_t number, std::optional<Status>* refused) {
        Outcome outcome = co_await ask(hook, target, number);
        *refused = std::move(outcome.refused);
    }

    Task<Outcome> ask(const Webhook& hook, AdmissionTarget target, std::size_t number) {
        if (call_.is_dry() && !hook.good_for_dry_runs)
            co_return Outcome{
                .refused = bad_request(fmt::format("admission webhook \"{}\" does not support dry run", hook.name))};
        // Another name for each question of one request.
        auto seed = call_.entropy;
        seed[0] = static_cast<std::uint8_t>(seed[0] ^ number);
        seed[1] = static_cast<std::uint8_t>(seed[1] ^ (number >> 8) ^ (hook.mutates ? 0x80 : 0));
        const std::string uid = cluster::uid_from(seed);
        const json::Value review =
            admission_review(call_, {.uid = uid,
                                     .operation = operation_,
                                     .target = target,
                                     .object = operation_ == Operation::Delete ? nullptr : object(),
                                     .before = told_before_ ? &*told_before_ : nullptr});
        auto answer = co_await send(hook, review, uid);
        if (!answer) {
            service_->options.log.warn("an admission webhook could not be asked",
                                       {{"webhook", hook.name},
                                        {"policy", hook.ignores_failure ? "Ignore" : "Fail"},
                                        {"why", answer.error()}});
            if (hook.ignores_failure) co_return Outcome{};
            co_return Outcome{.refused = webhook_failed(hook, answer.error().message)};
        }
        for (std::string& one : answer->warnings) draft_.warnings.push_back(std::move(one));
        for (const auto& [key, value] : answer->audit)
            service_->options.log.info("admission webhook", {{"webhook", hook.name}, {key, value}});
        if (!answer->allowed) co_return Outcome{.refused = std::move(answer->denial)};
        co_return Outcome{.answer = *std::move(answer)};
    }

    Task<Result<AdmissionAnswer>> send(const Webhook& hook, json::Value review, std::string uid) {
        if (!hook.speaks_v1)
            co_return fail(ErrorKind::Unsupported,
                           "it takes none of the forms that are spoken here: admission.k8s.io/v1");
        // Where it has several addresses, another one for each request: one that is gone does not stop all of them.
        CO_TRY(WebhookTarget target, webhook_target(hook.client, chain_, call_.entropy[2]));
        target.path += fmt::format("?timeout={}s", hook.timeout.count());
        milliseconds time = hook.timeout;
        if (deadline_ != stream::kNever)
            time = std::clamp(std::chrono::duration_cast<milliseconds>(deadline_ - stream::Clock::now()),
                              milliseconds{0}, time);
        CO_TRY(const json::Value said, co_await ask_webhook(std::move(target), std::move(review),
                                                            {.timeout = time, .answer_bytes_max = kAnswerBytesMax}));
        co_return read_admission(said, uid, hook);
    }

    SharedService service_;
    const Call& call_;
    Draft& draft_;
    state::StateView chain_;
    stream::Strand strand_;
    stream::Deadline deadline_;
    Operation operation_ = Operation::Create;
    std::optional<json::Value> before_{};
    std::optional<json::Value> told_before_{};  ///< the same, as webhooks see it
    std::optional<json::Value> object_{};
    bool is_part_ = false;
    bool changed_ = false;
};

}  // namespace

bool has_webhooks(const Call& call, const state::StateView& chain) {
    return is_asked_about(*call.kind) &&
           (chain.totals(configurations(true)).count != 0 || chain.totals(configurations(false)).count != 0);
}

Task<Result<void, Status>> ask_webhooks(SharedService service, const Call& call, Draft& draft, const Present& present,
                                        const state::StateView& chain, stream::Strand strand,
                                        stream::Deadline deadline) {
    Asking asking{std::move(service), call, draft, present, chain, strand, deadline};
    co_return co_await asking.run();
}

}  // namespace rhizome::api
