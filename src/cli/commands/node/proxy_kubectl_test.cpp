// SPDX-License-Identifier: Apache-2.0
// `rhizome proxy` and administration by several people, through the real kubectl: a namespace that needs two of three
// and later one, what is granted until a date, a key that is taken away; `kubectl rhizome` and `rhizome why`.
#include <fstream>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/base64.h"
#include "runtime/background_process.h"
#include "support/kubectl_processes.h"

namespace rhizome::cli {
namespace {

class ProxyKubectl : public test::KubectlProcesses {
protected:
    ~ProxyKubectl() override {
        for (const auto& one : proxies_) (void)runtime::send_signal(one, SIGKILL);
    }
    /// A cluster of one node that is asked over TLS, and people with keys of their own.
    void found_with_rpc(const std::vector<std::string>& people) {
        found("n1", {"--rpc-listen", "127.0.0.1:0", "--api-listen", "127.0.0.1:0", "--no-lan-discovery"});
        good({"kubeconfig", "--data", data("n1"), "--context", "n1"});
        for (const std::string& one : people) good({"key", "new", one, "--no-passphrase"});
    }
    std::string rpc_address() {
        const json::Value known = status("n1");
        return std::string{*known.find("rpc")->if_array()->front().if_string()};
    }
    /// A proxy with this person's key; kubectl's context has the person's name.
    void start_proxy(const std::string& person, const std::vector<std::string>& more = {}) {
        runtime::BackgroundSpec spec;
        spec.program = std::string{std::getenv("RHIZOME_BUILD")} + "/rhizome";
        const std::string key{status("n1").text_at({"key"})};
        spec.arguments = {"proxy", "--node",   rpc_address(), "--node-key", key,   "--key",
                          person,  "--listen", "127.0.0.1:0", "--context",  person};
        spec.arguments.insert(spec.arguments.end(), more.begin(), more.end());
        auto environment = runtime::Environment::of_process();
        environment.set("HOME", temp_.path().native());
        environment.set("KUBECONFIG", variables_["KUBECONFIG"]);
        spec.environment = environment;
        spec.output = temp_.path() / ("proxy-" + person);
        spec.ends_with_starter = true;
        auto held = runtime::hold_process(spec);
        ASSERT_TRUE(held) << held.error().message;
        ASSERT_TRUE(held->begin());
        proxies_.push_back(held->id());
        ASSERT_TRUE(eventually([&] {
            return at(person, {"get", "namespaces", "-o", "name"}).succeeded();
        })) << said(person);
    }
    std::string said(const std::string& person) {
        std::ifstream in{temp_.path() / ("proxy-" + person)};
        return {std::istreambuf_iterator<char>{in}, {}};
    }
    static std::string map(const std::string& name, const std::string& space, const std::string& annotations = "") {
        return fmt::format(
            R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{}","namespace":"{}"{}}},"data":{{"a":"1"}}}})",
            name, space, annotations.empty() ? "" : fmt::format(R"(,"annotations":{{{}}})", annotations));
    }
    /// A Namespace whose lock is this template, made by the owner.
    void make_space(const std::string& name, const std::string& lock) {
        good_at("n1", {"create", "-f", "-"},
                fmt::format(R"({{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"{}","annotations":)"
                            R"({{"rhizome.dev/lock":"{}"}}}}}})",
                            name, lock));
    }
    std::vector<runtime::ProcessId> proxies_;
};

TEST_F(ProxyKubectl, SignsWithAKeyThatNoNodeHas) {
    found_with_rpc({"alice"});
    make_space("hers", "p2pkh alice");
    start_proxy("alice");
    // The node's own keystore is that of another account: there her key signs nothing.
    EXPECT_EQ(good_at("alice", {"create", "-f", "-"}, map("c1", "hers")), "configmap/c1 created\n");
    EXPECT_EQ(good_at("n1", {"get", "configmap", "c1", "-n", "hers", "-o", "jsonpath={.data.a}"}), "1");
    EXPECT_EQ(good_at("alice", {"get", "configmap", "c1", "-n", "hers", "-o", "jsonpath={.data.a}"}), "1");
    const auto denied = at("alice", {"create", "-f", "-"}, map("c1", "default"));
    EXPECT_NE(denied.err.find("your key does not open the lock of /"), std::string::npos) << denied.err;
    // Others' changes come to whoever watches.
    good_at("n1", {"create", "-f", "-"}, map("c2", "hers"));
    EXPECT_TRUE(eventually([&] {
        return at("alice", {"get", "configmaps", "-n", "hers", "-o", "name"}).out == "configmap/c1\nconfigmap/c2\n";
    }));
    // Secrets: sealed before they leave, opened for the key that asks.
    good_at("alice", {"create", "secret", "generic", "s1", "-n", "hers", "--from-literal=k=quiet"});
    EXPECT_EQ(good_at("alice", {"get", "secret", "s1", "-n", "hers", "-o", "jsonpath={.data.k}"}),
              to_base64(as_bytes("quiet")));
    good_at("n1", {"create", "secret", "generic", "theirs", "--from-literal=k=loud"});
    EXPECT_TRUE(eventually([&] {
        return at("alice", {"get", "secret", "theirs"}).err.find("Forbidden") != std::string::npos;
    }));
    EXPECT_EQ(good_at("alice", {"get", "secrets", "-A", "-o", "name"}), "secret/s1\n");
}

TEST_F(ProxyKubectl, LeavesWhatLivesOffTheChainToTheNodes) {
    found_with_rpc({"alice"});
    make_space("hers", "p2pkh alice");
    start_proxy("alice");
    // A lease that no node has heard of would make a second leader.
    const auto lease = at("alice", {"create", "-f", "-"},
                          R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"leader",)"
                          R"("namespace":"hers"},"spec":{"holderIdentity":"a"}})");
    EXPECT_FALSE(lease.succeeded());
    EXPECT_NE(lease.err.find("(MethodNotAllowed)"), std::string::npos) << lease.err;
    for (const char* kind : {"leases", "certificatesigningrequests"}) {
        const auto read = at("alice", {"get", kind});
        EXPECT_FALSE(read.succeeded());
        EXPECT_NE(read.err.find("ask a node's own API"), std::string::npos) << read.err;
    }
    const auto events = at("alice", {"get", "events"});
    EXPECT_NE(events.err.find("Warning: events live off the chain"), std::string::npos) << events.err;
    // What asks for events by the way does without.
    EXPECT_EQ(good_at("alice", {"create", "-f", "-"}, map("c1", "hers")), "configmap/c1 created\n");
    EXPECT_NE(good_at("alice", {"describe", "configmap", "c1", "-n", "hers"}).find("c1"), std::string::npos);
}

TEST_F(ProxyKubectl, ShowsOnlyWhatIsProvenWhenAsked) {
    found_with_rpc({"alice"});
    make_space("hers", "p2pkh alice");
    const json::Value now = status("n1");
    start_proxy("alice",
                {"--trust", fmt::format("{}:{}", number(now, {"final", "height"}), now.text_at({"final", "hash"}))});
    EXPECT_EQ(good_at("alice", {"create", "-f", "-"}, map("c1", "hers")), "configmap/c1 created\n");
    EXPECT_EQ(good_at("alice", {"get", "configmap", "c1", "-n", "hers", "-o", "jsonpath={.data.a}"}), "1");
    EXPECT_EQ(good_at("n1", {"get", "--raw", "/api/v1/namespaces/hers/configmaps/c1/origin"})
                  .find("\"finality\":\"included\""),
              std::string::npos);
}

TEST_F(ProxyKubectl, TwoOfThreeForAWhileThenOne) {
    found_with_rpc({"alice", "bob", "carol"});
    // A week would be `after 7d`; blocks pass faster.
    make_space("team", "either multisig 2 alice bob carol or after 12 blocks p2pkh alice");
    start_proxy("alice");
    const auto alone = at("alice", {"create", "-f", "-"}, map("c1", "team"));
    EXPECT_NE(alone.err.find("your key does not open the lock of /namespaces/team"), std::string::npos) << alone.err;
    const auto held = at("alice", {"create", "-f", "-"}, map("c1", "team", R"("rhizome.dev/hold":"2 of 3")"));
    EXPECT_FALSE(held.succeeded());
    EXPECT_NE(held.err.find("(Held)"), std::string::npos) << held.err;
    EXPECT_FALSE(at("n1", {"get", "configmap", "c1", "-n", "team"}).succeeded());
    const auto waiting = json::parse(good({"tx", "held", "--data", data("n1"), "-o", "json"}));
    ASSERT_TRUE(waiting);
    const json::Array& rows = *waiting->find("held")->if_array();
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows.front().text_at({"what"}), "write ConfigMap team/c1");
    EXPECT_NE(rows.front().text_at({"needs"}).find("1 more of bob, carol"), std::string_view::npos)
        << json::print(rows.front());
    const std::string file{rows.front().text_at({"file"})};
    // Too early, then with the second signature.
    EXPECT_FALSE(rhizome({"tx", "submit", file, "--data", data("n1")}).succeeded());
    good({"tx", "sign", file, "--data", data("n1"), "--key", "carol", "--out", file});
    good({"tx", "submit", file, "--data", data("n1"), "--wait", "included"});
    EXPECT_EQ(good_at("n1", {"get", "configmap", "c1", "-n", "team", "-o", "jsonpath={.data.a}"}), "1");
    const std::string why = good({"why", "configmap/c1", "-n", "team", "--data", data("n1")});
    EXPECT_NE(why.find("alice, carol"), std::string::npos) << why;
    EXPECT_NE(why.find("the lock of /namespaces/team"), std::string::npos) << why;
    // The time comes with the blocks.
    for (int i = 0; i < 13; ++i) good_at("n1", {"create", "-f", "-"}, map(fmt::format("tick{}", i), "default"));
    EXPECT_TRUE(eventually([&] { return at("alice", {"create", "-f", "-"}, map("c2", "team")).succeeded(); }));
    EXPECT_EQ(good({"tx", "held", "--data", data("n1"), "--forget", file.substr(file.rfind('/') + 1, 16)}), "");
    EXPECT_EQ(good({"tx", "held", "--data", data("n1")}), "nothing is held\n");
}

