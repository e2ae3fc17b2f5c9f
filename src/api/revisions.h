// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/detail/entry_numbers.h"
#include "base/result.h"
#include "base/time.h"
#include "state/delta.h"
#include "state/view.h"

/// `resourceVersion`: a number that this node counts by itself, one for every change of a document that it sees, in the
/// order it sees them. A reorganisation is simply more changes: a document that went with its block is deleted under a
/// new number, one that came back is created under another.
///
/// The first number holds when the node started and who it is, so that a number of another node, or of this one before
/// it was started again, is recognised: the client is told to list anew (410) instead of being shown nonsense.
namespace rhizome::api {

using Revision = std::uint64_t;

/// The number before a node's first: milliseconds since 2020 in the upper 41 of 63 bits, a tag of the node below. It
/// grows from start to start as long as the clock does and fewer than four million changes come in a millisecond; two
/// nodes meet only when they start in the same millisecond with tags closer than the changes they count.
Revision first_revision(Time started, std::uint32_t node_tag);

/// What a `resourceVersion` of a request says; Invalid when it is no number.
Result<Revision> parse_revision(std::string_view text);

/// Where documents live (`cluster::Keeping`): each layer is a state of its own, the numbers are shared.
enum class Layer : std::uint8_t {
    Chain,
    Passing,  ///< off the chain: events, leases
};
inline constexpr std::size_t kLayers = 2;

/// A document as it stood at one moment. Of a Node besides what is part of what is shown of it.
struct Standing {
    state::EntryPtr document{};   ///< null: there was none
    state::EntryPtr report{};     ///< what its machine says
    state::EntryPtr readiness{};  ///< whether its lease runs, and since when; null: no member
    Revision revision = 0;  ///< of the change that made it so
    bool is_final = false;  ///< its block was final when it was looked at
    explicit operator bool() const { return static_cast<bool>(document); }
};

/// One change, as watchers see it. At least one side has a document.
struct Revised {
    Revision revision = 0;
    std::string_view key{};  ///< of the document's path; lies in the document itself
    Standing before{};
    Standing after{};
};

/// The documents now, the number of each, and the changes of the recent past. Single writer; whoever reads from other
/// threads holds a lock (`io/live.h`).
class Revisions {
public:
    struct Limits {
        std::size_t changes = 16'384;   ///< how far a watcher may be behind, in changes
        std::size_t bytes = 64u << 20;  ///< and in bytes of the documents that only the window keeps
    };

    Revisions(Revision first, state::StateView chain, Limits limits);

    /// The layer is now `after`; `delta` leads there from what it was.
    void feed(Layer layer, const state::Delta& delta, state::StateView after);

    /// Blocks up to this height stay.
    void set_final(state::Height height) { final_ = height; }

    [[nodiscard]] const state::StateView& view(Layer layer) const { return views_[static_cast<std::size_t>(layer)]; }
    [[nodiscard]] Revision newest() const { return newest_; }
    /// The oldest number from which a watch can go on.
    [[nodiscard]] Revision oldest() const { return window_.empty() ? newest_ : window_.front().revision - 1; }
    /// Whether this node has counted it: not another's, not from before the start.
    [[nodiscard]] bool is_ours(Revision revision) const { return revision >= first_ && revision <= newest_; }

    /// The number of a document that exists; that of the start when it has not changed since.
    [[nodiscard]] Revision revision_of(Layer layer, std::string_view key) const;
    /// The document at a path as it stands.
    [[nodiscard]] Standing find(Layer layer, const state::Path& path) const;
    /// The same for an entry of the layer's view.
    [[nodiscard]] Standing of(Layer layer, const state::Entry& entry) const;

    /// At most `most` changes behind `after`, the oldest first; nothing when that is no longer known or never was ours.
    [[nodiscard]] std::optional<std::vector<Revised>> changes_after(Revision after, const state::Prefix& prefix,
                                                                    std::size_t most, Revision* up_to) const;

private:
    void add(Layer layer, const std::string& key, const state::StateView& before, const state::StateView& after);
    static Standing look(const state::StateView& view, std::string_view key);

    Limits limits_;
    Revision first_;
    Revision newest_;
    std::array<state::StateView, kLayers> views_;
    state::Height final_{};
    /// Of documents that changed since the start and exist. Both layers: their paths differ. Looked up, never walked.
    /// Names lie in the entries that `by_entry_` holds.
    std::unordered_map<std::string_view, Revision> numbers_;
    /// The same by entry, for lists. A view may hold an equal entry that was made anew: then the name decides.
    detail::EntryNumbers by_entry_;
    std::deque<Revised> window_;
    std::size_t window_bytes_ = 0;
};

}  // namespace rhizome::api
