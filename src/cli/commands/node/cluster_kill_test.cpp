// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>

#include "runtime/descriptor.h"
#include "support/cluster_processes.h"

namespace rhizome::cli {
namespace {

class ClusterKill : public test::ClusterProcesses {};

TEST_F(ClusterKill, TwoOfThreeAreKilledAndTheThirdGoesOn) {
    found("n1");
    join("n2", "n1");
    join("n3", "n2");
    ASSERT_TRUE(eventually([&] { return number(status("n1"), {"voters"}) == 3; }));
    EXPECT_EQ(order("n2", "before", "final").text_at({"stage"}), "final");

    kill_node("n2", SIGKILL);
    kill_node("n3", SIGKILL);
    EXPECT_EQ(order("n1", "alone", "included").text_at({"stage"}), "included");

    // Nothing that was told is lost, and what one took alone all have in the end.
    start("n2", "n1");
    start("n3", "n1");
    EXPECT_TRUE(eventually([&] { return has_namespace("n2", "alone") && has_namespace("n3", "alone"); }));
    EXPECT_TRUE(has_namespace("n3", "before"));
    EXPECT_EQ(order("n3", "after", "final").text_at({"stage"}), "final");
    EXPECT_TRUE(eventually([&] {
        return status("n1").text_at({"final", "hash"}) == status("n2").text_at({"final", "hash"});
    }));
    for (const auto* name : {"n1", "n2", "n3"}) good({"down", "--data", data(name)});
}

TEST_F(ClusterKill, ATokenIsUsedOnceAndCanBeRevoked) {
    found("n1");
    const auto token = json::parse(good({"token", "new", "--data", data("n1"), "-o", "json"}));
    ASSERT_TRUE(token);
    const std::string text{token->text_at({"token"})};
    const std::vector<std::string> words{"join",   address("n1"), "--token",  text,          "--node",  "n2",
                                         "--data", data("n2"),    "--listen", "127.0.0.1:0", "--detach"};
    good(words);
    started_.emplace_back("n2");
    auto again = words;
    again[5] = "n3";
    again[7] = data("n3");
    const auto used = rhizome(again);
    EXPECT_FALSE(used.succeeded());
    EXPECT_NE(used.err.find("used up or revoked"), std::string::npos) << used.err;

    auto damaged = words;
    damaged[3][20] = damaged[3][20] == '0' ? '1' : '0';
    damaged[7] = data("n4");
    const auto wrong = rhizome(damaged);
    EXPECT_NE(wrong.err.find("a letter of it is wrong"), std::string::npos) << wrong.err;

    const auto second = json::parse(good({"token", "new", "--data", data("n1"), "-o", "json"}));
    good({"token", "revoke", std::string{second->text_at({"name"})}, "--data", data("n1")});
    EXPECT_NE(good({"token", "list", "--data", data("n1")}).find("nobody can join"), std::string::npos);
}

TEST_F(ClusterKill, VotersThatAreLostForGoodAreReplacedByARecovery) {
    const std::string rules = (temp_.path() / "rules.yaml").native();
    std::ofstream{rules} << "heartbeat: 1s\n";  // so that silence is noticed in four seconds
    found("n1", {"--spec", rules});
    join("n2", "n1");
    join("n3", "n1");
    ASSERT_TRUE(eventually([&] { return number(status("n1"), {"voters"}) == 3; }));
    const auto fine = rhizome({"recover", "--data", data("n1"), "--yes"});
    EXPECT_EQ(fine.exit_code, 5) << fine.err;
    EXPECT_NE(fine.err.find("nothing needs to be recovered: 3 of 3 voters"), std::string::npos) << fine.err;

    kill_node("n2", SIGKILL);
    kill_node("n3", SIGKILL);
    const auto silent = [&] {
        const std::string list = good({"node", "list", "--data", data("n1")});
        return list.find("n2     NotReady") != std::string::npos && list.find("n3     NotReady") != std::string::npos;
    };
    ASSERT_TRUE(eventually(silent));
    const auto refused = rhizome({"node", "remove", "n2", "--data", data("n1"), "--yes"});
    EXPECT_EQ(refused.exit_code, 5) << refused.err;
    good({"recover", "--data", data("n1"), "--yes"});
    EXPECT_EQ(order("n1", "after", "final").text_at({"stage"}), "final");
    EXPECT_EQ(number(status("n1"), {"generation"}), 1);

    // Those who return follow, and vote again in time.
    start("n2", "n1");
    EXPECT_TRUE(eventually([&] { return has_namespace("n2", "after") && number(status("n2"), {"generation"}) == 1; }));
    EXPECT_TRUE(eventually([&] { return number(status("n1"), {"voters"}) > 1; }));
}

TEST_F(ClusterKill, ARemovalInAFreshCutSaysThatItIsNotFinal) {
    found("n1");
    join("n2", "n1");
    join("n3", "n1");
    ASSERT_TRUE(eventually([&] { return number(status("n1"), {"voters"}) == 3; }));
    kill_node("n2", SIGKILL);
    kill_node("n3", SIGKILL);
    // By their leases they are there for a while; on a machine so busy that these have ended it is refused.
    const auto removed = rhizome({"node", "remove", "n2", "--data", data("n1"), "--yes"});
    if (removed.succeeded()) {
        EXPECT_NE(removed.out.find("node/n2 removed, not final yet"), std::string::npos) << removed.out;
        EXPECT_NE(removed.err.find("the other voters have not agreed in the time given"), std::string::npos)
            << removed.err;
    } else {
        EXPECT_NE(removed.err.find("without n2 nothing could become final"), std::string::npos) << removed.err;
    }
    EXPECT_EQ(number(status("n1"), {"voters"}), 3) << "its own side alone changes no voters";
}

TEST_F(ClusterKill, AServiceManagerIsToldAndAFailureIsSaidWhereItWasStarted) {
    const std::string socket_name = (temp_.path() / "notify").native();
    const runtime::Descriptor manager{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    socket_name.copy(at.sun_path, sizeof at.sun_path - 1);
    ASSERT_EQ(::bind(manager.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
    const auto told = [&](std::string_view begin) {
        return eventually([&] {
            std::array<char, 4'096> bytes{};
            const ssize_t size = ::recv(manager.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
            return size > 0 && std::string_view{bytes.data(), static_cast<std::size_t>(size)}.starts_with(begin);
        });
    };
    variables_["NOTIFY_SOCKET"] = socket_name;
    found("n1");
    EXPECT_TRUE(told("READY=1\nSTATUS=height "));
    kill_node("n1", SIGTERM);
    EXPECT_TRUE(told("STOPPING=1\n"));
    EXPECT_TRUE(eventually([&] {
        return good({"logs", "--data", data("n1")}).find("the node has stopped") != std::string::npos;
    }));

    // What keeps one in the background from starting is said where it was started.
    const auto taken = rhizome({"up", "--data", data("n1"), "--listen", "203.0.113.1:1", "--detach"});
    EXPECT_FALSE(taken.succeeded());
    EXPECT_NE(taken.err.find("error: the node did not start: "), std::string::npos) << taken.err;
    EXPECT_NE(taken.err.find("203.0.113.1:1"), std::string::npos) << taken.err;
}

}  // namespace
}  // namespace rhizome::cli
