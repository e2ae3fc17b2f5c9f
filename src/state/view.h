// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "state/detail/node_ref.h"
#include "state/document.h"
#include "state/path.h"

namespace rhizome::state {

namespace detail {
struct Version;
}

/// How much stands under a prefix. Kept in the tree, so asking costs one walk down, whatever the number.
struct Totals {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;  ///< of documents and scripts: what quotas limit
    friend bool operator==(const Totals&, const Totals&) = default;
};

/// Entries in the order of their keys, one after the other. Borrows the view it came from (or the batch, and is then
/// good until the batch's next change).
class Cursor {
public:
    /// The next entry; null at the end.
    const Entry* next();

private:
    friend class StateView;
    friend class Batch;
    friend struct TreeAccess;
    Cursor(detail::NodeRef root, const Prefix& prefix, std::string_view after);
    std::vector<detail::NodeRef> pending_;  ///< subtrees still to walk, the next one last
};

/// One page of a listing. Entries live as long as the view they were listed from.
struct Page {
    std::vector<const Entry*> entries;
    /// Where the next page goes on: hand it in as `after`. Nothing when this was the last page.
    std::optional<Path> next;
};

/// The state at one moment: immutable, copied for the price of a counter, and read from any thread without a lock.
/// Entries that it shows live at least as long as it (or a copy) does; `EntryPtr` keeps one for longer.
///
/// Default-made, it is the empty state, whose root is 32 zero bytes.
class StateView {
public:
    StateView() = default;
    StateView(const StateView& other);
    StateView(StateView&& other) noexcept : version_(std::exchange(other.version_, nullptr)) {}
    StateView& operator=(StateView other) noexcept {
        std::swap(version_, other.version_);
        return *this;
    }
    ~StateView();

    /// What a block header commits to: the same for the same entries, however they came about.
    [[nodiscard]] const Hash256& root() const;
    [[nodiscard]] std::uint64_t size() const { return totals(Prefix::everything()).count; }
    [[nodiscard]] bool empty() const;

    /// The entry at `path`; null when there is none.
    [[nodiscard]] const Entry* get(const Path& path) const;
    [[nodiscard]] bool contains(const Path& path) const { return get(path) != nullptr; }
    [[nodiscard]] Totals totals(const Prefix& prefix) const;

    /// At most `limit` entries under `prefix`, in order, those after `after` only (which need not exist).
    [[nodiscard]] Page list(const Prefix& prefix, const std::optional<Path>& after, std::size_t limit) const;
    /// The same for entries exactly one component below `prefix`, passing over what is below them: all Namespaces
    /// without their contents. Costs one walk for each, not for each descendant.
    [[nodiscard]] Page list_children(const Prefix& prefix, const std::optional<Path>& after, std::size_t limit) const;
    /// All entries under `prefix`, one at a time; what a snapshot is written from.
    [[nodiscard]] Cursor walk(const Prefix& prefix, const std::optional<Path>& after = std::nullopt) const;

    /// Frees at most about `nodes_max` nodes that no view reaches any more, and says how many. Finishing a batch does
    /// this by itself at the pace at which batches make garbage; the writer calls it when idle, after a large deletion.
    std::size_t collect_garbage(std::size_t nodes_max) const;

    /// The same memory: equal states may be different objects, compare `root()` for those.
    [[nodiscard]] bool is_same(const StateView& other) const { return version_ == other.version_; }

private:
    friend struct TreeAccess;
    explicit StateView(detail::Version* adopted) : version_(adopted) {}
    detail::Version* version_ = nullptr;
};

}  // namespace rhizome::state
