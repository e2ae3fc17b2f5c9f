// SPDX-License-Identifier: Apache-2.0
#include "cli/manual.h"

#include <gtest/gtest.h>

#include "cli/sample_tree.h"
#include "cli/text.h"
#include "cli/tree.h"
#include "runtime/environment.h"
#include "runtime/process.h"
#include "support/golden.h"

namespace rhizome::cli {
namespace {

using testing::sample_tree;

TEST(Manual, HasAPagePerCommandThatIsNotHidden) {
    std::vector<std::string> files;
    for (const auto& page : manual_pages(sample_tree(), "1.2.3")) files.push_back(page.file);
    EXPECT_EQ(join(files, " "),
              "rhizome.1 rhizome-key.1 rhizome-key-new.1 rhizome-key-show.1 rhizome-fail.1 rhizome-help.1");
}

TEST(Manual, APageIsAsReviewed) {
    const auto root = sample_tree();
    const CommandPath path{&root, root.find("key"), root.find("key")->find("new")};
    test::expect_golden("cli/rhizome-key-new.1", manual_page(path, "1.2.3").text);
}

TEST(Manual, TextCannotBeMistakenForRequests) {
    const Command tricky{.name = "tricky",
                         .summary = "Back\\slash \"quotes\"",
                         .details = ".SH not a heading\n'nor this\n\n  .code -x",
                         .run = [](Invocation&) { return ok(); }};
    const auto page = manual_page({&tricky}, "1").text;
    EXPECT_NE(page.find("\n\\&.SH not a heading\n\\&'nor this\n"), std::string::npos) << page;
    EXPECT_NE(page.find("Back\\eslash \"quotes\""), std::string::npos) << page;
    EXPECT_NE(page.find("  .code \\-x\n"), std::string::npos) << page;
}

TEST(Manual, GroffHasNoComplaints) {
    if (!runtime::Environment::of_process().find_program("groff")) GTEST_SKIP() << "groff is not installed";
    for (const auto& root : {sample_tree(), command_tree()}) {
        for (const auto& page : manual_pages(root, "1.2.3")) {
            const auto end = runtime::run_process(
                {.program = "groff", .arguments = {"-man", "-ww", "-z", "-Tutf8"}, .input = page.text});
            ASSERT_TRUE(end) << end.error().message;
            EXPECT_TRUE(end->succeeded()) << page.file;
            EXPECT_EQ(end->err, "") << page.file;
        }
    }
}

}  // namespace
}  // namespace rhizome::cli