TEST_F(ProxyKubectl, GrantsEndAndKeysAreTakenAway) {
    found_with_rpc({"alice", "bob"});
    make_space("team", "p2pkh bob");
    // What alice may change until a date, in a namespace that is not hers.
    const auto granted = [&](const std::string& name, const std::string& until) {
        good_at("n1", {"create", "-f", "-"},
                map(name, "team", fmt::format(R"("rhizome.dev/lock":"until {} p2pkh alice")", until)));
    };
    granted("still", "2099-01-01");
    granted("over", "2026-01-01");
    const auto change = [&](const std::string& name) {
        return at("n1", {"--as=alice", "patch", "configmap", name, "-n", "team", "--type=merge", "-p",
                         R"({"data":{"a":"2"}})"});
    };
    EXPECT_TRUE(change("still").succeeded());
    const auto over = change("over");
    EXPECT_FALSE(over.succeeded());
    EXPECT_NE(over.err.find("the lock of"), std::string::npos) << over.err;
    // Bob decides about the namespace until the owner gives it to somebody else.
    start_proxy("bob");
    EXPECT_TRUE(at("bob", {"create", "-f", "-"}, map("c1", "team")).succeeded());
    const std::string tx = (temp_.path() / "revoke.tx").native();
    const std::string file = (temp_.path() / "team.json").native();
    std::ofstream{file} << good_at("n1", {"get", "--raw", "/api/v1/namespaces/team"});
    auto client = RpcClient::connect(data("n1"));
    ASSERT_TRUE(client);
    const auto entry = (*client)->get("/rhizome/v1/state?path=/namespaces/team");
    ASSERT_TRUE(entry);
    std::ofstream{file} << json::print(*entry->find("document"));
    good({"tx", "new", file, "--lock", "p2pkh admin", "--by", "/", "--data", data("n1"), "--out", tx});
    good({"tx", "sign", tx, "--data", data("n1"), "--key", "admin", "--out", tx});
    good({"tx", "submit", tx, "--data", data("n1"), "--wait", "included"});
    const auto revoked = at("bob", {"create", "-f", "-"}, map("c2", "team"));
    EXPECT_FALSE(revoked.succeeded());
    EXPECT_FALSE(at("n1", {"get", "configmap", "c2", "-n", "team"}).succeeded());
    // What was tried in vain is said; what bob wrote before stays.
    EXPECT_TRUE(at("n1", {"get", "configmap", "c1", "-n", "team"}).succeeded());
}

