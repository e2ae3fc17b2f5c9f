// SPDX-License-Identifier: Apache-2.0
#include "script/detail/similar.h"

#include <algorithm>
#include <utility>

namespace rhizome::script::detail {
namespace {

constexpr char upper(char letter) { return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 32) : letter; }

/// Letters to insert, delete or replace, or two neighbours to swap, to get from one word to the other.
std::size_t distance(std::string_view from, std::string_view to) {
    std::vector<std::size_t> before(to.size() + 1);
    std::vector<std::size_t> above(to.size() + 1);
    std::vector<std::size_t> row(to.size() + 1);
    for (std::size_t j = 0; j <= to.size(); ++j) above[j] = j;
    for (std::size_t i = 1; i <= from.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= to.size(); ++j) {
            const bool same = upper(from[i - 1]) == upper(to[j - 1]);
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0u : 1u)});
            if (i > 1 && j > 1 && upper(from[i - 1]) == upper(to[j - 2]) && upper(from[i - 2]) == upper(to[j - 1])) {
                row[j] = std::min(row[j], before[j - 2] + 1);
            }
        }
        before.swap(above);
        above.swap(row);
    }
    return above[to.size()];
}

}  // namespace

std::vector<std::string> similar_words(std::string_view word, std::span<const std::string_view> candidates) {
    constexpr std::size_t kWordMax = 64;  // a longer one is no mistyped name, and the table would be large
    if (word.empty() || word.size() > kWordMax) return {};
    const std::size_t allowed = word.size() <= 3 ? 1 : word.size() <= 7 ? 2 : 3;
    std::vector<std::pair<std::size_t, std::string>> near;
    for (const std::string_view candidate : candidates) {
        if (candidate.size() > kWordMax) continue;
        const std::size_t apart = distance(word, candidate);
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
