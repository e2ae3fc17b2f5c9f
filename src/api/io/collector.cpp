// SPDX-License-Identifier: Apache-2.0
#include "api/io/collector.h"

#include <future>
#include <map>

#include <fmt/core.h>

#include "api/io/service.h"
#include "api/shown.h"
#include "cluster/garbage.h"
#include "cluster/object.h"
#include "cluster/ownership.h"
#include "stream/timers.h"

namespace rhizome::api {
namespace {

using cluster::Chore;
using stream::Task;

/// How long the next machine waits for the one before it.
constexpr milliseconds kTakeOver{3'000};
/// After an attempt that failed; twice as long each time up to the second.
constexpr milliseconds kAgainFirst{1'000};
constexpr milliseconds kAgainMost{60'000};
constexpr std::size_t kAtOnce = 64;
constexpr std::size_t kScanStep = 2'048;

bool matters(const Standing& one) {
    if (!one) return false;
    const std::string_view text = one.document->document();
    return text.find("ownerReferences") != std::string_view::npos ||
           text.find("deletionTimestamp") != std::string_view::npos;
}

}  // namespace

struct Collector::Inside {
    Inside(SharedService service_in, const stream::Strand& strand_in, std::string patience_in)
        : service(std::move(service_in)),
          strand(strand_in),
          patience(std::move(patience_in)),
          woken(strand_in),
          registry(service->registry()) {}

    const SharedService service;
    const stream::Strand strand;
    const std::string patience;
    stream::Event woken;
    bool stopping = false;
    const std::shared_ptr<Leave> leave = std::make_shared<Leave>();  ///< when it stops
    std::promise<void> ended{};
    std::shared_ptr<void> bell{};
    cluster::Garbage garbage{};
    Revision seen = 0;
    SharedRegistry registry{};  ///< the kinds of this round

    /// When something is tried, and how long to wait after it failed.
    struct Turn {
        stream::Deadline at = stream::kNever;
        milliseconds pause = kAgainFirst;
    };
    std::map<std::string, Turn> turns{};  ///< by uid and what is to be done

    const Kind* kind_at(const state::Path& path) const { return registry->kinds.preferred(path.group(), path.kind()); }
    json::Value shown(const state::Path& path, const Standing& standing) const {
        static const Kind kUnknown{};
        const Kind* kind = kind_at(path);
        return shown_value(kind == nullptr ? kUnknown : *kind, standing, {});
    }
    Standing standing_at(const state::Path& path) const {
        return service->backend.live().read([&](const Revisions& now) { return now.find(Layer::Chain, path); });
    }

    /// Everything once: what was to be done when this node was started, or while it looked away.
    Task<void> scan() {
        garbage = {};
        state::StateView chain;
        service->backend.live().read([&](const Revisions& now) {
            chain = now.view(Layer::Chain);
            seen = now.newest();
            return 0;
        });
        state::Cursor cursor = chain.walk(state::Prefix::documents());
        std::size_t count = 0;
        while (const state::Entry* entry = cursor.next()) {
            if (++count % kScanStep == 0) co_await stream::yield();
            if (stopping) co_return;
            if (!entry->is_written()) continue;
            const Standing one{.document = state::EntryPtr{entry}};
            if (!matters(one)) continue;
            const json::Value object = shown(entry->path(), one);
            garbage.saw(entry->path(), nullptr, &object);
        }
    }

    /// What has changed since; false when that is no longer known.
    bool catch_up() {
        for (;;) {
            Revision up_to = seen;
            const auto changes = service->backend.live().read([&](const Revisions& now) {
                return now.changes_after(seen, state::Prefix::documents(), kScanStep, &up_to);
            });
            if (!changes) return false;
            for (const Revised& one : *changes) {
                const bool gone = !one.after;
                if (!gone && !matters(one.before) && !matters(one.after)) continue;
                const state::Path path = state::Path::from_checked_key(one.key);
                const json::Value before = one.before ? shown(path, one.before) : json::Value{};
                const json::Value after = one.after ? shown(path, one.after) : json::Value{};
                garbage.saw(path, one.before ? &before : nullptr, one.after ? &after : nullptr);
            }
            if (up_to == seen || changes->empty()) {
                seen = std::max(seen, up_to);
                return true;
            }
            seen = up_to;
        }
    }

    std::vector<Chore> todo() {
        const auto is_namespaced = [this](std::string_view group, std::string_view kind) {
            const Kind* known = registry->kinds.preferred(group, kind);
            return known != nullptr && known->namespaced;
        };
        return garbage.chores(
            {.object_at = [this](const state::Path& path) -> std::optional<json::Value> {
                 const Standing there = standing_at(path);
                 if (!there) return std::nullopt;
                 return shown(path, there);
             },
             .is_known =
                 [this](std::string_view group, std::string_view kind) {
                     // Owners off the chain (leases, requests for certificates) are not looked for.
                     const Kind* known = registry->kinds.preferred(group, kind);
                     return known != nullptr && known->keeping == cluster::Keeping::Chain;
                 },
             .is_namespaced = is_namespaced,
             .contents =
                 [this](std::string_view space, std::size_t most) {
                     std::vector<state::Path> inside;
                     const auto prefix = state::Prefix::in_namespace(space);
                     if (!prefix) return inside;
                     const state::StateView chain =
                         service->backend.live().read([](const Revisions& now) { return now.view(Layer::Chain); });
                     // The namespace itself stands first.
                     for (const state::Entry* entry : chain.list(*prefix, std::nullopt, most + 1).entries)
                         if (state::Path path = entry->path(); path.shape() == state::Path::Shape::Namespaced)
                             inside.push_back(std::move(path));
                     return inside;
                 }},
            kAtOnce);
    }

    std::optional<Call> call_for(const Chore& chore) const {
        const Kind* kind = kind_at(chore.path);
        if (kind == nullptr) return std::nullopt;
        Call call{.registry = registry, .kind = kind, .media = "application/json", .agent = "rhizome"};
        call.path = {.group = std::string{kind->group},
                     .version = std::string{kind->version},
                     .name_space = kind->namespaced ? std::string{chore.path.namespace_name()} : std::string{},
                     .resource = std::string{kind->plural},
                     .name = std::string{chore.path.name()}};
        call.query = Query{{{"timeout", patience}, {"fieldManager", "garbage-collector"}}};
        call.user = {.name = std::string{kUser}, .groups = {std::string{kMasters}, std::string{kAuthenticated}}};
        call.now = service->backend.now();
        service->backend.fill_with_entropy(call.entropy);
        if (chore.what == Chore::What::Delete) {
            call.verb = Verb::Delete;
            call.body =
                json::print(json::Object{{"preconditions", json::Object{{"uid", chore.uid}}},
                                         {"propagationPolicy", chore.foreground ? "Foreground" : "Background"}});
            return call;
        }
        const Standing there = standing_at(chore.path);
        if (!there) return std::nullopt;
        const json::Value object = shown(chore.path, there);
        const bool owners = chore.what == Chore::What::DropOwners;
        const std::string_view list = owners ? "ownerReferences" : "finalizers";
        json::Array kept;
        if (const json::Value* all = object.find_path({"metadata", list}); all != nullptr && all->is_array())
            for (const json::Value& one : *all->if_array()) {
                const bool goes =
                    owners ? std::find(chore.uids.begin(), chore.uids.end(), one.text_at({"uid"})) != chore.uids.end()
                           : one == json::Value{chore.finalizer};
                if (!goes) kept.push_back(one);
            }
        call.verb = Verb::Patch;
        call.media = "application/merge-patch+json";
        json::Object metadata{{"uid", chore.uid}, {"resourceVersion", cluster::resource_version_of(object)}};
        metadata.set(list, kept.empty() ? json::Value{} : json::Value{std::move(kept)});
        call.body = json::print(json::Object{{"metadata", std::move(metadata)}});
        return call;
    }

    /// Does it, when it is this machine's turn. Gives when to look again.
    Task<stream::Deadline> take(Chore chore, std::map<std::string, Turn>& still) {
        const std::string key = fmt::format("{} {}", chore.uid, static_cast<int>(chore.what));
        // Two reasons for the same, told one after the other.
        if (const auto tried = still.find(key); tried != still.end()) co_return tried->second.at;
        Turn turn;
        if (const auto known = turns.find(key); known != turns.end()) {
            turn = known->second;
        } else {
            const Backend::Machines machines = service->backend.machines();
            const auto rank = cluster::rank_of(chore.uid, machines.live, machines.me);
            // Not heard of yet, or no member: asked again.
            if (!rank) co_return stream::after(kAgainFirst);
            turn.at = stream::after(kTakeOver * static_cast<std::int64_t>(*rank));
        }
        if (!stream::passed(turn.at)) {
            still.emplace(key, turn);
            co_return turn.at;
        }
        // Of a kind that is not served there is nothing to be asked for, now; it is looked at again like a failure.
        const auto call = call_for(chore);
        bool done = false;
        if (call) {
            const Patience until_stopped{.leave = leave};
            const Reply reply = co_await write(service, *call, strand, {}, until_stopped);
            done = reply.code < 400;
        }
        // What is done is no longer told of; what nevertheless is, is not tried again and again.
        turn.at = stream::after(turn.pause);
        turn.pause = std::min(2 * turn.pause, kAgainMost);
        still.emplace(key, turn);
        co_return done ? stream::kNever : turn.at;
    }

    static Task<void> run(std::shared_ptr<Inside> self) {
        co_await self->scan();
        while (!self->stopping) {
            self->woken.reset();
            stream::Deadline next = stream::kNever;
            std::map<std::string, Turn> still;
            bool any = false;
            // All that there is to be done, a part at a time: whoever was not told of in the whole round has no turn.
            do {
                self->registry = self->service->registry();
                if (!self->catch_up()) co_await self->scan();
                for (Chore& chore : self->todo()) {
                    if (self->stopping) co_return;
                    const stream::Deadline at = co_await self->take(std::move(chore), still);
                    any = any || at == stream::kNever;
                    next = std::min(next, at);
                }
                co_await stream::yield();
            } while (!self->stopping && !self->garbage.is_round_over());
            self->turns = std::move(still);
            if (self->stopping) break;
            if (!any) (void)co_await self->woken.wait_until(next);
        }
    }
};

Collector::Collector(SharedService service, const stream::Strand& strand, std::string patience)
    : inside_(std::make_shared<Inside>(std::move(service), strand, std::move(patience))) {
    const std::weak_ptr<Inside> weak = inside_;
    inside_->bell = inside_->service->backend.live().on_change([weak, strand] {
        strand.post([weak] {
            if (const auto self = weak.lock()) self->woken.set();
        });
    });
    stream::spawn(strand, Inside::run(inside_), [in = inside_] { in->ended.set_value(); });
}

Collector::~Collector() {
    auto ended = inside_->ended.get_future();
    inside_->strand.post([in = inside_] {
        in->stopping = true;
        in->leave->tell();
        in->woken.set();
    });
    ended.wait();
    inside_->bell.reset();
}

}  // namespace rhizome::api
