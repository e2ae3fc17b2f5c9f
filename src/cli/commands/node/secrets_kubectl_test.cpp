// SPDX-License-Identifier: Apache-2.0
// Secrets through the real kubectl on real nodes: nothing in clear on any disk, and who reads what
// (docs/spec/secrets.md).
#include <fstream>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/base64.h"
#include "crypto/seal.h"
#include "ledger/key_ring.h"
#include "node/identity.h"
#include "support/kubectl_processes.h"

namespace rhizome::cli {
namespace {

namespace fs = std::filesystem;

class SecretsKubectl : public test::KubectlProcesses {
protected:
    void write(const std::string& node, const std::string& name, const std::string& value) {
        good_at(node, {"create", "secret", "generic", name, "--from-literal=k=" + value});
    }
    /// What this node's users read; empty when they do not.
    std::string value(const std::string& node, const std::string& name) {
        const auto end = at(node, {"get", "secret", name, "-o", "jsonpath={.data.k}"});
        const auto bytes = end.succeeded() ? from_base64(end.out) : std::nullopt;
        return bytes ? std::string{as_text(*bytes)} : "";
    }
    std::string key_of(const std::string& node) { return std::string{status(node).text_at({"key"})}; }
    void refuse(const std::string& node, const std::vector<std::string>& others) {
        json::Array keys;
        for (const std::string& other : others) keys.emplace_back(key_of(other));
        auto client = RpcClient::connect(data(node));
        ASSERT_TRUE(client);
        const auto done =
            (*client)->post("/rhizome/v1/peers/refused", json::print(json::Object{{"keys", std::move(keys)}}));
        EXPECT_TRUE(done) << done.error().message;
    }
    json::Value asked(const std::string& node, const std::string& target) {
        auto client = RpcClient::connect(data(node));
        auto answer = client ? (*client)->get(target) : Result<json::Value>{Fail{client.error()}};
        EXPECT_TRUE(answer) << answer.error().message;
        return answer ? *std::move(answer) : json::Value{};
    }
    /// The files below a folder that have any of the words in them.
    static std::vector<std::string> files_with(const fs::path& folder, const std::vector<std::string>& words) {
        std::vector<std::string> found;
        std::size_t looked = 0;
        for (const auto& file : fs::recursive_directory_iterator{folder}) {
            if (!file.is_regular_file()) continue;
            std::ifstream in{file.path(), std::ios::binary};
            const std::string bytes{std::istreambuf_iterator<char>{in}, {}};
            looked += bytes.size();
            for (const std::string& word : words)
                if (bytes.find(word) != std::string::npos) found.push_back(file.path().native() + " has " + word);
        }
        EXPECT_GT(looked, 10'000u) << "there is a chain to look at";
        return found;
    }
};

TEST_F(SecretsKubectl, NothingOfASecretStandsOnADiskInClear) {
    found_api("n1");
    join_api("n2", "n1");
    join_api("n3", "n1");
    const std::string marker = "correct-horse-battery-staple";
    const std::string coded = to_base64(as_bytes(marker));
    write("n1", "s1", marker);
    // Client-side apply keeps a copy in an annotation; the names of the data's keys stand in managedFields.
    const std::string manifest =
        R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"s2"},"stringData":{"telltale-name":")" + marker +
        "\"}}";
    good_at("n2", {"apply", "-f", "-"}, manifest);
    const auto version = [&](const std::string& node, const std::string& name) {
        return at(node, {"get", "secret", name, "-o", "jsonpath={.metadata.resourceVersion}"}).out;
    };
    const std::string applied = version("n2", "s2");
    good_at("n2", {"apply", "-f", "-"}, manifest);
    EXPECT_EQ(version("n2", "s2"), applied);
    good_at("n3", {"patch", "secret", "s1", "--type=merge", "-p", R"({"data":{"more":")" + coded + "\"}}"});
    good_at("n3", {"label", "secret", "s1", "team=red"});
    for (const char* node : {"n1", "n2", "n3"}) {
        EXPECT_TRUE(eventually([&] { return value(node, "s1") == marker; })) << node;
        EXPECT_TRUE(eventually([&] {
            return at(node, {"get", "secret", "s1", "-o", "jsonpath={.data.more}"}).out == coded;
        })) << node;
        EXPECT_TRUE(eventually([&] {
            return at(node, {"get", "secrets", "-l", "team=red", "-o", "name"}).out == "secret/s1\n";
        })) << node;
        EXPECT_EQ(at(node, {"get", "secrets", "--field-selector=type=Opaque", "-o", "name"}).out,
                  "secret/s1\nsecret/s2\n");
        EXPECT_NE(at(node, {"get", "secret", "s2"}).out.find("Opaque   1"), std::string::npos);
    }
    for (const char* node : {"n1", "n2", "n3"}) {
        const auto clear = files_with(data(node), {marker, coded, "telltale-name", "last-applied-configuration"});
        EXPECT_TRUE(clear.empty()) << clear.front();
    }
    // The search finds what is in clear.
    good_at("n1", {"create", "configmap", "c1", "--from-literal=open=" + marker});
    EXPECT_TRUE(eventually([&] { return !files_with(data("n2"), {marker}).empty(); }));
    // What does not change is no transaction, however fresh a seal would be.
    const std::string before = version("n1", "s1");
    good_at("n1", {"patch", "secret", "s1", "--type=merge", "-p", R"({"data":{"more":")" + coded + "\"}}"});
    EXPECT_EQ(version("n1", "s1"), before);
}

TEST_F(SecretsKubectl, WhoeverCouldNotChangeASecretDoesNotReadIt) {
    found_api("n1");
    good({"key", "new", "alice", "--no-passphrase"});
    good({"key", "new", "bob", "--no-passphrase"});
    good_at(
        "n1", {"create", "-f", "-"},
        R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"hers","annotations":{"rhizome.dev/lock":"p2pkh alice"}},)"
        R"("data":{"k":"dmFsdWU="}})");
    write("n1", "ours", "value");
    EXPECT_EQ(value("n1", "hers"), "value");
    EXPECT_EQ(good_at("n1", {"--as=alice", "get", "secret", "hers", "-o", "jsonpath={.data.k}"}), "dmFsdWU=");
    const auto denied = at("n1", {"--as=bob", "get", "secret", "hers"});
    EXPECT_NE(denied.err.find("Forbidden"), std::string::npos) << denied.err;
    EXPECT_NE(denied.err.find("could open neither its lock"), std::string::npos) << denied.err;
    EXPECT_NE(at("n1", {"--as=alice", "get", "secret", "ours"}).err.find("Forbidden"), std::string::npos);
    // Lists have what each may read; other kinds are open to all.
    EXPECT_EQ(good_at("n1", {"get", "secrets", "-o", "name"}), "secret/hers\nsecret/ours\n");
    EXPECT_EQ(good_at("n1", {"--as=alice", "get", "secrets", "-o", "name"}), "secret/hers\n");
    EXPECT_EQ(good_at("n1", {"--as=bob", "get", "secrets", "-o", "name"}), "");
    EXPECT_NE(good_at("n1", {"--as=bob", "get", "configmaps,namespaces", "-o", "name"}).find("namespace/default"),
              std::string::npos);
    EXPECT_FALSE(at("n1", {"--as=bob", "delete", "secret", "hers"}).succeeded());
}

