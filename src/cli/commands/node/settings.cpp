// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/node/settings.h"

#include <fmt/core.h>

namespace rhizome::cli {
namespace {

constexpr std::string_view kConfig = "config";

}  // namespace

std::vector<Option> setting_options() {
    std::vector<Option> options{{.name = std::string{kConfig},
                                 .value_name = "FILE",
                                 .help = "a file with settings; default: config.yaml in the data directory, else "
                                         "/etc/rhizome/config.yaml",
                                 .variable = "RHIZOME_CONFIG",
                                 .completion = Completion::files()}};
    for (const node::Setting& setting : node::settings()) {
        const bool is_switch = setting.type == node::SettingType::Switch;
        Option option{.name = std::string{setting.flag},
                      .value_name = std::string{setting.value_name},
                      .help = is_switch ? fmt::format("do not: {}", setting.doc)
                                        : fmt::format("{}; {}", setting.doc, setting.default_text())};
        for (const std::string& word : setting.choice_words()) option.choices.push_back({word, ""});
        option.repeatable =
            setting.type == node::SettingType::Addresses || setting.type == node::SettingType::Resources;
        if (setting.type == node::SettingType::Path) option.completion = Completion::files();
        options.push_back(std::move(option));
    }
    return options;
}

std::vector<Variable> setting_variables() {
    std::vector<Variable> variables;
    for (const node::Setting& setting : node::settings())
        variables.push_back({std::string{setting.variable}, setting.type == node::SettingType::Switch
                                                                ? fmt::format("false is the same as --{}", setting.flag)
                                                                : fmt::format("the same as --{}", setting.flag)});
    return variables;
}

Result<std::optional<node::ConfigFile>> config_file_of(const Invocation& call, const std::filesystem::path& data) {
    return node::find_config_file(data, call.if_text(kConfig));
}

Result<node::Config> config_of(const Invocation& call, const std::filesystem::path& data) {
    node::ConfigSources sources;
    TRY(sources.file, config_file_of(call, data));
    sources.environment = call.console.environment;
    for (const node::Setting& setting : node::settings())
        if (const auto& given = call.texts(setting.flag); !given.empty()) sources.flags.emplace(setting.flag, given);
    return node::Config::resolve(sources);
}

std::vector<std::string> setting_words(const Invocation& call) {
    std::vector<std::string> words;
    if (const auto file = call.if_text(kConfig)) words.insert(words.end(), {"--config", *file});
    for (const node::Setting& setting : node::settings())
        for (const std::string& value : call.texts(setting.flag)) {
            words.push_back(fmt::format("--{}", setting.flag));
            if (!setting.value_name.empty()) words.push_back(value);
        }
    return words;
}

}  // namespace rhizome::cli
