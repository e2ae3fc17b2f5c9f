// SPDX-License-Identifier: Apache-2.0
#include "cli/parser.h"

#include <fmt/core.h>

#include "base/similar.h"
#include "cli/text.h"
#include "cli/walk.h"

namespace rhizome::cli {
namespace {

std::vector<std::string> names_of(const std::vector<Choice>& choices) {
    std::vector<std::string> names;
    for (const auto& choice : choices) names.push_back(choice.value);
    return names;
}

/// Builds the usage errors of one command line; all end with where to read more.
struct Complaint {
    std::string_view program;
    const CommandPath& path;

    [[nodiscard]] Fail<Error> operator()(std::string what, std::string hint = {}) const {
        const auto command = path_text(program, path);
        auto text = std::move(what);
        if (!hint.empty()) text += "\n" + hint;
        text += fmt::format("\nsee '{} --help'", command);
        return fail(ErrorKind::Usage, std::move(text));
    }
};

Fail<Error> unknown_command(const Complaint& complain, const std::string& word) {
    const auto& group = *complain.path.back();
    std::vector<std::string> names;
    for (const auto& below : group.subcommands) {
        if (!below.hidden) names.push_back(below.name);
    }
    auto hint = did_you_mean(nearest(word, names));
    if (hint.empty() && names.size() <= 8) hint = fmt::format("commands here are {}", join(names, ", "));
    return complain(
        fmt::format("\"{}\" is not a command of {}", printable(word), path_text(complain.program, complain.path)),
        hint);
}

Fail<Error> unknown_option(const Complaint& complain, const std::string& word) {
    std::vector<std::string> names;
    for (const auto* option : options_of(complain.path)) names.push_back("--" + option->name);
    return complain(
        fmt::format("{} does not know the option {}", path_text(complain.program, complain.path), printable(word)),
        word.starts_with("--") ? did_you_mean(nearest(word, names)) : "");
}

Result<void> check_choice(const Complaint& complain, std::string_view what, const std::vector<Choice>& choices,
                          const std::vector<std::string>& values) {
    const auto names = names_of(choices);
    for (const auto& value : values) {
        if (names.empty() || std::find(names.begin(), names.end(), value) != names.end()) continue;
        return complain(fmt::format("{} cannot be \"{}\": it is one of {}", what, printable(value), join(names, ", ")),
                        did_you_mean(nearest(value, names)));
    }
    return ok();
}

Result<void> fill_options(const Complaint& complain, const Walk& walked, const runtime::Environment& environment,
                          Values& values) {
    for (const auto* option : options_of(walked.path)) {
        auto& all = values.options[option->name];
        std::string what = "--" + option->name;
        if (const auto given = walked.options.find(option->name); given != walked.options.end()) {
            all = given->second;
            if (!option->repeatable) all = {all.back()};
        } else if (auto set = option->variable.empty() ? std::nullopt : environment.find_filled(option->variable)) {
            all = {std::move(*set)};
            what = fmt::format("{} (set by the environment variable {})", what, option->variable);
        } else if (!option->fallback.empty()) {
            all = {option->fallback};
        }
        if (all.empty() && option->required) {
            return complain(fmt::format("--{} {} is missing: {}", option->name, option->value_name, option->help));
        }
        TRY(check_choice(complain, what, option->choices, all));
    }
    // An option may stand before the command's name, but must be one that the command takes.
    for (const auto& [name, given] : walked.options) {
        if (values.options.contains(name)) continue;
        return complain(fmt::format("--{} has no meaning for {}", name, path_text(complain.program, complain.path)));
    }
    return ok();
}

Fail<Error> too_many(const Complaint& complain, const std::string& word) {
    const auto most = complain.path.back()->arguments.size();
    return complain(fmt::format("\"{}\" is one word too many: {} takes {}", printable(word),
                                path_text(complain.program, complain.path),
                                most == 0   ? std::string{"no arguments"}
                                : most == 1 ? std::string{"one argument"}
                                            : fmt::format("at most {} arguments", most)));
}

Result<void> fill_arguments(const Complaint& complain, const Walk& walked, Values& values) {
    std::span<const std::string> left{walked.arguments};
    for (const auto& argument : walked.path.back()->arguments) {
        auto& all = values.arguments[argument.name];
        const auto count = argument.repeatable ? left.size() : std::min<std::size_t>(left.size(), 1);
        all.assign(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(count));
        left = left.subspan(count);
        if (all.empty() && argument.required) {
            return complain(fmt::format("{} is missing: {}", argument.name, argument.help));
        }
        TRY(check_choice(complain, argument.name, argument.choices, all));
    }
    if (!left.empty()) return too_many(complain, left.front());
    return ok();
}

}  // namespace

Result<Parsed> parse(const Command& root, std::string_view program, std::span<const std::string> words,
                     const runtime::Environment& environment) {
    const auto walked = walk(root, words);
    const Complaint complain{program, walked.path};
    if (walked.unknown_command) return unknown_command(complain, *walked.unknown_command);
    if (walked.unknown_option) return unknown_option(complain, *walked.unknown_option);
    if (walked.flag_with_value) {
        return complain(fmt::format("--{} takes no value: it is on when given", walked.flag_with_value->name));
    }
    if (walked.pending != nullptr) {
        const auto& option = *walked.pending;
        return complain(fmt::format("--{} needs a value: {}", option.name, option.value_name), option.help);
    }
    Parsed parsed{.path = walked.path, .values = {}};
    TRY(fill_options(complain, walked, environment, parsed.values));
    TRY(fill_arguments(complain, walked, parsed.values));
    return parsed;
}

}  // namespace rhizome::cli
