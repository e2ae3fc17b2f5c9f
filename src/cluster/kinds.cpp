// SPDX-License-Identifier: Apache-2.0
#include "cluster/kinds.h"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

#include <fmt/core.h>

#include "cluster/detail/tables.h"

namespace rhizome::cluster {
namespace {

constexpr std::array<std::string_view, kVerbCount> kVerbNames{"create", "delete", "deletecollection", "get",
                                                              "list",   "patch",  "update",           "watch"};

struct OurWord {
    std::string_view group;
    std::string_view kind;
};
constexpr bool has(std::span<const OurWord> words, std::string_view group, std::string_view kind) {
    return std::any_of(words.begin(), words.end(),
                       [&](const OurWord& word) { return word.group == group && word.kind == kind; });
}

constexpr std::array kGossiped{
    OurWord{"", "Event"},
    OurWord{"certificates.k8s.io", "CertificateSigningRequest"},
    OurWord{"coordination.k8s.io", "Lease"},
    OurWord{"events.k8s.io", "Event"},
};
constexpr std::array kNowhere{
    OurWord{"", "Binding"},
    OurWord{"", "ComponentStatus"},
    OurWord{"authentication.k8s.io", "SelfSubjectReview"},
    OurWord{"authentication.k8s.io", "TokenReview"},
    OurWord{"authorization.k8s.io", "LocalSubjectAccessReview"},
    OurWord{"authorization.k8s.io", "SelfSubjectAccessReview"},
    OurWord{"authorization.k8s.io", "SelfSubjectRulesReview"},
    OurWord{"authorization.k8s.io", "SubjectAccessReview"},
};
// What the ledger reads (membership, the hierarchy, definitions) and what gateways do. Controllers add theirs here.
constexpr std::array kActedOn{
    OurWord{"admissionregistration.k8s.io", "MutatingWebhookConfiguration"},
    OurWord{"admissionregistration.k8s.io", "ValidatingWebhookConfiguration"},
    OurWord{"", "Namespace"},
    OurWord{"", "Node"},
    OurWord{"", "ServiceAccount"},
    OurWord{"apiextensions.k8s.io", "CustomResourceDefinition"},
};

Kind kind_of(const detail::KindRow& row) {
    Kind kind{
        .group = row.group,
        .version = row.version,
        .kind = row.kind,
        .plural = row.plural,
        .singular = row.singular,
        .message = row.message,
        .short_names = row.short_names,
        .categories = row.categories,
        .columns = row.columns,
        .subresources = row.subresources,
        .field_selectors = row.field_selectors,
        .schema = row.schema,
        .verbs = row.verbs,
        .namespaced = row.namespaced,
        .preferred = row.preferred,
    };
    if (has(kGossiped, row.group, row.kind)) kind.keeping = Keeping::Gossip;
    if (has(kNowhere, row.group, row.kind)) kind.keeping = Keeping::Nowhere;
    kind.acted_on = has(kActedOn, row.group, row.kind);
    return kind;
}

auto order_of(const Kind& kind) { return std::tuple(kind.group, kind.plural, !kind.preferred); }
bool kind_before(const std::shared_ptr<const Kind>& left, const std::shared_ptr<const Kind>& right) {
    if (order_of(*left) != order_of(*right)) return order_of(*left) < order_of(*right);
    return version_before(left->version, right->version);
}

/// A custom kind with the texts its views point at.
struct HeldKind {
    CustomKind texts{};
    std::vector<std::string_view> short_names{};
    std::vector<std::string_view> categories{};
    std::vector<std::string_view> selectable{};
    std::vector<Column> columns{};
    std::vector<Subresource> subresources{};
    Kind kind{};
};

constexpr VerbSet verbs_of(std::initializer_list<Verb> verbs) {
    VerbSet set;
    for (const Verb verb : verbs) set = set.with(verb);
    return set;
}

/// Whether two resources of one group cannot be told apart by some name.
Result<void> check_apart(const Kind& kind, const Kind& known) {
    if (known.kind == kind.kind)
        return Fail{Error{ErrorKind::Conflict, fmt::format("the kind {} is already that of the resource {}; a "
                                                           "group has one resource of a kind: choose another name",
                                                           kind.kind, known.resource())}};
    std::vector<std::string_view> names{kind.plural, kind.singular};
    names.insert(names.end(), kind.short_names.begin(), kind.short_names.end());
    for (const std::string_view taken : names)
        if (taken == known.plural || taken == known.singular)
            return Fail{Error{ErrorKind::Conflict,
                              fmt::format("the name \"{}\" is already that of the resource {}; choose another one",
                                          taken, known.resource())}};
    return {};
}

/// The number of a version's stage and of its parts: v1 is (3, 1, 0), v2beta3 (2, 2, 3), v1alpha1 (1, 1, 1).
struct VersionRank {
    int stage = 0;  ///< 0: no version of the usual form
    unsigned major = 0;
    unsigned minor = 0;
    friend auto operator<=>(const VersionRank&, const VersionRank&) = default;
};

std::optional<unsigned> take_number(std::string_view& text) {
    unsigned number = 0;
    std::size_t digits = 0;
    for (; digits < text.size() && digits < 9 && text[digits] >= '0' && text[digits] <= '9'; ++digits)
        number = number * 10 + static_cast<unsigned>(text[digits] - '0');
    if (digits == 0 || text.front() == '0') return std::nullopt;
    text.remove_prefix(digits);
    return number;
}

VersionRank rank_of(std::string_view text) {
    if (!text.starts_with('v')) return {};
    text.remove_prefix(1);
    const auto major = take_number(text);
    if (!major) return {};
    if (text.empty()) return {3, *major, 0};
    const int stage = text.starts_with("beta") ? 2 : text.starts_with("alpha") ? 1 : 0;
    if (stage == 0) return {};
    text.remove_prefix(stage == 2 ? 4 : 5);
    const auto minor = take_number(text);
    if (!minor || !text.empty()) return {};
    return {stage, *major, *minor};
}

}  // namespace

std::shared_ptr<const Kind> hold_kind(CustomKind custom) {
    auto held = std::make_shared<HeldKind>();
    held->texts = std::move(custom);
    const CustomKind& texts = held->texts;
    held->short_names.assign(texts.short_names.begin(), texts.short_names.end());
    held->categories.assign(texts.categories.begin(), texts.categories.end());
    held->selectable.assign(texts.selectable_fields.begin(), texts.selectable_fields.end());
    held->selectable.insert(held->selectable.end(), {"metadata.name", "metadata.namespace"});
    std::sort(held->selectable.begin(), held->selectable.end());
    // A definition that names columns gets Name in front of them; one that names none gets Name and Age.
    held->columns.push_back({.name = "Name", .type = "string", .format = "name"});
    for (const auto& cell : texts.columns)
        held->columns.push_back({cell.name, cell.type, cell.format, cell.description, cell.priority, cell.json_path});
    if (texts.columns.empty())
        held->columns.push_back({.name = "Age", .type = "date", .json_path = ".metadata.creationTimestamp"});
    constexpr VerbSet kReadWrite = verbs_of({Verb::Get, Verb::Patch, Verb::Update});
    if (texts.status) held->subresources.push_back({"status", texts.group, texts.version, texts.kind, kReadWrite});
    if (texts.scale) held->subresources.push_back({"scale", "autoscaling", "v1", "Scale", kReadWrite});
    held->kind = Kind{
        .group = texts.group,
        .version = texts.version,
        .kind = texts.kind,
        .plural = texts.plural,
        .singular = texts.singular,
        .list_name = texts.list_kind,
        .short_names = held->short_names,
        .categories = held->categories,
        .columns = held->columns,
        .subresources = held->subresources,
        .field_selectors = held->selectable,
        .schema = texts.schema.get(),
        .verbs = {0xff},
        .namespaced = texts.namespaced,
        .preferred = texts.preferred,
        .custom = true,
        .acted_on = true,  // what follows from it is its author's business
        .rules = texts.rules.get(),
    };
    const Kind* kind = &held->kind;
    return {std::move(held), kind};
}

std::string_view name(Verb verb) { return kVerbNames[static_cast<std::size_t>(verb)]; }

std::vector<std::string_view> VerbSet::names() const {
    std::vector<std::string_view> found;
    for (std::size_t i = 0; i < kVerbCount; ++i)
        if (contains(static_cast<Verb>(i))) found.push_back(kVerbNames[i]);
    return found;
}

std::string Kind::api_version() const {
    return group.empty() ? std::string(version) : fmt::format("{}/{}", group, version);
}

std::string Kind::resource() const { return group.empty() ? std::string(plural) : fmt::format("{}.{}", plural, group); }

const Subresource* Kind::find_subresource(std::string_view subresource) const {
    const auto at = std::find_if(subresources.begin(), subresources.end(),
                                 [&](const Subresource& each) { return each.name == subresource; });
    return at == subresources.end() ? nullptr : &*at;
}

bool Kind::selects(std::string_view field) const {
    return std::binary_search(field_selectors.begin(), field_selectors.end(), field);
}

Kinds::Kinds() {
    for (const auto& row : detail::kind_rows()) kinds_.push_back(std::make_shared<const Kind>(kind_of(row)));
}

const Kind* Kinds::find(std::string_view group, std::string_view version, std::string_view plural) const {
    const auto wanted = std::tie(group, plural);
    auto at = std::lower_bound(kinds_.begin(), kinds_.end(), wanted, [](const auto& kind, const auto& key) {
        return std::tie(kind->group, kind->plural) < key;
    });
    for (; at != kinds_.end() && std::tie((*at)->group, (*at)->plural) == wanted; ++at)
        if ((*at)->version == version) return at->get();
    return nullptr;
}

const Kind* Kinds::find_kind(std::string_view group, std::string_view version, std::string_view kind) const {
    for (const auto& each : kinds_)
        if (each->group == group && each->version == version && each->kind == kind) return each.get();
    return nullptr;
}

const Kind* Kinds::preferred(std::string_view group, std::string_view kind) const {
    for (const auto& each : kinds_)  // the preferred version stands before the others
        if (each->group == group && each->kind == kind) return each.get();
    return nullptr;
}

std::vector<std::string_view> Kinds::groups() const {
    std::vector<std::string_view> found;
    for (const auto& each : kinds_)
        if (found.empty() || found.back() != each->group) found.push_back(each->group);
    return found;
}

std::vector<std::string_view> Kinds::versions(std::string_view group) const {
    std::vector<std::string_view> found;
    for (const auto& each : kinds_)
        if (each->group == group && std::find(found.begin(), found.end(), each->version) == found.end())
            found.push_back(each->version);
    std::sort(found.begin(), found.end(), version_before);
    return found;
}

std::vector<const Kind*> Kinds::of_version(std::string_view group, std::string_view version) const {
    std::vector<const Kind*> found;
    for (const auto& each : kinds_)
        if (each->group == group && each->version == version) found.push_back(each.get());
    return found;
}

Result<void> Kinds::add(std::shared_ptr<const Kind> custom) {
    for (const auto& each : kinds_) {
        if (each->group != custom->group) continue;
        const bool same_resource = each->custom && each->plural == custom->plural && each->kind == custom->kind;
        if (!same_resource) TRY(check_apart(*custom, *each));
    }
    std::erase_if(kinds_, [&](const auto& each) {
        return each->custom && each->group == custom->group && each->version == custom->version &&
               each->plural == custom->plural;
    });
    kinds_.insert(std::upper_bound(kinds_.begin(), kinds_.end(), custom, kind_before), custom);
    ++revision_;
    return {};
}

bool Kinds::remove(std::string_view group, std::string_view plural) {
    const std::size_t gone = std::erase_if(
        kinds_, [&](const auto& each) { return each->custom && each->group == group && each->plural == plural; });
    if (gone != 0) ++revision_;
    return gone != 0;
}

void Kinds::show_served(std::shared_ptr<const ServedDefinitions> served) {
    struct Held {
        Kind kind{};
        std::shared_ptr<const ServedDefinitions> served{};
    };
    for (auto& each : kinds_) {
        if (each->group != "apiextensions.k8s.io" || each->kind != "CustomResourceDefinition") continue;
        auto held = std::make_shared<Held>(Held{*each, std::move(served)});
        held->kind.served = held->served.get();
        const Kind* kind = &held->kind;
        each = {std::move(held), kind};
        return;
    }
}

std::optional<GroupVersion> parse_api_version(std::string_view text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) return text.empty() ? std::nullopt : std::optional(GroupVersion{{}, text});
    const GroupVersion found{text.substr(0, slash), text.substr(slash + 1)};
    if (found.group.empty() || found.version.empty() || found.version.find('/') != std::string_view::npos)
        return std::nullopt;
    return found;
}

bool version_before(std::string_view left, std::string_view right) {
    const VersionRank left_rank = rank_of(left);
    const VersionRank right_rank = rank_of(right);
    return left_rank != right_rank ? left_rank > right_rank : left < right;
}

}  // namespace rhizome::cluster
