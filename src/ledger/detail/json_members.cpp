// SPDX-License-Identifier: Apache-2.0
#include "ledger/detail/json_members.h"

#include <algorithm>

namespace rhizome::ledger::detail {
namespace {

/// Keys come from strangers: long ones are cut, odd letters are escaped.
std::string shown(std::string_view key) {
    constexpr std::size_t kShownMax = 60;
    return json::quote(key.substr(0, kShownMax)) + (key.size() > kShownMax ? "…" : "");
}

}  // namespace

Result<JsonMembers> JsonMembers::of(std::string_view text, std::string place, json::Limits limits) {
    JsonMembers members;
    members.place_ = std::move(place);
    members.limits_ = limits;
    const auto where = [&]() -> std::string_view {
        return members.place_.empty() ? "the text" : std::string_view{members.place_};
    };
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    // The beginning decides what the slices are: members, elements, or an error.
    auto slices = json::slices(text, limits);
    if (!slices)
        return Fail{members.place_.empty() ? to_error(slices.error()) : with_context(members.place_, slices.error())};
    if (first == std::string_view::npos || text[first] != '{') return bad_member(where(), "is no JSON object");
    members.members_ = *std::move(slices);
    members.taken_.resize(members.members_.size());
    return members;
}

std::string JsonMembers::place(std::string_view key) const {
    return place_.empty() ? std::string{key} : fmt::format("{}.{}", place_, key);
}

const std::string_view* JsonMembers::find(std::string_view key) {
    const auto at = std::find_if(members_.begin(), members_.end(), [&](const auto& each) { return each.key == key; });
    if (at == members_.end()) return nullptr;
    taken_[static_cast<std::size_t>(at - members_.begin())] = true;
    return &at->text;
}

Result<std::string> JsonMembers::text(std::string_view key) {
    const std::string_view* slice = find(key);
    if (slice == nullptr) return bad_member(place(key), "is missing");
    if (!slice->starts_with('"')) return bad_member(place(key), "is no string");
    auto value = json::parse(*slice, limits_);
    ensure(value && value->is_string(), "a slice of checked JSON that begins with a quote is a string");
    return std::move(*value->if_string());
}

Result<Bytes> JsonMembers::hex(std::string_view key, std::size_t max) {
    TRY(const std::string digits, text(key));
    if (digits.size() > 2 * max) return bad_member(place(key), fmt::format("has more than {} bytes", max));
    auto bytes = from_hex(digits);
    if (!bytes) return bad_member(place(key), "is not hexadecimal");
    return *std::move(bytes);
}

Result<Time> JsonMembers::time(std::string_view key) {
    TRY(const std::string written, text(key));
    const auto moment = from_rfc3339(written);
    if (!moment || *moment < Time{} || Time::from_unix_millis(moment->unix_millis()) != *moment)
        return bad_member(place(key), "is no RFC 3339 time of whole milliseconds from 1970 on");
    return *moment;
}

Result<std::vector<json::Slice>> JsonMembers::elements(std::string_view key, std::size_t max) {
    const std::string_view* slice = find(key);
    if (slice == nullptr) return bad_member(place(key), "is missing");
    if (!slice->starts_with('[')) return bad_member(place(key), "is no array");
    auto elements = json::slices(*slice, limits_);
    ensure(elements.has_value(), "a slice of checked JSON is JSON");
    if (elements->size() > max) return bad_member(place(key), fmt::format("has more than {} elements", max));
    return *std::move(elements);
}

Result<JsonMembers> JsonMembers::object(std::string_view key) {
    const std::string_view* slice = find(key);
    if (slice == nullptr) return bad_member(place(key), "is missing");
    return of(*slice, place(key), limits_);
}

Result<void> JsonMembers::finish() const {
    for (std::size_t i = 0; i < members_.size(); ++i) {
        if (taken_[i]) continue;
        return fail(ErrorKind::Invalid, fmt::format("{}there is no member {} here", place_.empty() ? "" : place_ + ": ",
                                                    shown(members_[i].key)));
    }
    return ok();
}

}  // namespace rhizome::ledger::detail
