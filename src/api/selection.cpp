// SPDX-License-Identifier: Apache-2.0
#include "api/selection.h"

#include <fmt/core.h>

#include "base/ensure.h"
#include "cluster/convert.h"

namespace rhizome::api {
namespace {

using state::Path;
using state::Prefix;

bool is_node(const cluster::Kind& kind) { return kind.group.empty() && kind.kind == "Node"; }
bool is_namespace(const cluster::Kind& kind) { return kind.group.empty() && kind.kind == "Namespace"; }

/// Names that no path can have select nothing: below no key.
Prefix or_nothing(Result<Prefix, state::PathFault> prefix) {
    return prefix ? *std::move(prefix) : *Prefix::chain({"nothing", "here"});
}

/// The prefixes whose direct or indirect children the list consists of, one after the other.
class Walker {
public:
    Walker(const Revisions& revisions, const Selection& selection, std::string_view after)
        : view_(revisions.view(selection.layer())), chain_(revisions.view(Layer::Chain)), selection_(selection) {
        if (!after.empty()) after_ = Path::from_checked_key(after);
    }

    /// Calls for each selected entry in order until one is refused.
    void walk(const std::function<bool(const state::Entry&)>& each) {
        const cluster::Kind& kind = *selection_.kind;
        if (!selection_.name.empty() && (!kind.namespaced || !selection_.name_space.empty())) {
            const auto path = path_of(kind, selection_.name_space, selection_.name);
            const state::Entry* entry = path ? view_.get(*path) : nullptr;
            if (entry != nullptr && (!after_ || after_->key() < path->key())) each(*entry);
            return;
        }
        if (is_node(kind) || is_namespace(kind)) {
            children(selection_.prefix(), each);
        } else if (kind.namespaced && selection_.name_space.empty()) {
            every_namespace(each);
        } else {
            all_below(selection_.prefix(), each);
        }
    }

private:
    static constexpr std::size_t kPage = 256;

    bool all_below(const Prefix& prefix, const std::function<bool(const state::Entry&)>& each) {
        state::Cursor cursor = view_.walk(prefix, after_);
        while (const state::Entry* entry = cursor.next())
            if (!each(*entry)) return false;
        return true;
    }

    bool children(const Prefix& prefix, const std::function<bool(const state::Entry&)>& each) {
        auto from = after_;
        for (;;) {
            const state::Page page = view_.list_children(prefix, from, kPage);
            for (const state::Entry* entry : page.entries)
                if (!each(*entry)) return false;
            if (!page.next) return true;
            from = page.next;
        }
    }

    void every_namespace(const std::function<bool(const state::Entry&)>& each) {
        // The Namespaces stand on the chain also for what does not.
        std::optional<Path> from;
        for (;;) {
            const state::Page page = chain_.list_children(Prefix::namespaces(), from, kPage);
            for (const state::Entry* entry : page.entries)
                if (!in_namespace(entry->path().name(), each)) return;
            if (!page.next) return;
            from = page.next;
        }
    }

    bool in_namespace(std::string_view name, const std::function<bool(const state::Entry&)>& each) {
        const auto prefix =
            Prefix::kind_in_namespace(name, cluster::kept_group(*selection_.kind), selection_.kind->kind);
        // Namespaces before the one where the last page ended hold nothing new.
        if (!prefix || (after_ && prefix->key() < after_->key() && !prefix->covers(after_->key()))) return true;
        return all_below(*prefix, each);
    }

    const state::StateView& view_;
    const state::StateView& chain_;
    const Selection& selection_;
    std::optional<Path> after_{};
};

}  // namespace

Prefix Selection::prefix() const {
    if (is_node(*kind)) return Prefix::nodes();
    if (is_namespace(*kind)) return Prefix::namespaces();
    if (!kind->namespaced) return or_nothing(Prefix::cluster_scoped_kind(kind->group, kind->kind));
    if (name_space.empty()) return Prefix::namespaces();
    return or_nothing(Prefix::kind_in_namespace(name_space, cluster::kept_group(*kind), kind->kind));
}

bool Selection::covers(std::string_view key) const {
    const Path path = Path::from_checked_key(key);
    return path.kind() == kind->kind && path.group() == cluster::kept_group(*kind) &&
           (name_space.empty() || path.namespace_name() == name_space) && (name.empty() || path.name() == name);
}

Result<Path, Status> path_of(const cluster::Kind& kind, std::string_view name_space, std::string_view name) {
    auto path = Path::of(cluster::kept_group(kind), kind.kind, kind.namespaced ? name_space : std::string_view{}, name);
    if (path) return *std::move(path);
    // What cannot be stored under such a name does not exist either.
    return Fail{not_found(kind, name)};
}

Listing list(const Revisions& revisions, const Selection& selection, std::size_t limit, std::string_view after,
             const HeardOf& heard_of) {
    Listing found{.revision = revisions.newest()};
    Walker walker{revisions, selection, after};
    std::string last;
    walker.walk([&](const state::Entry& entry) {
        if (!selection.name.empty() && entry.path().name() != selection.name) return true;
        if (limit != 0 && found.items.size() == limit) {
            found.next = last;
            if (selection.matches) return false;
            ++found.remaining;
            return true;
        }
        Standing standing = revisions.of(selection.layer(), entry);
        if (selection.matches && !selection.matches(shown_value(*selection.kind, standing, heard_of))) return true;
        if (limit != 0) last = entry.key();
        found.items.push_back(std::move(standing));
        return true;
    });
    return found;
}

void narrow(Listing& listing, const Selection& selection, std::size_t limit, const HeardOf& heard_of) {
    if (!selection.matches) return;
    std::vector<Standing> kept;
    for (Standing& one : listing.items) {
        if (!selection.matches(shown_value(*selection.kind, one, heard_of))) continue;
        if (limit != 0 && kept.size() == limit) {
            listing.next = kept.back().document->key();
            break;
        }
        kept.push_back(std::move(one));
    }
    listing.items = std::move(kept);
}

std::string to_text(const Continue& token) {
    return fmt::format("{}.{}", token.revision, to_hex(as_bytes(token.after)));
}

std::optional<Continue> parse_continue(std::string_view text) {
    const std::size_t dot = text.find('.');
    if (dot == std::string_view::npos) return std::nullopt;
    const auto revision = parse_revision(text.substr(0, dot));
    const auto key = from_hex(text.substr(dot + 1));
    if (!revision || !key || !Path::from_key(*key)) return std::nullopt;
    return Continue{*revision, std::string{as_text(*key)}};
}

}  // namespace rhizome::api
