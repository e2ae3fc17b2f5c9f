// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/selection.h"

/// A watch: what happens to a selection of documents, from a revision on. It keeps no events of its own: it remembers
/// how far it is in the window that all watches share, so that a thousand slow readers cost nothing but their
/// connections. One that falls behind the window is told 410 and begins anew.
namespace rhizome::api {

enum class EventType : unsigned char { Added, Modified, Deleted, Bookmark, Error };
std::string_view name(EventType type);

struct WatchEvent {
    EventType type = EventType::Added;
    Standing object{};  ///< of Deleted what was there last, under the deletion's revision; none of Bookmark
    Revision revision = 0;
    bool ends_initial = false;  ///< a Bookmark: all that was there at the start has been told
};

struct WatchWish {
    /// Nothing: begin with what is there, each document as Added.
    std::optional<Revision> after{};
    bool bookmarks = false;
    /// What is there first, then a bookmark that says so (`sendInitialEvents`).
    bool initial_events = false;
};

/// Reads `resourceVersion`, `resourceVersionMatch`, `sendInitialEvents` and `allowWatchBookmarks` as Kubernetes does.
/// 410 for a revision of another node or from before this one's window.
Result<WatchWish, Status> watch_wish(const Revisions& revisions, std::string_view revision, std::string_view match,
                                     bool send_initial_events, bool bookmarks);
/// The revision that a LIST asks to be answered at: nothing for the newest there is.
Result<void, Status> check_list_revision(const Revisions& revisions, std::string_view revision, std::string_view match,
                                         bool has_continue);

class Watch {
public:
    /// Takes what is there at the beginning.
    Watch(const Revisions& revisions, Selection selection, const WatchWish& wish, HeardOf heard_of);

    /// What is new, at most about `most` events; nothing when the watch has fallen behind and ends. Called while nobody
    /// writes to `revisions`; the events hold what they show.
    [[nodiscard]] std::optional<std::vector<WatchEvent>> take(const Revisions& revisions, std::size_t most);
    /// Whether `take` would find something to look at.
    [[nodiscard]] bool is_behind(const Revisions& revisions) const {
        return !first_.empty() || bookmark_due_ || position_ < revisions.newest();
    }
    [[nodiscard]] Revision position() const { return position_; }
    [[nodiscard]] bool wants_bookmarks() const { return bookmarks_; }
    [[nodiscard]] const Selection& selection() const { return selection_; }

private:
    [[nodiscard]] std::optional<WatchEvent> event_of(const Revised& change) const;

    Selection selection_;
    HeardOf heard_of_;
    bool bookmarks_ = false;
    bool bookmark_due_ = false;  ///< the one behind the initial events
    Revision position_ = 0;      ///< everything up to here has been told
    std::vector<Standing> first_{};
    std::size_t told_ = 0;  ///< of `first_`
};

}  // namespace rhizome::api
