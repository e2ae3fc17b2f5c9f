// SPDX-License-Identifier: Apache-2.0
#include "ledger/special_kinds.h"

#include <fmt/core.h>

#include "base/ensure.h"
#include "ledger/readiness.h"
#include "ledger/limits.h"
#include "ledger/recovery_records.h"

namespace rhizome::ledger {
namespace {

Result<void, Reject> check_cluster(const json::Value& document, const state::Entry* before) {
    TRY(const auto parameters, read_parameters(document));
    if (before == nullptr) return {};
    const json::Value old = parse_checked(before->document());
    if (old.text_at({"metadata", "name"}) != document.text_at({"metadata", "name"}))
        return reject(RejectCode::AlreadyExists,
                      fmt::format("this chain's cluster is named \"{}\"", old.text_at({"metadata", "name"})));
    const auto in_force = read_parameters(old);
    ensure(in_force.has_value(), "a Cluster in the state was checked");
    if (parameters.recovery.generation == in_force->recovery.generation &&
        recovery_records_in(document) != recovery_records_in(old))
        return reject(RejectCode::BadEncoding, "spec.recovery.records change only with a higher generation");
    return check_parameter_change(*in_force, parameters);
}

Result<void, Reject> check_node(const json::Value& document, const WorkingState& state, const Place& place) {
    TRY(const auto member, read_member(document, place.chain));
    if (!member) return {};
    const state::Entry* record = state.find(records::member(member->chain));
    if (record == nullptr) return {};
    const auto known = decode_member(record->bytes());
    ensure(known.has_value(), "a member record of ours");
    if (known->node != member->node)
        return reject(RejectCode::AlreadyExists, fmt::format("the chain key is that of Node {}", known->node));
    return {};
}

Result<void, Reject> check_definition(const json::Value& document, const WorkingState& state) {
    TRY(const auto read, read_definition(document));
    if (builtin_scope(read.type.group, read.type.kind))
        return reject(RejectCode::AlreadyExists, fmt::format("{} is a built-in kind", read.type.kind));
    const state::Entry* record = state.find(records::definition(read.type));
    if (record == nullptr) return {};
    const auto known = records::decode_definition(record->bytes());
    if (known.name != read.definition.name)
        return reject(RejectCode::AlreadyExists, fmt::format("{} is defined by {}", read.type.kind, known.name));
    return {};
}

bool is_definition(const Resource& resource) {
    return resource.type.kind == "CustomResourceDefinition" && resource.builtin;
}

bool is_evidence(const Resource& resource) { return resource.type.kind == "Evidence" && resource.builtin; }

}  // namespace

json::Value parse_checked(std::string_view document) {
    auto value = json::parse(document, {.bytes = kDocumentBytesMax, .depth = kDocumentDepthMax});
    ensure(value.has_value(), "a document in the state is strict JSON");
    return *std::move(value);
}

Result<JoinToken, Reject> read_join_token(const json::Value& document) {
    JoinToken token;
    const json::Value* count = document.find_path({"spec", "count"});
    const auto number = count != nullptr ? count->if_int64() : std::nullopt;
    if (!number || *number < 1) return reject(RejectCode::BadEncoding, "a JoinToken's spec.count is a number above 0");
    token.count = static_cast<std::uint64_t>(*number);
    const auto expires = from_rfc3339(document.text_at({"spec", "expires"}));
    if (!expires)
        return reject(RejectCode::BadEncoding, "a JoinToken's spec.expires is a time such as 2027-01-01T00:00:00Z");
    token.expires = *expires;
    return token;
}

Result<ReadDefinition, Reject> read_definition(const json::Value& document) {
    ReadDefinition read;
    read.type.group = document.text_at({"spec", "group"});
    read.type.kind = document.text_at({"spec", "names", "kind"});
    read.definition.name = document.text_at({"metadata", "name"});
    const std::string_view scope = document.text_at({"spec", "scope"});
    const bool namespaced = scope == "Namespaced";
    if (read.type.group.empty() || read.type.kind.empty() || (!namespaced && scope != "Cluster"))
        return reject(RejectCode::BadEncoding, "a definition needs spec.group, spec.names.kind and spec.scope");
    if (!state::Path::of(read.type.group, read.type.kind, namespaced ? "x" : "", "x"))
        return reject(RejectCode::BadEncoding, "the definition's group or kind cannot stand in a path");
    read.definition.scope = namespaced ? Scope::Namespaced : Scope::ClusterScoped;
    return read;
}

std::optional<GroupKind> defined_by(const state::Entry& entry) {
    const state::Path path = entry.path();
    if (path.shape() != state::Path::Shape::ClusterScoped || path.kind() != "CustomResourceDefinition" ||
        path.group() != "apiextensions.k8s.io")
        return std::nullopt;
    const auto read = read_definition(parse_checked(entry.document()));
    if (!read) return std::nullopt;
    return read->type;
}

Result<void, Reject> check_special(const Resource& resource, std::string_view document, const state::Entry* before,
                                   const WorkingState& state, const Place& place) {
    switch (resource.scope) {
        case Scope::Cluster: return check_cluster(parse_checked(document), before);
        case Scope::Node: return check_node(parse_checked(document), state, place);
        case Scope::JoinToken: {
            TRY(read_join_token(parse_checked(document)));
            return {};
        }
        case Scope::ClusterScoped:
            if (is_definition(resource)) return check_definition(parse_checked(document), state);
            return {};
        default: return {};
    }
}

namespace {

void forget_member(std::string_view node_document, WorkingState& state, const Place& place) {
    const auto member = read_member(parse_checked(node_document), place.chain);
    if (!member || !*member) return;
    state.erase(records::member((*member)->chain));
    state.erase(records::node((*member)->node));
    state.erase(records::lease((*member)->chain));
    state.erase(records::readiness((*member)->chain));
}

void follow_node(std::string_view before, std::string_view after, WorkingState& state, const Place& place) {
    std::optional<Member> member;
    if (!after.empty()) member = read_member(parse_checked(after), place.chain).value_or(std::optional<Member>{});
    const auto known = member ? member_key_of(member->node, state) : std::nullopt;
    if (!before.empty() && (!member || known != member->chain)) forget_member(before, state, place);
    if (!member) return;
    state.put_record(records::member(member->chain), encode(*member));
    if (known == member->chain) return;
    state.put_record(records::node(member->node), member->chain);
    renew_lease(member->chain, state);  // a newcomer's first lease
}

/// The names of all Namespaces. What they hold is not walked through, unless this block made one of them.
std::vector<std::string> namespaces_of(const WorkingState& state) {
    constexpr std::size_t kPage = 256;
    const auto all = state::Prefix::namespaces();
    std::vector<std::string> names;
    std::uint64_t entries = 0;
    std::optional<state::Path> after;
    do {
        const state::Page page = state.base().list_children(all, after, kPage);
        for (const state::Entry* entry : page.entries) {
            const auto inside = state::Prefix::in_namespace(entry->path().name());
            ensure(inside.has_value(), "a namespace in the state has a name");
            entries += state.totals(*inside).count;
            names.emplace_back(entry->path().name());
        }
        after = page.next;
    } while (after);
    if (entries == state.totals(all).count) return names;
    names.clear();
    state::Cursor cursor = state.walk(all);
    while (const state::Entry* entry = cursor.next())
        if (entry->path().shape() == state::Path::Shape::Namespace) names.emplace_back(entry->path().name());
    return names;
}

/// All documents of a custom kind, in every namespace.
void erase_documents(const ReadDefinition& of, WorkingState& state) {
    const auto erase = [&](const Result<state::Prefix, state::PathFault>& prefix) {
        ensure(prefix.has_value(), "a defined kind has a place");
        state.erase_subtree(state::Path::from_checked_key(prefix->key()));
    };
    if (of.definition.scope != Scope::Namespaced) {
        erase(state::Prefix::cluster_scoped_kind(of.type.group, of.type.kind));
        return;
    }
    for (const std::string& name : namespaces_of(state))
        erase(state::Prefix::kind_in_namespace(name, of.type.group, of.type.kind));
}

/// A kind that is no longer defined, or lives elsewhere now, leaves nothing behind that nobody could read or change.
void follow_definition(std::string_view before, std::string_view after, WorkingState& state) {
    const auto read = [](std::string_view document) -> std::optional<ReadDefinition> {
        if (document.empty()) return std::nullopt;
        auto found = read_definition(parse_checked(document));
        if (!found) return std::nullopt;
        return *std::move(found);
    };
    const auto old = read(before);
    const auto now = read(after);
    if (old) {
        state.erase(records::definition(old->type));
        if (!now || now->type != old->type || now->definition.scope != old->definition.scope)
            erase_documents(*old, state);
    }
    if (now) state.put_record(records::definition(now->type), records::encode(now->definition));
}

}  // namespace

void follow_special(const Resource& resource, std::string_view before, std::string_view after, WorkingState& state,
                    const Place& place) {
    switch (resource.scope) {
        case Scope::Cluster: {
            const json::Value document = parse_checked(after);
            const json::Value* spec = document.find("spec");
            const std::string text = spec != nullptr ? json::print_canonical(*spec) : "{}";
            state.put_record(records::parameters(), as_bytes(text));
            return;
        }
        case Scope::Node: return follow_node(before, after, state, place);
        case Scope::NodeReport:
            if (const auto key = member_key_of(resource.name, state); key && !after.empty()) renew_lease(*key, state);
            return;
        case Scope::ClusterScoped:
            if (is_definition(resource)) follow_definition(before, after, state);
            // Anybody may have kept a copy: without this the pardoned would be accused again by the next block.
            if (is_evidence(resource) && after.empty())
                state.put_record(records::pardon(resource.name),
                                 records::encode_number(static_cast<std::uint64_t>(place.time.unix_millis())));
            return;
        default: return;
    }
}

std::optional<MemberKey> member_key_of(std::string_view node, const WorkingState& state) {
    const state::Entry* record = state.find(records::node(node));
    if (record == nullptr) return std::nullopt;
    MemberKey key{};
    ensure(record->bytes().size() == key.size(), "a node record of ours");
    std::copy(record->bytes().begin(), record->bytes().end(), key.begin());
    return key;
}

milliseconds lease_clock(const WorkingState& state) {
    const state::Entry* record = state.find(records::clock());
    return milliseconds{record == nullptr ? 0 : static_cast<std::int64_t>(records::decode_number(record->bytes()))};
}

void renew_lease(const MemberKey& key, WorkingState& state) {
    state.put_record(records::lease(key),
                     records::encode_number(static_cast<std::uint64_t>(lease_clock(state).count())));
}

}  // namespace rhizome::ledger
