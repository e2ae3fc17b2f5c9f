// SPDX-License-Identifier: Apache-2.0
#include "node/rpc/state_answers.h"

#include "node/resources.h"

namespace rhizome::node::rpc {
namespace {

using http::Response;

constexpr std::uint64_t kPageDefault = 500;
constexpr std::uint64_t kPageMax = 10'000;
/// A page ends early when its documents come to this: an answer is made in memory.
constexpr std::size_t kPageBytesMax = 8u << 20;

}  // namespace

Response answer_entry(const Call& call, const state::StateView& view, const json::Object& place) {
    const auto path = call.word("path");
    const auto resource = call.word("resource");
    if (path.has_value() == resource.has_value())
        return refusal({ErrorKind::Invalid,
                        "?path= or ?resource= names what is wanted, as in path=/nodes/n1 or "
                        "resource=pod/db&namespace=web"});
    const auto entry = path ? find_resource(view, *path, "", "path")
                            : find_resource(view, *resource, call.word("namespace").value_or("default"), "resource");
    if (!entry) return refusal(entry.error());
    json::Object body = entry_json(**entry, view, true);
    for (const auto& [key, value] : place) body.set(key, value);
    return json_response(std::move(body));
}

Response answer_list(const Call& call, const state::StateView& view, json::Object place) {
    const auto prefix = parse_prefix(call.word("prefix").value_or("/"), "prefix");
    if (!prefix) return refusal(prefix.error());
    const auto limit = call.number("limit", kPageDefault, kPageMax);
    if (!limit) return refusal(limit.error());
    if (*limit == 0) return refusal({ErrorKind::Invalid, "limit is at least 1"});
    const auto documents = call.flag("documents");
    if (!documents) return refusal(documents.error());
    std::optional<state::Path> after;
    if (const auto word = call.word("after")) {
        auto path = parse_path(*word, "after");
        if (!path) return refusal(path.error());
        after = *std::move(path);
    }
    json::Object body = std::move(place);
    json::Array items;
    std::optional<state::Path> next;
    std::size_t bytes = 0;
    state::Cursor cursor = view.walk(*prefix, after);
    while (const state::Entry* entry = cursor.next()) {
        bytes += *documents ? entry->weight() : 0;
        if (items.size() >= *limit || (bytes > kPageBytesMax && !items.empty())) {
            body.set("next", next->text());
            break;
        }
        items.push_back(entry_json(*entry, view, *documents));
        next = entry->path();
    }
    body.set("items", std::move(items));
    return json_response(std::move(body));
}

}  // namespace rhizome::node::rpc
