// SPDX-License-Identifier: Apache-2.0
#include "api/watch.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/ensure.h"

namespace rhizome::api {
namespace {

Status too_old(Revision asked, const Revisions& revisions) {
    if (revisions.is_ours(asked))
        return expired(fmt::format("too old resource version: {} ({})", asked, revisions.oldest()));
    return expired(fmt::format("resource version {} was not given by this node since it started; list again", asked));
}

Result<std::optional<Revision>, Status> revision_in(std::string_view text) {
    if (text.empty() || text == "0") return std::optional<Revision>{};
    const auto revision = parse_revision(text);
    if (!revision) return Fail{bad_request(revision.error().message)};
    return std::optional{*revision};
}

}  // namespace

std::string_view name(EventType type) {
    switch (type) {
        case EventType::Added: return "ADDED";
        case EventType::Modified: return "MODIFIED";
        case EventType::Deleted: return "DELETED";
        case EventType::Bookmark: return "BOOKMARK";
        case EventType::Error: return "ERROR";
    }
    unreachable("an EventType is one of five");
}

Result<WatchWish, Status> watch_wish(const Revisions& revisions, std::string_view revision, std::string_view match,
                                     bool send_initial_events, bool bookmarks) {
    if (send_initial_events && match != "NotOlderThan")
        return Fail{bad_request("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")};
    if (!send_initial_events && !match.empty())
        return Fail{bad_request("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided")};
    TRY(const auto asked, revision_in(revision));
    WatchWish wish{.bookmarks = bookmarks, .initial_events = send_initial_events};
    // Whoever wants the beginning gets the newest one: it is not older than any revision of ours.
    if (asked && !revisions.is_ours(*asked)) return Fail{too_old(*asked, revisions)};
    if (!asked || send_initial_events) return wish;
    if (*asked < revisions.oldest()) return Fail{too_old(*asked, revisions)};
    wish.after = *asked;
    return wish;
}

Result<void, Status> check_list_revision(const Revisions& revisions, std::string_view revision, std::string_view match,
                                         bool has_continue) {
    if (!match.empty() && revision.empty())
        return Fail{bad_request("resourceVersionMatch is forbidden unless resourceVersion is provided")};
    if (!match.empty() && match != "Exact" && match != "NotOlderThan")
        return Fail{bad_request("resourceVersionMatch is Exact or NotOlderThan")};
    if (has_continue && !revision.empty() && revision != "0")
        return Fail{bad_request("specifying resource version is not allowed when using continue")};
    if (match == "Exact" && revision == "0")
        return Fail{bad_request("resourceVersionMatch \"Exact\" is forbidden for resourceVersion \"0\"")};
    TRY(const auto asked, revision_in(revision));
    if (!asked) return {};
    if (!revisions.is_ours(*asked)) return Fail{too_old(*asked, revisions)};
    // The past is not kept: an exact revision can only be the newest.
    if (match == "Exact" && *asked != revisions.newest()) return Fail{too_old(*asked, revisions)};
    return {};
}

Watch::Watch(const Revisions& revisions, Selection selection, const WatchWish& wish, HeardOf heard_of)
    : selection_(std::move(selection)), heard_of_(std::move(heard_of)), bookmarks_(wish.bookmarks) {
    if (wish.after) {
        position_ = *wish.after;
        return;
    }
    Listing listing = list(revisions, selection_, 0, {}, heard_of_);
    first_ = std::move(listing.items);
    position_ = listing.revision;
    bookmark_due_ = wish.initial_events;
}

std::optional<WatchEvent> Watch::event_of(const Revised& change) const {
    if (!selection_.covers(change.key)) return std::nullopt;
    const auto is_in = [&](const Standing& side) {
        return side && (!selection_.matches || selection_.matches(shown_value(*selection_.kind, side, heard_of_)));
    };
    const bool before = is_in(change.before);
    const bool after = is_in(change.after);
    if (!before && !after) return std::nullopt;
    WatchEvent event{.revision = change.revision};
    if (after) {
        event.type = before ? EventType::Modified : EventType::Added;
        event.object = change.after;
    } else {
        // What was there last, under the number of what ended it: also where it only left the selection.
        event.type = EventType::Deleted;
        event.object = change.before;
        event.object.revision = change.revision;
    }
    return event;
}

std::optional<std::vector<WatchEvent>> Watch::take(const Revisions& revisions, std::size_t most) {
    std::vector<WatchEvent> events;
    while (told_ < first_.size() && events.size() < most) {
        Standing& one = first_[told_++];
        const Revision revision = one.revision;
        events.push_back({.type = EventType::Added, .object = std::move(one), .revision = revision});
    }
    if (told_ < first_.size()) return events;
    first_.clear();
    told_ = 0;
    if (bookmark_due_) {
        bookmark_due_ = false;
        events.push_back({.type = EventType::Bookmark, .revision = position_, .ends_initial = true});
    }
    if (events.size() >= most) return events;
    Revision up_to = position_;
    const auto changes = revisions.changes_after(position_, selection_.prefix(), most - events.size(), &up_to);
    if (!changes) return std::nullopt;
    for (const Revised& change : *changes)
        if (auto event = event_of(change)) events.push_back(*std::move(event));
    position_ = up_to;
    return events;
}

}  // namespace rhizome::api
