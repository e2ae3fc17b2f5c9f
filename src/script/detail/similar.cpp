// SPDX-License-Identifier: Apache-2.0
#include "script/detail/similar.h"

#include <algorithm>
#include <utility>

#include "base/similar.h"

namespace rhizome::script::detail {
namespace {

std::string upper(std::string_view text) {
    std::string out{text};
    for (char& letter : out)
        if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 32);
    return out;
}

}  // namespace

std::vector<std::string> similar_words(std::string_view word, std::span<const std::string_view> candidates) {
    constexpr std::size_t kWordMax = 64;  // a longer one is no mistyped name, and the table would be large
    if (word.empty() || word.size() > kWordMax) return {};
    const std::size_t allowed = word.size() <= 3 ? 1 : word.size() <= 7 ? 2 : 3;
    const std::string typed = upper(word);
    std::vector<std::pair<std::size_t, std::string>> near;
    for (const std::string_view candidate : candidates) {
        if (candidate.size() > kWordMax) continue;
        const std::size_t apart = edit_distance(typed, upper(candidate));
        if (apart <= allowed) near.emplace_back(apart, std::string{candidate});
    }
    std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> best;
    for (auto& [apart, text] : near) {
        if (best.size() < 3 && std::find(best.begin(), best.end(), text) == best.end()) best.push_back(std::move(text));
    }
    return best;
}

std::string did_you_mean(const std::vector<std::string>& words) {
    if (words.empty()) return {};
    std::string text = "did you mean ";
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
        text += words[i];
    }
    return text + "?";
}

}  // namespace rhizome::script::detail
