// SPDX-License-Identifier: Apache-2.0
#include "cluster/field_error.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/ensure.h"

namespace rhizome::cluster {
namespace {

using Cause = FieldError::Cause;

std::string_view sentence(Cause cause) {
    switch (cause) {
        case Cause::Required: return "Required value";
        case Cause::Invalid:
        case Cause::TypeInvalid: return "Invalid value";
        case Cause::NotSupported: return "Unsupported value";
        case Cause::Duplicate: return "Duplicate value";
        case Cause::Forbidden: return "Forbidden";
        case Cause::TooLong: return "Too long";
        case Cause::TooMany: return "Too many";
        case Cause::NotFound: return "Not found";
    }
    unreachable("a Cause has a sentence");
}

/// Whether the value belongs into the message. A long text would only hide what was said of it.
bool shows_value(Cause cause) {
    return cause != Cause::Required && cause != Cause::Forbidden && cause != Cause::TooLong;
}

}  // namespace

std::string_view reason(Cause cause) {
    switch (cause) {
        case Cause::Required: return "FieldValueRequired";
        case Cause::Invalid: return "FieldValueInvalid";
        case Cause::NotSupported: return "FieldValueNotSupported";
        case Cause::Duplicate: return "FieldValueDuplicate";
        case Cause::Forbidden: return "FieldValueForbidden";
        case Cause::TooLong: return "FieldValueTooLong";
        case Cause::TooMany: return "FieldValueTooMany";
        case Cause::NotFound: return "FieldValueNotFound";
        case Cause::TypeInvalid: return "FieldValueTypeInvalid";
    }
    unreachable("a Cause has a reason");
}

std::string FieldError::body() const {
    std::string out(sentence(cause));
    if (shows_value(cause)) out += ": " + json::print(value);
    if (!detail.empty()) out += ": " + detail;
    return out;
}

std::string FieldError::text() const { return field.empty() ? body() : field + ": " + body(); }

std::string text(const FieldErrors& errors) {
    std::vector<std::string> each;
    for (const FieldError& error : errors) {
        std::string said = error.text();
        // The same sentence twice tells nothing new.
        if (std::find(each.begin(), each.end(), said) == each.end()) each.push_back(std::move(said));
    }
    if (each.size() == 1) return each.front();
    std::string out = "[";
    for (std::size_t i = 0; i < each.size(); ++i) out += (i == 0 ? "" : ", ") + each[i];
    return out + "]";
}

Where Where::operator/(std::string_view member) const {
    return Where{text_.empty() ? std::string(member) : fmt::format("{}.{}", text_, member)};
}
Where Where::operator/(std::size_t index) const { return Where{fmt::format("{}[{}]", text_, index)}; }
Where Where::key(std::string_view key) const { return Where{fmt::format("{}[{}]", text_, key)}; }

FieldError required(const Where& where, std::string_view detail) {
    return {Cause::Required, where.text(), "", std::string(detail)};
}

FieldError invalid(const Where& where, json::Value value, std::string_view detail) {
    return {Cause::Invalid, where.text(), std::move(value), std::string(detail)};
}

FieldError not_supported(const Where& where, json::Value value, std::vector<std::string_view> supported) {
    std::sort(supported.begin(), supported.end());
    std::string detail = "supported values: ";
    for (std::size_t i = 0; i < supported.size(); ++i) detail += (i == 0 ? "" : ", ") + json::quote(supported[i]);
    return {Cause::NotSupported, where.text(), std::move(value), supported.empty() ? std::string{} : detail};
}

FieldError duplicate(const Where& where, json::Value value) {
    return {Cause::Duplicate, where.text(), std::move(value), {}};
}

FieldError forbidden(const Where& where, std::string_view detail) {
    return {Cause::Forbidden, where.text(), "", std::string(detail)};
}

FieldError too_long(const Where& where, std::size_t bytes_max) {
    return {Cause::TooLong, where.text(), "", fmt::format("may not be more than {} bytes", bytes_max)};
}

FieldError too_many(const Where& where, std::size_t count, std::size_t count_max) {
    return {Cause::TooMany, where.text(), count, fmt::format("must have at most {} items", count_max)};
}

}  // namespace rhizome::cluster
