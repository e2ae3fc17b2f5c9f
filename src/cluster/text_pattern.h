// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace rhizome::cluster {

/// A regular expression of somebody else's (RE2: the syntax that Kubernetes takes, and time linear in the text whatever
/// the expression is). Copies share it; any thread may match.
class TextPattern {
public:
    /// What a compiled expression may take; larger ones are refused.
    static constexpr std::size_t kBytesMax = 1u << 20;
    static constexpr std::size_t kTextMax = 16u << 10;

    /// Says what is wrong with it.
    static Result<TextPattern> compile(std::string_view text);
    /// Whether it is found anywhere in `text`.
    [[nodiscard]] bool matches(std::string_view text) const;
    [[nodiscard]] const std::string& text() const;

private:
    struct Compiled;
    explicit TextPattern(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
    std::shared_ptr<const Compiled> compiled_;
};

}  // namespace rhizome::cluster
