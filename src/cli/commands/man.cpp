// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <fmt/core.h>

#include "cli/build_info.h"
#include "cli/commands/command_names.h"
#include "cli/commands/commands.h"
#include "cli/manual.h"
#include "runtime/files.h"

namespace rhizome::cli {
namespace {

Result<void> write_all(Invocation& call, const std::filesystem::path& folder) {
    TRY(runtime::make_folder(folder, 0755));
    const auto pages = manual_pages(call.root(), build_info().version);
    for (const auto& page : pages) TRY(runtime::replace_file(folder / page.file, page.text, 0644));
    call.console.err << fmt::format("wrote {} manual pages to {}\n", pages.size(), folder.native());
    return ok();
}

Result<void> run_man(Invocation& call) {
    if (const auto folder = call.if_text("dir")) {
        if (!call.arguments("COMMAND").empty()) {
            return fail(ErrorKind::Usage,
                        "--dir writes the pages of all commands: name none\nleave out --dir to print one "
                        "page");
        }
        return write_all(call, *folder);
    }
    TRY(const auto path, find_command(call, call.arguments("COMMAND")));
    call.console.out << manual_page(path, build_info().version).text;
    return ok();
}

}  // namespace

Command man_command() {
    return {
        .name = "man",
        .summary = "Print manual pages",
        .details = "Prints the page of a command, or of the program when none is named, for man(1) to format.",
        .examples = {{"read a page", "rhizome man doctor | man -l -"},
                     {"write all pages where man(1) finds them", "rhizome man --dir ~/.local/share/man/man1"}},
        .arguments = {{.name = "COMMAND",
                       .help = "the command, all its words",
                       .required = false,
                       .repeatable = true,
                       .completion = Completion::commands()}},
        .options = {{.name = "dir",
                     .value_name = "FOLDER",
                     .help = "write the pages of all commands into this folder",
                     .completion = Completion::folders()}},
        .run = run_man,
        .group = std::string{kGroupProgram},
    };
}

}  // namespace rhizome::cli
