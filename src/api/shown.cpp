// SPDX-License-Identifier: Apache-2.0
#include "api/shown.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/core.h>

#include "api/detail/members.h"
#include "cluster/convert.h"
#include "cluster/custom_definition.h"
#include "cluster/names.h"
#include "cluster/object.h"
#include "cluster/structural_values.h"
#include "ledger/member.h"
#include "ledger/readiness.h"

namespace rhizome::api {
namespace {

constexpr json::Limits kStored{.bytes = state::kDocumentBytesMax, .depth = 1000};
constexpr std::string_view kShown[] = {"resourceVersion", "creationTimestamp", "selfLink"};

/// `apps/v1`, without making the text.
bool is_version(const cluster::Kind& kind, std::string_view text) {
    if (kind.group.empty()) return text == kind.version;
    return text.size() == kind.group.size() + 1 + kind.version.size() && text.starts_with(kind.group) &&
           text[kind.group.size()] == '/' && text.ends_with(kind.version);
}

bool is_derived(const cluster::Kind& kind) {
    return (kind.group.empty() && (kind.kind == "Namespace" || kind.kind == "Node")) || cluster::is_definition(kind);
}

/// Whether a document of a custom kind was written before its definition became what it is: then it may have fields
/// that are no longer known and lack defaults that are.
bool is_from_before(const cluster::Kind& kind, const Standing& standing) {
    return kind.rules != nullptr && kind.rules->schema &&
           standing.document->origin().latest.height.number() <= kind.rules->since_height;
}

constexpr std::string_view kTxid = "rhizome.dev/txid";
constexpr std::string_view kHeight = "rhizome.dev/height";
constexpr std::string_view kFinality = "rhizome.dev/finality";
constexpr std::string_view kShownNotes[] = {kTxid, kHeight, kFinality};

/// What lives off the chain came with no transaction.
bool has_origin(const cluster::Kind& kind) { return kind.keeping == cluster::Keeping::Chain; }
std::string_view finality_of(const Standing& standing) { return standing.is_final ? "final" : "included"; }

void append_number(std::string& out, std::uint64_t number) {
    std::array<char, 20> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    out.append(digits.data(), end);
}

/// `"rhizome.dev/txid":"…","rhizome.dev/height":"…","rhizome.dev/finality":"…"`.
void append_notes(std::string& out, const Standing& standing) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    const state::Mark& latest = standing.document->origin().latest;
    out.append(R"("rhizome.dev/txid":")");
    std::array<char, 2 * decltype(latest.output.change)::kSize> hex{};
    std::size_t at = 0;
    for (const std::uint8_t byte : latest.output.change.view()) {
        hex[at++] = kDigits[byte >> 4];
        hex[at++] = kDigits[byte & 0xf];
    }
    out.append(hex.data(), hex.size());
    out.append(R"(","rhizome.dev/height":")");
    append_number(out, latest.height.number());
    out.append(R"(","rhizome.dev/finality":")").append(finality_of(standing)).append("\"");
}

/// Where things are put into a document's bytes.
struct Places {
    std::size_t metadata = 0;     ///< behind its brace
    std::size_t annotations = 0;  ///< behind its brace; 0: there are none
    bool annotated = false;       ///< there is one
    bool has_uid = false;
};

/// Nothing where the bytes cannot be copied as they are: another version, or something that is only shown stands there.
std::optional<Places> places_in(const cluster::Kind& kind, std::string_view text) {
    Places places;
    bool same_version = false;
    detail::Members members{text, 0};
    while (!(same_version && places.metadata != 0) && members.next()) {
        if (members.key() == "apiVersion") {
            const std::string_view quoted = members.value();
            same_version = quoted.size() > 2 && is_version(kind, quoted.substr(1, quoted.size() - 2));
            if (!same_version) return std::nullopt;
        } else if (members.key() == "metadata") {
            if (!members.is_object()) return std::nullopt;
            places.metadata = members.value_at() + 1;
        }
    }
    if (!members.good() || !same_version || places.metadata == 0 || text[places.metadata] == '}') return std::nullopt;
    detail::Members inside{text, places.metadata - 1};
    while (inside.next()) {
        if (std::find(std::begin(kShown), std::end(kShown), inside.key()) != std::end(kShown)) return std::nullopt;
        if (inside.key() == "uid") {
            if (!inside.value().starts_with('"') || inside.value() == R"("")") return std::nullopt;
            places.has_uid = true;
        }
        if (inside.key() != "annotations") continue;
        if (!inside.is_object()) return std::nullopt;
        places.annotations = inside.value_at() + 1;
        places.annotated = text[places.annotations] != '}';
        detail::Members notes{text, inside.value_at()};
        while (notes.next())
            if (std::find(std::begin(kShownNotes), std::end(kShownNotes), notes.key()) != std::end(kShownNotes))
                return std::nullopt;
        if (!notes.good()) return std::nullopt;
    }
    if (!inside.good()) return std::nullopt;
    return places;
}

/// Document bytes with a few members put into its metadata; false where they cannot be put in so.
bool splice(std::string& out, const cluster::Kind& kind, const Standing& standing) {
    const std::string_view text = standing.document->document();
    const auto places = places_in(kind, text);
    if (!places) return false;
    const state::Mark& born = standing.document->origin().born;
    out.append(text.substr(0, places->metadata));
    out.append(R"("resourceVersion":")");
    append_number(out, standing.revision);
    out.append(R"(","creationTimestamp":")").append(to_rfc3339(born.time)).append("\",");
    if (!places->has_uid) out.append(R"("uid":")").append(uid_of(born.output)).append("\",");
    if (!has_origin(kind)) {
        out.append(text.substr(places->metadata));
        return true;
    }
    if (places->annotations == 0) {
        out.append(R"("annotations":{)");
        append_notes(out, standing);
        out.append("},").append(text.substr(places->metadata));
        return true;
    }
    out.append(text.substr(places->metadata, places->annotations - places->metadata));
    append_notes(out, standing);
    if (places->annotated) out += ',';
    out.append(text.substr(places->annotations));
    return true;
}

