// SPDX-License-Identifier: Apache-2.0
#include "state/view.h"

#include "state/detail/access.h"

namespace rhizome::state {

using detail::bit_at;
using detail::bit_of;
using detail::NodeRef;
using detail::Version;

namespace {

constexpr Hash256 kEmptyRoot{};

}  // namespace

// ---- cursor -------------------------------------------------------------------------------------------------------

Cursor::Cursor(NodeRef root, const Prefix& prefix, std::string_view after) {
    NodeRef node = detail::find_subtree(root, prefix.key());
    if (!node) return;
    if (after.empty()) {
        pending_.push_back(node);
        return;
    }

    // Where `after` would stand: down to the first node whose keys all differ from it, leaving on the stack what lies
    // to the right of that way.
    const auto difference = detail::first_difference(after, detail::candidate(node, after)->key());
    const unsigned end = difference ? *difference : detail::kLeafBit;
    while (bit_of(node) < end) {
        const detail::Inner* inner = node.inner();
        const unsigned side = bit_at(after, inner->bit);
        if (side == 0) pending_.push_back(inner->child[1]);
        node = inner->child[side];
    }
    if (difference && bit_at(after, *difference) == 0) pending_.push_back(node);
}

const Entry* Cursor::next() {
    if (pending_.empty()) return nullptr;
    NodeRef node = pending_.back();
    pending_.pop_back();
    while (!node.is_leaf()) {
        const detail::Inner* inner = node.inner();
        pending_.push_back(inner->child[1]);
        node = inner->child[0];
    }
    return node.leaf();
}

// ---- view ---------------------------------------------------------------------------------------------------------

StateView::StateView(const StateView& other) : version_(other.version_) { Version::hold(version_); }
StateView::~StateView() { Version::drop(version_); }

const Hash256& StateView::root() const { return version_ == nullptr ? kEmptyRoot : version_->hash; }
bool StateView::empty() const { return !TreeAccess::root(*this); }

const Entry* StateView::get(const Path& path) const { return detail::find(TreeAccess::root(*this), path.key()); }

Totals StateView::totals(const Prefix& prefix) const {
    const NodeRef node = detail::find_subtree(TreeAccess::root(*this), prefix.key());
    return node ? Totals{detail::count_of(node), detail::weight_of(node)} : Totals{};
}

Cursor StateView::walk(const Prefix& prefix, const std::optional<Path>& after) const {
    return {TreeAccess::root(*this), prefix, after ? std::string_view{after->key()} : std::string_view{}};
}

Page StateView::list(const Prefix& prefix, const std::optional<Path>& after, std::size_t limit) const {
    Page page;
    if (limit == 0) {
        page.next = after;
        return page;
    }
    Cursor cursor = walk(prefix, after);
    while (const Entry* entry = cursor.next()) {
        if (page.entries.size() == limit) {
            page.next = page.entries.back()->path();
            break;
        }
        page.entries.push_back(entry);
    }
    return page;
}

Page StateView::list_children(const Prefix& prefix, const std::optional<Path>& after, std::size_t limit) const {
    Page page;
    if (limit == 0) {
        page.next = after;
        return page;
    }
    // No component holds a byte of one, so a key whose last zero byte is raised to one stands behind all that begin
    // with the key and before everything else.
    const auto past = [](std::string_view key) {
        std::string end{key};
        end.back() = '\1';
        return end;
    };
    std::string from = after ? past(after->key()) : std::string{};
    const NodeRef root = TreeAccess::root(*this);
    while (const Entry* entry = Cursor{root, prefix, from}.next()) {
        const std::string_view key = entry->key();
        if (key.size() == prefix.key().size()) {  // the prefix's own entry
            from = key;
            continue;
        }
        const std::string_view child = key.substr(0, key.find('\0', prefix.key().size()) + 1);
        if (child.size() == key.size()) {
            if (page.entries.size() == limit) {
                page.next = page.entries.back()->path();
                break;
            }
            page.entries.push_back(entry);
        }
        from = past(child);
    }
    return page;
}

std::size_t StateView::collect_garbage(std::size_t nodes_max) const {
    return version_ == nullptr ? 0 : version_->reclaimer->collect(nodes_max);
}

}  // namespace rhizome::state
