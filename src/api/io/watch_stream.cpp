// SPDX-License-Identifier: Apache-2.0
// WATCH: events as they come, one line of JSON each, until somebody has enough.
#include <utility>

#include <fmt/core.h>

#include "api/io/custom.h"
#include "api/io/service.h"
#include "api/watch.h"
#include "stream/timers.h"

namespace rhizome::api {
namespace {

using stream::Task;

constexpr std::size_t kEventsAtOnce = 256;
/// What a client that names no time is given: as kube-apiserver, half an hour at least.
constexpr seconds kWatchDefault{1'800};
constexpr seconds kWatchMax{86'400};

/// What wakes a watcher, on its connection's strand.
struct Bell {
    explicit Bell(const stream::Strand& strand) : event(strand) {}
    stream::Event event;
    bool over = false;
};

std::string bookmark_text(const Kind& kind, const WatchEvent& event) {
    std::string out = fmt::format(R"({{"type":"BOOKMARK","object":{{"kind":"{}","apiVersion":"{}","metadata":{{)"
                                  R"("resourceVersion":"{}","creationTimestamp":null)",
                                  kind.kind, kind.api_version(), event.revision);
    if (event.ends_initial) out += R"(,"annotations":{"k8s.io/initial-events-end":"true"})";
    return out + "}}}\n";
}

/// The columns of a table stand in the first event only.
std::string event_text(const Call& call, const WatchEvent& event, RowObject carried, bool first,
                       const HeardOf& heard_of) {
    if (event.type == EventType::Bookmark) return bookmark_text(*call.kind, event);
    std::string out = fmt::format(R"({{"type":"{}","object":)", name(event.type));
    if (call.form == Form::Table) {
        const json::Value object = shown_value(*call.kind, event.object, heard_of);
        json::Array rows;
        rows.push_back(table_row(object, *call.kind, carried, call.now));
        json::Object metadata{{"resourceVersion", object.text_at({"metadata", "resourceVersion"})}};
        json::print_to(out, make_table(*call.kind, std::move(rows), std::move(metadata), first));
    } else if (call.form == Form::Metadata) {
        json::print_to(out, partial_metadata(shown_value(*call.kind, event.object, heard_of)));
    } else {
        append_shown(out, *call.kind, event.object, heard_of);
    }
    return out + "}\n";
}

std::string error_text(const Status& status) {
    return R"({"type":"ERROR","object":)" + json::print(status.to_json()) + "}\n";
}

stream::Deadline deadline_of(const Call& call) {
    seconds span = kWatchDefault;
    const auto wanted = call.query.number("timeoutSeconds");
    if (wanted && *wanted && **wanted > 0) span = std::min(kWatchMax, seconds{static_cast<std::int64_t>(**wanted)});
    // `--request-timeout` arrives as `timeout=1s` too: it is the client that ends such a watch, and says so.
    return stream::after(span);
}

/// A watch from the query; the refusal when it cannot begin.
Result<std::shared_ptr<Watch>, Status> begin(const Service& service, const Call& call) {
    TRY(Selection selection, selection_of(call));
    const HeardOf heard_of = service.backend.heard_of();
    using Begun = Result<std::shared_ptr<Watch>, Status>;
    return service.backend.live().read([&](const Revisions& now) -> Begun {
        TRY(const WatchWish wish,
            watch_wish(now, call.query.text("resourceVersion"), call.query.text("resourceVersionMatch"),
                       call.query.flag("sendInitialEvents"), call.query.flag("allowWatchBookmarks")));
        return std::make_shared<Watch>(now, std::move(selection), wish, heard_of);
    });
}

/// Whether the kind that is watched is still the same. Where definitions are watched, they are shown as they stand now.
bool is_still_served(Call& call, SharedRegistry now) {
    const Kind* kind = now->kinds.find(call.path.group, call.path.version, call.path.resource);
    if (call.kind->custom) return kind == call.kind;
    call.kind = kind;
    call.registry = std::move(now);
    return true;
}

}  // namespace

Task<void> stream_watch(SharedService service, http::Exchange& exchange, Call call) {
    const auto begun = begin(*service, call);
    const auto carried = row_object(call);
    if (!begun || !carried) {
        auto refused = http_response(reply_of(begun ? carried.error() : begun.error()));
        (void)co_await exchange.respond(std::move(refused));
        co_return;
    }
    Watch& watch = **begun;
    const bool sealed = is_kept_sealed(*service, *call.kind);
    SealedWatch opening;
    if (sealed) co_await opening.begin(service, watch.selection(), call.user);
    Live& live = service->backend.live();
    const stream::Strand strand = exchange.strand();
    const auto bell = std::make_shared<Bell>(strand);
    const auto handle = live.on_change([bell, strand] { strand.post([bell] { bell->event.set(); }); });
    http::Response head{.status = 200,
                        .headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-cache, private"}}};
    const auto started = co_await exchange.start(std::move(head));
    if (!started) co_return;
    exchange.when_ending([bell](http::Ending) {
        bell->over = true;
        bell->event.set();
    });
    const stream::Deadline deadline = deadline_of(call);
    bool first = true;
    stream::Deadline bookmark =
        watch.wants_bookmarks() ? stream::after(service->options.bookmark_every) : stream::kNever;
    const SharedRegistry began = call.registry;  // the watch selects by its kinds
    bool served = true;
    while (served && !bell->over && !stream::passed(deadline)) {
        bell->event.reset();
        // What a definition says may have changed, or it may be gone: what happened before is told, then it is over,
        // and clients look again at what there is.
        served = is_still_served(call, service->registry());
        auto events = live.read([&](const Revisions& now) { return watch.take(now, kEventsAtOnce); });
        std::string text;
        std::optional<Status> ended;
        if (events && sealed) {
            auto taken = std::exchange(*events, {});
            auto opened = co_await opening.open(service, call.kind, std::move(taken), call.user);
            if (opened) {
                events = *std::move(opened);
            } else {
                ended = opened.error();
                events.reset();
            }
        }
        if (ended) {
            text = error_text(*ended);
        } else if (!events) {
            text = error_text(expired(fmt::format("too old resource version: {}", watch.position())));
        } else {
            std::vector<Standing*> shown;
            for (WatchEvent& event : *events) shown.push_back(&event.object);
            if (const auto failed = co_await convert_shown(service, call, std::move(shown))) {
                const std::string told = error_text(*failed);
                (void)co_await exchange.write(as_bytes(told));
                break;
            }
            call.now = service->backend.now();
            const HeardOf heard_of = service->backend.heard_of();
            for (const WatchEvent& event : *events) {
                text += event_text(call, event, *carried, first, heard_of);
                first = first && event.type == EventType::Bookmark;
            }
        }
        if (events && stream::passed(bookmark)) {
            text += bookmark_text(*call.kind, {.type = EventType::Bookmark, .revision = watch.position()});
            bookmark = stream::after(service->options.bookmark_every);
        }
        if (!text.empty()) {
            const auto written = co_await exchange.write(as_bytes(text));
            if (!written) co_return;
        }
        if (!events) break;
        const bool behind = live.read([&](const Revisions& now) { return watch.is_behind(now); });
        if (!behind && !bell->over && served) (void)co_await bell->event.wait_until(std::min(deadline, bookmark));
    }
    (void)co_await exchange.finish();
}

}  // namespace rhizome::api
