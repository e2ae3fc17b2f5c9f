// SPDX-License-Identifier: Apache-2.0
#include "guards/header_lines.h"

#include <algorithm>
#include <set>
#include <sstream>

#include <fmt/core.h>

namespace rhizome::guards {
namespace {

/// A bound may be above the mean by so much, in percent: more would let a header grow unseen.
constexpr std::size_t kRoom = 10;
constexpr std::size_t kDearest = 5;

struct Header {
    std::size_t lines = 0;
    std::vector<std::string> includes{};
};

bool is_measured(const std::string& path) {
    if (!path.ends_with(".cpp")) return false;
    for (const char* end : {"_test.cpp", "_fuzz.cpp", "_bench.cpp"})
        if (path.ends_with(end)) return false;
    return true;
}

std::vector<std::string> own_includes(const std::string& text) {
    std::vector<std::string> own;
    for (const Include& include : includes_of(text))
        if (include.quoted) own.push_back(include.target);
    return own;
}

/// All that `includes` bring, and what these bring.
std::set<std::string> reached(const std::map<std::string, Header>& headers, std::vector<std::string> includes) {
    std::set<std::string> found;
    while (!includes.empty()) {
        const std::string path = std::move(includes.back());
        includes.pop_back();
        const auto header = headers.find(path);
        if (header == headers.end() || !found.insert(path).second) continue;
        includes.insert(includes.end(), header->second.includes.begin(), header->second.includes.end());
    }
    return found;
}

}  // namespace

std::map<std::string, HeaderCost> header_costs(const std::vector<SourceFile>& files) {
    std::map<std::string, Header> headers;
    for (const SourceFile& file : files) {
        if (!file.path.ends_with(".h")) continue;
        const auto lines = std::count(file.text.begin(), file.text.end(), '\n');
        headers[file.path] = {static_cast<std::size_t>(lines), own_includes(file.text)};
    }
    struct Module {
        std::size_t files = 0;
        std::size_t lines = 0;
        std::map<std::string, std::size_t> uses{};  ///< of a header, by files
    };
    std::map<std::string, Module> modules;
    for (const SourceFile& file : files) {
        if (!is_measured(file.path)) continue;
        Module& module = modules[file.path.substr(0, file.path.find('/'))];
        ++module.files;
        for (const std::string& path : reached(headers, own_includes(file.text))) {
            module.lines += headers.at(path).lines;
            ++module.uses[path];
        }
    }
    std::map<std::string, HeaderCost> costs;
    for (const auto& [name, module] : modules) {
        std::vector<std::pair<std::size_t, std::string>> dear;
        for (const auto& [path, uses] : module.uses) dear.emplace_back(headers.at(path).lines * uses, path);
        std::sort(dear.rbegin(), dear.rend());
        HeaderCost& cost = costs[name];
        cost.mean = module.lines / module.files;
        for (std::size_t i = 0; i < std::min(dear.size(), kDearest); ++i) {
            const std::string& path = dear[i].second;
            cost.dearest.push_back(fmt::format("{} ({} lines in {} of {} files)", path, headers.at(path).lines,
                                               module.uses.at(path), module.files));
        }
    }
    return costs;
}

std::vector<std::string> header_cost_breaches(const std::vector<SourceFile>& files, std::string_view bounds) {
    std::map<std::string, std::size_t> bound_of;
    std::vector<std::string> breaches;
    std::istringstream in{std::string{bounds}};
    std::string line;
    for (std::size_t number = 1; std::getline(in, line); ++number) {
        std::istringstream words{line.substr(0, line.find('#'))};
        std::string name;
        std::size_t lines = 0;
        if (!(words >> name)) continue;
        if (!(words >> lines) || !bound_of.emplace(name, lines).second)
            breaches.push_back(fmt::format("header_lines.txt:{}: not \"module lines\", or a second one", number));
    }
    const auto costs = header_costs(files);
    for (const auto& [name, cost] : costs) {
        const auto bound = bound_of.find(name);
        if (bound == bound_of.end()) {
            breaches.push_back(
                fmt::format("{}: has no bound; its files pull in {} lines of own headers on average", name, cost.mean));
        } else if (cost.mean > bound->second) {
            std::string dear;
            for (const std::string& header : cost.dearest) dear += "\n    " + header;
            breaches.push_back(fmt::format(
                "{}: its files pull in {} lines of own headers on average, the bound is {}; forward declare, or split "
                "a header, or raise the bound with the reason in the commit. Its dearest:{}",
                name, cost.mean, bound->second, dear));
        } else if (bound->second > cost.mean + cost.mean * kRoom / 100 + 1) {
            breaches.push_back(
                fmt::format("{}: the bound is {}, far above {}: lower it, so that what was won stays won", name,
                            bound->second, cost.mean));
        }
    }
    for (const auto& [name, lines] : bound_of)
        if (!costs.contains(name)) breaches.push_back(fmt::format("header_lines.txt: there is no module {}", name));
    return breaches;
}

}  // namespace rhizome::guards
