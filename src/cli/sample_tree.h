// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command.h"
#include "cli/invocation.h"
#include "cli/program.h"

/// A small tree for tests, with one of everything that a command can have. Commands print what they were given.
namespace rhizome::cli::testing {

inline Result<void> echo(Invocation& call) {
    call.console.out << path_text("", call.path);
    for (const auto* option : options_of(call.path)) {
        for (const auto& value : call.texts(option->name)) {
            call.console.out << " --" << option->name << (option->takes_value() ? "=" + value : "");
        }
    }
    for (const auto& argument : call.path.back()->arguments) {
        for (const auto& value : call.arguments(argument.name)) {
            call.console.out << " " << argument.name << "=" << value;
        }
    }
    call.console.out << "\n";
    return ok();
}

inline Result<void> refuse(Invocation& call) {
    const auto kind = call.argument("KIND");
    return fail(kind == "denied"     ? ErrorKind::Denied
                : kind == "conflict" ? ErrorKind::Conflict
                                     : ErrorKind::Corrupt,
                "it was refused\ntry something else");
}

inline Command sample_tree() {
    Command key_new{
        .name = "new",
        .summary = "Make a key",
        .details =
            "Makes a key and keeps it under a name. This paragraph is long enough that it has to be wrapped when "
            "it is shown on a narrow terminal.\n\n  code stays = as it is",
        .examples = {{"make one", "rhizome key new alice"}, {"from a pipe", "echo x | rhizome key new bob"}},
        .arguments = {{.name = "NAME", .help = "its name"},
                      {.name = "FILE",
                       .help = "files to read",
                       .required = false,
                       .repeatable = true,
                       .completion = Completion::files()}},
        .options = {{.name = "type",
                     .letter = 't',
                     .value_name = "TYPE",
                     .help = "what kind of key",
                     .fallback = "ed25519",
                     .choices = {{"ed25519", "small"}, {"secp256k1", "as Bitcoin's"}},
                     .variable = "KEY_TYPE"},
                    {.name = "label", .letter = 'l', .value_name = "TEXT", .help = "a label", .repeatable = true},
                    {.name = "folder", .value_name = "FOLDER", .help = "where", .completion = Completion::folders()},
                    {.name = "force", .letter = 'f', .help = "also over an old one"}},
        .run = echo,
    };
    Command key_show{
        .name = "show",
        .summary = "Show a key",
        .arguments = {{.name = "NAME",
                       .help = "its name",
                       .completion = Completion::of([](const Console&) {
                           return std::vector<Candidate>{{"alice", "ed25519"}, {"bob"}};
                       })}},
        .options =
            {{.name = "as", .value_name = "FORM", .help = "how", .choices = {{"hex"}, {"base64"}}, .required = true}},
        .run = echo,
    };
    return {
        .name = "sample",
        .summary = "A program for tests",
        .options = {{.name = "version", .help = "print the version"}},
        .subcommands =
            {{.name = "key",
              .summary = "Work with keys",
              .subcommands = {std::move(key_new), std::move(key_show)},
              .group = "Keys"},
             {.name = "fail",
              .summary = "Fail",
              .arguments = {{.name = "KIND", .help = "how", .choices = {{"denied"}, {"conflict"}, {"corrupt"}}}},
              .run = refuse,
              .group = "Others"},
             {.name = "help",
              .summary = "Show help",
              .arguments = {{.name = "COMMAND",
                             .help = "which",
                             .required = false,
                             .repeatable = true,
                             .completion = Completion::commands()}},
              .run = echo,
              .group = "Others"},
             {.name = "secret", .summary = "Hidden", .run = echo, .group = "Others", .hidden = true}},
        .variables = {{"NO_COLOR", "no colours"}},
        .run = echo,
        .global_options = global_options(),
    };
}

}  // namespace rhizome::cli::testing