TEST_F(SecretsKubectl, ABoxThatWasMovedIsRefusedByName) {
    found_api("n1");
    write("n1", "mine", "value");
    const json::Value entry = asked("n1", "/rhizome/v1/state?path=/namespaces/default/core/Secret/mine");
    ASSERT_NE(entry.find("document"), nullptr);
    json::Value moved = *entry.find("document");
    EXPECT_NE(moved.find("sealed"), nullptr);
    moved["metadata"]["name"] = "stolen";
    const std::string file = (temp_.path() / "stolen.json").native();
    const std::string tx = (temp_.path() / "stolen.tx").native();
    std::ofstream{file} << json::print(moved);
    good({"tx", "new", file, "--data", data("n1"), "--out", tx});
    good({"tx", "sign", tx, "--data", data("n1"), "--key", "admin", "--out", tx});
    good({"tx", "submit", tx, "--data", data("n1"), "--wait", "included"});
    const auto refused = at("n1", {"get", "secret", "stolen"});
    EXPECT_NE(refused.err.find("do not open"), std::string::npos) << refused.err;
    // A list says what it leaves out; the rest is there.
    const auto list = at("n1", {"get", "secrets", "-o", "name"});
    EXPECT_EQ(list.out, "secret/mine\n");
    EXPECT_NE(list.err.find("default/stolen is left out"), std::string::npos) << list.err;
    // It can be written anew, and deleted.
    good_at("n1", {"replace", "-f", "-"},
            R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"stolen"},"data":{"k":"bmV3"}})");
    EXPECT_EQ(value("n1", "stolen"), "new");
    // In clear the chain does not take one from anybody.
    moved.make_object().erase("sealed");
    moved["metadata"]["name"] = "clear";
    moved["data"] = json::Object{{"k", "bmV3"}};
    std::ofstream{file} << json::print(moved);
    good({"tx", "new", file, "--data", data("n1"), "--out", tx});
    good({"tx", "sign", tx, "--data", data("n1"), "--key", "admin", "--out", tx});
    EXPECT_NE(rhizome({"tx", "submit", tx, "--data", data("n1")}).err.find("in clear"), std::string::npos);
}

