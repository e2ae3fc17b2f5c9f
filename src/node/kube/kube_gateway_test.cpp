// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <future>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "node/rpc_client.h"
#include "runtime/files.h"
#include "support/kube_client.h"
#include "support/kube_node.h"
#include "support/waiting.h"

/// From a request to a transaction and back, on a whole node: stages, locks, what objects tell of their transaction,
/// and what is written down about it all.
namespace rhizome::node {
namespace {

using test::KubeReply;

using test::kMaps;
using test::kMerge;

class KubeGateway : public test::KubeNode {
protected:
    void change(DaemonOptions& options) override {
        const Keystore keys{temp_.path() / "keys"};
        ASSERT_TRUE(keys.add("bob", *crypto::SecretKey::from_bytes(Bytes(32, 9)), std::nullopt, runtime::now()));
        options.api_audit = {.file = audit_file(), .bytes_max = 1u << 20, .files_max = 2};
    }
    [[nodiscard]] std::filesystem::path audit_file() const { return temp_.path() / "audit.log"; }

    static std::string note(const json::Value& object, std::string_view name) {
        return std::string{object.text_at({"metadata", "annotations", fmt::format("rhizome.dev/{}", name)})};
    }
    static std::string version(const KubeReply& reply) {
        return std::string{reply.value().text_at({"metadata", "resourceVersion"})};
    }
    std::string stored(std::string_view name) {
        const auto view = daemon_->host().view();
        const auto path = state::Path::parse(fmt::format("/namespaces/default/core/ConfigMap/{}", name));
        const state::Entry* entry = view->state.get(*path);
        return entry == nullptr ? "" : std::string{entry->document()};
    }
    KubeReply as_bob(std::string_view method, std::string_view target, std::string_view body, std::string_view media) {
        test::KubeAccess access = access_;
        access.token = "t-bob";
        auto reply = test::ask_kube(access, method, target, body, media);
        EXPECT_TRUE(reply) << reply.error().message;
        return reply ? *std::move(reply) : KubeReply{};
    }
};

TEST_F(KubeGateway, EveryObjectShowsItsTransactionHeightAndFinality) {
    const KubeReply made = ask("POST", kMaps, config_map("a", "1"));
    ASSERT_EQ(made.status, 201u) << made.body;
    const std::string txid = made.header("Rhizome-Txid");
    EXPECT_EQ(txid.size(), 64u);
    EXPECT_EQ(note(made.value(), "txid"), txid);
    const std::string target = fmt::format("{}/a", kMaps);
    const json::Value got = ask("GET", target).value();
    EXPECT_EQ(note(got, "txid"), txid);
    EXPECT_FALSE(note(got, "height").empty());
    EXPECT_TRUE(test::eventually([&] { return note(ask("GET", target).value(), "finality") == "final"; }));
    const json::Value list = ask("GET", kMaps).value();
    EXPECT_EQ(note(list.find("items")->if_array()->front(), "txid"), txid);
    EXPECT_EQ(stored("a").find("rhizome.dev"), std::string::npos) << "they are shown, not stored";
}

TEST_F(KubeGateway, WhatIsOnlyShownIsNoChangeWhenItComesBack) {
    ASSERT_EQ(ask("POST", kMaps, config_map("a", "1")).status, 201u);
    const std::string target = fmt::format("{}/a", kMaps);
    const KubeReply before = ask("GET", target);
    // As `kubectl replace` sends back what `kubectl get -o yaml` showed.
    const KubeReply same = ask("PUT", target, before.body);
    EXPECT_EQ(same.status, 200u) << same.body;
    EXPECT_EQ(version(same), version(before));
    for (const char* patch : {R"({"metadata":{"annotations":{"rhizome.dev/txid":"x"}}})",
                              R"({"metadata":{"annotations":{"rhizome.dev/txid":null,"rhizome.dev/finality":null}}})",
                              R"({"metadata":{"annotations":null}})"}) {
        const KubeReply patched = ask("PATCH", target, patch, kMerge);
        EXPECT_EQ(patched.status, 200u) << patched.body;
        EXPECT_EQ(version(patched), version(before)) << patch;
    }
    // A change with them beside it is stored without them, and what `kubectl diff` compares differs in nothing else.
    const KubeReply dry = ask("PATCH", target + "?dryRun=All", R"({"data":{"v":"1"}})", kMerge);
    EXPECT_EQ(note(dry.value(), "txid"), note(before.value(), "txid"));
    const KubeReply would = ask("PATCH", target + "?dryRun=All", R"({"data":{"v":"2"}})", kMerge);
    EXPECT_EQ(note(would.value(), "txid"), note(before.value(), "txid"));
    json::Value changed = before.value();
    changed["data"]["v"] = "2";
    changed["metadata"]["annotations"]["mine"] = "kept";
    const KubeReply put = ask("PUT", target, json::print(changed));
    EXPECT_EQ(put.status, 200u) << put.body;
    EXPECT_NE(note(put.value(), "txid"), note(before.value(), "txid"));
    EXPECT_NE(stored("a").find(R"("mine":"kept")"), std::string::npos);
    EXPECT_EQ(stored("a").find("rhizome.dev"), std::string::npos) << stored("a");
    EXPECT_EQ(ask("PUT", target, json::print(changed)).status, 409u) << "it names a version that is gone";
}

TEST_F(KubeGateway, AClientWaitsForTheStageItNames) {
    const KubeReply accepted =
        ask("POST", kMaps, config_map("a", "1"), "application/json", "Rhizome-Wait: accepted\r\n");
    // A block may have been faster than the answer: then it says so.
    const auto fits = [](const KubeReply& reply, unsigned done) {
        return reply.status == (reply.header("Rhizome-Stage") == "accepted" ? 202u : done);
    };
    EXPECT_TRUE(fits(accepted, 201)) << accepted.head << accepted.body;
    EXPECT_TRUE(test::eventually([&] { return !stored("a").empty(); }));
    const KubeReply included = ask("POST", kMaps, config_map("b", "1"));
    // With one voter what is on its disk is final: the answer says how far it came.
    const std::string stage = included.header("Rhizome-Stage");
    EXPECT_TRUE(stage == "included" || stage == "final") << stage;
    EXPECT_FALSE(stored("b").empty()) << "who was told sees it";
    const KubeReply final = ask("POST", fmt::format("{}?rhizomeWait=final", kMaps), config_map("c", "1"));
    EXPECT_EQ(final.status, 201u) << final.body;
    EXPECT_EQ(final.header("Rhizome-Stage"), "final");
    EXPECT_EQ(note(final.value(), "finality"), "final");
    const KubeReply odd = ask("POST", fmt::format("{}?rhizomeWait=soon", kMaps), config_map("d", "1"));
    EXPECT_EQ(odd.status, 400u);
    // An update that was only accepted shows what will be, not what is.
    const KubeReply update =
        ask("PATCH", fmt::format("{}/b", kMaps), R"({"data":{"v":"2"}})", kMerge, "Rhizome-Wait: accepted\r\n");
    EXPECT_TRUE(fits(update, 200)) << update.head << update.body;
    EXPECT_EQ(update.value().text_at({"data", "v"}), "2");
}

TEST_F(KubeGateway, WhoseTimeRunsOutIsToldWhatMayStillHappen) {
    // The node's own strand stands still until the client was told.
    std::promise<void> told;
    daemon_->host().inspect([end = told.get_future().share()](const core::Node*) { end.wait(); });
    const KubeReply late = ask("POST", fmt::format("{}?rhizomeWait=final&timeout=1ms", kMaps), config_map("a", "1"));
    told.set_value();
    EXPECT_EQ(late.status, 504u) << late.body;
    const json::Value status = late.value();
    EXPECT_EQ(status.text_at({"reason"}), "Timeout");
    const std::string txid = late.header("Rhizome-Txid");
    EXPECT_EQ(txid.size(), 64u);
    const std::string message{status.text_at({"message"})};
    EXPECT_NE(message.find(txid), std::string::npos) << message;
    EXPECT_NE(message.find("may still be"), std::string::npos) << message;
    // And so it was.
    EXPECT_TRUE(test::eventually([&] { return note(ask("GET", fmt::format("{}/a", kMaps)).value(), "txid") == txid; }));
}

TEST_F(KubeGateway, ANamespaceGivesItsDefaultLockToWhatIsCreatedInIt) {
    const std::string space =
        R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"bobs","annotations":{"rhizome.dev/default-lock":"p2pkh bob"}}})";
    ASSERT_EQ(ask("POST", "/api/v1/namespaces", space).status, 201u);
    const std::string maps = "/api/v1/namespaces/bobs/configmaps";
    ASSERT_EQ(ask("POST", maps, config_map("a", "1")).status, 201u);
    const KubeReply his = as_bob("PATCH", maps + "/a", R"({"data":{"v":"2"}})", kMerge);
    EXPECT_EQ(his.status, 200u) << his.body;
    EXPECT_EQ(as_bob("POST", maps, config_map("b", "1"), "application/json").status, 403u)
        << "only what is there is his";
    ASSERT_EQ(ask("POST", kMaps, config_map("a", "1")).status, 201u);
    EXPECT_EQ(as_bob("PATCH", fmt::format("{}/a", kMaps), R"({"data":{"v":"2"}})", kMerge).status, 403u);
    const std::string wrong =
        R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"odd","annotations":{"rhizome.dev/default-lock":"p2pkh nobody"}}})";
    ASSERT_EQ(ask("POST", "/api/v1/namespaces", wrong).status, 201u);
    const KubeReply refused = ask("POST", "/api/v1/namespaces/odd/configmaps", config_map("a", "1"));
    EXPECT_EQ(refused.status, 400u) << refused.body;
    EXPECT_NE(refused.body.find("rhizome.dev/default-lock"), std::string::npos) << refused.body;
}

