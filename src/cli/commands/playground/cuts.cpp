// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/playground/cuts.h"

#include <charconv>

#include <fmt/core.h>

#include "cli/text.h"

namespace rhizome::cli::playground {
namespace {

/// `1,2`: numbers of nodes, each once.
Result<std::set<unsigned>> parse_nodes(std::string_view text, unsigned nodes) {
    std::set<unsigned> found;
    while (true) {
        const std::size_t comma = text.find(',');
        std::string_view word = text.substr(0, comma);
        if (word.starts_with('n')) word.remove_prefix(1);  // as status shows them
        unsigned number = 0;
        const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), number);
        if (failed != std::errc{} || end != word.data() + word.size() || number < 1 || number > nodes)
            return fail(ErrorKind::Usage,
                        fmt::format("\"{}\" is no node of this playground: they are 1 to {}", printable(word), nodes));
        if (!found.insert(number).second) return fail(ErrorKind::Usage, fmt::format("node {} is named twice", number));
        if (comma == std::string_view::npos) return found;
        text.remove_prefix(comma + 1);
    }
}

std::string numbers(const std::set<unsigned>& nodes) {
    std::string text;
    for (const unsigned node : nodes) text += fmt::format("{}{}", text.empty() ? "" : ",", node);
    return text;
}

}  // namespace

Result<Cut> parse_cut(std::string_view text, unsigned nodes) {
    Cut cut;
    const std::size_t arrow = text.find('>');
    cut.one_way = arrow != std::string_view::npos;
    TRY(const auto from, parse_nodes(text.substr(0, arrow), nodes));
    std::set<unsigned> to;
    if (cut.one_way) {
        TRY(to, parse_nodes(text.substr(arrow + 1), nodes));
        for (const unsigned node : from)
            if (to.contains(node))
                return fail(ErrorKind::Usage, fmt::format("node {} cannot be cut from itself", node));
        cut.text = fmt::format("{}>{}", numbers(from), numbers(to));
    } else {
        for (unsigned node = 1; node <= nodes; ++node)
            if (!from.contains(node)) to.insert(node);
        if (to.empty())
            return fail(ErrorKind::Usage,
                        fmt::format("{} are all nodes: there is nobody to cut them from\nname one side only, as in "
                                    "'cut 1'",
                                    numbers(from)));
        cut.text = numbers(from);
    }
    for (const unsigned one : from)
        for (const unsigned other : to) {
            cut.ways.emplace(one, other);
            if (!cut.one_way) cut.ways.emplace(other, one);
        }
    return cut;
}

std::set<Way> broken_ways(const std::vector<Cut>& cuts) {
    std::set<Way> ways;
    for (const Cut& cut : cuts) ways.insert(cut.ways.begin(), cut.ways.end());
    return ways;
}

std::set<unsigned> side_of(unsigned node, const std::set<unsigned>& up, const std::set<Way>& broken) {
    std::set<unsigned> side{node};
    std::vector<unsigned> to_look{node};
    while (!to_look.empty()) {
        const unsigned here = to_look.back();
        to_look.pop_back();
        for (const unsigned other : up) {
            // Links are TCP: with one way broken nothing goes either way.
            if (broken.contains({here, other}) || broken.contains({other, here})) continue;
            if (side.insert(other).second) to_look.push_back(other);
        }
    }
    return side;
}

std::string node_names(const std::set<unsigned>& nodes) {
    std::string text;
    for (const unsigned node : nodes) text += fmt::format("{}n{}", text.empty() ? "" : ", ", node);
    return text;
}

}  // namespace rhizome::cli::playground