void derive_namespace(json::Value& object) {
    const bool ends = object.find_path({"metadata", "deletionTimestamp"}) != nullptr;
    json::Value& labels = object["metadata"]["labels"];
    if (labels.is_null() || labels.is_object())
        labels["kubernetes.io/metadata.name"] = object.text_at({"metadata", "name"});
    if (object.find("spec") == nullptr) object["spec"] = json::Object{{"finalizers", json::Array{"kubernetes"}}};
    cluster::object_in(object, "status")["phase"] = ends ? "Terminating" : "Active";
}

/// As the chain has it: the same on every node of a branch. Kubernetes' own words for a machine that fell silent.
json::Object ready_condition(bool is_ready, std::string_view since) {
    return {{"type", "Ready"},
            {"status", is_ready ? "True" : "Unknown"},
            {"lastHeartbeatTime", since},
            {"lastTransitionTime", since},
            {"reason", is_ready ? "HeardOf" : "NodeStatusUnknown"},
            {"message", is_ready ? "it attests, seals or reports" : "its lease has ended: the chain heard nothing of it"}};
}

void derive_node(json::Value& object, const Standing& standing, const HeardOf& heard_of) {
    const std::string name{object.text_at({"metadata", "name"})};
    const Heard heard = heard_of ? heard_of(name) : Heard{};
    if (standing.report) {
        auto report = json::parse(standing.report->document(), kStored);
        const json::Value* said = report ? report->find("status") : nullptr;
        if (said != nullptr && said->is_object()) {
            json::Value status = *said;
            for (const std::string_view ours : {"links", "apiAuthority"}) status.make_object().erase(ours);
            if (json::Value* info = status.find("nodeInfo"); info != nullptr && info->is_object()) {
                const std::string version{info->text_at({"rhizomeVersion"})};
                info->make_object().erase("rhizomeVersion");
                for (const std::string_view key : {"kubeletVersion", "kubeProxyVersion"})
                    (*info)[key] = "rhizome-" + version;
                for (const std::string_view key : {"containerRuntimeVersion", "systemUUID"})
                    if (info->find(key) == nullptr) (*info)[key] = "";
            }
            object["status"] = std::move(status);
        }
    }
    const auto readiness = standing.readiness ? ledger::records::decode_readiness(standing.readiness->bytes())
                                              : Result<ledger::Readiness, DecodeFault>{Fail{DecodeFault::Truncated}};
    if (readiness || heard.is_member) {
        // Who has documents only (a proxy) asks a node who is heard of, and does not know since when.
        const Time since = readiness ? readiness->since : standing.document->origin().born.time;
        json::Array conditions;
        conditions.emplace_back(ready_condition(readiness ? readiness->is_ready : heard.in_lease, to_rfc3339(since)));
        cluster::object_in(object, "status")["conditions"] = std::move(conditions);
    }
}

}  // namespace

