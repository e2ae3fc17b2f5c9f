// SPDX-License-Identifier: Apache-2.0
// `rhizome config show|check|schema`: a node's settings, and where each comes from.
#include <fmt/core.h>

#include "cli/commands/commands.h"
#include "cli/commands/node/settings.h"
#include "cli/data_option.h"
#include "cli/print.h"
#include "cli/text.h"
#include "runtime/files.h"

namespace rhizome::cli {
namespace {

namespace fs = std::filesystem;

std::string_view name(node::SettingType type) {
    switch (type) {
        case node::SettingType::Switch: return "switch";
        case node::SettingType::Whole: return "whole number";
        case node::SettingType::Bytes: return "size";
        case node::SettingType::Choice: return "choice";
        case node::SettingType::Path: return "path";
        case node::SettingType::Url: return "URL";
        case node::SettingType::Addresses: return "addresses";
        case node::SettingType::Resources: return "resources";
    }
    unreachable("a SettingType is one of these");
}

Result<void> run_show(Invocation& call) {
    TRY(const fs::path data, data_folder_of(call));
    TRY(const auto file, config_file_of(call, data));
    TRY(const auto config, config_of(call, data));
    json::Array rows;
    Table table{{"SETTING", "VALUE", "FROM"}};
    for (const node::Setting& setting : node::settings()) {
        const node::Held& held = config.held(setting.key);
        json::Array values;
        for (const std::string& value : held.values) values.emplace_back(value);
        rows.push_back(json::Object{{"key", setting.key}, {"values", std::move(values)}, {"from", held.where}});
        table.add({std::string{setting.key},
                   held.values.empty() ? Cell{fmt::format("({})", setting.otherwise)} : Cell{join(held.values, ", ")},
                   {held.where, held.origin == node::Origin::Default ? Tone::Plain : Tone::Good}});
    }
    json::Object all{{"data", data.native()}};
    all.set("file", file ? json::Value{file->name} : json::Value{});
    all.set("settings", std::move(rows));
    print_data(call, all, [&] { return table.render(call.console.out_style, call.console.out_width); });
    return ok();
}

Result<void> run_check(Invocation& call) {
    node::ConfigSources sources;
    const std::string named = call.argument("FILE");
    if (!named.empty()) {
        TRY(auto text, runtime::read_file(named, node::kConfigBytesMax));
        sources.file = node::ConfigFile{named, std::move(text)};
    } else {
        TRY(const fs::path data, data_folder_of(call));
        TRY(sources.file, node::find_config_file(data, call.console.environment.find_filled("RHIZOME_CONFIG")));
        if (!sources.file)
            return fail(
                ErrorKind::NotFound,
                fmt::format("there is neither {} nor /etc/rhizome/config.yaml: every setting is at its default\n"
                            "'{} config schema' prints a file to begin with",
                            printable((data / "config.yaml").native()), call.program));
    }
    TRY(const auto config, node::Config::resolve(sources));
    std::size_t set = 0;
    for (const node::Setting& setting : node::settings())
        if (config.held(setting.key).origin == node::Origin::File) ++set;
    call.console.out << fmt::format("{}: good, {} of {} settings\n", printable(sources.file->name), set,
                                    node::settings().size());
    return ok();
}

Result<void> run_schema(Invocation& call) {
    json::Array rows;
    for (const node::Setting& setting : node::settings()) {
        json::Object row{{"key", setting.key},
                         {"type", name(setting.type)},
                         {"flag", fmt::format("--{}", setting.flag)},
                         {"variable", setting.variable},
                         {"doc", setting.doc}};
        if (!setting.fallback.empty()) row.set("default", setting.fallback);
        if (setting.most > 0) {
            row.set("least", setting.least);
            row.set("most", setting.most);
        }
        if (json::Array words; !setting.choices.empty()) {
            for (const std::string& word : setting.choice_words()) words.emplace_back(word);
            row.set("choices", std::move(words));
        }
        rows.push_back(std::move(row));
    }
    print_data(call, json::Object{{"settings", std::move(rows)}}, [] { return node::settings_template(); });
    return ok();
}

}  // namespace

Command config_command() {
    std::vector<Option> show_options{data_option()};
    for (Option& option : setting_options()) show_options.push_back(std::move(option));
    show_options.push_back(output_option());
    Command show{.name = "show",
                 .summary = "Show a node's settings and where each comes from",
                 .details =
                     "What 'up' would run with: flags win over the environment, that over the file, that over "
                     "the defaults. Takes the flags of 'up', to try them.",
                 .examples = {{"what holds now", "rhizome config show"},
                              {"what a flag would change", "rhizome config show --mine 50"}},
                 .options = std::move(show_options),
                 .variables = setting_variables(),
                 .run = run_show};
    Command check{
        .name = "check",
        .summary = "Read a file of settings as the node will",
        .details = "Names the first thing that is wrong with its line (exit code 1), or says that all is good.",
        .examples = {{"before a restart", "rhizome config check"},
                     {"before it is put in place", "rhizome config check new.yaml"}},
        .arguments = {{.name = "FILE",
                       .help = "the file; default: the one that 'up' would read",
                       .required = false,
                       .completion = Completion::files()}},
        .options = {data_option()},
        .variables = {{"RHIZOME_CONFIG", "the file that is read instead"}},
        .run = run_check};
    Command schema{.name = "schema",
                   .summary = "Print a file with every setting, to begin with",
                   .details =
                       "All of it stands in comments, each setting with its meaning and default. With -o json "
                       "the same as data.",
                   .examples = {{"a file of your own", "rhizome config schema > /etc/rhizome/config.yaml"}},
                   .options = {output_option()},
                   .run = run_schema};
    return {.name = "config",
            .summary = "Look at a node's settings",
            .examples = {{"what holds now", "rhizome config show"}},
            .subcommands = {std::move(show), std::move(check), std::move(schema)},
            .group = std::string{kGroupHost}};
}

}  // namespace rhizome::cli
