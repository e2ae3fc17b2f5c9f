// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "runtime/environment.h"

namespace rhizome::runtime {

/// Tells the service manager that started this process how it is: systemd's notify protocol (sd_notify(3)), one
/// datagram to the socket that NOTIFY_SOCKET names. Without that variable nothing happens, so callers need not ask.
class ServiceManager {
public:
    explicit ServiceManager(const Environment& environment);

    /// Somebody listens.
    [[nodiscard]] bool is_there() const { return !socket_.empty(); }
    /// `READY=1`, with what it is doing for `systemctl status`.
    void ready(std::string_view status) const;
    void status(std::string_view status) const;
    void stopping() const;
    /// How often it wants to be told that all is well (half of WATCHDOG_USEC, as the manual advises); nothing: never.
    [[nodiscard]] std::optional<microseconds> watchdog() const { return watchdog_; }
    void alive() const;

private:
    void tell(std::string_view lines) const;

    std::string socket_{};
    std::optional<microseconds> watchdog_{};
};

}  // namespace rhizome::runtime
