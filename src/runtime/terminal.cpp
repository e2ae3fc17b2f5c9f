// SPDX-License-Identifier: Apache-2.0
#include "runtime/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include <fmt/core.h>

#include "runtime/descriptor.h"
#include "runtime/os_error.h"

namespace rhizome::runtime {
namespace {

/// As much as the kernel's line editing gives in one line, and a buffer that never grows.
constexpr std::size_t kLineBytesMax = 4096;

/// Holds back the signals that would end or stop the process, so that they arrive as data while the terminal is
/// changed.
class HeldSignals {
public:
    HeldSignals() {
        ::sigemptyset(&held_);
        for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGALRM}) ::sigaddset(&held_, number);
        ::pthread_sigmask(SIG_BLOCK, &held_, &before_);
        arrived_ = Descriptor{::signalfd(-1, &held_, SFD_CLOEXEC | SFD_NONBLOCK)};
    }
    HeldSignals(const HeldSignals&) = delete;
    HeldSignals& operator=(const HeldSignals&) = delete;
    ~HeldSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

    [[nodiscard]] int descriptor() const { return arrived_.get(); }

    /// The signal that arrived, 0 for none.
    int take() {
        signalfd_siginfo info{};
        return ::read(arrived_.get(), &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
    }

    /// Lets the signal have its usual effect, which often is the end of the process.
    void deliver(int number) {
        ::raise(number);
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);  // here it takes effect
        ::pthread_sigmask(SIG_BLOCK, &held_, nullptr);
    }

private:
    sigset_t held_{};
    sigset_t before_{};
    Descriptor arrived_;
};

/// Turns the terminal's echo off while it lives, except for the newline.
class Silence {
public:
    Silence(int terminal, bool wanted) : terminal_(terminal) {
        if (!wanted || ::tcgetattr(terminal, &before_) != 0) return;
        auto quiet = before_;
        quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO | ECHOE | ECHOK);
        quiet.c_lflag |= ICANON | ECHONL;
        changed_ = ::tcsetattr(terminal, TCSAFLUSH, &quiet) == 0;
    }
    Silence(const Silence&) = delete;
    Silence& operator=(const Silence&) = delete;
    ~Silence() {
        if (changed_) ::tcsetattr(terminal_, TCSADRAIN, &before_);
    }

private:
    int terminal_;
    termios before_{};
    bool changed_ = false;
};

void say(int terminal, std::string_view text) {
    while (!text.empty()) {
        const auto wrote = ::write(terminal, text.data(), text.size());
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return;  // the read that follows will tell
        text.remove_prefix(static_cast<std::size_t>(wrote));
    }
}

struct Heard {
    std::size_t bytes = 0;
    int signal = 0;   ///< one came instead of a line
    int problem = 0;  ///< errno
};

/// Waits for one line or a signal.
Heard listen(int terminal, HeldSignals& signals, std::span<std::uint8_t> line) {
    for (;;) {
        std::array<pollfd, 2> waits{pollfd{terminal, POLLIN, 0}, pollfd{signals.descriptor(), POLLIN, 0}};
        if (::poll(waits.data(), waits.size(), -1) < 0) {
            if (errno == EINTR) continue;
            return {.problem = errno};
        }
        if (const int number = signals.take(); number != 0) return {.signal = number};
        if (waits[0].revents == 0) continue;
        const auto got = ::read(terminal, line.data(), line.size());
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got < 0) return {.problem = errno};
        return {.bytes = static_cast<std::size_t>(got)};
    }
}

/// One line without its newline.
Result<SecretBytes> ask_line(std::string_view prompt, const std::filesystem::path& path, bool echo) {
    const Descriptor terminal{::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY)};
    if (!terminal || !is_terminal(terminal.get())) {
        return fail(ErrorKind::Usage,
                    fmt::format("cannot ask \"{}\": there is no terminal ({}); run this in a terminal, "
                                "or use an option that answers it",
                                prompt, path.native()));
    }
    SecretBytes line{kLineBytesMax};
    HeldSignals signals;
    for (;;) {
        Heard heard;
        {
            const Silence silence{terminal.get(), !echo};
            say(terminal.get(), prompt);
            heard = listen(terminal.get(), signals, line.writable());
        }  // echo is back before a signal can stop us
        if (heard.problem != 0) return Fail{os_error("read from the terminal", heard.problem)};
        if (heard.signal != 0) {
            say(terminal.get(), "\n");
            signals.deliver(heard.signal);
            if (heard.signal == SIGTSTP) continue;  // stopped and resumed: ask again
            return fail(ErrorKind::Denied, "interrupted while asking");
        }
        if (heard.bytes == 0) {
            say(terminal.get(), "\n");
            return fail(ErrorKind::Denied, fmt::format("no answer to \"{}\"", prompt));
        }
        auto answer = line.view().first(heard.bytes);
        while (!answer.empty() && (answer.back() == '\n' || answer.back() == '\r'))
            answer = answer.first(answer.size() - 1);
        return SecretBytes{answer};
    }
}

}  // namespace

bool is_terminal(int descriptor) { return ::isatty(descriptor) == 1; }

std::optional<unsigned> terminal_width(int descriptor) {
    winsize size{};
    if (!is_terminal(descriptor) || ::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return {};
    return size.ws_col;
}

bool wants_colour(int descriptor, const Environment& environment) {
    if (environment.find_filled("NO_COLOR")) return false;
    return is_terminal(descriptor) && environment.find_filled("TERM").value_or("dumb") != "dumb";
}

Result<SecretBytes> ask_passphrase(std::string_view prompt, const std::filesystem::path& terminal) {
    return ask_line(prompt, terminal, false);
}

Result<bool> confirm(std::string_view prompt, const std::filesystem::path& terminal) {
    TRY(const auto line, ask_line(fmt::format("{} [y/N] ", prompt), terminal, true));
    const auto answer = as_text(line.view());
    return answer == "y" || answer == "Y" || answer == "yes" || answer == "Yes" || answer == "YES";
}

}  // namespace rhizome::runtime