TEST_F(ProxyKubectl, IsKubectlsPlugin) {
    found_with_rpc({});
    const std::string folder = (temp_.path() / "bin").native();
    good({"completion", "kubectl", "--dir", folder});
    auto environment = runtime::Environment::of_process();
    const std::string path = folder + ":" + environment.find("PATH").value_or("");
    const auto run = [&](std::vector<std::string> words) {
        auto mine = environment;
        mine.set("HOME", temp_.path().native());
        mine.set("PATH", path);
        mine.set("RHIZOME_DATA", data("n1"));
        const auto end = runtime::run_process({.program = "kubectl",
                                               .arguments = std::move(words),
                                               .environment = mine,
                                               .deadline = milliseconds{180'000}});
        runtime::ProcessEnd failed;
        failed.exit_code = 255;
        return end ? *end : failed;
    };
    const auto status = run({"rhizome", "status"});
    EXPECT_TRUE(status.succeeded()) << status.err;
    EXPECT_NE(status.out.find("demo"), std::string::npos) << status.out;
    EXPECT_NE(run({"rhizome", "--help"}).out.find("kubectl rhizome"), std::string::npos);
    const auto names = run({"__complete", "rhizome", "why", "namespace/"});
    EXPECT_NE(names.out.find("namespace/default"), std::string::npos) << names.out << names.err;
}

}  // namespace
}  // namespace rhizome::cli
