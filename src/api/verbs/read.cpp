// SPDX-License-Identifier: Apache-2.0
// GET of one object and LIST of many, in the forms that clients ask for.
#include <fmt/core.h>

#include "api/call.h"
#include "api/table.h"

namespace rhizome::api {
namespace {

/// `metadata` of a list. Its number stays that of its first page: a watch from there tells what changed between the
/// pages.
json::Object list_metadata(const Call& call, const Listing& listing, bool counts) {
    const auto token = parse_continue(call.query.text("continue"));
    const Revision revision = token ? token->revision : listing.revision;
    json::Object metadata{{"resourceVersion", std::to_string(revision)}};
    if (!listing.next.empty()) {
        metadata.set("continue", to_text(Continue{revision, listing.next}));
        if (counts) metadata.set("remainingItemCount", listing.remaining);
    }
    return metadata;
}

}  // namespace

Result<RowObject, Status> row_object(const Call& call) {
    const auto carried = parse_row_object(call.query.text("includeObject"));
    if (!carried) return Fail{bad_request("includeObject is None, Metadata or Object")};
    return *carried;
}

Reply value_reply(const Call& call, unsigned code, json::Value object) {
    Reply reply{.code = code};
    const bool scales = call.path.subresource == "scale";
    if (scales) object = scale_of(*call.kind, object);
    const Kind& kind = scales ? scale_kind() : *call.kind;
    if (call.form == Form::Table) {
        const auto carried = row_object(call);
        if (!carried) return reply_of(carried.error());
        json::Array rows;
        rows.push_back(table_row(object, kind, *carried, call.now));
        json::Object metadata{{"resourceVersion", object.text_at({"metadata", "resourceVersion"})}};
        reply.body = json::print(make_table(kind, std::move(rows), std::move(metadata)));
    } else if (call.form == Form::Metadata) {
        reply.body = json::print(partial_metadata(object));
    } else {
        reply.body = json::print(object);
    }
    reply.body += '\n';
    return reply;
}

Reply object_reply(const Call& call, unsigned code, const Standing& object, const HeardOf& heard_of) {
    if (call.form != Form::Object || call.path.subresource == "scale")
        return value_reply(call, code, shown_value(*call.kind, object, heard_of));
    Reply reply{.code = code, .body = shown_text(*call.kind, object, heard_of)};
    reply.body += '\n';
    return reply;
}

Reply get_verb(const Call& call, const Standing& object, const HeardOf& heard_of) {
    if (!object) return reply_of(not_found(*call.kind, call.path.name));
    return object_reply(call, 200, object, heard_of);
}

Reply list_verb(const Call& call, const Selection& selection, const Listing& listing, const HeardOf& heard_of) {
    json::Object metadata = list_metadata(call, listing, !selection.matches);
    Reply reply;
    std::string& out = reply.body;
    if (call.form == Form::Table) {
        const auto carried = row_object(call);
        if (!carried) return reply_of(carried.error());
        json::Array rows;
        for (const Standing& one : listing.items)
            rows.push_back(table_row(shown_value(*call.kind, one, heard_of), *call.kind, *carried, call.now));
        out = json::print(make_table(*call.kind, std::move(rows), std::move(metadata))) + "\n";
        return reply;
    }
    const bool partial = call.form == Form::Metadata;
    out = fmt::format(R"({{"kind":"{}","apiVersion":"{}","metadata":)",
                      partial ? "PartialObjectMetadataList" : call.kind->list_kind(),
                      partial ? "meta.k8s.io/v1" : call.kind->api_version());
    json::print_to(out, json::Value{std::move(metadata)});
    out += R"(,"items":[)";
    bool first = true;
    std::size_t bytes = out.size();
    for (const Standing& one : listing.items) bytes += one.document->document().size() + kShownBytes;
    out.reserve(bytes);
    for (const Standing& one : listing.items) {
        if (!first) out += ',';
        first = false;
        if (partial) {
            json::print_to(out, partial_metadata(shown_value(*call.kind, one, heard_of)));
        } else {
            append_shown(out, *call.kind, one, heard_of);
        }
    }
    out += "]}\n";
    return reply;
}

}  // namespace rhizome::api
