// SPDX-License-Identifier: Apache-2.0
#include "runtime/environment.h"

#include <pwd.h>
#include <unistd.h>

#include <vector>

#include <fmt/core.h>

namespace rhizome::runtime {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> home_of_user() {
    std::vector<char> buffer(16u << 10);
    passwd entry{};
    passwd* found = nullptr;
    if (::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) return {};
    return std::string{found->pw_dir};
}

bool is_program(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

Environment Environment::of_process() {
    Variables variables;
    for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text{*entry};
        const auto equals = text.find('=');
        if (equals == std::string_view::npos) continue;
        variables.emplace(text.substr(0, equals), text.substr(equals + 1));  // the first of two wins, as with getenv
    }
    if (!variables.contains("HOME")) {
        if (auto home = home_of_user()) variables.emplace("HOME", std::move(*home));
    }
    return Environment{std::move(variables)};
}

std::optional<std::string> Environment::find(std::string_view name) const {
    const auto found = variables_.find(name);
    if (found == variables_.end()) return {};
    return found->second;
}

std::optional<std::string> Environment::find_filled(std::string_view name) const {
    auto found = find(name);
    if (found && found->empty()) return {};
    return found;
}

Result<fs::path> Environment::xdg_folder(std::string_view variable, std::string_view below_home) const {
    if (const auto set = find_filled(variable); set && fs::path{*set}.is_absolute()) return fs::path{*set} / "rhizome";
    if (const auto home = find_filled("HOME"); home && fs::path{*home}.is_absolute()) {
        return fs::path{*home} / below_home / "rhizome";
    }
    return fail(
        ErrorKind::NotFound,
        fmt::format("cannot tell where your files are: neither {} nor HOME is set to an absolute path", variable));
}

Result<fs::path> Environment::config_folder() const { return xdg_folder("XDG_CONFIG_HOME", ".config"); }
Result<fs::path> Environment::data_folder() const { return xdg_folder("XDG_DATA_HOME", ".local/share"); }
Result<fs::path> Environment::state_folder() const { return xdg_folder("XDG_STATE_HOME", ".local/state"); }
Result<fs::path> Environment::cache_folder() const { return xdg_folder("XDG_CACHE_HOME", ".cache"); }

std::optional<fs::path> Environment::find_program(std::string_view name) const {
    if (name.empty()) return {};
    if (name.find('/') != std::string_view::npos) {
        return is_program(fs::path{name}) ? std::optional{fs::path{name}} : std::nullopt;
    }
    const auto folders = find("PATH").value_or("/usr/local/bin:/usr/bin:/bin") + ":/usr/local/sbin:/usr/sbin:/sbin";
    std::string_view rest{folders};
    while (!rest.empty()) {
        const auto colon = rest.find(':');
        const auto folder = rest.substr(0, colon);
        rest = colon == std::string_view::npos ? std::string_view{} : rest.substr(colon + 1);
        // An empty entry means the working folder; running what happens to lie there helps nobody but attackers.
        if (folder.empty()) continue;
        if (auto program = fs::path{folder} / name; is_program(program)) return program;
    }
    return {};
}

}  // namespace rhizome::runtime
