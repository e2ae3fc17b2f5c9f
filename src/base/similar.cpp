// SPDX-License-Identifier: Apache-2.0
#include "base/similar.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace rhizome {
namespace {

std::string lower(std::string_view text) {
    std::string out{text};
    for (auto& letter : out) {
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    }
    return out;
}

}  // namespace

std::size_t edit_distance(std::string_view from, std::string_view to) {
    // Three rows of the usual table, the third for swapped neighbours.
    std::vector<std::size_t> before(to.size() + 1);
    std::vector<std::size_t> last(to.size() + 1);
    std::vector<std::size_t> row(to.size() + 1);
    std::iota(last.begin(), last.end(), std::size_t{0});
    for (std::size_t i = 1; i <= from.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= to.size(); ++j) {
            const std::size_t replace = last[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, replace});
            if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) {
                row[j] = std::min(row[j], before[j - 2] + 1);
            }
        }
        std::swap(before, last);
        std::swap(last, row);
    }
    return last[to.size()];
}

std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates) {
    constexpr std::size_t kWordMax = 64;  // nobody mistypes more, and distances cost the product of the lengths
    if (word.empty() || word.size() > kWordMax) return {};
    const auto typed = lower(word);
    std::vector<std::pair<std::size_t, std::string>> close;
    for (const auto& candidate : candidates) {
        if (candidate.size() > kWordMax) continue;
        const auto wanted = lower(candidate);
        auto distance = edit_distance(typed, wanted);
        // Someone who typed the beginning has not made a mistake yet.
        if (typed.size() >= 2 && wanted.starts_with(typed)) distance = std::min<std::size_t>(distance, 1);
        const auto allowed = std::max<std::size_t>(1, std::min(typed.size(), wanted.size()) / 3);
        // A word replaced in every letter is another word: "ab" is no mistake for "xy".
        if (distance <= allowed && distance < wanted.size()) close.emplace_back(distance, candidate);
    }
    std::stable_sort(close.begin(), close.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    if (close.size() > 3) close.resize(3);
    std::vector<std::string> words;
    for (auto& [distance, candidate] : close) words.push_back(std::move(candidate));
    return words;
}

std::string did_you_mean(const std::vector<std::string>& words) {
    if (words.empty()) return {};
    std::string text = "did you mean ";
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
        text += '"' + words[i] + '"';
    }
    return text + "?";
}

}  // namespace rhizome
