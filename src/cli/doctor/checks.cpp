// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/checks.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/core.h>

#include "base/ensure.h"
#include "cli/text.h"

namespace rhizome::cli::doctor {
namespace {

enum class State : unsigned char { Good, Weak, Absent };
enum class Need : unsigned char { None, Useful, Required };

/// What one check says before anybody asked about roles.
struct Verdict {
    State state = State::Good;
    std::string found{};
    std::string advice{};
};

struct Rule {
    std::string_view id;
    std::string_view title;
    std::string_view needed_for;
    std::array<Need, 4> needs;  ///< by role: member, agent, edge, developer
    Verdict (*judge)(const Facts&);
};

constexpr std::uint64_t kGiB = 1ull << 30;
constexpr std::array kAll{Need::Required, Need::Required, Need::Required, Need::Required};
constexpr std::array kAllUseful{Need::Useful, Need::Useful, Need::Useful, Need::Useful};
constexpr std::array kPods{Need::None, Need::Required, Need::None, Need::None};
constexpr std::array kPodsUseful{Need::None, Need::Useful, Need::None, Need::None};
constexpr std::array kTunnels{Need::None, Need::Useful, Need::Useful, Need::None};
constexpr std::array kDevices{Need::None, Need::None, Need::Useful, Need::None};
constexpr std::array kMeasuring{Need::None, Need::None, Need::None, Need::Useful};

struct Version {
    unsigned major = 0;
    unsigned minor = 0;
    friend auto operator<=>(const Version&, const Version&) = default;
};

/// The first two numbers of `6.1.0-18-amd64`; zeros when there are none.
Version version_of(std::string_view text) {
    Version version;
    const auto* end = text.data() + text.size();
    const auto [dot, problem] = std::from_chars(text.data(), end, version.major);
    if (problem == std::errc{} && dot != end && *dot == '.') std::from_chars(dot + 1, end, version.minor);
    return version;
}

std::string apt(std::string_view package) { return fmt::format("apt install {}", package); }

Verdict kernel(const Facts& facts) {
    constexpr Version kOldest{5,
                              4};  // pidfd_open, which watches processes, came with 5.3; 5.4 is the first LTS with it
    constexpr Version kWanted{5, 10};
    const auto version = version_of(facts.kernel);
    if (version >= kWanted) return {State::Good, facts.kernel};
    if (version >= kOldest) return {State::Weak, facts.kernel, "upgrade to kernel 5.10 or later"};
    return {State::Absent, facts.kernel.empty() ? "unknown" : facts.kernel,
            "upgrade to kernel 5.10 or later (Debian 11 has it)"};
}

Verdict processor(const Facts& facts) {
    if (facts.machine != "x86_64" && facts.machine != "aarch64") {
        return {State::Weak, facts.machine, "rhizome is tested on x86_64 and aarch64 only"};
    }
    if (facts.sha_extensions) return {State::Good, facts.machine + ", SHA instructions"};
    return {State::Weak, facts.machine + ", no SHA instructions",
            "nothing to do: hashing works, about five times slower; on a virtual machine pass the host's CPU model "
            "through"};
}

Verdict entropy(const Facts& facts) {
    if (facts.entropy_ready) return {State::Good, "seeded"};
    return {State::Absent, "not seeded yet", "wait a minute after boot; on a virtual machine add a virtio-rng device"};
}

Verdict clock(const Facts& facts) {
    if (facts.clock_synchronised) return {State::Good, "synchronised"};
    return {State::Weak, "not synchronised", apt("chrony") + ", or turn on another NTP service"};
}

Verdict open_files(const Facts& facts) {
    constexpr std::uint64_t kWanted = 65'536;
    constexpr std::uint64_t kLeast = 1'024;
    const auto limit = [](std::uint64_t count) {
        return count == ~0ull ? std::string{"unlimited"} : fmt::format("{}", count);
    };
    const auto found =
        fmt::format("{} (can be raised to {})", limit(facts.open_files_soft), limit(facts.open_files_hard));
    if (facts.open_files_hard >= kWanted) return {State::Good, found};
    const auto advice = "set LimitNOFILE=65536 in the service, or raise 'ulimit -Hn'";
    return {facts.open_files_hard >= kLeast ? State::Weak : State::Absent, found, advice};
}

Verdict disk(const Facts& facts) {
    const auto place = fmt::format("free for {}", facts.data_folder);
    if (!facts.disk_free_bytes) {
        return {State::Weak, "unknown " + place, "check that the folder's file system can be read"};
    }
    const auto tenths = *facts.disk_free_bytes / (kGiB / 10);
    const auto found = fmt::format("{}.{} GiB {}", tenths / 10, tenths % 10, place);
    const auto advice = "free some space, or name a folder on a larger disk with --data-dir";
    if (*facts.disk_free_bytes >= 10 * kGiB) return {State::Good, found};
    return {*facts.disk_free_bytes >= kGiB ? State::Weak : State::Absent, found, advice};
}

Verdict rights(const Facts& facts) {
    if (facts.root && facts.can(Capability::NetAdmin) && facts.can(Capability::SysAdmin)) {
        if (facts.can(Capability::SysResource)) return {State::Good, "root"};
        return {State::Weak, "root without CAP_SYS_RESOURCE",
                "pods cannot be protected from the OOM killer; add the capability to the container or service"};
    }
    std::vector<std::string> absent;
    if (!facts.can(Capability::NetAdmin)) absent.emplace_back("CAP_NET_ADMIN");
    if (!facts.can(Capability::SysAdmin)) absent.emplace_back("CAP_SYS_ADMIN");
    if (absent.empty()) return {State::Good, "CAP_NET_ADMIN and CAP_SYS_ADMIN"};
    return {State::Absent, (facts.root ? "root without " : "without ") + join(absent, " and "),
            facts.root ? "add the capabilities to the container or service this runs in"
                       : "run as root (sudo rhizome doctor), or give the service these capabilities"};
}

Verdict cgroups(const Facts& facts) {
    std::vector<std::string> absent;
    for (const auto* controller : {"cpu", "memory", "pids"}) {
        if (!facts.controllers.contains(controller)) absent.emplace_back(controller);
    }
    const std::string_view kind = facts.cgroups == Cgroups::V2       ? "v2"
                                  : facts.cgroups == Cgroups::Hybrid ? "v1 and v2 (hybrid)"
                                  : facts.cgroups == Cgroups::V1     ? "v1"
                                                                     : "none";
    if (facts.cgroups == Cgroups::None) {
        return {State::Absent, "none mounted", "mount -t cgroup2 none /sys/fs/cgroup (systemd does it at boot)"};
    }
    if (!absent.empty()) {
        return {State::Absent, fmt::format("{} without {}", kind, join(absent, ", ")),
                "boot with cgroup_enable=memory, and delegate the controllers to this container or service"};
    }
    if (facts.cgroups == Cgroups::V2) return {State::Good, std::string{kind}};
    return {State::Weak, std::string{kind},
            "works with runc; for cgroups v2 alone boot with systemd.unified_cgroup_hierarchy=1"};
}

Verdict attempt(const Attempt& tried, std::string found, std::string advice) {
    if (tried.worked) return {State::Good, std::move(found)};
    return {State::Absent, tried.why.empty() ? "absent" : tried.why, std::move(advice)};
}

Verdict overlayfs(const Facts& facts) {
    return attempt(facts.overlayfs, "available", "modprobe overlay, or use a kernel with CONFIG_OVERLAY_FS");
}
Verdict network_namespaces(const Facts& facts) {
    return attempt(facts.network_namespace, "can be made",
                   "run as root; in a container allow unshare (CAP_SYS_ADMIN and a seccomp profile that lets it pass)");
}
Verdict veth(const Facts& facts) {
    return attempt(facts.veth, "available", "modprobe veth, or use a kernel with CONFIG_VETH");
}
Verdict bridge(const Facts& facts) {
    return attempt(facts.bridge, "available", "modprobe bridge, or use a kernel with CONFIG_BRIDGE");
}
Verdict nftables(const Facts& facts) {
    return attempt(facts.nftables, "available", "modprobe nf_tables, or use a kernel with CONFIG_NF_TABLES");
}

Verdict wireguard(const Facts& facts) {
    if (facts.wireguard.worked) return {State::Good, "in the kernel"};
    if (facts.has_program("wireguard-go") && facts.tun.worked) {
        return {State::Weak, "wireguard-go, not in the kernel", "modprobe wireguard makes it about ten times faster"};
    }
    if (facts.tun.worked) return {State::Absent, "not in the kernel", "modprobe wireguard, or " + apt("wireguard-go")};
    return {State::Absent, "neither in the kernel nor /dev/net/tun",
            "modprobe wireguard; or modprobe tun and " + apt("wireguard-go")};
}

Verdict tun(const Facts& facts) {
    // Only wireguard-go needs it.
    if (facts.wireguard.worked && !facts.tun.worked)
        return {State::Good, "absent, not needed: WireGuard is in the kernel"};
    return attempt(facts.tun, "/dev/net/tun", "modprobe tun; in a container pass /dev/net/tun through");
}

Verdict seccomp(const Facts& facts) {
    if (facts.seccomp) return {State::Good, "available"};
    return {State::Absent, "absent", "use a kernel with CONFIG_SECCOMP_FILTER"};
}

Verdict landlock(const Facts& facts) {
    if (facts.landlock > 0) return {State::Good, fmt::format("version {}", facts.landlock)};
    return {State::Absent, "absent", "use kernel 5.13 or later and boot with lsm=landlock,..."};
}

Verdict program(const Facts& facts, std::string_view name, std::string_view package) {
    const auto found = facts.programs.find(name);
    if (found != facts.programs.end()) return {State::Good, found->second};
    return {State::Absent, "not installed", apt(package)};
}

Verdict runc(const Facts& facts) {
    auto verdict = program(facts, "runc", "runc");
    // crun does the same work, but only where it is willing to.
    if (verdict.state == State::Absent && facts.has_program("crun")) {
        verdict.found =
            facts.cgroups == Cgroups::V2 ? "only crun, which is not tested" : "only crun, which refuses these cgroups";
    }
    return verdict;
}
Verdict containerd(const Facts& facts) { return program(facts, "containerd", "containerd"); }
Verdict nft(const Facts& facts) { return program(facts, "nft", "nftables"); }
Verdict kubectl(const Facts& facts) { return program(facts, "kubectl", "kubernetes-client"); }
Verdict mosquitto(const Facts& facts) { return program(facts, "mosquitto", "mosquitto"); }
Verdict etcd(const Facts& facts) { return program(facts, "etcd", "etcd-server"); }

constexpr Rule kRules[] = {
    {"kernel", "kernel", "everything", kAll, kernel},
    {"processor", "processor", "fast hashing of blocks and state", kAllUseful, processor},
    {"entropy", "entropy", "keys that cannot be guessed", kAll, entropy},
    {"clock", "clock", "blocks and certificates with a true time", kAllUseful, clock},
    {"open-files",
     "open files",
     "many peers and watches",
     {Need::Required, Need::Useful, Need::Useful, Need::None},
     open_files},
    {"disk", "disk space", "the ledger and images", {Need::Required, Need::Required, Need::Useful, Need::Useful}, disk},
    {"rights", "rights", "networks and mounts of pods", kPods, rights},
    {"cgroups", "cgroups", "limits of pods", kPods, cgroups},
    {"overlayfs", "overlayfs", "image layers", kPods, overlayfs},
    {"network-namespaces", "network namespaces", "pods with their own addresses", kPods, network_namespaces},
    {"veth", "veth", "connecting pods", kPods, veth},
    {"bridge", "bridge", "connecting pods", kPods, bridge},
    {"nftables", "nftables", "Services and NetworkPolicies", kPods, nftables},
    {"wireguard", "WireGuard", "encrypted networks between hosts", kTunnels, wireguard},
    {"tun", "TUN device", "wireguard-go", kTunnels, tun},
    {"seccomp", "seccomp", "filtering system calls of pods", kPodsUseful, seccomp},
    {"landlock", "Landlock", "confining rhizome itself", kAllUseful, landlock},
    {"runc", "runc", "running containers", kPods, runc},
    {"containerd", "containerd", "the second container driver (CRI)", kPodsUseful, containerd},
    {"nft", "nft", "looking at packet rules by hand", kPodsUseful, nft},
    {"kubectl", "kubectl", "using the cluster from this host", kAllUseful, kubectl},
    {"mosquitto", "mosquitto", "an MQTT broker for devices", kDevices, mosquitto},
    {"etcd", "etcd", "benchmarks that compare with it", kMeasuring, etcd},
};

Need need_of(const Rule& rule, Role role) { return rule.needs[static_cast<std::size_t>(role)]; }

}  // namespace

std::string_view name(Role role) {
    switch (role) {
        case Role::Member: return "member";
        case Role::Agent: return "agent";
        case Role::Edge: return "edge";
        case Role::Developer: return "developer";
    }
    unreachable("every role has a name");
}

std::string_view name(Status status) {
    switch (status) {
        case Status::Ok: return "ok";
        case Status::Warn: return "warn";
        case Status::Missing: return "missing";
    }
    unreachable("every status has a name");
}

std::vector<Check> judge(const Facts& facts, const std::vector<Role>& roles) {
    std::vector<Check> checks;
    for (const auto& rule : kRules) {
        bool matters = false;
        std::vector<Role> required_by;
        for (const auto role : roles) {
            matters = matters || need_of(rule, role) != Need::None;
            if (need_of(rule, role) == Need::Required) required_by.push_back(role);
        }
        if (!matters) continue;
        auto verdict = rule.judge(facts);
        const auto status = verdict.state == State::Good                             ? Status::Ok
                            : verdict.state == State::Absent && !required_by.empty() ? Status::Missing
                                                                                     : Status::Warn;
        checks.push_back({.id = std::string{rule.id},
                          .title = std::string{rule.title},
                          .status = status,
                          .found = std::move(verdict.found),
                          .needed_for = std::string{rule.needed_for},
                          .advice = std::move(verdict.advice),
                          .required_by = std::move(required_by)});
    }
    return checks;
}

Summary summarise(const std::vector<Check>& checks, const std::vector<Role>& roles) {
    Summary summary;
    for (const auto& check : checks) {
        ++(check.status == Status::Ok ? summary.ok : check.status == Status::Warn ? summary.warn : summary.missing);
    }
    for (const auto role : roles) {
        const bool unfit = std::any_of(checks.begin(), checks.end(), [&](const Check& check) {
            return check.status == Status::Missing &&
                   std::find(check.required_by.begin(), check.required_by.end(), role) != check.required_by.end();
        });
        (unfit ? summary.unfit_for : summary.fit_for).push_back(role);
    }
    return summary;
}

}  // namespace rhizome::cli::doctor
