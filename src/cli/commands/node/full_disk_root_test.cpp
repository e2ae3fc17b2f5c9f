// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>

#include <gtest/gtest.h>

#include "runtime/descriptor.h"
#include "support/kubectl_processes.h"

/// Nodes whose disk somebody else fills at once, and empties again: a small file system in memory.
namespace rhizome::cli {
namespace {

namespace fs = std::filesystem;

class FullDiskRoot : public test::KubectlProcesses {
public:
    ~FullDiskRoot() override {
        for (const std::string& name : disks_) ::umount2(data(name).c_str(), MNT_DETACH);
    }

protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "needs root, to mount a small file system";
        KubectlProcesses::SetUp();
    }
    /// Enough for what a node prepares and what it wants free besides.
    void small_disk(const std::string& name) {
        fs::create_directories(data(name));
        ASSERT_EQ(::mount("tmpfs", data(name).c_str(), "tmpfs", 0, "size=360m,mode=0700"), 0) << errno;
        disks_.push_back(name);
    }
    [[nodiscard]] fs::path ballast(const std::string& name) const { return fs::path{data(name)} / "ballast"; }
    /// To the last block.
    void fill(const std::string& name) {
        const runtime::Descriptor file{::open(ballast(name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
        ASSERT_TRUE(file) << errno;
        off_t size = 0;
        for (off_t piece = 64 << 20; piece >= 4'096;) {
            const int failed = ::posix_fallocate(file.get(), size, piece);
            ASSERT_TRUE(failed == 0 || failed == ENOSPC) << failed;
            failed == 0 ? size += piece : piece /= 2;
        }
    }
    void make_room(const std::string& name) { fs::remove(ballast(name)); }
    bool is_full(const std::string& name) {
        const json::Value known = status(name);
        const json::Value* conditions = known.find("conditions");
        if (conditions == nullptr || conditions->if_array() == nullptr) return false;
        for (const json::Value& one : *conditions->if_array())
            if (const std::string* text = one.if_string(); text != nullptr && *text == "DiskFull") return true;
        return false;
    }
    bool has_map(const std::string& node, const std::string& name) {
        return at(node, {"get", "configmap", name}).succeeded();
    }
    void expect_refused_with_a_sentence(const std::string& node) {
        const auto refused =
            at(node, {"create", "-f", "-"}, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"refused"}})");
        EXPECT_FALSE(refused.succeeded());
        EXPECT_NE(refused.err.find("(InsufficientStorage)"), std::string::npos) << refused.err;
        EXPECT_NE(refused.err.find("the disk of the machine that was asked is full"), std::string::npos) << refused.err;
        EXPECT_NE(refused.err.find("or ask another machine"), std::string::npos) << refused.err;
        EXPECT_TRUE(is_full(node));
        const std::string shown = good({"status", "--data", data(node)});
        EXPECT_NE(shown.find("until 192 MiB are free"), std::string::npos) << shown;
        EXPECT_FALSE(at(node, {"get", "--raw", "/readyz"}).succeeded());
    }

    std::vector<std::string> disks_;
};

TEST_F(FullDiskRoot, AClusterOfOneServesReadsAndGoesOnByItself) {
    small_disk("n1");
    found_api("n1");
    good_at("n1", {"create", "configmap", "before", "--from-literal=a=b"});
    fill("n1");
    expect_refused_with_a_sentence("n1");
    EXPECT_TRUE(has_map("n1", "before"));

    // Killed and started on the full disk; what the start gives back somebody else takes.
    kill_node("n1", SIGKILL);
    start_again("n1");
    fill("n1");
    expect_refused_with_a_sentence("n1");
    EXPECT_TRUE(has_map("n1", "before"));
    good({"down", "--data", data("n1")});
    fill("n1");
    start_again("n1");
    expect_refused_with_a_sentence("n1");
    EXPECT_TRUE(has_map("n1", "before"));

    make_room("n1");
    EXPECT_TRUE(eventually([&] { return !is_full("n1"); }));
    good_at("n1", {"create", "configmap", "after", "--from-literal=a=b"});
    EXPECT_FALSE(has_map("n1", "refused"));
    EXPECT_EQ(order("n1", "last", "final").text_at({"stage"}), "final");
}

TEST_F(FullDiskRoot, AMemberMissesTheOthersBlocksAndFetchesThemWhenThereIsRoom) {
    found_api("n1");
    small_disk("n2");
    join_api("n2", "n1");
    join_api("n3", "n1");
    ASSERT_TRUE(eventually([&] { return number(status("n1"), {"voters"}) == 3; }));
    good_at("n1", {"create", "configmap", "before", "--from-literal=a=b"});
    ASSERT_TRUE(eventually([&] { return has_map("n2", "before"); }));
    fill("n2");
    EXPECT_EQ(order("n1", "meanwhile", "final").text_at({"stage"}), "final") << "the others go on";
    for (int i = 0; i < 20; ++i)
        good_at("n3", {"create", "configmap", "other" + std::to_string(i), "--from-literal=a=b"});
    expect_refused_with_a_sentence("n2");
    EXPECT_TRUE(has_map("n2", "before"));
    kill_node("n2", SIGKILL);
    start_again("n2", {"--peer", address("n1")});
    EXPECT_TRUE(has_map("n2", "before"));

    make_room("n2");
    EXPECT_TRUE(eventually([&] { return has_map("n2", "other19") && !is_full("n2"); }));
    // It votes: of two that are left nothing is final without it.
    kill_node("n3", SIGKILL);
    EXPECT_EQ(order("n2", "after", "final").text_at({"stage"}), "final");
}

}  // namespace
}  // namespace rhizome::cli
