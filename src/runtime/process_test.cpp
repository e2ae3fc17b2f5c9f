// SPDX-License-Identifier: Apache-2.0
#include "runtime/process.h"

#include <gtest/gtest.h>

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>

#include "runtime/descriptor.h"
#include "runtime/files.h"
#include "support/temp_folder.h"

namespace rhizome::runtime {
namespace {

ProcessSpec shell(std::string script) { return {.program = "/bin/sh", .arguments = {"-c", std::move(script)}}; }

TEST(Process, GivesOutputAndExitCode) {
    const auto end = run_process(shell("echo to out; echo to err >&2; exit 7")).value();
    EXPECT_EQ(end.out, "to out\n");
    EXPECT_EQ(end.err, "to err\n");
    EXPECT_EQ(end.exit_code, 7);
    EXPECT_EQ(end.signal, 0);
    EXPECT_FALSE(end.succeeded());
    EXPECT_TRUE(run_process({.program = "true", .arguments = {}}).value().succeeded());
}

TEST(Process, ArgumentsMeetNoShell) {
    const auto end = run_process({.program = "printf", .arguments = {"[%s]", "$HOME; `id`", "", "a b"}}).value();
    EXPECT_EQ(end.out, "[$HOME; `id`][][a b]");
}

TEST(Process, FeedsInputOfAnySize) {
    std::string large(3u << 20, 'x');  // far beyond what a pipe holds
    auto count = shell("wc -c");
    count.input = large;
    EXPECT_EQ(run_process(count).value().out, "3145728\n");
    auto ignore = shell("exit 0");
    ignore.input = large;
    EXPECT_TRUE(run_process(ignore).value().succeeded()) << "nobody reads the input";
    EXPECT_EQ(run_process(shell("cat")).value().out, "") << "no input is an empty stdin";
}

TEST(Process, KeepsABoundedPartOfTheOutput) {
    auto spec = shell("yes | head -c 1000000; printf e >&2");
    spec.output_max = 1000;
    const auto end = run_process(spec).value();
    EXPECT_EQ(end.out.size(), 1000u);
    EXPECT_EQ(end.err, "e");
    EXPECT_TRUE(end.truncated);
    EXPECT_TRUE(end.succeeded()) << "the rest was read, so the program could finish";
    spec.output_max = 1'000'000;
    EXPECT_FALSE(run_process(spec).value().truncated);
}

TEST(Process, AProgramThatIsNotThereIsNotFound) {
    const auto error = run_process({.program = "rhizome-no-such-program", .arguments = {}}).error();
    EXPECT_EQ(error.kind, ErrorKind::NotFound);
    EXPECT_EQ(error.message, "cannot run rhizome-no-such-program: No such file or directory");
    test::TempFolder folder;
    ASSERT_TRUE(write_new_file(folder / "plain", "x", 0644));
    EXPECT_EQ(run_process({.program = (folder / "plain").native(), .arguments = {}}).error().kind, ErrorKind::Denied);
}

TEST(Process, ADeadlineKillsTheWholeGroup) {
    test::TempFolder folder;
    // The grandchild would write the file if it were left alive; it waits on a fifo that nobody opens.
    auto spec = shell("mkfifo fifo; (read x < fifo; echo alive > proof) & echo $! > pid; cat fifo");
    spec.folder = folder.path();
    spec.deadline = milliseconds{300};
    const auto error = run_process(spec).error();
    EXPECT_EQ(error.kind, ErrorKind::Unavailable);
    EXPECT_EQ(error.message, "/bin/sh did not finish within 300ms and was stopped");
    const auto pid = read_file(folder / "pid", 100);
    if (!pid) GTEST_SKIP() << "the machine was too slow to start the shell";
    // The signal was sent; the grandchild ends when the kernel next runs it.
    const Descriptor grandchild{static_cast<int>(::syscall(SYS_pidfd_open, std::stoi(pid.value()), 0))};
    if (!grandchild) return;  // gone already
    pollfd over{grandchild.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&over, 1, 180'000), 1) << "still alive";
    EXPECT_FALSE(read_file(folder / "proof", 100));
}

TEST(Process, BackgroundChildrenDoNotDelayTheAnswer) {
    auto spec = shell("tail -f /dev/null & echo $!");
    const auto end = run_process(spec).value();  // it still holds stdout
    EXPECT_TRUE(end.succeeded());
    ASSERT_FALSE(end.out.empty());
    ::kill(static_cast<pid_t>(std::stol(end.out)), SIGKILL);
}

TEST(Process, SaysWhichSignalEndedIt) {
    const auto end = run_process(shell("kill -TERM $$")).value();
    EXPECT_EQ(end.signal, SIGTERM);
    EXPECT_EQ(end.exit_code, 128 + SIGTERM);
}

TEST(Process, RunsInAFolderWithAnEnvironment) {
    test::TempFolder folder;
    auto spec = shell("pwd; echo \"$GREETING\"; echo \"${HOME-none}\"");
    spec.folder = folder.path();
    const Environment::Variables variables{{"GREETING", "hello"}};
    spec.environment = Environment{variables};
    EXPECT_EQ(run_process(spec).value().out, std::filesystem::canonical(folder.path()).native() + "\nhello\nnone\n");
    spec.folder = folder / "absent";
    EXPECT_EQ(run_process(spec).error().kind, ErrorKind::NotFound);
}

TEST(Process, ChildrenGetFreshSignals) {
    // A caller that ignores SIGPIPE must not hand that on: `yes | head` would never end.
    const auto before = std::signal(SIGPIPE, SIG_IGN);
    const auto end = run_process(shell("kill -PIPE $$; echo survived")).value();
    std::signal(SIGPIPE, before);
    EXPECT_EQ(end.signal, SIGPIPE);
    EXPECT_EQ(end.out, "");
}

}  // namespace
}  // namespace rhizome::runtime
