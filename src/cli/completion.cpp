// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.h"

#include <fmt/core.h>

#include "cli/text.h"
#include "cli/walk.h"

namespace rhizome::cli {
namespace {

void offer(Completed& out, std::string_view prefix, std::string value, std::string description) {
    if (value.starts_with(prefix)) out.candidates.push_back({std::move(value), std::move(description)});
}

void offer_commands(Completed& out, const Command& group, std::string_view prefix) {
    for (const auto& below : group.subcommands) {
        if (!below.hidden) offer(out, prefix, below.name, below.summary);
    }
}

/// Values of an option or argument; `lead` is what stands before the value in the same word (`--output=`).
void offer_values(Completed& out, const std::vector<Choice>& choices, const Completion& completion,
                  const Console& console, std::string_view prefix, const std::string& lead = {}) {
    const auto add = [&](const std::string& value, const std::string& description) {
        if (value.starts_with(prefix)) out.candidates.push_back({lead + value, description});
    };
    for (const auto& choice : choices) add(choice.value, choice.description);
    switch (completion.from) {
        case Completes::Files: out.files = true; break;
        case Completes::Folders: out.folders = true; break;
        case Completes::Values:
            for (const auto& candidate : completion.values(console)) add(candidate.value, candidate.description);
            break;
        case Completes::Commands:
        case Completes::Nothing: break;
    }
}

/// Arguments that name commands: the tree below the ones already given.
void offer_command_names(Completed& out, const Walk& walked, std::string_view prefix) {
    const auto* at = walked.path.front();
    for (const auto& word : walked.arguments) {
        at = at->find(word);
        if (at == nullptr) return;
    }
    offer_commands(out, *at, prefix);
}

void offer_argument(Completed& out, const Walk& walked, const Console& console, std::string_view prefix) {
    const auto& arguments = walked.path.back()->arguments;
    if (arguments.empty()) return;
    const auto place = std::min(walked.arguments.size(), arguments.size() - 1);
    const auto& argument = arguments[place];
    if (walked.arguments.size() >= arguments.size() && !argument.repeatable) return;
    if (argument.completion.from == Completes::Commands) return offer_command_names(out, walked, prefix);
    offer_values(out, argument.choices, argument.completion, console, prefix);
    if (!argument.repeatable || argument.choices.empty()) return;
    // A value that stands there already is seldom wanted twice.
    std::erase_if(out.candidates, [&](const Candidate& candidate) {
        return std::find(walked.arguments.begin(), walked.arguments.end(), candidate.value) != walked.arguments.end();
    });
}

void offer_options(Completed& out, const Walk& walked, std::string_view prefix) {
    for (const auto* option : options_of(walked.path)) {
        if (walked.has(option->name) && !option->repeatable) continue;
        offer(out, prefix, "--" + option->name, option->help);
    }
}

}  // namespace

Completed complete(const Command& root, std::span<const std::string> words, const Console& console) {
    Completed out;
    const std::string current = words.empty() ? "" : words.back();
    const auto walked = walk(root, words.empty() ? words : words.first(words.size() - 1));
    if (walked.unknown_command) return out;
    if (walked.pending != nullptr) {
        offer_values(out, walked.pending->choices, walked.pending->completion, console, current);
        return out;
    }
    if (!walked.only_arguments && current.starts_with('-')) {
        if (current == "-" || (current.starts_with("--") && current.find('=') == std::string::npos)) {
            offer_options(out, walked, current);
            return out;
        }
        const auto read = read_option(options_of(walked.path), current);
        if (read.option == nullptr || !read.option->takes_value() || !read.value) return out;
        const auto lead = current.substr(0, current.size() - read.value->size());
        offer_values(out, read.option->choices, read.option->completion, console, *read.value, lead);
        return out;
    }
    if (!walked.path.back()->subcommands.empty()) {
        if (!walked.only_arguments) offer_commands(out, *walked.path.back(), current);
    } else {
        offer_argument(out, walked, console, current);
    }
    return out;
}

std::string to_protocol(const Completed& completed) {
    std::string text;
    for (const auto& candidate : completed.candidates) {
        text += printable(candidate.value);
        if (!candidate.description.empty()) text += "\t" + printable(candidate.description);
        text += '\n';
    }
    constexpr int kNoFiles = 4;
    constexpr int kFolders = 16;
    const int directive = completed.folders ? kFolders : completed.files ? 0 : kNoFiles;
    return text + fmt::format(":{}\n", directive);
}

}  // namespace rhizome::cli
