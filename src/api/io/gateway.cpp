// SPDX-License-Identifier: Apache-2.0
// A write: planned on what is there, drafted, signed, submitted, waited for. When somebody else was faster it is
// planned anew on what is there then, so that a patch is computed again, a PUT that names its version becomes 409, and
// a lock that only moved is signed for again.
#include <algorithm>

#include <fmt/core.h>

#include "api/admission.h"
#include "api/again.h"
#include "api/certificates.h"
#include "api/io/access.h"
#include "api/io/custom.h"
#include "api/io/service.h"
#include "api/refused.h"
#include "api/shown.h"
#include "cluster/custom_definition.h"
#include "cluster/garbage.h"
#include "cluster/object.h"
#include "ledger/draft.h"
#include "stream/timers.h"

namespace rhizome::api {
namespace {

using stream::Task;

/// Attempts when others change the same object all the time: then it is for the client to decide.
constexpr int kAttemptsMax = 16;
/// What is refused because somebody was faster shows in the state soon; it is looked for no longer than this.
constexpr milliseconds kNewsMax{500};
/// How long events are kept; Kubernetes' own default.
constexpr seconds kEventKept{3'600};
/// And leases that nobody renews: whoever needs one has it renewed every few seconds.
constexpr seconds kLeaseKept{24 * 3'600};
/// Of documents off the chain, which every node keeps in memory.
constexpr std::size_t kPassingBytesMax = 64u << 10;

/// What is waited for on a connection's strand, told from other threads.
struct Mail {
    explicit Mail(const stream::Strand& strand) : came(strand) {}
    stream::Event came;
    Progress newest{};
    bool any = false;
};

struct Waiting {
    Stage stage = Stage::Included;
    stream::Deadline deadline = stream::kNever;
};

Result<Waiting, Status> waiting_of(const Service& service, const Call& call, std::string_view header) {
    Waiting waiting;
    const std::string_view word = call.query.has("rhizomeWait") ? call.query.text("rhizomeWait") : header;
    if (word == "accepted") {
        waiting.stage = Stage::Accepted;
    } else if (word == "final") {
        waiting.stage = Stage::Final;
    } else if (!word.empty() && word != "included") {
        return Fail{bad_request("Rhizome-Wait is accepted, included or final")};
    }
    microseconds span = service.options.wait_max;
    if (const auto hint = parse_duration(call.query.text("timeout")); hint && *hint > microseconds{0})
        span = std::min(span, *hint);
    waiting.deadline = stream::after(span);
    return waiting;
}

struct Found {
    Present present{};
    state::StateView chain{};
    Revision newest = 0;
};

/// Whether a stored namespace is being emptied.
bool ends(const state::Entry& space) {
    if (space.document().find("deletionTimestamp") == std::string_view::npos) return false;
    const auto object = json::parse(space.document());
    return object && cluster::is_terminating(*object);
}

/// What deletions ask of the neighbourhood. Texts are searched before they are parsed: most name neither.
void look_around(Present& present, const state::Path& path, const state::StateView& chain) {
    const bool space = path.shape() == state::Path::Shape::Namespace;
    if (space)
        present.contents_wait = [path, chain] {
            state::Cursor cursor = chain.walk(path.subtree());
            while (const state::Entry* entry = cursor.next()) {
                if (entry->path() == path || entry->document().find("\"finalizers\"") == std::string_view::npos)
                    continue;
                const auto object = json::parse(entry->document());
                const json::Value* held = object ? object->find_path({"metadata", "finalizers"}) : nullptr;
                if (held != nullptr && held->is_array() && !held->if_array()->empty()) return true;
            }
            return false;
        };
    present.has_dependents = [path, chain](std::string_view uid) {
        const bool inside = path.shape() == state::Path::Shape::Namespaced;
        const auto below = inside ? state::Prefix::in_namespace(path.namespace_name())
                                  : Result<state::Prefix, state::PathFault>{state::Prefix::documents()};
        if (!below) return false;
        state::Cursor cursor = chain.walk(*below);
        while (const state::Entry* entry = cursor.next()) {
            if (!entry->is_written() || entry->document().find(uid) == std::string_view::npos) continue;
            const auto object = json::parse(entry->document());
            if (!object) continue;
            for (const cluster::OwnerReference& owner : cluster::owners_of(*object))
                if (owner.uid == uid) return true;
        }
        return false;
    };
}

Found look(const Service& service, const Call& call, const state::Path& path) {
    const Layer layer = Selection{.kind = call.kind}.layer();
    return service.backend.live().read([&](const Revisions& now) {
        Found found{.chain = now.view(Layer::Chain), .newest = now.newest()};
        found.present.object = now.find(layer, path);
        if (call.kind->namespaced) {
            const auto space = state::Path::namespace_(call.path.name_space);
            const state::Entry* there = space ? found.chain.get(*space) : nullptr;
            found.present.namespace_is_there = there != nullptr;
            const bool creates = call.verb == Verb::Create || (call.verb == Verb::Patch && !found.present.object);
            found.present.namespace_ends = there != nullptr && creates && ends(*there);
        }
        look_around(found.present, path, found.chain);
        return found;
    });
}

/// The object in clear, where a part of it is sealed. One that cannot be opened can still be replaced or deleted by
/// whoever opens its lock.
Task<Result<void, Status>> open_present(SharedService service, const Call& call, Found* found) {
    if (!found->present.object || !is_kept_sealed(*service, *call.kind)) co_return Result<void, Status>{};
    auto opened = co_await open_one(service, call.kind, found->present.object, call.user);
    if (opened) {
        found->present.object = *std::move(opened);
        co_return Result<void, Status>{};
    }
    const bool matters = opened.error().why != Withheld::Why::Damaged || call.verb == Verb::Patch;
    if (call.verb == Verb::Create || call.verb == Verb::Delete || !matters) co_return Result<void, Status>{};
    co_return Fail{status_of(opened.error(), *call.kind, call.path.name)};
}

Planned plan(const Service& service, const Call& call, const Found& found) {
    const HeardOf heard_of = service.backend.heard_of();
    if (is_pod_stream(call)) return std::variant<Reply, Draft>{pod_stream_verb(call, found.present.object, heard_of)};
    if (auto special = plan_special(service, call, found.present)) return *std::move(special);
    if (call.path.subresource == "scale" && (call.verb == Verb::Update || call.verb == Verb::Patch))
        return scale_verb(call, found.present, heard_of);
    // What else hangs below an object (log, exec, eviction …) needs an agent.
    if (!call.path.subresource.empty() && call.path.subresource != "status") return Fail{method_not_allowed()};
    const bool creates = call.verb == Verb::Create || (call.verb == Verb::Patch && !found.present.object);
    if (call.kind->rules != nullptr && call.kind->rules->terminating && creates)
        return Fail{Status{.code = 405,
                           .reason = "MethodNotAllowed",
                           .message = "create not allowed while custom resource definition is terminating"}};
    if (cluster::is_definition(*call.kind) && call.verb == Verb::Delete)
        return delete_definition(service, call, found.present, heard_of);
    switch (call.verb) {
        case Verb::Create: return create_verb(call, found.present, call.path.name);
        case Verb::Update: return update_verb(call, found.present, heard_of);
        case Verb::Patch: return patch_verb(call, found.present, heard_of);
        case Verb::Delete: return delete_verb(call, found.present, heard_of);
        default: return Fail{method_not_allowed()};
    }
}

/// The change as one that the ledger can be asked for, decided by the lock of `by` (nothing: the resource's own, or its
/// nearest ancestor's).
Result<ledger::Tx, ledger::Reject> draft_tx(const Draft& draft, const Found& found, const std::optional<Bytes>& lock,
                                            const std::optional<state::Path>& by, Time now) {
    ledger::DraftWish wish{.by = by, .now = now};
    ledger::Change change;
    if (draft.object) {
        change.document = draft.sealed.empty() ? json::print(*draft.object) : draft.sealed;
        if (!found.present.object) change.lock = lock;
    } else {
        change.document = ledger::deletion_of(found.present.object.document->document());
    }
    wish.changes.push_back(std::move(change));
    for (const json::Value& other : draft.beside) wish.changes.push_back({.document = json::print(other)});
    TRY(ledger::Tx tx, ledger::make_draft(wish, found.chain));
    if (draft.object) return tx;
    // A deletion by an ancestor's lock takes whatever version there is; this one means the version that was seen.
    const ledger::Outpoint seen = found.present.object.document->origin().latest.output;
    const bool named = std::any_of(tx.inputs.begin(), tx.inputs.end(),
                                   [&](const ledger::Input& input) { return input.previous == seen; });
    if (!named) tx.inputs.push_back({.previous = seen});
    return tx;
}

/// When the object was created, in the document itself like its uid: a heal that brings it back in another block does
/// not make it younger.
void date(Draft& draft, const Call& call, const Found& found) {
    if (!draft.object || !draft.object->is_object()) return;
    (*draft.object)["metadata"]["creationTimestamp"] =
        found.present.object ? created_text(*found.present.object.document) : to_rfc3339(call.now);
}

/// Whether the object asks for its changes to be held until enough people have signed: `rhizome.dev/hold`. What is
/// deleted asks by what it was.
bool is_held(const Draft& draft, const Found& found) {
    if (draft.object) return cluster::annotation(*draft.object, kHoldAnnotation).has_value();
    if (!found.present.object) return false;
    const auto object = json::parse(found.present.object.document->document());
    return object && cluster::annotation(*object, kHoldAnnotation).has_value();
}

/// Nothing has happened yet: to a client that is a refusal, with a reason of its own.
Status held_status(const Kind& kind, std::string_view name, const std::string& why) {
    Status status = forbidden(kind, name, why);
    status.reason = "Held";
    return status;
}

/// What the annotation of a namespace gives to objects that are created in it without a lock of their own.
std::string default_lock_in(const state::StateView& chain, std::string_view name_space) {
    const auto path = state::Path::namespace_(name_space);
    const state::Entry* entry = path ? chain.get(*path) : nullptr;
    // Few have one: the others are not parsed for it.
    if (entry == nullptr || entry->document().find(kDefaultLockAnnotation) == std::string_view::npos) return {};
    const auto document = json::parse(entry->document(), {.bytes = state::kDocumentBytesMax});
    return document ? std::string{cluster::annotation(*document, kDefaultLockAnnotation).value_or("")} : std::string{};
}

/// Signed by whichever lock this user's keys open: the resource's own first, then its ancestors', nearest first.
Result<ledger::SharedTx, Status> signed_tx(const Service& service, const Call& call, const Draft& draft,
                                           const Found& found, const state::Path& path) {
    std::optional<Bytes> lock;
    std::string wanted = draft.lock;
    std::string_view said_by = kLockAnnotation;
    if (wanted.empty() && draft.object && !found.present.object && call.kind->namespaced) {
        wanted = default_lock_in(found.chain, call.path.name_space);
        said_by = kDefaultLockAnnotation;
    }
    if (!wanted.empty()) {
        auto compiled = service.backend.signer().compile_lock(wanted);
        if (!compiled) return Fail{bad_request(fmt::format("annotation {}: {}", said_by, compiled.error().message))};
        lock = *std::move(compiled);
    }
    std::optional<Status> first;
    std::vector<ledger::Tx> closed;  // drafts that need more signatures
    for (const auto& by : deciders_of(path, found.chain)) {
        auto tx = draft_tx(draft, found, lock, by, call.now);
        if (!tx) {
            if (!first) first = status_of(tx.error(), *call.kind, path.name());
            continue;
        }
        auto done = service.backend.signer().sign(*tx, call.user, found.chain);
        if (done) return *std::move(done);
        if (done.error().kind != ErrorKind::Denied) return Fail{from_error(done.error())};
        if (!first) first = forbidden(*call.kind, path.name(), done.error().message);
        closed.push_back(*std::move(tx));
    }
    const bool asked = is_held(draft, found);
    for (const ledger::Tx& tx : closed) {
        auto held = service.backend.signer().hold(tx, found.chain, asked);
        if (!held) continue;
        if (!*held) return Fail{from_error(held->error())};
        return Fail{held_status(*call.kind, path.name(), **held)};
    }
    return Fail{*std::move(first)};
}

/// What is to be hidden is sealed before anybody signs it.
Task<Result<void, Status>> seal_draft(SharedService service, const Call& call, Draft* draft) {
    if (!draft->object || !is_kept_sealed(*service, *call.kind)) co_return Result<void, Status>{};
    auto sealed = co_await service->backend.vault()->seal(*draft->object);
    if (!sealed) co_return Fail{from_error(sealed.error())};
    draft->sealed = json::print(*sealed);
    co_return Result<void, Status>{};
}

Reply gone_reply(const Call& call, const Found& found, const HeardOf& heard_of) {
    const json::Value object = shown_value(*call.kind, found.present.object, heard_of);
    return reply_of(deleted(*call.kind, object.text_at({"metadata", "name"}), object.text_at({"metadata", "uid"})));
}

/// What a client is answered once the change stands.
Reply done_reply(const Service& service, const Call& call, const Draft& draft, const Found& before, const Found& after,
                 Stage stage) {
    const HeardOf heard_of = service.backend.heard_of();
    Reply reply;
    if (draft.last) {
        reply = value_reply(call, draft.code, *draft.last);
    } else if (!draft.object && call.verb == Verb::Delete) {
        reply = gone_reply(call, before, heard_of);
    } else if (!draft.object) {
        reply = object_reply(call, 200, before.present.object, heard_of);  // it went with its last finalizer
    } else if (after.present.object && stage != Stage::Accepted) {
        reply = object_reply(call, draft.code, after.present.object, heard_of);
    } else {
        reply = value_reply(call, draft.code, *draft.object);  // it waits, or somebody has deleted it since
    }
    if (draft.says_success) reply = reply_of(Status{.code = draft.code});
    // Nothing has been done yet: what is shown is what will be.
    if (stage == Stage::Accepted) reply.code = 202;
    reply.warnings = draft.warnings;
    return reply;
}

Reply dry_reply(const Service& service, const Call& call, Draft draft, const Found& before) {
    if (draft.says_success) return reply_of(Status{.code = draft.code});
    if (draft.last) return value_reply(call, draft.code, *std::move(draft.last));
    if (!draft.object) return gone_reply(call, before, service.backend.heard_of());
    json::Value object = *std::move(draft.object);
    json::Value& metadata = object["metadata"];
    if (before.present.object) {
        const json::Value shown = shown_value(*call.kind, before.present.object, service.backend.heard_of());
        metadata["resourceVersion"] = shown.text_at({"metadata", "resourceVersion"});
        metadata["creationTimestamp"] = shown.text_at({"metadata", "creationTimestamp"});
        // Those of the version that is there: a difference in them is none that the change makes.
        show_notes_of(object, shown);
    } else {
        metadata["creationTimestamp"] = to_rfc3339(call.now);
    }
    Reply reply = value_reply(call, draft.code, std::move(object));
    reply.warnings = std::move(draft.warnings);
    return reply;
}

/// A document that lives off the chain. False when somebody was faster.
bool write_passing(const Service& service, const Call& call, const Draft& draft, const Found& found,
                   const state::Path& path) {
    Live::Passing what{.path = path, .known = found.present.object ? found.present.object.revision : 0};
    if (draft.object) {
        const Time now = Time::from_unix_millis(call.now.unix_millis());
        state::Mark mark{.output = {}, .height = {}, .time = now};
        std::copy(call.entropy.begin(), call.entropy.end(), mark.output.change.writable().begin());
        state::Origin origin{.born = mark, .latest = mark, .lock = mark};
        if (found.present.object) origin.born = found.present.object.document->origin().born;
        auto entry = state::Entry::written(path, origin, {}, json::print(*draft.object));
        if (!entry) return true;  // larger than a body may be: cannot be
        what.entry = *std::move(entry);
        what.until = call.now + (call.kind->kind == "Event" ? kEventKept : kLeaseKept);
        if (is_signing_request(*call.kind)) what.until = call.now + request_kept(*draft.object);
    }
    return service.backend.live().write(what, call.now);
}

/// What is true of a transaction that did not come as far as was asked in the time given.
Reply late_reply(const ledger::SharedTx& tx, const std::optional<Progress>& newest) {
    const std::optional<Stage> reached = newest ? std::optional{newest->stage} : std::nullopt;
    const std::string id = tx->id.hex();
    std::string said;
    if (reached == Stage::Included) {
        said = fmt::format(
            "transaction {} is in a block but not final yet: the change stands, and may still be undone "
            "until most of the voters have seen it",
            id);
    } else {
        const std::string until = tx->tx.expiry == 0
                                      ? std::string{}
                                      : fmt::format(" until {}", to_rfc3339(Time::from_unix_seconds(tx->tx.expiry)));
        said = fmt::format("transaction {} {} in the time given; it may still be{}, so look before trying again", id,
                           reached ? "was accepted but is in no block" : "was not answered for", until);
    }
    Reply reply = reply_of(timed_out(fmt::format("{}: rhizome chain tx {}", said, id)));
    reply.headers.emplace_back("Rhizome-Txid", id);
    if (reached) reply.headers.emplace_back("Rhizome-Stage", name(*reached));
    if (newest && !newest->caution.empty()) reply.warnings.push_back(newest->caution);
    return reply;
}

/// What the object is to its user before a change: what is shown, without what is only shown.
json::Value value_of(const Call& call, const Standing& object, const HeardOf& heard_of) {
    if (!object) return {};
    json::Value value = shown_value(*call.kind, object, heard_of);
    strip_shown(value);
    return value;
}

/// Until it is final a heal may take it back: then it can be made again, if it may be.
void remember(Service& service, const Call& call, const Draft& draft, const Found& before, const ledger::SharedTx& tx) {
    if (!draft.object || !draft.beside.empty() || !may_be_made_again(call)) return;
    Remembered::Request request{.call = call};
    request.touched = touched_fields(value_of(call, before.present.object, service.backend.heard_of()), *draft.object);
    request.bytes = call.body.size() + json::print(*draft.object).size();
    service.remember(tx->id, std::move(request));
}

/// Why a change was refused. A full disk does not pass while a client waits and asks again, as clients do after 429: so
/// that it shows the sentence at once, 507.
Status refusal_of(Backend& backend, const ledger::Reject& refused, const Kind& kind, std::string_view name) {
    if (refused.code == ledger::RejectCode::TooManyPending)
        for (const HealthCheck& check : backend.health())
            if (check.name == "DiskFull" && !check.good)
                return {.code = 507, .reason = "InsufficientStorage", .message = refused.why};
    return status_of(refused, kind, name);
}

/// Waits until there is something newer than `seen`.
Task<void> wait_for_news(SharedService service, stream::Strand strand, Revision seen) {
    const auto mail = std::make_shared<Mail>(strand);
    const auto handle =
        service->backend.live().on_change([mail, strand] { strand.post([mail] { mail->came.set(); }); });
    const auto newest = service->backend.live().read([](const Revisions& now) { return now.newest(); });
    if (newest != seen) co_return;
    (void)co_await mail->came.wait_until(stream::after(kNewsMax));
}

/// What became of a transaction as long as somebody waited: nothing when it did not come so far; `newest` says how far.
Task<std::optional<Progress>> submit(SharedService service, ledger::SharedTx tx, Stage wanted, Patience patience,
                                     stream::Strand strand, std::optional<Progress>* newest) {
    const auto mail = std::make_shared<Mail>(strand);
    const std::uint64_t client = service->backend.submit(std::move(tx), [mail, strand](const Progress& progress) {
        strand.post([mail, progress] {
            mail->newest = progress;
            mail->any = true;
            mail->came.set();
        });
    });
    if (patience.leave) patience.leave->when_told([mail] { mail->came.set(); });
    bool in_time = true;
    while (in_time && !(mail->any && mail->newest.stage >= wanted)) {
        mail->came.reset();
        if (patience.has_left()) {
            in_time = false;
            break;
        }
        in_time = co_await mail->came.wait_until(patience.deadline);
    }
    if (patience.leave) patience.leave->when_told({});
    service->backend.forget(client);
    if (mail->any) *newest = mail->newest;
    if (!in_time) co_return std::nullopt;
    co_return mail->newest;
}

/// The object's path; of a creation its name is settled first.
Result<state::Path, Status> target_of(Call& call) {
    if (call.kind->keeping == cluster::Keeping::Nowhere) return state::Path::cluster();
    if (call.verb == Verb::Create && call.path.name.empty()) {
        TRY(const json::Value object, read_object(call));
        TRY(call.path.name, name_of_creation(call, object));
        // A name that nothing can be stored under: the creation says what is wrong with it.
        if (!path_of(*call.kind, call.path.name_space, call.path.name))
            TRY(create_verb(call, Present{}, call.path.name));
    }
    return path_of(*call.kind, call.path.name_space, call.path.name);
}

}  // namespace

std::string_view name(Stage stage) {
    switch (stage) {
        case Stage::Accepted: return "accepted";
        case Stage::Included: return "included";
        case Stage::Final: return "final";
        case Stage::Refused: return "refused";
    }
    unreachable("a Stage is one of four");
}

Task<Reply> delete_collection(SharedService service, Call call, stream::Strand strand, std::string wait_header,
                              Patience patience) {
    const auto selection = selection_of(call);
    if (!selection) co_return reply_of(selection.error());
    const auto waiting = waiting_of(*service, call, wait_header);
    if (!waiting) co_return reply_of(waiting.error());
    patience.deadline = std::min(patience.deadline, waiting->deadline);
    const HeardOf heard_of = service->backend.heard_of();
    Listing listing =
        service->backend.live().read([&](const Revisions& now) { return list(now, *selection, 0, {}, heard_of); });
    std::vector<std::string> unread;
    const auto opened = co_await open_listing(service, call.kind, &listing, call.user, &unread);
    if (!opened) co_return reply_of(opened.error());
    Call one = call;
    one.verb = Verb::Delete;
    std::size_t done = 0;
    for (const Standing& object : listing.items) {
        if (patience.is_over())
            co_return reply_of(timed_out(fmt::format("{} of {} were deleted in the time given: ask again for the rest",
                                                     done, listing.items.size())));
        one.path.name = object.document->path().name();
        Reply reply = co_await write(service, one, strand, wait_header, patience);
        // Somebody else may have deleted it: it is gone, which is what was asked for.
        if (reply.code >= 400 && reply.code != 404) co_return reply;
        ++done;
    }
    co_return list_verb(call, *selection, listing, heard_of);
}

Task<std::optional<std::string>> write_again(SharedService service, Remembered::Request request, stream::Strand strand,
                                             Patience patience) {
    Call& call = request.call;
    call.now = service->backend.now();
    service->backend.fill_with_entropy(call.entropy);
    const auto path = target_of(call);
    if (!path) co_return std::nullopt;
    Found found = look(*service, call, *path);
    const auto opened = co_await open_present(service, call, &found);
    if (!opened) co_return std::nullopt;
    std::vector<Standing*> shown{&found.present.object};
    if (const auto failed = co_await convert_shown(service, call, std::move(shown))) co_return std::nullopt;
    const json::Value now = value_of(call, found.present.object, service->backend.heard_of());
    if (const auto contested = contested_field(request.touched, now)) {
        service->options.log.info("a change that was taken back is not made again: somebody else has changed the same",
                                  {{"path", path->text()}, {"field", *contested}});
        co_return std::nullopt;
    }
    call.judged_later = has_webhooks(call, found.chain);
    const auto planned = plan(*service, call, found);
    if (!planned) co_return std::nullopt;
    const Draft* draft = std::get_if<Draft>(&*planned);
    if (draft == nullptr && found.present.object)
        co_return found.present.object.document->origin().latest.output.change.hex();  // it stands already
    if (draft == nullptr || !draft->object || !does_the_same(request.touched, touched_fields(now, *draft->object)))
        co_return std::nullopt;
    const Reply reply = co_await write(service, call, strand, {}, patience);
    if (reply.code >= 300) co_return std::nullopt;
    for (const auto& [name, value] : reply.headers)
        if (name == "Rhizome-Txid") co_return value;
    co_return std::nullopt;
}

Task<Reply> write(SharedService service, Call call, stream::Strand strand, std::string wait_header, Patience patience) {
    const auto waiting = waiting_of(*service, call, wait_header);
    if (!waiting) co_return reply_of(waiting.error());
    patience.deadline = std::min(patience.deadline, waiting->deadline);
    if (patience.has_left()) co_return reply_of(unavailable("the server is ending: nothing was done"));
    if (call.kind->group.empty() && call.kind->kind == "Binding") {
        // The same wish as `pods/NAME/binding`, by an older path.
        call.kind = call.registry->kinds.find("", "v1", "pods");
        call.path.resource = "pods";
        call.path.subresource = "binding";
    }
    const auto path = target_of(call);
    if (!path) co_return reply_of(path.error());
    const auto dry = asks_for_dry_run(call);
    if (!dry) co_return reply_of(dry.error());
    call.dry_by_body = *dry;
    const bool passing = Selection{.kind = call.kind}.layer() == Layer::Passing;
    Status last = conflict(*call.kind, call.path.name);
    for (int attempt = 0; attempt < kAttemptsMax && !patience.is_over(); ++attempt) {
        Found found = look(*service, call, *path);
        const auto opened = co_await open_present(service, call, &found);
        if (!opened) co_return reply_of(opened.error());
        std::vector<Standing*> shown{&found.present.object};
        if (const auto failed = co_await convert_shown(service, call, std::move(shown))) co_return reply_of(*failed);
        call.judged_later = has_webhooks(call, found.chain);
        auto planned = plan(*service, call, found);
        if (!planned) co_return reply_of(planned.error());
        const bool ends_definition = cluster::is_definition(*call.kind) && call.verb == Verb::Delete;
        if (auto* reply = std::get_if<Reply>(&*planned)) {
            // It terminates already: what there was no time for goes now.
            if (ends_definition && !call.is_dry())
                co_await delete_instances(service, call, strand, wait_header, patience);
            co_return std::move(*reply);
        }
        Draft& draft = std::get<Draft>(*planned);
        if (call.judged_later) {
            const auto asked =
                co_await ask_webhooks(service, call, draft, found.present, found.chain, strand, patience.deadline);
            if (!asked) {
                Reply refused = reply_of(asked.error());
                refused.warnings = draft.warnings;
                co_return refused;
            }
            if (auto same = reply_if_same(call, found.present, draft, service->backend.heard_of()))
                co_return *std::move(same);
        }
        if (call.is_dry()) co_return dry_reply(*service, call, std::move(draft), found);
        if (passing) {
            if (draft.object && json::print(*draft.object).size() > kPassingBytesMax)
                co_return reply_of(too_large(kPassingBytesMax));
            if (write_passing(*service, call, draft, found, *path))
                co_return done_reply(*service, call, draft, found, look(*service, call, *path), Stage::Final);
            continue;
        }
        date(draft, call, found);
        const auto sealed = co_await seal_draft(service, call, &draft);
        if (!sealed) co_return reply_of(sealed.error());
        std::optional<Draft> stored;
        if (draft.object && call.kind->rules != nullptr) {
            auto converted = co_await convert_for_storage(service, call, *draft.object);
            if (!converted) co_return reply_of(converted.error());
            stored = draft;
            stored->object = *std::move(converted);
        }
        auto tx = signed_tx(*service, call, stored ? *stored : draft, found, *path);
        if (!tx) co_return reply_of(tx.error());
        std::optional<Progress> newest;
        const auto progress = co_await submit(service, *tx, waiting->stage, patience, strand, &newest);
        if (!progress) co_return late_reply(*tx, newest);
        if (progress->stage != Stage::Refused) {
            Found after = look(*service, call, *path);
            const auto shown_after = co_await open_present(service, call, &after);
            if (!shown_after) after.present.object = {};
            std::vector<Standing*> done{&after.present.object};
            // It stands, whatever the webhook says now: the draft, which is in the version that was asked for, is
            // shown.
            const auto failed = co_await convert_shown(service, call, std::move(done));
            if (failed) after.present.object = {};
            if (progress->stage == Stage::Included) remember(*service, call, draft, found, *tx);
            Reply reply = done_reply(*service, call, draft, found, after, progress->stage);
            if (!progress->caution.empty()) reply.warnings.push_back(progress->caution);
            if (call.kind->rules != nullptr && !draft.object)
                co_await finish_definition(service, call, strand, wait_header, patience);
            if (ends_definition && draft.object)
                co_await delete_instances(service, call, strand, wait_header, patience);
            reply.headers.emplace_back("Rhizome-Txid", (*tx)->id.hex());
            reply.headers.emplace_back("Rhizome-Stage", name(progress->stage));
            co_return reply;
        }
        last = refusal_of(service->backend, *progress->refused, *call.kind, path->name());
        if (!may_try_again(*progress->refused)) break;
        co_await wait_for_news(service, strand, found.newest);
    }
    co_return reply_of(last);
}

}  // namespace rhizome::api
