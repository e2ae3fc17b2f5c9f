// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace rhizome::api::detail {

/// Walks the members of an object in compact JSON that was checked when it was stored, without checking it again: what
/// makes showing a document cost little more than copying it. What turns out not to be such text ends the walk, and
/// `good` says so; keys with escapes are not undone and count as not good.
class Members {
public:
    /// `at`: where the object's brace stands.
    Members(std::string_view text, std::size_t at) : text_(text), at_(at + 1) {
        good_ = at < text.size() && text[at] == '{';
        if (good_ && at_ < text.size() && text[at_] == '}') ended_ = true;
    }

    /// The next member; false at the end.
    bool next();
    [[nodiscard]] bool good() const { return good_; }
    [[nodiscard]] std::string_view key() const { return key_; }
    [[nodiscard]] std::string_view value() const { return text_.substr(value_, value_end_ - value_); }
    /// Of the value, in the text.
    [[nodiscard]] std::size_t value_at() const { return value_; }

private:
    bool fail();
    [[nodiscard]] std::size_t behind_text(std::size_t quote) const;
    [[nodiscard]] std::size_t behind_value(std::size_t at) const;

    std::string_view text_;
    std::size_t at_;
    std::string_view key_{};
    std::size_t value_ = 0;
    std::size_t value_end_ = 0;
    bool good_ = true;
    bool ended_ = false;
};

}  // namespace rhizome::api::detail
