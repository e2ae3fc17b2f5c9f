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
    /// Its text; empty where it has no end.
    [[nodiscard]] std::string_view value();
    /// Whether the value begins like an object, with something behind the brace: without a look at all of it.
    [[nodiscard]] bool is_object() const { return value_ + 1 < text_.size() && text_[value_] == '{'; }
    /// Of the value, in the text.
    [[nodiscard]] std::size_t value_at() const { return value_; }

private:
    bool fail();
    /// Behind the value, looked for once and only when somebody wants to know.
    std::size_t value_end();
    [[nodiscard]] std::size_t behind_text(std::size_t quote) const;
    [[nodiscard]] std::size_t behind_value(std::size_t at) const;

    std::string_view text_;
    std::size_t at_;
    std::string_view key_{};
    std::size_t value_ = 0;      ///< 0: no member yet
    std::size_t value_end_ = 0;  ///< 0: not looked for yet
    bool good_ = true;
    bool ended_ = false;
};

}  // namespace rhizome::api::detail
