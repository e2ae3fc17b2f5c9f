// SPDX-License-Identifier: Apache-2.0
#include "ledger/detail/entry_check.h"

#include <algorithm>
#include <optional>

#include <fmt/core.h>

#include "ledger/chain_records.h"
#include "ledger/limits.h"
#include "ledger/member.h"
#include "ledger/parameters.h"
#include "ledger/readiness.h"
#include "ledger/resource.h"
#include "ledger/special_kinds.h"

namespace rhizome::ledger::detail {
namespace {

bool is_parameters(std::string_view text) {
    auto spec = json::parse(text, {.bytes = kDocumentBytesMax, .depth = kDocumentDepthMax});
    return spec && read_parameters(json::Object{{"spec", *std::move(spec)}}).has_value();
}

bool is_definition(ByteView bytes) {
    Reader in{bytes};
    return in.boolean() && in.short_blob(state::kNameBytesMax) && in.empty();
}

bool is_hex(std::string_view digits, std::size_t count) {
    return digits.size() == count && std::all_of(digits.begin(), digits.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
           });
}

}  // namespace

Result<void, Reject> check_document(const state::Path& path, std::string_view document) {
    TRY(const auto named, name_output(document));
    if (named.wish != Wish::Store || named.resource.path != path)
        return reject(RejectCode::BadEncoding, "the document does not belong to this path");
    if (path.shape() == state::Path::Shape::Cluster) TRY(read_parameters(parse_checked(document)));
    if (path.shape() == state::Path::Shape::JoinToken) TRY(read_join_token(parse_checked(document)));
    if (named.resource.builtin && named.resource.type.kind == "CustomResourceDefinition")
        TRY(read_definition(parse_checked(document)));
    return {};
}

bool is_good_record(std::string_view path, ByteView bytes) {
    const auto below = [&](std::string_view folder) -> std::optional<std::string_view> {
        if (!path.starts_with(folder)) return std::nullopt;
        return path.substr(folder.size());
    };
    // Whoever walks a folder of records takes all that stands there for one of them, the folder's own path included.
    for (const std::string_view folder :
         {"/chain/leases", "/chain/ready", "/chain/members", "/chain/nodes", "/chain/definitions", "/chain/replay"})
        if (path == folder) return false;
    if (path == "/chain/id") return bytes.size() == ChainId::kSize;
    if (path == "/chain/parameters") return is_parameters(as_text(bytes));
    // The lease clock goes on from there: it must not overflow.
    if (path == "/chain/clock") return bytes.size() == 8 && records::decode_number(bytes) <= kHeightMax;
    if (path == "/chain/history") return records::decode_history(bytes).has_value();
    if (const auto key = below("/chain/leases/")) return is_hex(*key, 66) && bytes.size() == 8;
    if (const auto key = below("/chain/ready/")) return is_hex(*key, 66) && records::decode_readiness(bytes).has_value();
    if (const auto key = below("/chain/members/")) return is_hex(*key, 66) && decode_member(bytes).has_value();
    if (path == "/chain/voters") return records::decode_voters(bytes).has_value();
    if (below("/chain/nodes/")) return bytes.size() == std::tuple_size_v<MemberKey>;
    // A time: one that far ahead can still be added to.
    if (below("/chain/pardons/")) return bytes.size() == 8 && records::decode_number(bytes) <= kHeightMax;
    if (below("/chain/definitions/")) return is_definition(bytes);
    if (const auto rest = below("/chain/replay/"))
        return bytes.empty() && rest->size() == 8 + 1 + 64 && (*rest)[8] == '/' && is_hex(rest->substr(0, 8), 8) &&
               is_hex(rest->substr(9), 64);
    return true;
}

bool is_up_to(const state::Mark& mark, Height height, Time time) { return mark.height <= height && mark.time <= time; }

Result<void, Reject> check_entry(const state::Entry& entry, Height height, Time time) {
    const state::Path path = entry.path();
    if (path.shape() == state::Path::Shape::Chain) {
        if (!is_good_record(path.text(), entry.bytes()))
            return reject(RejectCode::BadEncoding, fmt::format("no record of {}", path.text()));
        return {};
    }
    const auto wrong = [&](std::string_view what) {
        return reject(RejectCode::BadEncoding, fmt::format("{} {}", path.text(), what));
    };
    if (!entry.is_written()) return wrong("was written by nobody");
    for (const state::Mark* mark : {&entry.origin().born, &entry.origin().latest, &entry.origin().lock})
        if (!is_up_to(*mark, height, time)) return wrong("was written after the state's own block");
    auto good = check_document(path, entry.document());
    if (!good) good.error().why.insert(0, fmt::format("{}: ", path.text()));
    return good;
}

bool is_state_of(const state::StateView& view, const BlockHash& tip, const ChainId& chain) {
    const state::Entry* record = view.get(records::chain_id());
    const ByteView known = record != nullptr ? record->bytes() : ByteView{tip.view()};
    return std::equal(known.begin(), known.end(), chain.view().begin(), chain.view().end());
}

}  // namespace rhizome::ledger::detail
