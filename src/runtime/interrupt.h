// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

namespace rhizome::runtime {

/// While one lives, Ctrl-C (SIGINT) and SIGTERM do not end the process: `asked()` becomes true, and whoever works comes
/// to an end that loses nothing. A second signal takes its usual effect, for those who cannot wait.
///
/// At most one at a time in a process; `asked()` may be called from any thread.
class Interrupt {
public:
    Interrupt();
    ~Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;

    [[nodiscard]] bool asked() const;

private:
    struct sigaction before_int_ {};
    struct sigaction before_term_ {};
};

}  // namespace rhizome::runtime
