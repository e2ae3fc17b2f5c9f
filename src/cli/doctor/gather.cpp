// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/gather.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "cli/doctor/probe.h"
#include "runtime/descriptor.h"
#include "runtime/files.h"

namespace rhizome::cli::doctor {
namespace {

namespace fs = std::filesystem;

/// A file of the kernel; empty when it cannot be read. The bound is far above the largest (modules.dep, under 1 MiB).
std::string read(const fs::path& path) { return runtime::read_file(path, 8u << 20).value_or(std::string{}); }

void gather_processor(Facts& facts) {
    utsname names{};
    if (::uname(&names) == 0) {
        facts.kernel = names.release;
        facts.machine = names.machine;
    }
    const auto info = read("/proc/cpuinfo");
    facts.sha_extensions = words_of(value_of_key(info, "flags")).contains("sha_ni") ||
                           words_of(value_of_key(info, "Features")).contains("sha2");
}

void gather_cgroups(Facts& facts) {
    const auto mountinfo = read("/proc/self/mountinfo");
    facts.cgroups = cgroups_from_mountinfo(mountinfo);
    facts.controllers = v1_controllers_from_mountinfo(mountinfo);
    for (const auto* file : {"/sys/fs/cgroup/cgroup.controllers", "/sys/fs/cgroup/unified/cgroup.controllers"}) {
        facts.controllers.merge(words_of(read(file)));
    }
}

void gather_overlayfs(Facts& facts) {
    // A module is loaded on the first mount, so one that lies ready counts.
    const fs::path modules = fs::path{"/lib/modules"} / facts.kernel;
    facts.overlayfs.worked = lists_filesystem(read("/proc/filesystems"), "overlay") ||
                             lists_module(read(modules / "modules.dep"), "overlay") ||
                             lists_module(read(modules / "modules.builtin"), "overlay");
    if (!facts.overlayfs.worked) facts.overlayfs.why = "not in the kernel";
}

void gather_network(Facts& facts) {
    auto probe = probe_network();
    facts.network_namespace = std::move(probe.network_namespace);
    facts.veth = std::move(probe.veth);
    facts.bridge = std::move(probe.bridge);
    facts.wireguard = std::move(probe.wireguard);
    facts.nftables = std::move(probe.nftables);
    const runtime::Descriptor tun{::open("/dev/net/tun", O_RDWR | O_CLOEXEC)};
    facts.tun.worked = static_cast<bool>(tun);
    if (!tun) facts.tun.why = "/dev/net/tun: " + std::generic_category().message(errno);
}

void gather_rights(Facts& facts) {
    facts.root = ::geteuid() == 0;
    const auto status = read("/proc/self/status");
    facts.capabilities = from_hex_number(value_of_key(status, "CapEff"));
    facts.seccomp = !value_of_key(status, "Seccomp").empty();
    // landlock_create_ruleset(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) gives the version of its interface.
    const auto version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, 1u);
    facts.landlock = version > 0 ? static_cast<int>(version) : 0;
}

void gather_limits(Facts& facts) {
    timex clock{};  // no modes set: only reads
    facts.clock_synchronised = ::adjtimex(&clock) != TIME_ERROR && (clock.status & STA_UNSYNC) == 0;
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
        facts.open_files_soft = files.rlim_cur;
        facts.open_files_hard = files.rlim_max;
    }
    unsigned char byte = 0;
    facts.entropy_ready = ::getrandom(&byte, sizeof byte, GRND_NONBLOCK) == sizeof byte;
}

void gather_disk(Facts& facts, const fs::path& data_folder) {
    facts.data_folder = data_folder.native();
    // The folder may not exist yet: its space is that of the nearest one above.
    std::error_code ignored;
    auto folder = data_folder;
    while (!fs::exists(folder, ignored) && folder.has_parent_path() && folder != folder.parent_path()) {
        folder = folder.parent_path();
    }
    struct statvfs about {};
    if (::statvfs(folder.empty() ? "." : folder.c_str(), &about) == 0) {
        facts.disk_free_bytes = static_cast<std::uint64_t>(about.f_bavail) * about.f_frsize;
    }
}

}  // namespace

Facts gather(const runtime::Environment& environment, const fs::path& data_folder) {
    Facts facts;
    gather_processor(facts);
    gather_cgroups(facts);
    gather_overlayfs(facts);
    gather_network(facts);
    gather_rights(facts);
    gather_limits(facts);
    gather_disk(facts, data_folder);
    for (const auto program : kPrograms) {
        if (auto path = environment.find_program(program)) facts.programs.emplace(program, path->native());
    }
    return facts;
}

}  // namespace rhizome::cli::doctor
