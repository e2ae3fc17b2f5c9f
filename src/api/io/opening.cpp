// SPDX-License-Identifier: Apache-2.0
// Documents of which a part is sealed, on their way to verbs and clients.
#include <fmt/core.h>

#include "api/io/service.h"

namespace rhizome::api {

using stream::Task;

bool is_kept_sealed(const Service& service, const Kind& kind) {
    const Vault* vault = service.backend.vault();
    return vault != nullptr && vault->keeps(kind);
}

Status status_of(const Withheld& withheld, const Kind& kind, std::string_view name) {
    switch (withheld.why) {
        case Withheld::Why::Denied: return forbidden(kind, name, withheld.message);
        case Withheld::Why::Unavailable:
            return {.code = 503,
                    .reason = "ServiceUnavailable",
                    .message = fmt::format("{} \"{}\": {}", kind.plural, name, withheld.message)};
        case Withheld::Why::Damaged:
            return {.code = 500,
                    .reason = "InternalError",
                    .message = fmt::format("{} \"{}\": {}", kind.plural, name, withheld.message)};
    }
    unreachable("a Withheld is one of three");
}

Task<Result<Standing, Withheld>> open_one(SharedService service, const Kind* kind, Standing object, User user) {
    if (!object || !is_kept_sealed(*service, *kind)) co_return object;
    std::vector<Standing> one{std::move(object)};
    auto opened = co_await service->backend.vault()->open(std::move(one), std::move(user));
    co_return std::move(opened.front());
}

Task<Result<void, Status>> open_listing(SharedService service, const Kind* kind, Listing* listing, User user,
                                        std::vector<std::string>* warnings) {
    if (!is_kept_sealed(*service, *kind)) co_return Result<void, Status>{};
    auto opened = co_await service->backend.vault()->open(listing->items, std::move(user));
    std::vector<Standing> shown;
    for (std::size_t i = 0; i < opened.size(); ++i) {
        if (opened[i]) {
            shown.push_back(*std::move(opened[i]));
            continue;
        }
        const Withheld& withheld = opened[i].error();
        const state::Path path = listing->items[i].document->path();
        // A list with holes that nobody sees would look like deletions to a controller.
        if (withheld.why == Withheld::Why::Unavailable) co_return Fail{status_of(withheld, *kind, path.name())};
        if (withheld.why == Withheld::Why::Damaged)
            warnings->push_back(fmt::format("{} {}/{} is left out: {}", kind->plural, path.namespace_name(),
                                            path.name(), withheld.message));
    }
    listing->items = std::move(shown);
    co_return Result<void, Status>{};
}

Task<Result<std::vector<WatchEvent>, Status>> SealedWatch::open(SharedService service, const Kind* kind,
                                                                std::vector<WatchEvent> events, User user) {
    std::vector<Standing> objects;
    for (const WatchEvent& event : events)
        if (event.object) objects.push_back(event.object);
    auto opened = co_await service->backend.vault()->open(std::move(objects), std::move(user));
    std::vector<WatchEvent> shown;
    std::size_t next = 0;
    for (WatchEvent& event : events) {
        if (event.object) {
            auto& result = opened[next++];
            if (!result && result.error().why == Withheld::Why::Unavailable)
                co_return Fail{status_of(result.error(), *kind, event.object.document->path().name())};
            if (!tell(event, std::move(result))) continue;
        }
        shown.push_back(std::move(event));
    }
    co_return shown;
}

bool SealedWatch::tell(WatchEvent& event, Result<Standing, Withheld> opened) {
    const std::string key{event.object.document->key()};
    const bool was_shown = shown_.contains(key);
    if (!opened) {
        // What somebody has damaged stays what it was last seen as; what is somebody else's from now on is gone.
        if (!was_shown || opened.error().why == Withheld::Why::Damaged) return false;
        shown_.erase(key);
        event.type = EventType::Deleted;
        return true;
    }
    event.object = *std::move(opened);
    if (event.type == EventType::Deleted) {
        shown_.erase(key);
        return true;
    }
    if (!was_shown && event.type == EventType::Modified) event.type = EventType::Added;
    shown_.insert(key);
    return true;
}

Task<void> SealedWatch::begin(SharedService service, Selection selection, User user) {
    const HeardOf heard_of = service->backend.heard_of();
    Listing listing =
        service->backend.live().read([&](const Revisions& now) { return list(now, selection, 0, {}, heard_of); });
    auto opened = co_await service->backend.vault()->open(std::move(listing.items), std::move(user));
    for (const auto& one : opened)
        if (one) shown_.insert(std::string{one->document->key()});
}

}  // namespace rhizome::api
