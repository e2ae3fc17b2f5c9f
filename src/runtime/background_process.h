// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "runtime/descriptor.h"
#include "runtime/environment.h"

/// Processes that go on when whoever started them has ended, and that are found again later by others: `rhizome up
/// --detach`, the playground. (`process.h` is for programs that are waited for.)
namespace rhizome::runtime {

/// One process, so that no stranger is ever taken for it: the system uses a number again, but not with the same start.
struct ProcessId {
    pid_t pid = 0;
    std::uint64_t started = 0;  ///< clock ticks from the machine's start to its own (/proc/PID/stat)

    friend bool operator==(const ProcessId&, const ProcessId&) = default;
};

struct BackgroundSpec {
    std::string program;                 ///< a path
    std::vector<std::string> arguments;  ///< without the program's own name
    std::string shown_as = "rhizome";    ///< its own name, for `ps`
    std::optional<Environment> environment{};
    std::filesystem::path output{};  ///< takes stdout and stderr, made anew with mode 0600; empty: they go nowhere
    int network = -1;                ///< a network namespace to live in; -1: ours
    std::vector<int> kept{};         ///< descriptors of ours that it has too, under the same numbers
    /// Killed when the thread that started it ends, however that comes: for tests and benchmarks.
    bool ends_with_starter = false;
};

/// A process that has its number but is not yet the program. Whoever keeps a record of what it started writes the
/// number down first and then says `begin`; a starter that dies before leaves nothing: the process ends with it.
class HeldProcess {
public:
    [[nodiscard]] const ProcessId& id() const { return id_; }
    /// It becomes the program. An error when that cannot be run; then there is no process any more.
    Result<void> begin();

private:
    friend Result<HeldProcess> hold_process(const BackgroundSpec& spec);
    HeldProcess(ProcessId id, std::string program, Descriptor gate, Descriptor failure)
        : id_(id), program_(std::move(program)), gate_(std::move(gate)), failure_(std::move(failure)) {}
    ProcessId id_;
    std::string program_;
    Descriptor gate_;
    Descriptor failure_;
};
/// In a session of its own, with signals as a fresh program expects them and nothing on stdin.
Result<HeldProcess> hold_process(const BackgroundSpec& spec);

/// The process that has this number now; nothing when none has.
std::optional<ProcessId> find_process(pid_t pid);
/// Whether it has not ended. One that is a child of ours is collected when it has.
bool is_running(const ProcessId& process);
/// NotFound when it has ended; nobody else gets the signal, whatever happens meanwhile.
Result<void> send_signal(const ProcessId& process, int signal);
/// Whether it ended within the time.
bool wait_for_end(const ProcessId& process, milliseconds most);

}  // namespace rhizome::runtime
