// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cli/commands/node/service_unit.h"
#include "runtime/files.h"
#include "runtime/process.h"
#include "support/chain_harness.h"
#include "support/vectors.h"

namespace rhizome::cli {
namespace {

using testing::has;
using testing::Ran;

class ServiceCommand : public ::testing::Test {
protected:
    test::TempFolder folder;
    testing::ChainHarness harness{folder.path()};
};

TEST_F(ServiceCommand, APackageHasTheSameUnit) {
    const auto file = test::source_root() / "packaging/rhizome.service";
    EXPECT_EQ(runtime::read_file(file, 64u << 10).value_or(""), service_unit("/usr/bin/rhizome", "/var/lib/rhizome"))
        << "'rhizome service show --program /usr/bin/rhizome --data /var/lib/rhizome' prints it";
}

TEST_F(ServiceCommand, SystemdUnderstandsTheUnit) {
    const auto environment = runtime::Environment::of_process();
    if (!environment.find_program("systemd-analyze")) GTEST_SKIP() << "systemd-analyze is not installed";
    // The program must exist for systemd to be content.
    const auto unit = harness.write("rhizome.service", service_unit("/proc/self/exe", "/var/lib/rhizome"));
    const auto end = runtime::run_process({.program = "systemd-analyze", .arguments = {"verify", "--man=no", unit}});
    ASSERT_TRUE(end) << end.error().message;
    EXPECT_EQ(end->err.find("rhizome.service"), std::string::npos) << end->err;
    const auto wrong = harness.write(
        "wrong.service", service_unit("/proc/self/exe", "/var/lib/rhizome") + "\n[Service]\nRestart=sometimes\n");
    const auto found = runtime::run_process({.program = "systemd-analyze", .arguments = {"verify", "--man=no", wrong}});
    ASSERT_TRUE(found);
    EXPECT_NE(found->err.find("wrong.service"), std::string::npos) << "it does find what is wrong: " << found->err;
}

TEST_F(ServiceCommand, IsInstalledIntoAnotherSystemAndTakenOutAgain) {
    const std::string root = (folder / "image").native();
    const std::string file = root + "/etc/systemd/system/rhizome.service";
    const Ran made = harness.rhizome(
        {"service", "install", "--root", root, "--program", "/usr/bin/rhizome", "--data", "/srv/rhizome"});
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_EQ(made.out, file + "\n");
    EXPECT_TRUE(has(made.err, "systemctl --root=DIR enable rhizome")) << made.err;
    const std::string unit = runtime::read_file(file, 64u << 10).value_or("");
    EXPECT_TRUE(has(unit, "ExecStart=/usr/bin/rhizome up --data /srv/rhizome\n")) << unit;
    EXPECT_TRUE(has(unit, "ReadWritePaths=/srv/rhizome\n")) << unit;
    EXPECT_EQ(harness.good({"service", "uninstall", "--root", root}),
              file + " is gone; the data directory was not touched\n");
    const Ran again = harness.rhizome({"service", "uninstall", "--root", root});
    EXPECT_EQ(again.code, 3);
    EXPECT_EQ(again.err, "error: there is no " + file +
                             "\nhint: a unit that a package brought goes with the package; 'systemctl disable --now "
                             "rhizome' stops it\n");
}

TEST_F(ServiceCommand, AnOddPlaceIsRefusedRatherThanQuoted) {
    const Ran ran = harness.rhizome({"service", "show", "--program", "/usr/bin/rhizome", "--data", "/srv/my data"});
    EXPECT_EQ(ran.code, 2);
    EXPECT_EQ(ran.err,
              "error: /srv/my data cannot stand in a unit: blanks, quotes, $, % and backslashes mean something to "
              "systemd\nhint: choose a plainer place\n");
}

}  // namespace
}  // namespace rhizome::cli
