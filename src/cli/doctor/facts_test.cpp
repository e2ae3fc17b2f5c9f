// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/facts.h"

#include <gtest/gtest.h>

namespace rhizome::cli::doctor {
namespace {

using Names = std::set<std::string>;

constexpr std::string_view kV1 =
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,xattr,name=systemd\n";
constexpr std::string_view kV2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

TEST(DoctorFacts, MountsTellWhichCgroupsThereAre) {
    EXPECT_EQ(cgroups_from_mountinfo(kV1), Cgroups::V1);
    EXPECT_EQ(cgroups_from_mountinfo(kV2), Cgroups::V2);
    EXPECT_EQ(cgroups_from_mountinfo(std::string{kV1} + std::string{kV2}), Cgroups::Hybrid);
    EXPECT_EQ(cgroups_from_mountinfo(""), Cgroups::None);
    EXPECT_EQ(cgroups_from_mountinfo("24 1 8:1 / / rw - ext4 /dev/cgroup rw\nnonsense\n - \n"), Cgroups::None);
}

TEST(DoctorFacts, ControllersComeFromMountOptions) {
    EXPECT_EQ(v1_controllers_from_mountinfo(kV1), (Names{"cpu", "cpuacct", "memory", "xattr"}));
    EXPECT_EQ(v1_controllers_from_mountinfo(kV2), Names{});
    EXPECT_EQ(words_of("cpuset cpu io\n"), (Names{"cpuset", "cpu", "io"}));
}

TEST(DoctorFacts, ReadsKeysOfTheKernelsTables) {
    const auto* status = "Name:\tcat\nCapEff:\t000001ffffffffff\nSeccomp:\t0\nSeccomp_filters:\t0\n";
    EXPECT_EQ(value_of_key(status, "CapEff"), "000001ffffffffff");
    EXPECT_EQ(value_of_key(status, "Seccomp"), "0");
    EXPECT_EQ(value_of_key(status, "Cap"), "");
    EXPECT_EQ(value_of_key("flags\t\t: fpu sha_ni\n", "flags"), "fpu sha_ni");
    EXPECT_EQ(from_hex_number("000001ffffffffff"), 0x1ffffffffffull);
    EXPECT_EQ(from_hex_number("12x"), 0u);
    EXPECT_EQ(from_hex_number(""), 0u);
    Facts facts;
    facts.capabilities = from_hex_number("0000000000001000");
    EXPECT_TRUE(facts.can(Capability::NetAdmin));
    EXPECT_FALSE(facts.can(Capability::SysAdmin));
}

TEST(DoctorFacts, FindsFileSystemsAndModules) {
    EXPECT_TRUE(lists_filesystem("nodev\tsysfs\nnodev\toverlay\n\text4\n", "overlay"));
    EXPECT_TRUE(lists_filesystem("nodev\tsysfs\n\text4\n", "ext4"));
    EXPECT_FALSE(lists_filesystem("nodev\toverlayx\n", "overlay"));
    EXPECT_TRUE(lists_module("kernel/fs/overlayfs/overlay.ko.xz: kernel/a.ko\n", "overlay"));
    EXPECT_TRUE(lists_module("kernel/fs/overlayfs/overlay.ko\n", "overlay"));
    EXPECT_FALSE(lists_module("kernel/fs/x.ko: kernel/fs/overlayfs/overlay.ko\n", "overlay"))
        << "needed by x is not there";
    EXPECT_FALSE(lists_module("overlay.txt\n", "overlay"));
}

}  // namespace
}  // namespace rhizome::cli::doctor
