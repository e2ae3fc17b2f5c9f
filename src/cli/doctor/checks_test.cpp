// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/checks.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/yaml.h"
#include "cli/doctor/report.h"
#include "support/golden.h"

namespace rhizome::cli::doctor {
namespace {

const std::vector<Role> kAllRoles{std::begin(kRoles), std::end(kRoles)};

/// A host that has everything.
Facts good_host() {
    Facts facts;
    facts.kernel = "6.1.0-18-amd64";
    facts.machine = "x86_64";
    facts.sha_extensions = true;
    facts.cgroups = Cgroups::V2;
    facts.controllers = {"cpu", "memory", "pids", "io"};
    for (auto* attempt : {&facts.overlayfs, &facts.network_namespace, &facts.veth, &facts.bridge, &facts.nftables,
                          &facts.wireguard, &facts.tun}) {
        attempt->worked = true;
    }
    facts.root = true;
    facts.capabilities = 0x1ffffffffff;
    facts.seccomp = true;
    facts.landlock = 2;
    for (const auto program : kPrograms) facts.programs.emplace(program, fmt::format("/usr/bin/{}", program));
    facts.clock_synchronised = true;
    facts.open_files_soft = 1024;
    facts.open_files_hard = 524'288;
    facts.data_folder = "/var/lib/rhizome";
    facts.disk_free_bytes = 80ull << 30;
    facts.entropy_ready = true;
    return facts;
}

const Check& find(const std::vector<Check>& checks, std::string_view id) {
    for (const auto& check : checks) {
        if (check.id == id) return check;
    }
    ADD_FAILURE() << "no check named " << id;
    static const Check none;
    return none;
}

TEST(DoctorChecks, AGoodHostHasNothingToDo) {
    const auto checks = judge(good_host(), kAllRoles);
    for (const auto& check : checks) {
        EXPECT_EQ(check.status, Status::Ok) << check.id;
        EXPECT_EQ(check.advice, "") << check.id;
        EXPECT_NE(check.found, "") << check.id;
        EXPECT_NE(check.needed_for, "") << check.id;
    }
    const auto summary = summarise(checks, kAllRoles);
    EXPECT_EQ(summary.ok, checks.size());
    EXPECT_EQ(summary.fit_for, kAllRoles);
}

TEST(DoctorChecks, AnUnknownHostFailsEverythingRequiredAndAdvisesAlways) {
    const auto checks = judge(Facts{}, kAllRoles);
    for (const auto& check : checks) {
        EXPECT_NE(check.status, Status::Ok) << check.id;
        EXPECT_NE(check.advice, "") << check.id;
    }
    const auto summary = summarise(checks, kAllRoles);
    EXPECT_EQ(summary.ok, 0u);
    EXPECT_EQ(summary.unfit_for, kAllRoles);
}

TEST(DoctorChecks, EachFactHasItsVerdict) {
    using enum Status;
    struct Row {
        const char* name;
        std::function<void(Facts&)> change;
        const char* id;
        Status status;
        const char* found;
        const char* advice;  ///< a part of it
    };
    const Row rows[] = {
        {"old kernel", [](Facts& f) { f.kernel = "4.19.0-26-amd64"; }, "kernel", Missing, "4.19.0-26-amd64", "5.10"},
        {"oldish kernel", [](Facts& f) { f.kernel = "5.4.0"; }, "kernel", Warn, "5.4.0", "5.10"},
        {"wanted kernel", [](Facts& f) { f.kernel = "5.10.0"; }, "kernel", Ok, "5.10.0", ""},
        {"next century's kernel", [](Facts& f) { f.kernel = "10.0"; }, "kernel", Ok, "10.0", ""},
        {"nonsense kernel", [](Facts& f) { f.kernel = "x"; }, "kernel", Missing, "x", "5.10"},
        {"no SHA", [](Facts& f) { f.sha_extensions = false; }, "processor", Warn, "x86_64, no SHA instructions",
         "slower"},
        {"other processor", [](Facts& f) { f.machine = "riscv64"; }, "processor", Warn, "riscv64", "tested"},
        {"clock off", [](Facts& f) { f.clock_synchronised = false; }, "clock", Warn, "not synchronised",
         "apt install chrony"},
        {"few files", [](Facts& f) { f.open_files_hard = 4096; }, "open-files", Warn, "1024 (can be raised to 4096)",
         "LimitNOFILE"},
        {"far too few files", [](Facts& f) { f.open_files_hard = f.open_files_soft = 256; }, "open-files", Missing,
         "256", "LimitNOFILE"},
        {"files without limit", [](Facts& f) { f.open_files_hard = ~0ull; }, "open-files", Ok,
         "1024 (can be raised to unlimited)", ""},
        {"little room", [](Facts& f) { f.disk_free_bytes = 5'500ull << 20; }, "disk", Warn,
         "5.3 GiB free for /var/lib/rhizome", "--data-dir"},
        {"no room", [](Facts& f) { f.disk_free_bytes = 1u << 20; }, "disk", Missing,
         "0.0 GiB free for /var/lib/rhizome", "--data-dir"},
        {"user", [](Facts& f) { f.root = false, f.capabilities = 0; }, "rights", Missing,
         "without CAP_NET_ADMIN and CAP_SYS_ADMIN", "sudo"},
        {"service user with capabilities", [](Facts& f) { f.root = false, f.capabilities = 1u << 12 | 1u << 21; },
         "rights", Ok, "CAP_NET_ADMIN and CAP_SYS_ADMIN", ""},
        {"root in a container", [](Facts& f) { f.capabilities = 1u << 12; }, "rights", Missing,
         "root without CAP_SYS_ADMIN", "container"},
        {"root without resources", [](Facts& f) { f.capabilities = 1u << 12 | 1u << 21; }, "rights", Warn,
         "root without CAP_SYS_RESOURCE", "OOM"},
        {"hybrid", [](Facts& f) { f.cgroups = Cgroups::Hybrid; }, "cgroups", Warn, "v1 and v2 (hybrid)", "runc"},
        {"v1", [](Facts& f) { f.cgroups = Cgroups::V1; }, "cgroups", Warn, "v1", "unified_cgroup_hierarchy"},
        {"no memory controller", [](Facts& f) { f.controllers.erase("memory"); }, "cgroups", Missing,
         "v2 without memory", "cgroup_enable=memory"},
        {"no cgroups", [](Facts& f) { f.cgroups = Cgroups::None; }, "cgroups", Missing, "none mounted",
         "mount -t cgroup2"},
        {"no veth",
         [](Facts& f) {
             f.veth = {false, "not in the kernel"};
         },
         "veth", Missing, "not in the kernel", "modprobe veth"},
        {"wireguard-go", [](Facts& f) { f.wireguard = {}; }, "wireguard", Warn, "wireguard-go, not in the kernel",
         "modprobe wireguard"},
        {"no wireguard", [](Facts& f) { f.wireguard = {}, f.programs.erase("wireguard-go"); }, "wireguard", Warn,
         "not in the kernel", "apt install wireguard-go"},
        {"neither wireguard nor tun", [](Facts& f) { f.wireguard = {}, f.tun = {}; }, "wireguard", Warn,
         "neither in the kernel nor /dev/net/tun", "modprobe tun"},
        {"tun is not needed", [](Facts& f) { f.tun = {}; }, "tun", Ok, "absent, not needed: WireGuard is in the kernel",
         ""},
        {"no runc", [](Facts& f) { f.programs.erase("runc"), f.programs.erase("crun"); }, "runc", Missing,
         "not installed", "apt install runc"},
        {"crun on hybrid cgroups", [](Facts& f) { f.programs.erase("runc"), f.cgroups = Cgroups::Hybrid; }, "runc",
         Missing, "only crun, which refuses these cgroups", "apt install runc"},
        {"no kubectl", [](Facts& f) { f.programs.erase("kubectl"); }, "kubectl", Warn, "not installed",
         "apt install kubernetes-client"},
        {"no landlock", [](Facts& f) { f.landlock = 0; }, "landlock", Warn, "absent", "5.13"},
    };
    for (const auto& row : rows) {
        auto facts = good_host();
        row.change(facts);
        const auto checks = judge(facts, kAllRoles);
        const auto& check = find(checks, row.id);
        EXPECT_EQ(name(check.status), name(row.status)) << row.name;
        EXPECT_EQ(check.found, row.found) << row.name;
        EXPECT_NE(check.advice.find(row.advice), std::string::npos) << row.name << ": " << check.advice;
        EXPECT_EQ(check.advice.empty(), row.status == Ok) << row.name;
    }
}

TEST(DoctorChecks, RolesDecideWhatMatters) {
    auto facts = good_host();
    facts.programs.erase("runc");
    facts.programs.erase("crun");
    const auto member = judge(facts, {Role::Member});
    EXPECT_TRUE(std::none_of(member.begin(), member.end(), [](const Check& check) { return check.id == "runc"; }));
    EXPECT_EQ(summarise(member, {Role::Member}).missing, 0u);
    const auto both = judge(facts, {Role::Member, Role::Agent});
    EXPECT_EQ(find(both, "runc").required_by, std::vector<Role>{Role::Agent});
    const auto summary = summarise(both, {Role::Member, Role::Agent});
    EXPECT_EQ(summary.fit_for, std::vector<Role>{Role::Member});
    EXPECT_EQ(summary.unfit_for, std::vector<Role>{Role::Agent});
    EXPECT_EQ(find(judge(facts, {Role::Edge}), "disk").required_by, std::vector<Role>{}) << "only useful there";
}

TEST(DoctorChecks, ReportsAreAsReviewed) {
    auto facts = good_host();
    facts.cgroups = Cgroups::Hybrid;
    facts.programs.erase("runc");
    facts.programs.erase("mosquitto");
    const std::vector<Role> roles{std::begin(kClusterRoles), std::end(kClusterRoles)};
    const auto checks = judge(facts, roles);
    const auto summary = summarise(checks, roles);
    test::expect_golden("cli/doctor.txt", report_text(checks, summary, Style{}, {}));
    test::expect_golden("cli/doctor-80.txt", report_text(checks, summary, Style{}, 80));
    test::expect_golden("cli/doctor.yaml", yaml::print(report_data(checks, summary)));
    EXPECT_EQ(missing_sentence({"runc"}, summary), "this host is not fit as agent: one requirement is missing (runc)");
}

}  // namespace
}  // namespace rhizome::cli::doctor
