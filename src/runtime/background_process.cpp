// SPDX-License-Identifier: Apache-2.0
#include "runtime/background_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>

#include <fmt/core.h>

#include "runtime/clock.h"
#include "runtime/files.h"
#include "runtime/os_error.h"

namespace rhizome::runtime {
namespace {

constexpr std::size_t kStatBytesMax = 4u << 10;

struct Stat {
    char state = '?';
    std::uint64_t started = 0;
};
std::optional<Stat> read_stat(pid_t pid) {
    const auto text = read_file("/proc/" + std::to_string(pid) + "/stat", kStatBytesMax);
    if (!text) return std::nullopt;
    // The name in brackets may hold anything, also brackets and blanks; what follows the last one is numbers.
    std::size_t at = text->rfind(')');
    if (at == std::string::npos || at + 2 >= text->size()) return std::nullopt;
    Stat stat{.state = (*text)[at + 2]};
    at += 2;
    constexpr int kFromStateToStart = 19;  // fields 3 and 22 of proc(5)
    for (int i = 0; i < kFromStateToStart; ++i) {
        at = text->find(' ', at);
        if (at == std::string::npos) return std::nullopt;
        ++at;
    }
    const char* end = text->data() + text->size();
    if (std::from_chars(text->data() + at, end, stat.started).ec != std::errc{}) return std::nullopt;
    return stat;
}

/// A handle that stays with this process, whoever gets its number afterwards.
Descriptor open_handle(const ProcessId& process) {
    // By number, since glibc 2.36 declares pidfd_open only for C.
    Descriptor handle{static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0))};
    if (!handle) return {};
    const auto stat = read_stat(process.pid);
    if (!stat || stat->started != process.started) return {};
    return handle;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> all;
    all.reserve(texts.size() + 1);
    for (auto& text : texts) all.push_back(text.data());
    all.push_back(nullptr);
    return all;
}

/// All that the child needs between fork and exec: there only system calls are allowed, since other threads of this
/// process may have held any lock.
struct Child {
    const char* program;
    char* const* argv;
    char* const* envp;
    int network;
    int in;
    int out;
    int gate;
    int gate_other_end;
    int failure;
    const std::vector<int>* kept;
    bool ends_with_starter;
};

[[noreturn]] void become(const Child& child) {
    const auto give_up = [&] {
        const int number = errno;
        (void)!::write(child.failure, &number, sizeof number);
        ::_exit(127);
    };
    ::close(child.gate_other_end);
    ::setsid();
    // Whoever died before this line has closed the gate.
    if (child.ends_with_starter) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;
    for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &usual, nullptr);
    char byte = 0;
    ssize_t got = 0;
    do {
        got = ::read(child.gate, &byte, 1);
    } while (got < 0 && errno == EINTR);
    if (got != 1) ::_exit(0);  // the starter is gone: nobody would know of this process
    if (child.network >= 0 && ::setns(child.network, CLONE_NEWNET) != 0) give_up();
    if (::dup2(child.in, STDIN_FILENO) < 0 || ::dup2(child.out, STDOUT_FILENO) < 0 ||
        ::dup2(child.out, STDERR_FILENO) < 0)
        give_up();
    for (const int descriptor : *child.kept)
        if (::fcntl(descriptor, F_SETFD, 0) != 0) give_up();
    ::execve(child.program, child.argv, child.envp);
    give_up();
    ::_exit(127);
}

Result<std::array<Descriptor, 2>> make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return Fail{os_error("make a pipe", errno)};
    return std::array{Descriptor{ends[0]}, Descriptor{ends[1]}};
}

}  // namespace

Result<HeldProcess> hold_process(const BackgroundSpec& spec) {
    std::vector<std::string> words{spec.shown_as};
    words.insert(words.end(), spec.arguments.begin(), spec.arguments.end());
    std::vector<std::string> variables;
    const Environment environment = spec.environment ? *spec.environment : Environment::of_process();
    for (const auto& [name, value] : environment.all()) variables.push_back(name + "=" + value);
    const auto argv = pointers(words);
    const auto envp = pointers(variables);
    const Descriptor in{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    if (!in) return Fail{os_error("open /dev/null", errno)};
    const std::string output = spec.output.empty() ? "/dev/null" : spec.output.native();
    const Descriptor out{::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600)};
    if (!out) return Fail{os_error("write to " + output, errno)};
    TRY(auto gate, make_pipe());
    TRY(auto failure, make_pipe());
    const Child child{.program = spec.program.c_str(),
                      .argv = argv.data(),
                      .envp = envp.data(),
                      .network = spec.network,
                      .in = in.get(),
                      .out = out.get(),
                      .gate = gate[0].get(),
                      .gate_other_end = gate[1].get(),
                      .failure = failure[1].get(),
                      .kept = &spec.kept,
                      .ends_with_starter = spec.ends_with_starter};
    const pid_t pid = ::fork();
    if (pid < 0) return Fail{os_error("start a process", errno)};
    if (pid == 0) become(child);
    const auto stat = read_stat(pid);
    if (!stat) return fail(ErrorKind::Failed, "cannot read /proc: is it mounted?");  // the gate closes: it ends
    return HeldProcess{{.pid = pid, .started = stat->started}, spec.program, std::move(gate[1]), std::move(failure[0])};
}

Result<void> HeldProcess::begin() {
    const char byte = 1;
    const ssize_t wrote = ::write(gate_.get(), &byte, 1);
    gate_.close();
    int number = wrote == 1 ? 0 : errno;
    // The other end closes with a successful exec.
    while (wrote == 1) {
        const ssize_t got = ::read(failure_.get(), &number, sizeof number);
        if (got < 0 && errno == EINTR) continue;
        if (got == 0) return ok();
        break;
    }
    (void)::waitpid(id_.pid, nullptr, 0);
    return Fail{os_error("run " + program_, number)};
}

std::optional<ProcessId> find_process(pid_t pid) {
    const auto stat = read_stat(pid);
    if (!stat) return std::nullopt;
    return ProcessId{.pid = pid, .started = stat->started};
}

bool is_running(const ProcessId& process) {
    if (process.pid <= 0) return false;
    const auto stat = read_stat(process.pid);
    if (!stat || stat->started != process.started) return false;
    if (stat->state != 'Z' && stat->state != 'X') return true;
    (void)::waitpid(process.pid, nullptr, WNOHANG);
    return false;
}

Result<void> send_signal(const ProcessId& process, int signal) {
    const Descriptor handle = process.pid > 0 ? open_handle(process) : Descriptor{};
    if (!handle) return fail(ErrorKind::NotFound, fmt::format("process {} has ended", process.pid));
    if (::syscall(SYS_pidfd_send_signal, handle.get(), signal, nullptr, 0) == 0) return ok();
    if (errno == ESRCH) return fail(ErrorKind::NotFound, fmt::format("process {} has ended", process.pid));
    return Fail{os_error(fmt::format("send a signal to process {}", process.pid), errno)};
}

bool wait_for_end(const ProcessId& process, milliseconds most) {
    const auto give_up = instant_now() + most;
    for (;;) {
        if (!is_running(process)) return true;
        const Descriptor handle = open_handle(process);
        const auto left = std::chrono::ceil<milliseconds>(give_up - instant_now()).count();
        if (left <= 0) return false;
        if (!handle) continue;
        pollfd over{handle.get(), POLLIN, 0};
        (void)::poll(&over, 1, static_cast<int>(std::min<std::int64_t>(left, 60'000)));
    }
}

}  // namespace rhizome::runtime
