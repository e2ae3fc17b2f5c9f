// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace rhizome::runtime {

/// Environment variables as a value, so that everything that depends on them can be tested. `of_process` is the only
/// place in this code that looks at the real ones, and copies them: a later change in the process is not seen.
class Environment {
public:
    using Variables = std::map<std::string, std::string, std::less<>>;

    Environment() = default;
    explicit Environment(Variables variables) : variables_(std::move(variables)) {}

    /// What this process was started with. HOME comes from the user database when the variable is missing, as it is
    /// under some service managers.
    static Environment of_process();

    /// Nothing when the variable is absent; an empty one is found.
    [[nodiscard]] std::optional<std::string> find(std::string_view name) const;
    /// The same, with an empty one taken as absent: how most variables are meant.
    [[nodiscard]] std::optional<std::string> find_filled(std::string_view name) const;
    [[nodiscard]] const Variables& all() const { return variables_; }
    void set(std::string name, std::string value) { variables_.insert_or_assign(std::move(name), std::move(value)); }

    /// Folders of the XDG base directory specification with `/rhizome` at the end. Relative values are ignored, as it
    /// demands. NotFound when neither the variable nor HOME says where.
    [[nodiscard]] Result<std::filesystem::path> config_folder() const;  ///< $XDG_CONFIG_HOME, ~/.config
    [[nodiscard]] Result<std::filesystem::path> data_folder() const;    ///< $XDG_DATA_HOME, ~/.local/share
    [[nodiscard]] Result<std::filesystem::path> state_folder() const;   ///< $XDG_STATE_HOME, ~/.local/state
    [[nodiscard]] Result<std::filesystem::path> cache_folder() const;   ///< $XDG_CACHE_HOME, ~/.cache

    /// The first executable file of that name in PATH, then in /usr/local/sbin, /usr/sbin and /sbin, where nft and runc
    /// live but which users seldom have in their PATH. A name with a slash is taken as it is.
    [[nodiscard]] std::optional<std::filesystem::path> find_program(std::string_view name) const;

private:
    [[nodiscard]] Result<std::filesystem::path> xdg_folder(std::string_view variable,
                                                           std::string_view below_home) const;

    Variables variables_;
};

}  // namespace rhizome::runtime
