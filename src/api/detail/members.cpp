// SPDX-License-Identifier: Apache-2.0
#include "api/detail/members.h"

namespace rhizome::api::detail {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

}  // namespace

bool Members::fail() {
    good_ = false;
    ended_ = true;
    return false;
}

/// Behind the quote that ends the text which begins at `quote`.
std::size_t Members::behind_text(std::size_t quote) const {
    for (std::size_t at = quote + 1;; ++at) {
        at = text_.find('"', at);
        if (at == kNone) return kNone;
        std::size_t escapes = 0;
        while (text_[at - 1 - escapes] == '\\') ++escapes;
        if (escapes % 2 == 0) return at + 1;
    }
}

std::size_t Members::behind_value(std::size_t at) const {
    if (at >= text_.size()) return kNone;
    if (text_[at] == '"') return behind_text(at);
    if (text_[at] != '{' && text_[at] != '[') return text_.find_first_of(",}]", at);
    std::size_t depth = 0;
    while (at < text_.size()) {
        switch (text_[at]) {
            case '"':
                at = behind_text(at);
                if (at == kNone) return kNone;
                continue;
            case '{':
            case '[': ++depth; break;
            case '}':
            case ']':
                if (--depth == 0) return at + 1;
                break;
            default: break;
        }
        ++at;
    }
    return kNone;
}

std::size_t Members::value_end() {
    if (value_end_ == 0) value_end_ = behind_value(value_);
    return value_end_;
}

std::string_view Members::value() {
    const std::size_t end = value_end();
    return end == kNone ? std::string_view{} : text_.substr(value_, end - value_);
}

bool Members::next() {
    if (ended_) return false;
    if (value_ != 0) {
        const std::size_t end = value_end();
        if (end == kNone || end >= text_.size()) return fail();
        if (text_[end] == '}') {
            ended_ = true;
            return false;
        }
        if (text_[end] != ',') return fail();
        at_ = end + 1;
    }
    if (at_ >= text_.size() || text_[at_] != '"') return fail();
    const std::size_t behind_key = behind_text(at_);
    if (behind_key == kNone || behind_key >= text_.size() || text_[behind_key] != ':') return fail();
    key_ = text_.substr(at_ + 1, behind_key - at_ - 2);
    if (key_.find('\\') != kNone) return fail();
    value_ = behind_key + 1;
    value_end_ = 0;
    return true;
}

}  // namespace rhizome::api::detail
