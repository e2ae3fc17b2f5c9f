// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

/// What can be found out about a host, as plain data: gathering fills it, judging reads it.
namespace rhizome::cli::doctor {

enum class Cgroups : unsigned char { None, V1, Hybrid, V2 };

/// What trying something said.
struct Attempt {
    bool worked = false;
    std::string why{};  ///< it did not: the system's reason
};

enum class Capability : unsigned char { NetAdmin = 12, SysAdmin = 21, SysResource = 24 };  // numbers of the kernel

struct Facts {
    std::string kernel{};   ///< `6.1.0-18-amd64`
    std::string machine{};  ///< `x86_64`
    bool sha_extensions = false;

    Cgroups cgroups = Cgroups::None;
    std::set<std::string> controllers{};  ///< `cpu`, `memory`, `pids` …

    Attempt overlayfs{};
    Attempt network_namespace{};
    Attempt veth{};
    Attempt bridge{};
    Attempt nftables{};
    Attempt wireguard{};  ///< in the kernel
    Attempt tun{};

    bool root = false;
    std::uint64_t capabilities = 0;  ///< effective ones, a bit each
    bool seccomp = false;
    int landlock = 0;  ///< version of its interface; 0 for none

    std::map<std::string, std::string, std::less<>> programs{};  ///< name → path, only those found

    bool clock_synchronised = false;
    std::uint64_t open_files_soft = 0;
    std::uint64_t open_files_hard = 0;
    std::string data_folder{};
    std::optional<std::uint64_t> disk_free_bytes{};
    bool entropy_ready = false;

    [[nodiscard]] bool can(Capability capability) const {
        return ((capabilities >> static_cast<unsigned>(capability)) & 1) != 0;
    }
    [[nodiscard]] bool has_program(std::string_view name) const { return programs.contains(name); }
};

/// The programs that a host may need; `gather` looks for exactly these.
inline constexpr std::string_view kPrograms[] = {"containerd", "crun", "etcd", "kubectl",
                                                 "mosquitto",  "nft",  "runc", "wireguard-go"};

// ---- reading what the kernel shows in /proc and /sys; any text gives an answer
// ----------------------------------------

/// From /proc/self/mountinfo: cgroup2 alone is V2, cgroup alone is V1, both are Hybrid.
Cgroups cgroups_from_mountinfo(std::string_view text);
/// Controllers of v1, from the same file: the options of its cgroup mounts.
std::set<std::string> v1_controllers_from_mountinfo(std::string_view text);
/// The words of a line, as in /sys/fs/cgroup/cgroup.controllers.
std::set<std::string> words_of(std::string_view text);
/// The value of a `Key:<blanks>value` line, as in /proc/self/status and /proc/cpuinfo; empty when there is none.
std::string value_of_key(std::string_view text, std::string_view key);
/// Is the name among the last words of the lines, as in /proc/filesystems (`nodev overlay`)?
bool lists_filesystem(std::string_view text, std::string_view name);
/// Is there a module of that name in modules.dep or modules.builtin (`kernel/fs/overlayfs/overlay.ko.xz: …`)?
bool lists_module(std::string_view text, std::string_view name);
/// Hexadecimal digits as a number; 0 for anything else.
std::uint64_t from_hex_number(std::string_view text);

}  // namespace rhizome::cli::doctor
