// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/gather.h"

#include <gtest/gtest.h>

#include <sys/utsname.h>

#include "cli/doctor/probe.h"
#include "runtime/files.h"
#include "support/temp_folder.h"

namespace rhizome::cli::doctor {
namespace {

TEST(DoctorGather, SeesThisHost) {
    test::TempFolder folder;
    ASSERT_TRUE(runtime::write_new_file(folder / "runc", "", 0755));
    const runtime::Environment::Variables path{{"PATH", folder.path().native()}};
    const auto facts = gather(runtime::Environment{path}, folder / "not/there/yet");
    utsname names{};
    ASSERT_EQ(::uname(&names), 0);
    EXPECT_EQ(facts.kernel, names.release);
    EXPECT_EQ(facts.machine, names.machine);
    EXPECT_TRUE(facts.entropy_ready);
    EXPECT_GT(facts.open_files_hard, 0u);
    EXPECT_TRUE(facts.disk_free_bytes) << "the space of the nearest folder that exists";
    EXPECT_EQ(facts.programs.at("runc"), (folder / "runc").native());
}

TEST(DoctorGather, ProbingTheNetworkLeavesNothingBehind) {
    const auto before = runtime::list_folder("/sys/class/net", 1000);
    const auto probe = probe_network();
    EXPECT_EQ(runtime::list_folder("/sys/class/net", 1000), before);
    for (const auto* attempt :
         {&probe.network_namespace, &probe.veth, &probe.bridge, &probe.wireguard, &probe.nftables}) {
        EXPECT_EQ(attempt->worked, attempt->why.empty()) << attempt->why;
    }
    if (!probe.network_namespace.worked) {
        EXPECT_FALSE(probe.veth.worked) << "not tried in the host's own network";
    }
}

}  // namespace
}  // namespace rhizome::cli::doctor
