// SPDX-License-Identifier: Apache-2.0
#include "runtime/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "runtime/clock.h"
#include "runtime/descriptor.h"
#include "runtime/os_error.h"

namespace rhizome::runtime {
namespace {

struct Pipe {
    Descriptor read;
    Descriptor write;
};

Result<Pipe> make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return Fail{os_error("make a pipe", errno)};
    Pipe pipe{Descriptor{ends[0]}, Descriptor{ends[1]}};
    // Only our end: the program would be surprised by a stdout that refuses to wait.
    if (::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK) != 0) return Fail{os_error("set up a pipe", errno)};
    return pipe;
}

/// The input as a file in memory: unlike a pipe it needs no pumping and cannot break.
Result<Descriptor> stdin_for(const std::string& input) {
    if (input.empty()) {
        Descriptor none{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
        if (!none) return Fail{os_error("open /dev/null", errno)};
        return none;
    }
    Descriptor file{static_cast<int>(::memfd_create("rhizome-stdin", MFD_CLOEXEC))};
    if (!file) return Fail{os_error("make a file in memory", errno)};
    for (std::size_t done = 0; done < input.size();) {
        const auto wrote = ::write(file.get(), input.data() + done, input.size() - done);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) return Fail{os_error("keep the input of a program", errno)};
        done += static_cast<std::size_t>(wrote);
    }
    if (::lseek(file.get(), 0, SEEK_SET) != 0) return Fail{os_error("rewind the input of a program", errno)};
    return file;
}

/// posix_spawn's two bags, freed on every way out.
struct SpawnSetup {
    posix_spawn_file_actions_t actions{};
    posix_spawnattr_t attributes{};
    SpawnSetup() {
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawnattr_init(&attributes);
    }
    SpawnSetup(const SpawnSetup&) = delete;
    SpawnSetup& operator=(const SpawnSetup&) = delete;
    ~SpawnSetup() {
        ::posix_spawn_file_actions_destroy(&actions);
        ::posix_spawnattr_destroy(&attributes);
    }
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> all;
    all.reserve(texts.size() + 1);
    for (auto& text : texts) all.push_back(text.data());
    all.push_back(nullptr);
    return all;
}

Result<pid_t> spawn(const ProcessSpec& spec, int in, int out, int err) {
    SpawnSetup setup;
    ::posix_spawn_file_actions_adddup2(&setup.actions, in, STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&setup.actions, out, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&setup.actions, err, STDERR_FILENO);
    if (!spec.folder.empty()) ::posix_spawn_file_actions_addchdir_np(&setup.actions, spec.folder.c_str());

    // A group of its own, so that a kill reaches its children; signals as a fresh program expects them.
    ::posix_spawnattr_setflags(&setup.attributes,
                               POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    ::posix_spawnattr_setpgroup(&setup.attributes, 0);
    sigset_t signals;
    ::sigfillset(&signals);
    ::posix_spawnattr_setsigdefault(&setup.attributes, &signals);
    ::sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&setup.attributes, &signals);

    std::vector<std::string> arguments{spec.program};
    arguments.insert(arguments.end(), spec.arguments.begin(), spec.arguments.end());
    std::vector<std::string> variables;
    if (spec.environment) {
        for (const auto& [name, value] : spec.environment->all()) variables.push_back(name + "=" + value);
    }
    const auto argv = pointers(arguments);
    const auto envp = pointers(variables);
    pid_t child = 0;
    const int problem = ::posix_spawnp(&child, spec.program.c_str(), &setup.actions, &setup.attributes, argv.data(),
                                       spec.environment ? envp.data() : ::environ);
    if (problem != 0) return Fail{os_error("run " + spec.program, problem)};
    return child;
}

/// Reads what is there, keeping at most `max` bytes in all. Closes the pipe at its end.
void drain(Descriptor& pipe, std::string& kept, std::size_t max, bool& truncated) {
    std::array<char, 16u << 10> buffer;
    while (pipe) {
        const auto got = ::read(pipe.get(), buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && errno == EAGAIN) return;
        if (got <= 0) return pipe.close();
        const auto room = std::min(max - kept.size(), static_cast<std::size_t>(got));
        kept.append(buffer.data(), room);
        truncated = truncated || room < static_cast<std::size_t>(got);
    }
}

/// Waits for the child, which is over or was killed, and says how it ended.
void reap(pid_t child, ProcessEnd& end) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    end.exit_code = end.signal != 0 ? 128 + end.signal : WEXITSTATUS(status);
}

}  // namespace

Result<ProcessEnd> run_process(const ProcessSpec& spec) {
    TRY(auto out, make_pipe());
    TRY(auto err, make_pipe());
    TRY(auto in, stdin_for(spec.input));
    const auto give_up = instant_now() + spec.deadline;
    TRY(const auto child, spawn(spec, in.get(), out.write.get(), err.write.get()));
    in.close();
    out.write.close();
    err.write.close();

    ProcessEnd end;
    // By number, since glibc 2.36 declares pidfd_open only for C.
    const Descriptor over{static_cast<int>(::syscall(SYS_pidfd_open, child, 0))};
    const int no_pidfd = over ? 0 : errno;
    bool late = false;
    while (no_pidfd == 0) {
        const auto left = std::chrono::ceil<milliseconds>(give_up - instant_now()).count();
        late = left <= 0;
        if (late) break;
        std::array<pollfd, 3> waits{pollfd{over.get(), POLLIN, 0}, pollfd{out.read.get(), POLLIN, 0},
                                    pollfd{err.read.get(), POLLIN, 0}};  // poll skips closed pipes, which are -1
        if (::poll(waits.data(), waits.size(), static_cast<int>(std::min<std::int64_t>(left, 60'000))) < 0) continue;
        drain(out.read, end.out, spec.output_max, end.truncated);
        drain(err.read, end.err, spec.output_max, end.truncated);
        if (waits[0].revents != 0) break;
    }
    if (late || no_pidfd != 0) {
        ::kill(-child, SIGKILL);
        ::kill(child, SIGKILL);  // in case it has left its group
    }
    reap(child, end);
    if (no_pidfd != 0) return Fail{os_error("watch " + spec.program, no_pidfd)};
    if (late) {
        return fail(ErrorKind::Unavailable, fmt::format("{} did not finish within {} and was stopped", spec.program,
                                                        to_text(microseconds{spec.deadline})));
    }
    return end;
}

}  // namespace rhizome::runtime
