// SPDX-License-Identifier: Apache-2.0
#include "cluster/field_error.h"

#include <algorithm>
#include <set>

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
    std::set<std::string> said;  // the same sentence twice tells nothing new
    for (const FieldError& error : errors)
        if (const auto [at, is_new] = said.insert(error.text()); is_new) each.push_back(*at);
    if (errors.left_out() != 0) each.push_back(fmt::format("and {} more", errors.left_out()));
    if (each.size() == 1) return each.front();
    std::string out = "[";
    for (std::size_t i = 0; i < each.size(); ++i) out += (i == 0 ? "" : ", ") + each[i];
    return out + "]";
}

FieldErrors::FieldErrors(std::initializer_list<FieldError> errors) {
    for (const FieldError& error : errors) push_back(error);
}

void FieldErrors::push_back(FieldError error) {
    if (kept_.size() < kKept)
        kept_.push_back(std::move(error));
    else
        ++left_out_;
}

void FieldErrors::append(FieldErrors more) {
    for (FieldError& error : more.kept_) push_back(std::move(error));
    left_out_ += more.left_out_;
}

struct Where::Step {
    std::shared_ptr<const Step> above{};
    std::string text{};
    bool is_member = false;  ///< a point stands before it, unless it is the first
};

Where::Where(std::string_view text) {
    if (!text.empty()) last_ = std::make_shared<const Step>(Step{.text = std::string(text), .is_member = true});
}
Where::Where(const Where& above, std::string text, bool is_member)
    : last_(std::make_shared<const Step>(Step{above.last_, std::move(text), is_member})) {}

Where Where::operator/(std::string_view member) const { return {*this, std::string(member), true}; }
Where Where::operator/(std::size_t index) const { return {*this, fmt::format("[{}]", index), false}; }
Where Where::key(std::string_view key) const { return {*this, fmt::format("[{}]", key), false}; }

std::string Where::text() const {
    constexpr std::size_t kBytesMax = 4096;
    std::vector<const Step*> way;
    for (const Step* step = last_.get(); step != nullptr; step = step->above.get()) way.push_back(step);
    std::string out;
    for (auto step = way.rbegin(); step != way.rend() && out.size() <= kBytesMax; ++step) {
        if ((*step)->is_member && !out.empty()) out += '.';
        out.append((*step)->text, 0, kBytesMax + 1);
    }
    if (out.size() > kBytesMax) {
        out.resize(kBytesMax);
        while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xc0) == 0x80) out.pop_back();
        if (!out.empty() && static_cast<unsigned char>(out.back()) >= 0xc0) out.pop_back();
        out += "...";
    }
    return out;
}

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