std::string uid_of(const state::Outpoint& born) {
    const std::array<std::uint8_t, 2> index{static_cast<std::uint8_t>(born.index & 0xff),
                                            static_cast<std::uint8_t>(born.index >> 8)};
    return cluster::uid_from(crypto::sha256(born.change.view(), index).view());
}

json::Value shown_value(const cluster::Kind& kind, const Standing& standing, const HeardOf& heard_of) {
    auto parsed = json::parse(standing.document->document(), kStored);
    json::Value object = parsed && parsed->is_object() ? *std::move(parsed) : json::Value{json::Object{}};
    const bool other_version = kind.custom && object.text_at({"apiVersion"}) != kind.api_version();
    cluster::convert(object, kind);
    object["apiVersion"] = kind.api_version();
    object["kind"] = kind.kind;
    if (kind.rules != nullptr && kind.rules->schema && (other_version || is_from_before(kind, standing))) {
        cluster::prune(object, *kind.rules->schema);
        cluster::fill_structural(object, *kind.rules->schema);
    }
    json::Value& metadata = cluster::object_in(object, "metadata");
    const state::Mark& born = standing.document->origin().born;
    if (cluster::uid_of(object).empty()) metadata["uid"] = uid_of(born.output);
    metadata["resourceVersion"] = fmt::format("{}", standing.revision);
    metadata["creationTimestamp"] = to_rfc3339(born.time);
    if (has_origin(kind)) {
        const state::Mark& latest = standing.document->origin().latest;
        json::Value& notes = cluster::object_in(metadata, "annotations");
        notes[kTxid] = latest.output.change.hex();
        notes[kHeight] = std::to_string(latest.height.number());
        notes[kFinality] = finality_of(standing);
    }
    if (kind.group.empty() && kind.kind == "Namespace") derive_namespace(object);
    if (kind.group.empty() && kind.kind == "Node") derive_node(object, standing, heard_of);
    if (cluster::is_definition(kind)) cluster::show_definition(object, kind.served);
    return object;
}

void append_shown(std::string& out, const cluster::Kind& kind, const Standing& standing, const HeardOf& heard_of) {
    if (!is_derived(kind) && !is_from_before(kind, standing) && splice(out, kind, standing)) return;
    json::print_to(out, shown_value(kind, standing, heard_of));
}

std::string shown_text(const cluster::Kind& kind, const Standing& standing, const HeardOf& heard_of) {
    std::string out;
    out.reserve(standing.document->document().size() + kShownBytes);
    append_shown(out, kind, standing, heard_of);
    return out;
}

void strip_shown_notes(json::Value& object) {
    json::Value* metadata = object.find("metadata");
    json::Value* notes = metadata == nullptr ? nullptr : metadata->find("annotations");
    if (notes == nullptr || !notes->is_object()) return;
    bool any = false;
    for (const std::string_view key : kShownNotes) any = notes->make_object().erase(key) || any;
    if (any && notes->make_object().empty()) metadata->make_object().erase("annotations");
}

void show_notes_of(json::Value& object, const json::Value& shown) {
    for (const std::string_view key : kShownNotes)
        if (const json::Value* note = shown.find_path({"metadata", "annotations", key}))
            cluster::object_in(cluster::object_in(object, "metadata"), "annotations")[key] = *note;
}

void strip_shown(json::Value& object) {
    json::Value* metadata = object.find("metadata");
    if (metadata == nullptr || !metadata->is_object()) return;
    for (const std::string_view key : kShown) metadata->make_object().erase(key);
    strip_shown_notes(object);
    const std::string_view kind = object.text_at({"kind"});
    const bool core = object.text_at({"apiVersion"}) == "v1";
    // Of members the status comes from their reports; a namespace's phase follows from what happens to it. Of a Node
    // that is no member somebody else says what it is.
    const bool is_member = object.find_path({"metadata", "annotations", ledger::kChainKeyAnnotation}) != nullptr;
    if (core && (kind == "Namespace" || (kind == "Node" && is_member))) object.make_object().erase("status");
    if (kind == cluster::kDefinitionKind && object.text_at({"apiVersion"}).starts_with(cluster::kDefinitionGroup))
        cluster::strip_definition(object);
}

}  // namespace rhizome::api
