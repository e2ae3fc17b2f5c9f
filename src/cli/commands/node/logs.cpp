// SPDX-License-Identifier: Apache-2.0
// `rhizome logs`: what the node of this machine logged.
#include <poll.h>

#include <deque>

#include <fmt/core.h>

#include "cli/commands/commands.h"
#include "cli/commands/node/log_lines.h"
#include "cli/commands/node/settings.h"
#include "cli/commands/node/up.h"
#include "cli/data_option.h"
#include "cli/text.h"
#include "cli/values.h"
#include "runtime/log_file.h"

namespace rhizome::cli {
namespace {

namespace fs = std::filesystem;

/// How often a file that is followed is looked at.
constexpr int kLookMillis = 200;

/// The file that a node in the background writes: where its settings say, else in its directory.
Result<fs::path> file_of(const Invocation& call, const fs::path& data) {
    node::ConfigSources sources{.environment = call.console.environment};
    TRY(sources.file, node::find_config_file(data, call.console.environment.find_filled("RHIZOME_CONFIG")));
    TRY(const auto config, node::Config::resolve(sources));
    const std::string file = config.text("log.file");
    return file.empty() ? log_file_of(data) : fs::path{file};
}

/// `10m` ago, or a time.
Result<std::optional<Time>> since_of(const Invocation& call) {
    const auto text = call.if_text("since");
    if (!text) return std::optional<Time>{};
    if (const auto span = parse_duration(*text); span && *span >= microseconds{0})
        return std::optional{call.console.now() - *span};
    if (const auto time = from_rfc3339(*text)) return std::optional{*time};
    return fail(ErrorKind::Usage, fmt::format("--since {} is neither a duration such as 10m nor a time such as "
                                              "2026-11-15T21:27:31Z",
                                              printable(*text)));
}

Result<void> run_logs(Invocation& call) {
    TRY(const fs::path data, data_folder_of(call));
    TRY(const fs::path file, file_of(call, data));
    TRY(const auto since, since_of(call));
    TRY(const auto tail, whole_number(call, "tail", 1'000'000'000));
    const bool follows = call.flag("follow");
    if (runtime::log_files(file).empty() && !follows)
        return fail(ErrorKind::NotFound,
                    fmt::format("there is no log in {}\na node in the background logs there ('{} up --detach'); one in "
                                "a terminal logs to it, one of systemd to the journal: journalctl -u rhizome",
                                printable(file.native()), call.program));
    const bool as_json =
        call.text("format") == "json" || (call.text("format") == "auto" && !call.console.out_is_terminal);
    LogLineFilter filter{{.since = since, .level = log_level_from(call.text("level")).value_or(LogLevel::Debug)}};
    const auto print = [&](const std::string& line) {
        call.console.out << line << '\n';
        return call.console.out.good();
    };
    LogFollower follower{file};
    // The last lines are known when all were seen.
    std::deque<std::string> kept;
    const auto take = [&](std::string_view raw, bool at_once) {
        LogLine line = read_log_line(raw);
        if (!filter.takes(line)) return true;
        std::string shown = as_json ? std::move(line.json) : printable(line.text);
        if (at_once) return print(shown);
        kept.push_back(std::move(shown));
        if (kept.size() > tail) kept.pop_front();
        return true;
    };
    bool goes_on = follower.read_new([&](std::string_view raw) { return take(raw, tail == 0); });
    for (const std::string& line : kept) goes_on = goes_on && print(line);
    call.console.out.flush();
    while (goes_on && follows) {
        (void)::poll(nullptr, 0, kLookMillis);
        goes_on = follower.read_new([&](std::string_view raw) { return take(raw, true); });
        call.console.out.flush();
        goes_on = goes_on && call.console.out.good();
    }
    return ok();
}

}  // namespace

Command logs_command() {
    return {
        .name = "logs",
        .summary = "Show what the node logged",
        .details =
            "Of a node in the background ('up --detach'). Lines for people on a terminal, otherwise the JSON lines as "
            "they are in the file. Old files are put aside and at last deleted; 'config show' says how much is kept.",
        .examples = {{"the last hour", "rhizome logs --since 1h"},
                     {"as it happens", "rhizome logs -f"},
                     {"what needs somebody", "rhizome logs --level warn --tail 20"}},
        .options = {data_option(),
                    {.name = "follow", .letter = 'f', .help = "go on with new lines as they come; Ctrl-C ends it"},
                    {.name = "since", .value_name = "TIME", .help = "not what is older: 10m, 2h, or a time"},
                    {.name = "level",
                     .value_name = "LEVEL",
                     .help = "not what is less urgent",
                     .fallback = "debug",
                     .choices = {{"error"}, {"warn"}, {"info"}, {"debug"}}},
                    {.name = "tail", .value_name = "N", .help = "only the last N lines; 0 for all", .fallback = "0"},
                    {.name = "format",
                     .value_name = "FORMAT",
                     .help = "text for people, json for programs; auto: by whether a terminal reads it",
                     .fallback = "auto",
                     .choices = {{"auto"}, {"text"}, {"json"}}}},
        .run = run_logs,
        .group = std::string{kGroupHost},
    };
}

}  // namespace rhizome::cli
