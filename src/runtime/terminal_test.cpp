// SPDX-License-Identifier: Apache-2.0
#include "runtime/terminal.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <thread>

#include "runtime/descriptor.h"

namespace rhizome::runtime {
namespace {

/// A pseudo terminal: the test is the person at `person`, the code under test opens `name`.
struct FakeTerminal {
    Descriptor person{::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)};
    std::string name;
    Descriptor kept;  ///< keeps the terminal alive between uses

    FakeTerminal() {
        if (::grantpt(person.get()) != 0 || ::unlockpt(person.get()) != 0) return;
        char buffer[128];
        if (::ptsname_r(person.get(), buffer, sizeof buffer) != 0) return;
        name = buffer;
        kept = Descriptor{::open(name.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC)};
    }

    bool usable() const { return static_cast<bool>(kept); }
    bool echoes() const {
        termios now{};
        EXPECT_EQ(::tcgetattr(kept.get(), &now), 0);
        return (now.c_lflag & ECHO) != 0;
    }
    /// Reads until the screen shows `text`; the time is for a hung test only.
    std::string wait_for(const std::string& text) {
        std::string seen;
        while (seen.find(text) == std::string::npos) {
            pollfd wait{person.get(), POLLIN, 0};
            if (::poll(&wait, 1, 180'000) <= 0) break;
            char buffer[256];
            const auto got = ::read(person.get(), buffer, sizeof buffer);
            if (got <= 0) break;
            seen.append(buffer, static_cast<std::size_t>(got));
        }
        return seen;
    }
    void type(std::string_view text) { EXPECT_EQ(::write(person.get(), text.data(), text.size()), std::ssize(text)); }
};

TEST(Terminal, PassphrasesAreNotEchoed) {
    FakeTerminal fake;
    if (!fake.usable()) GTEST_SKIP() << "no pseudo terminals here";
    std::string screen;
    std::thread person{[&] {
        screen = fake.wait_for("Passphrase: ");
        fake.type("correct horse\n");
    }};
    const auto answer = ask_passphrase("Passphrase: ", fake.name);
    person.join();
    EXPECT_EQ(as_text(answer.value().view()), "correct horse");
    EXPECT_TRUE(fake.echoes()) << "restored";
    screen += fake.wait_for("\n");
    EXPECT_EQ(screen.find("horse"), std::string::npos) << screen;
}

TEST(Terminal, AnEndOfInputIsNoPassphrase) {
    FakeTerminal fake;
    if (!fake.usable()) GTEST_SKIP() << "no pseudo terminals here";
    std::thread person{[&] {
        fake.wait_for("Passphrase: ");
        fake.type("\x04");
    }};
    const auto answer = ask_passphrase("Passphrase: ", fake.name);
    person.join();
    EXPECT_EQ(answer.error().kind, ErrorKind::Denied);
    EXPECT_TRUE(fake.echoes());
}

TEST(Terminal, ASignalEndsTheProcessOnlyAfterEchoIsBack) {
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
        FakeTerminal fake;
        if (!fake.usable()) GTEST_SKIP() << "no pseudo terminals here";
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            std::signal(number, SIG_DFL);
            (void)ask_passphrase("Passphrase: ", fake.name);
            ::_exit(0);
        }
        fake.wait_for("Passphrase: ");
        EXPECT_FALSE(fake.echoes());
        ::kill(child, number);
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFSIGNALED(status));
        EXPECT_EQ(WTERMSIG(status), number);
        EXPECT_TRUE(fake.echoes()) << "signal " << number;
    }
}

TEST(Terminal, AStoppedQuestionIsAskedAgain) {
    FakeTerminal fake;
    if (!fake.usable()) GTEST_SKIP() << "no pseudo terminals here";
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        // A group whose parent is in another group of the same session: the kernel refuses to stop orphaned ones.
        ::setpgid(0, 0);
        std::signal(SIGTSTP, SIG_DFL);
        const auto answer = ask_passphrase("Passphrase: ", fake.name);
        ::_exit(answer && as_text(answer.value().view()) == "again" ? 42 : 1);
    }
    fake.wait_for("Passphrase: ");
    ::kill(child, SIGTSTP);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
    ASSERT_TRUE(WIFSTOPPED(status)) << status;
    EXPECT_TRUE(fake.echoes()) << "the shell in between echoes";
    ::kill(child, SIGCONT);
    fake.wait_for("Passphrase: ");
    EXPECT_FALSE(fake.echoes());
    fake.type("again\n");
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 42);
}

TEST(Terminal, OnlyYesConfirms) {
    const std::pair<const char*, bool> rows[] = {{"y\n", true},  {"yes\n", true}, {"Y\n", true},     {"\n", false},
                                                 {"n\n", false}, {"no\n", false}, {"maybe\n", false}};
    for (const auto& [typed, expected] : rows) {
        FakeTerminal fake;
        if (!fake.usable()) GTEST_SKIP() << "no pseudo terminals here";
        std::thread person{[&] {
            fake.wait_for("Delete it? [y/N] ");
            fake.type(typed);
        }};
        const auto answer = confirm("Delete it?", fake.name);
        person.join();
        EXPECT_EQ(answer.value(), expected) << typed;
    }
}

TEST(Terminal, WithoutATerminalNobodyIsAsked) {
    const auto answer = ask_passphrase("Passphrase: ", "/dev/null");
    EXPECT_EQ(answer.error().kind, ErrorKind::Usage);
    EXPECT_NE(answer.error().message.find("there is no terminal"), std::string::npos);
    EXPECT_EQ(confirm("Sure?", "/no/such/terminal").error().kind, ErrorKind::Usage);
}

TEST(Terminal, ColourAndWidthNeedATerminal) {
    FakeTerminal fake;
    if (!fake.usable()) GTEST_SKIP() << "no pseudo terminals here";
    const int terminal = fake.kept.get();
    const Descriptor file{::open("/dev/null", O_WRONLY | O_CLOEXEC)};
    EXPECT_TRUE(is_terminal(terminal));
    EXPECT_FALSE(is_terminal(file.get()));
    EXPECT_EQ(terminal_width(file.get()), std::nullopt);
    const winsize size{.ws_row = 40, .ws_col = 132, .ws_xpixel = 0, .ws_ypixel = 0};
    ASSERT_EQ(::ioctl(terminal, TIOCSWINSZ, &size), 0);
    EXPECT_EQ(terminal_width(terminal), 132u);

    using Variables = Environment::Variables;
    const Variables xterm{{"TERM", "xterm"}};
    const Variables dumb{{"TERM", "dumb"}};
    const Variables no_colour{{"TERM", "xterm"}, {"NO_COLOR", "1"}};
    const Variables empty_no_colour{{"TERM", "xterm"}, {"NO_COLOR", ""}};
    EXPECT_TRUE(wants_colour(terminal, Environment{xterm}));
    EXPECT_FALSE(wants_colour(file.get(), Environment{xterm}));
    EXPECT_FALSE(wants_colour(terminal, Environment{dumb}));
    EXPECT_FALSE(wants_colour(terminal, Environment{}));
    EXPECT_FALSE(wants_colour(terminal, Environment{no_colour}));
    EXPECT_TRUE(wants_colour(terminal, Environment{empty_no_colour}));
}

}  // namespace
}  // namespace rhizome::runtime