TEST_F(SecretsKubectl, ARemovedMachineReadsNothingThatIsWrittenLater) {
    found_api("n1");
    join_api("n2", "n1");
    write("n1", "before", "old");
    join_api("n3", "n1");
    // A newcomer reads what was there: a member seals the key to it.
    EXPECT_TRUE(eventually([&] { return value("n3", "before") == "old"; }));
    good({"node", "remove", "n3", "--yes", "--data", data("n1")});
    EXPECT_TRUE(eventually([&] { return status("n1").find("members")->if_array()->size() == 2; }));
    write("n1", "after", "new");
    EXPECT_TRUE(eventually([&] { return value("n2", "after") == "new"; }));
    // No envelope of the key of `after` opens with what n3 has.
    const json::Value entry = asked("n1", "/rhizome/v1/state?path=/namespaces/default/core/Secret/after");
    const std::string sealed_to{entry.text_at({"document", "sealed", "key"})};
    const auto n3 = node::load_identity(data("n3"));
    ASSERT_TRUE(n3);
    const auto chain = ledger::ChainId::from_hex(status("n1").text_at({"chainId"}));
    const json::Value rings =
        asked("n1", "/rhizome/v1/state/list?prefix=/global/rhizome.dev/KeyRing&documents=true&limit=1000");
    std::size_t looked = 0;
    bool opens_old = false;
    for (const json::Value& one : *rings.find("items")->if_array()) {
        const auto ring = ledger::read_key_ring(*one.find("document"));
        ASSERT_TRUE(ring);
        const bool opens =
            crypto::open(ring->sealed, n3->keys.wireguard, ledger::key_ring_associated(ring->key, *chain)).has_value();
        if (ring->key.hex() == sealed_to) {
            ++looked;
            EXPECT_FALSE(opens);
        } else {
            opens_old = opens_old || opens;
        }
    }
    EXPECT_GE(looked, 1u);
    EXPECT_TRUE(opens_old) << "n3 did hold the key of the first generation";
    // Who knew what is said until it is sealed anew.
    const json::Value known = status("n1");
    const json::Array& exposed = *known.find_path({"secrets", "exposed"})->if_array();
    ASSERT_EQ(exposed.size(), 1u) << json::print(known);
    EXPECT_EQ(exposed.front().text_at({"node"}), "n3");
    EXPECT_EQ(*exposed.front().find("secrets")->if_array()->front().if_string(), "default/before");
    EXPECT_NE(good({"secret", "status", "--data", data("n1")}).find("known to n3"), std::string::npos);
    EXPECT_EQ(good({"secret", "rotate", "--data", data("n1")}), "1 sealed anew\n");
    EXPECT_TRUE(status("n1").find_path({"secrets", "exposed"})->if_array()->empty());
    EXPECT_EQ(value("n1", "before"), "old");
    EXPECT_TRUE(eventually([&] { return value("n2", "before") == "old"; }));
}