TEST_F(KubeGateway, WritesOfWhatNothingActsOnAreWarnedAboutAndListed) {
    const KubeReply pod = ask(
        "POST", "/api/v1/namespaces/default/pods",
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}})");
    ASSERT_EQ(pod.status, 201u) << pod.body;
    EXPECT_NE(pod.head.find("pods is stored and shown"), std::string::npos) << pod.head;
    const KubeReply node =
        ask("POST", "/api/v1/nodes",
            R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"far"},"spec":{"unschedulable":true}})");
    ASSERT_EQ(node.status, 201u) << node.body;
    EXPECT_NE(node.head.find("spec.unschedulable is stored"), std::string::npos) << node.head;
    EXPECT_EQ(ask("POST", kMaps, config_map("a", "1")).header("Warning"), "");
    const auto client = RpcClient::connect(temp_.path() / "data");
    ASSERT_TRUE(client);
    const auto status = (*client)->get("/rhizome/v1/status");
    ASSERT_TRUE(status);
    const std::string listed = json::print(*status->find("onlyStored"));
    EXPECT_NE(listed.find(R"({"resource":"pods","count":1})"), std::string::npos) << listed;
}

TEST_F(KubeGateway, AnAuditLogTellsWhoAskedForWhatAndNoSecret) {
    const std::string payload = "c2VjcmV0LXBheWxvYWQ=";
    ASSERT_EQ(ask("POST", "/api/v1/namespaces/default/secrets",
                  fmt::format(R"({{"apiVersion":"v1","kind":"Secret","metadata":{{"name":"s"}},"data":{{"k":"{}"}}}})",
                              payload))
                  .status,
              201u);
    ASSERT_EQ(ask("GET", "/api/v1/namespaces/default/secrets/s").status, 200u);
    ASSERT_EQ(as_bob("POST", kMaps, config_map("x", "1"), "application/json").status, 403u);
    const KubeReply told = ask("GET", "/metrics", {}, {}, "Audit-Id: my-own\r\n");
    ASSERT_EQ(told.status, 200u);
    EXPECT_EQ(told.header("Audit-Id"), "my-own");
    test::KubeAccess nobody = access_;
    nobody.token = "wrong";
    ASSERT_TRUE(test::ask_kube(nobody, "GET", kMaps));

    std::string log;
    ASSERT_TRUE(test::eventually([&] {
        log = runtime::read_file(audit_file(), 1u << 20).value_or("");
        return std::count(log.begin(), log.end(), '\n') == 5;
    })) << log;
    EXPECT_EQ(log.find(payload), std::string::npos);
    EXPECT_EQ(log.find("secret-payload"), std::string::npos);
    std::vector<std::string> said;
    for (std::size_t at = 0; at < log.size();) {
        const std::size_t end = log.find('\n', at);
        const auto line = json::parse(log.substr(at, end - at));
        ASSERT_TRUE(line);
        at = end + 1;
        said.push_back(fmt::format("{} {} {} {} {}", line->text_at({"user", "username"}), line->text_at({"verb"}),
                                   line->text_at({"objectRef", "resource"}), line->text_at({"objectRef", "name"}),
                                   line->find_path({"responseStatus", "code"})->if_int64().value_or(0)));
    }
    // A line is written behind its answer, so those of several connections come in any order.
    std::sort(said.begin(), said.end());
    const std::vector<std::string> wanted{"bob create configmaps  403", "root create secrets  201", "root get   200",
                                          "root get secrets s 200", "system:anonymous get configmaps  401"};
    EXPECT_EQ(said, wanted);
    const std::string metrics = ask("GET", "/metrics").body;
    for (
        const char* line :
        {R"(apiserver_request_total{code="201",component="apiserver",dry_run="",group="",resource="secrets",scope="namespace",subresource="",verb="POST",version="v1"} 1)",
         R"(apiserver_request_total{code="403",component="apiserver",dry_run="",group="",resource="configmaps",scope="namespace",subresource="",verb="POST",version="v1"} 1)",
         R"(apiserver_current_inflight_requests{request_kind="readOnly"} 1)", "rhizome_height "})
        EXPECT_NE(metrics.find(line), std::string::npos) << line << "\n" << metrics;
}

}  // namespace
}  // namespace rhizome::node
