// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "cli/input_stream.h"
#include "cli/output_stream.h"
#include "cli/program.h"
#include "cli/tree.h"
#include "runtime/memory.h"
#include "runtime/os_error.h"
#include "runtime/terminal.h"

int main(int argc, char** argv) {
    using namespace rhizome;
    runtime::keep_memory_caches_small();
    std::signal(SIGPIPE, SIG_IGN);  // a reader that leaves is seen when writing
    cli::InputStream in{STDIN_FILENO};
    cli::OutputStream out{STDOUT_FILENO};
    cli::OutputStream err{STDERR_FILENO};
    err << std::unitbuf;

    auto environment = runtime::Environment::of_process();
    cli::Console console{.in = in, .out = out, .err = err, .environment = environment};
    console.out_style = cli::Style{runtime::wants_colour(STDOUT_FILENO, environment)};
    console.err_style = cli::Style{runtime::wants_colour(STDERR_FILENO, environment)};
    console.out_width = runtime::terminal_width(STDOUT_FILENO);
    console.err_width = runtime::terminal_width(STDERR_FILENO);
    console.in_is_terminal = runtime::is_terminal(STDIN_FILENO);
    console.out_is_terminal = runtime::is_terminal(STDOUT_FILENO);
    console.err_is_terminal = runtime::is_terminal(STDERR_FILENO);
    console.ask_passphrase = [](std::string_view prompt) { return runtime::ask_passphrase(prompt); };
    console.confirm = [](std::string_view prompt) { return runtime::confirm(prompt); };

    const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    const int code = cli::run_program(cli::command_tree(), argc > 0 ? argv[0] : "rhizome", words, console);
    out.flush();
    if (out.problem() == EPIPE) return 0;
    if (out.problem() != 0) {
        cli::print_error(console, runtime::os_error("write to stdout", out.problem()));
        return 1;
    }
    return code;
}
