// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/facts.h"

#include <charconv>
#include <vector>

namespace rhizome::cli::doctor {
namespace {

std::vector<std::string_view> split(std::string_view text, char between) {
    std::vector<std::string_view> parts;
    while (!text.empty()) {
        const auto end = text.find(between);
        if (end != 0) parts.push_back(text.substr(0, end));
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    }
    return parts;
}

struct Mount {
    std::string_view type;
    std::string_view options;  ///< of the file system, not of the mount
};

/// The mounts of a mountinfo file: after ` - ` stand type, source and options.
std::vector<Mount> mounts(std::string_view text) {
    std::vector<Mount> all;
    for (const auto line : split(text, '\n')) {
        const auto dash = line.find(" - ");
        if (dash == std::string_view::npos) continue;
        const auto fields = split(line.substr(dash + 3), ' ');
        if (!fields.empty()) all.push_back({fields[0], fields.size() > 2 ? fields[2] : std::string_view{}});
    }
    return all;
}

std::string_view trim(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

Cgroups cgroups_from_mountinfo(std::string_view text) {
    bool v1 = false;
    bool v2 = false;
    for (const auto& mount : mounts(text)) {
        v1 = v1 || mount.type == "cgroup";
        v2 = v2 || mount.type == "cgroup2";
    }
    return v1 ? (v2 ? Cgroups::Hybrid : Cgroups::V1) : v2 ? Cgroups::V2 : Cgroups::None;
}

std::set<std::string> v1_controllers_from_mountinfo(std::string_view text) {
    std::set<std::string> controllers;
    for (const auto& mount : mounts(text)) {
        if (mount.type != "cgroup") continue;
        for (const auto option : split(mount.options, ',')) {
            const bool about_mount = option == "rw" || option == "ro" || option.find('=') != std::string_view::npos;
            if (!about_mount) controllers.emplace(option);
        }
    }
    return controllers;
}

std::set<std::string> words_of(std::string_view text) {
    std::set<std::string> words;
    for (const auto line : split(text, '\n')) {
        for (const auto word : split(line, ' ')) words.emplace(word);
    }
    return words;
}

std::string value_of_key(std::string_view text, std::string_view key) {
    for (const auto line : split(text, '\n')) {
        const auto colon = line.find(':');
        if (colon == std::string_view::npos || trim(line.substr(0, colon)) != key) continue;
        return std::string{trim(line.substr(colon + 1))};
    }
    return {};
}

bool lists_filesystem(std::string_view text, std::string_view name) {
    for (const auto line : split(text, '\n')) {
        const auto tab = line.rfind('\t');
        if (trim(tab == std::string_view::npos ? line : line.substr(tab + 1)) == name) return true;
    }
    return false;
}

bool lists_module(std::string_view text, std::string_view name) {
    for (const auto line : split(text, '\n')) {
        const auto path = line.substr(0, line.find(':'));
        const auto file = path.substr(path.rfind('/') + 1);  // npos + 1 is 0: no folder
        if (file.substr(0, file.find('.')) == name && file.find(".ko") != std::string_view::npos) return true;
    }
    return false;
}

std::uint64_t from_hex_number(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
    return problem == std::errc{} && end == text.data() + text.size() ? number : 0;
}

}  // namespace rhizome::cli::doctor
