// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace rhizome::cli {

/// What a piece of text means; colours follow from it.
enum class Tone : unsigned char {
    Plain,
    Heading,  ///< bold
    Command,  ///< what to type: cyan
    Good,     ///< green
    Warning,  ///< yellow
    Bad,      ///< red and bold
    Faint,    ///< less important
};

/// Puts colours around text, or leaves it as it is when the output is no terminal or the person wants none.
class Style {
public:
    Style() = default;
    explicit Style(bool colour) : colour_(colour) {}

    [[nodiscard]] bool colour() const { return colour_; }
    [[nodiscard]] std::string paint(Tone tone, std::string_view text) const {
        if (!colour_ || tone == Tone::Plain || text.empty()) return std::string{text};
        return std::string{start(tone)} + std::string{text} + "\x1b[0m";
    }

private:
    /// The sixteen basic colours only: their look is the person's choice, and they are readable on light and dark.
    static std::string_view start(Tone tone) {
        switch (tone) {
            case Tone::Heading: return "\x1b[1m";
            case Tone::Command: return "\x1b[36m";
            case Tone::Good: return "\x1b[32m";
            case Tone::Warning: return "\x1b[33m";
            case Tone::Bad: return "\x1b[1;31m";
            case Tone::Faint: return "\x1b[2m";
            case Tone::Plain: break;
        }
        return "";
    }

    bool colour_ = false;
};

}  // namespace rhizome::cli