TEST_F(SecretsKubectl, WhatBothSidesOfACutWroteIsReadByAll) {
    found_api("n1");
    join_api("n2", "n1");
    join_api("n3", "n1");
    const auto linked = [&](const std::string& node, std::size_t count) {
        return eventually([&] {
            const json::Value now = status(node);
            return now.find("peers") != nullptr && now.find("peers")->if_array()->size() == count;
        });
    };
    for (const char* node : {"n1", "n2", "n3"}) ASSERT_TRUE(linked(node, 2)) << node;
    // No key is there yet: each side makes one of the same generation.
    refuse("n1", {"n2", "n3"});
    refuse("n2", {"n1"});
    refuse("n3", {"n1"});
    ASSERT_TRUE(linked("n1", 0));
    ASSERT_TRUE(linked("n2", 1));
    write("n1", "left", "from-the-left");
    write("n3", "right", "from-the-right");
    EXPECT_EQ(value("n1", "left"), "from-the-left");
    EXPECT_TRUE(eventually([&] { return value("n2", "right") == "from-the-right"; }));
    for (const char* node : {"n1", "n2", "n3"}) refuse(node, {});
    for (const char* node : {"n1", "n2", "n3"}) {
        EXPECT_TRUE(eventually([&] { return value(node, "left") == "from-the-left"; })) << node;
        EXPECT_TRUE(eventually([&] { return value(node, "right") == "from-the-right"; })) << node;
    }
    const json::Value known = asked("n2", "/rhizome/v1/secrets/status");
    EXPECT_EQ(known.find("keys")->if_array()->size(), 2u);
    EXPECT_TRUE(known.find("withoutKey")->if_array()->empty());
}

TEST_F(SecretsKubectl, AKillWhileAKeyIsMadeLosesNoSecret) {
    found_api("n1");
    join_api("n2", "n1");
    // Killed at another moment each time: before the key, between key and Secret, behind both.
    for (int i = 0; i < 6; ++i) {
        const std::string name = fmt::format("s{}", i);
        std::thread writer{[&] { (void)at("n1", {"create", "secret", "generic", name, "--from-literal=k=" + name}); }};
        test::pass_time(milliseconds{60 + 70 * i}, "the moment to strike at");
        kill_node("n1", SIGKILL);
        writer.join();
        start_again("n1", {"--peer", address("n2")});
        // Whoever stands there is readable on both machines.
        const json::Value listed = asked("n1", "/rhizome/v1/secrets/status");
        EXPECT_TRUE(listed.find("withoutKey")->if_array()->empty()) << json::print(listed);
        const auto names = at("n1", {"get", "secrets", "-o", "name"});
        ASSERT_TRUE(names.succeeded()) << names.err;
        for (int k = 0; k <= i; ++k) {
            const std::string one = fmt::format("s{}", k);
            if (names.out.find("secret/" + one + "\n") == std::string::npos) continue;
            EXPECT_EQ(value("n1", one), one);
            EXPECT_TRUE(eventually([&] { return value("n2", one) == one; }));
        }
    }
    write("n1", "last", "value");
    EXPECT_TRUE(eventually([&] { return value("n2", "last") == "value"; }));
}

}  // namespace
}  // namespace rhizome::cli
