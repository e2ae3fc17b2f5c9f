// SPDX-License-Identifier: Apache-2.0
// `rhizome service show|install|uninstall`: the node of this machine as a service of systemd.
#include <fmt/core.h>

#include "cli/commands/commands.h"
#include "cli/commands/node/service_unit.h"
#include "cli/data_option.h"
#include "cli/text.h"
#include "runtime/files.h"
#include "runtime/process.h"

namespace rhizome::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUnitFolder = "etc/systemd/system";
constexpr std::string_view kUnit = "rhizome.service";

fs::path unit_file(const Invocation& call) {
    return fs::path{call.if_text("root").value_or("/")} / kUnitFolder / kUnit;
}

/// This program, as the unit names it. With --root it is the one that will be in that tree.
Result<std::string> program_of(const Invocation& call) {
    if (const auto named = call.if_text("program")) return *named;
    std::error_code failed;
    const fs::path self = fs::read_symlink("/proc/self/exe", failed);
    if (failed) return fail(ErrorKind::Failed, "cannot tell where this program is\n--program names it");
    return self.native();
}

Result<std::string> unit_of(const Invocation& call) {
    TRY(const auto program, program_of(call));
    TRY(const fs::path data, data_folder_of(call));
    const fs::path whole = fs::absolute(data).lexically_normal();
    for (const std::string& word : {program, whole.native()})
        if (!can_stand_in_unit(word))
            return fail(ErrorKind::Usage, fmt::format("{} cannot stand in a unit: blanks, quotes, $, % and backslashes "
                                                      "mean something to systemd\nchoose a plainer place",
                                                      printable(word)));
    return service_unit(program, whole.native());
}

/// Whether systemd runs this machine, so that there is somebody to tell.
bool systemd_runs(const Invocation& call) {
    std::error_code ignored;
    return !call.if_text("root") && fs::exists("/run/systemd/system", ignored);
}

Result<void> systemctl(std::vector<std::string> words) {
    const std::string shown = join(words, " ");
    TRY(const auto end, runtime::run_process({.program = "systemctl", .arguments = std::move(words)}));
    if (end.succeeded()) return ok();
    const std::string_view said = end.err;
    return fail(ErrorKind::Failed, fmt::format("'systemctl {}' failed: {}\njournalctl -u rhizome says more", shown,
                                               printable(said.substr(0, said.find('\n')))));
}

Result<void> run_show(Invocation& call) {
    TRY(const auto unit, unit_of(call));
    call.console.out << unit;
    return ok();
}

Result<void> run_install(Invocation& call) {
    TRY(const auto unit, unit_of(call));
    const fs::path file = unit_file(call);
    TRY(runtime::make_folder(file.parent_path(), 0755));
    TRY(runtime::replace_file(file, unit, 0644));
    call.console.out << fmt::format("{}\n", printable(file.native()));
    if (!systemd_runs(call)) {
        print_warning(call.console,
                      call.if_text("root")
                          ? "nobody was told: 'systemctl --root=DIR enable rhizome' has it started at boot"
                          : "systemd does not run here: nothing was started\n'up --detach' runs a node "
                            "without it");
        return ok();
    }
    TRY(systemctl({"daemon-reload"}));
    TRY(systemctl({"enable", std::string{kUnit}}));
    if (call.flag("now")) return systemctl({"restart", std::string{kUnit}});
    call.console.err << fmt::format("It starts at boot. Now: systemctl start {}\n", kUnit);
    return ok();
}

Result<void> run_uninstall(Invocation& call) {
    const fs::path file = unit_file(call);
    std::error_code ignored;
    if (!fs::exists(file, ignored))
        return fail(ErrorKind::NotFound, fmt::format("there is no {}\na unit that a package brought goes with the "
                                                     "package; 'systemctl disable --now rhizome' stops it",
                                                     printable(file.native())));
    if (systemd_runs(call)) TRY(systemctl({"disable", "--now", std::string{kUnit}}));
    TRY(runtime::remove_file(file));
    if (systemd_runs(call)) TRY(systemctl({"daemon-reload"}));
    call.console.out << fmt::format("{} is gone; the data directory was not touched\n", printable(file.native()));
    return ok();
}

}  // namespace

Command service_command() {
    const Option root{.name = "root",
                      .value_name = "DIR",
                      .help = "a system that does not run now, such as an image being made",
                      .completion = Completion::folders()};
    const Option program{.name = "program",
                         .value_name = "FILE",
                         .help = "what the unit starts; default: this program",
                         .completion = Completion::files()};
    Command show{.name = "show",
                 .summary = "Print the unit",
                 .examples = {{"look before it is installed", "rhizome service show"}},
                 .options = {data_option(), program},
                 .run = run_show};
    Command install{.name = "install",
                    .summary = "Let systemd start the node at boot",
                    .details =
                        "Writes /etc/systemd/system/rhizome.service and enables it. The unit waits for a chain: where "
                        "there is none (before 'init' or 'join') it does nothing, so that no machine founds a "
                        "cluster by being switched on. Settings go into /etc/rhizome/config.yaml or DATA/config.yaml.",
                    .examples = {{"and start it", "rhizome service install --now"}},
                    .options = {data_option(),
                                program,
                                root,
                                {.name = "now", .help = "start it, or start it anew with the new unit"}},
                    .run = run_install};
    Command uninstall{.name = "uninstall",
                      .summary = "Stop the service and delete its unit",
                      .details = "The data directory and the keys stay.",
                      .examples = {{"no longer at boot", "rhizome service uninstall"}},
                      .options = {root},
                      .run = run_uninstall};
    return {.name = "service",
            .summary = "Run the node as a service of systemd",
            .examples = {{"at boot, and now", "rhizome service install --now"}},
            .subcommands = {std::move(show), std::move(install), std::move(uninstall)},
            .group = std::string{kGroupHost}};
}

}  // namespace rhizome::cli
