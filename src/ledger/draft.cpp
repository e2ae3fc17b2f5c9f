// SPDX-License-Identifier: Apache-2.0
#include "ledger/draft.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/json.h"
#include "ledger/limits.h"
#include "ledger/resource.h"
#include "ledger/special_kinds.h"

namespace rhizome::ledger {
namespace {

using state::Entry;
using state::Path;

class Drafting {
public:
    Drafting(const DraftWish& wish, const state::StateView& state) : wish_(wish), state_(state) {}

    Result<Tx, Reject> run() {
        if (wish_.changes.empty()) return reject(RejectCode::BadEncoding, "there is nothing to change");
        for (const Change& change : wish_.changes) TRY(add(change));
        tx_.lock_time = wish_.lock_time;
        if (wish_.expiry) {
            tx_.expiry = *wish_.expiry;
        } else if (!consumes_) {
            tx_.expiry = static_cast<std::uint32_t>(wish_.now.unix_seconds() + kExpirySecondsDefault);
        }
        return std::move(tx_);
    }

private:
    Result<void, Reject> add(const Change& change) {
        TRY(const NamedOutput named, name_output(change.document));
        const Resource& resource = named.resource;
        if (std::find(touched_.begin(), touched_.end(), resource.path) != touched_.end())
            return reject(RejectCode::DuplicateOutput, fmt::format("{} is named twice", resource.label()));
        touched_.push_back(resource.path);
        const Entry* before = state_.get(resource.path);
        if (named.wish == Wish::Delete) {
            if (resource.scope == Scope::Cluster)
                return reject(RejectCode::NotAuthorised, "the cluster is updated, never deleted");
            if (before == nullptr) return reject(RejectCode::NotFound, fmt::format("there is no {}", resource.label()));
            tx_.outputs.push_back({.value = change.document});
            if (decides_itself(*before)) {
                name_version(*before, true);
                return {};
            }
            return name_authority(resource.path);
        }
        Output output{.value = change.document, .locking = change.lock.value_or(Bytes{})};
        if (before != nullptr) {
            if (!change.lock) output.locking = to_bytes(before->script());
            tx_.outputs.push_back(std::move(output));
            const bool own = decides_itself(*before);
            name_version(*before, own);
            return own ? Result<void, Reject>{} : name_authority(resource.path);
        }
        tx_.outputs.push_back(std::move(output));
        const auto parent = resource.path.parent();
        if (!parent) return reject(RejectCode::NotFound, "a chain has one Cluster, made by its genesis");
        if (state_.get(*parent) == nullptr && std::find(touched_.begin(), touched_.end(), *parent) == touched_.end())
            return reject(RejectCode::OrphanParent, fmt::format("{} does not exist", parent->text()));
        return name_authority(resource.path);
    }

    /// Whether a resource's own lock is to decide about it.
    bool decides_itself(const Entry& entry) const {
        if (entry.path().shape() == Path::Shape::NodeReport) return true;  // its member's key, whatever the lock
        return !entry.script().empty() && (!wish_.by || *wish_.by == entry.path());
    }

    void name_version(const Entry& entry, bool signed_by_its_owner) {
        consumes_ = true;
        add_input(entry.origin().latest.output, signed_by_its_owner);
    }

    Result<void, Reject> name_authority(const Path& path) {
        if (wish_.by && *wish_.by != path) {
            if (!wish_.by->is_ancestor_of(path))
                return reject(RejectCode::NotAuthorised,
                              fmt::format("{} is no ancestor of {}", wish_.by->text(), path.text()));
            const Entry* ancestor = state_.get(*wish_.by);
            if (ancestor == nullptr)
                return reject(RejectCode::NotFound, fmt::format("there is no {}", wish_.by->text()));
            if (!can_decide(*ancestor, path))
                return reject(RejectCode::NotAuthorised,
                              fmt::format("{} has no lock: nobody can sign for it", wish_.by->text()));
            add_input(ancestor->origin().lock.output, true);
            return {};
        }
        for (const Path& above : path.ancestors()) {
            const Entry* ancestor = state_.get(above);
            if (ancestor == nullptr || !can_decide(*ancestor, path)) continue;
            add_input(ancestor->origin().lock.output, true);
            return {};
        }
        return reject(RejectCode::NotAuthorised, fmt::format("no ancestor of {} has a lock", path.text()));
    }

    static bool can_decide(const Entry& ancestor, const Path& path) {
        return !ancestor.script().empty() ||
               (path.shape() == Path::Shape::NodeReport && ancestor.path().shape() == Path::Shape::Node);
    }

    /// One output may be a version and authority for what is below it; it is named once.
    void add_input(const Outpoint& output, bool is_signed) {
        const std::uint32_t sequence = is_signed ? wish_.sequence : kSequenceFinal;
        const auto at = std::find_if(tx_.inputs.begin(), tx_.inputs.end(),
                                     [&](const Input& input) { return input.previous == output; });
        if (at == tx_.inputs.end()) {
            tx_.inputs.push_back({.previous = output, .sequence = sequence});
        } else if (is_signed) {
            at->sequence = sequence;
        }
    }

    const DraftWish& wish_;
    const state::StateView& state_;
    std::vector<Path> touched_;
    bool consumes_ = false;
    Tx tx_;
};

}  // namespace

Result<Tx, Reject> make_draft(const DraftWish& wish, const state::StateView& state) {
    return Drafting{wish, state}.run();
}

std::string deletion_of(std::string_view document) {
    const json::Value whole = parse_checked(document);
    json::Object metadata;
    if (const auto name_space = whole.text_at({"metadata", "namespace"}); !name_space.empty())
        metadata.set("namespace", name_space);
    metadata.set("name", whole.text_at({"metadata", "name"}));
    return json::print(json::Object{{"apiVersion", whole.text_at({"apiVersion"})},
                                    {"kind", whole.text_at({"kind"})},
                                    {"metadata", std::move(metadata)},
                                    {"deleted", true}});
}

}  // namespace rhizome::ledger
