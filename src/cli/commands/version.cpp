// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "cli/build_info.h"
#include "cli/commands/commands.h"
#include "cli/print.h"

namespace rhizome::cli {
namespace {

json::Value as_data(const BuildInfo& info) {
    json::Object libraries;
    for (const auto& library : info.libraries) libraries.set(library.name, json::Value{library.version});
    json::Object data;
    data.set("version", json::Value{info.version});
    data.set("revision", json::Value{info.revision});
    data.set("compiler", json::Value{info.compiler});
    data.set("buildType", json::Value{info.build_type});
    data.set("system", json::Value{info.system});
    data.set("libraries", json::Value{std::move(libraries)});
    return data;
}

std::string as_text(const BuildInfo& info, const Style& style) {
    std::string text;
    const auto line = [&](std::string_view key, std::string_view value) {
        text += style.paint(Tone::Heading, fmt::format("{:<14}", key)) + std::string{value} + "\n";
    };
    line("rhizome", info.version);
    line("revision", info.revision.empty() ? "unknown" : info.revision);
    line("compiler", info.compiler);
    line("build type", info.build_type);
    line("system", info.system);
    for (const auto& library : info.libraries) line(library.name, library.version);
    return text;
}

Result<void> run_version(Invocation& call) {
    const auto& info = build_info();
    if (call.flag("short")) {
        call.console.out << info.version << '\n';
        return ok();
    }
    print_data(call, as_data(info), [&] { return as_text(info, call.console.out_style); });
    return ok();
}

}  // namespace

std::string version_line() {
    const auto& info = build_info();
    return info.revision.empty() ? fmt::format("rhizome {}", info.version)
                                 : fmt::format("rhizome {} ({})", info.version, info.revision);
}

Command version_command() {
    return {
        .name = "version",
        .summary = "Show the version of this program and what it was built with",
        .details = "The versions of libraries are those it was built against.",
        .examples = {{"only the number, for scripts", "rhizome version --short"},
                     {"for a bug report", "rhizome version -o yaml"}},
        .options = {output_option(), {.name = "short", .help = "print the version number only"}},
        .run = run_version,
        .group = std::string{kGroupProgram},
    };
}

}  // namespace rhizome::cli
