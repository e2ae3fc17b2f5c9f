// SPDX-License-Identifier: Apache-2.0
// The table of settings as people read it.
#include <fmt/core.h>

#include "node/config.h"

namespace rhizome::node {

std::string settings_markdown() {
    std::string text = "| key | default | flag | variable | |\n| --- | --- | --- | --- | --- |\n";
    for (const Setting& one : settings()) {
        std::string doc{one.doc};
        if (!one.choices.empty()) {
            std::string words;
            for (const std::string& word : one.choice_words()) words += (words.empty() ? "`" : ", `") + word + "`";
            doc += " (" + words + ")";
        }
        const std::string fallback =
            one.fallback.empty() ? std::string{one.otherwise} : fmt::format("`{}`", one.fallback);
        const std::string flag = one.value_name.empty() ? fmt::format("`--{}`", one.flag)
                                                        : fmt::format("`--{} {}`", one.flag, one.value_name);
        text += fmt::format("| `{}` | {} | {} | `{}` | {} |\n", one.key, fallback, flag, one.variable, doc);
    }
    return text;
}

std::string settings_template() {
    std::string text =
        "# Settings of a Rhizome node: DATA/config.yaml or /etc/rhizome/config.yaml. Every line is a default;\n"
        "# take the # away to change one. 'rhizome config check' reads the file as the node will.\n";
    std::string_view inside;
    for (const Setting& one : settings()) {
        const std::size_t dot = one.key.find('.');
        const std::string_view map = dot == std::string_view::npos ? "" : one.key.substr(0, dot);
        const std::string_view name = dot == std::string_view::npos ? one.key : one.key.substr(dot + 1);
        if (map != inside && !map.empty()) text += fmt::format("\n#{}:\n", map);
        if (map.empty()) text += "\n";
        inside = map;
        const std::string_view before = map.empty() ? "" : "  ";
        text += fmt::format("# {}; {}\n", one.doc, one.default_text());
        std::string value{one.fallback};
        if (one.type == SettingType::Addresses) value = value.empty() ? "[]" : fmt::format("[\"{}\"]", value);
        if (one.type == SettingType::Resources) value = "{}";
        if (one.type == SettingType::Path) value = "\"\"";
        text += fmt::format("#{}{}: {}\n", before, name, value);
    }
    return text;
}

}  // namespace rhizome::node
