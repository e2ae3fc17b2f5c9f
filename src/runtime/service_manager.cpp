// SPDX-License-Identifier: Apache-2.0
#include "runtime/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>

#include "runtime/descriptor.h"

namespace rhizome::runtime {
namespace {

/// A status is one line: whatever comes after a line break would be read as another message.
std::string one_line(std::string_view text) {
    std::string line{text};
    std::replace(line.begin(), line.end(), '\n', ' ');
    return line;
}

}  // namespace

ServiceManager::ServiceManager(const Environment& environment) {
    socket_ = environment.find_filled("NOTIFY_SOCKET").value_or("");
    // A path, or with @ a name that no file has. systemd knows other kinds for other machines, which are not ours.
    if (!socket_.empty() && socket_[0] != '/' && socket_[0] != '@') socket_.clear();
    const std::string text = environment.find_filled("WATCHDOG_USEC").value_or("");
    std::int64_t micros = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), micros);
    if (is_there() && error == std::errc{} && end == text.data() + text.size() && micros > 1)
        watchdog_ = microseconds{micros / 2};
}

void ServiceManager::ready(std::string_view status) const { tell("READY=1\nSTATUS=" + one_line(status)); }
void ServiceManager::status(std::string_view status) const { tell("STATUS=" + one_line(status)); }
void ServiceManager::stopping() const { tell("STOPPING=1\nSTATUS=stopping: what was taken goes to the disk"); }
void ServiceManager::alive() const { tell("WATCHDOG=1"); }

void ServiceManager::tell(std::string_view lines) const {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    if (!is_there() || socket_.size() >= sizeof to.sun_path) return;
    std::memcpy(to.sun_path, socket_.data(), socket_.size());
    if (to.sun_path[0] == '@') to.sun_path[0] = '\0';
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
    const Descriptor from{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    if (!from) return;
    // Nobody to tell, or nobody who listens: the node runs all the same.
    (void)::sendto(from.get(), lines.data(), lines.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                   reinterpret_cast<const sockaddr*>(&to), length);
}

}  // namespace rhizome::runtime
