// SPDX-License-Identifier: Apache-2.0
#include "node/kube/kube_api.h"

#include <atomic>
#include <fstream>
#include <thread>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "node/kube/authority.h"
#include "runtime/clock.h"
#include "support/kube_client.h"
#include "support/kube_world.h"

/// The Kubernetes API of a whole node in this process, asked over TLS as clients do.
namespace rhizome::node {
namespace {

using test::Answered;

class KubeApiNode : public test::KubeWorld {};

using test::kMaps;

TEST_F(KubeApiNode, OnlyHealthAndVersionAnswerStrangers) {
    for (const char* open : {"/version", "/healthz", "/livez", "/readyz"})
        EXPECT_EQ(ask({.target = open}).status, 200u) << open;
    for (const char* closed : {"/api", "/apis", "/metrics", "/openapi/v3", kMaps, "/nothing"}) {
        const Answered refused = ask({.target = closed});
        EXPECT_EQ(refused.status, 401u) << closed;
        EXPECT_EQ(refused.reason(), "Unauthorized");
        EXPECT_EQ(refused.body.text_at({"kind"}), "Status");
    }
    EXPECT_EQ(with_token("GET", kMaps, "t-nobody").status, 401u);
    EXPECT_EQ(with_token("GET", kMaps, "t-bob").status, 200u);
}

TEST_F(KubeApiNode, ACertificateOfItsAuthorityNamesTheUser) {
    const auto identity = client_identity(*authority_, {.user = "admin", .groups = {"system:masters"}}, runtime::now());
    ASSERT_TRUE(identity);
    http::Request who{.method = "POST", .target = "/apis/authentication.k8s.io/v1/selfsubjectreviews"};
    who.headers.add("Content-Type", "application/json");
    who.body = "{}";
    const Answered answered = ask(who, *identity);
    EXPECT_EQ(answered.status, 201u) << answered.text;
    EXPECT_EQ(answered.body.text_at({"status", "userInfo", "username"}), "admin");
    // Another authority's word counts for nothing.
    auto stranger = open_authority(temp_.path() / "elsewhere", runtime::now());
    ASSERT_TRUE(stranger);
    const auto forged = client_identity(*stranger, {.user = "admin", .groups = {"system:masters"}}, runtime::now());
    EXPECT_NE(ask(who, *forged).status, 201u);
}

TEST_F(KubeApiNode, WritesNeedAKeyThatOpensTheLock) {
    const Answered refused = with_token("POST", kMaps, "t-alice", config_map("a", "1"));
    EXPECT_EQ(refused.status, 403u);
    EXPECT_EQ(refused.reason(), "Forbidden");
    EXPECT_NE(refused.text.find("cannot open the lock"), std::string::npos) << refused.text;
    EXPECT_EQ(with_token("POST", kMaps, "t-bob", config_map("a", "1")).status, 403u);
    // The owner gives alice a document: from then on she decides about it, and the owner as before.
    const Answered made =
        root("POST", kMaps, config_map("a", "1", R"(,"annotations":{"rhizome.dev/lock":"p2pkh alice"})"));
    ASSERT_EQ(made.status, 201u) << made.text;
    EXPECT_EQ(made.txid.size(), 64u);
    const std::string one = std::string{kMaps} + "/a";
    const auto patch = [&](std::string_view token, std::string_view value) {
        return with_token("PATCH", one, token, fmt::format(R"({{"data":{{"v":"{}"}}}})", value),
                          "application/merge-patch+json");
    };
    EXPECT_EQ(patch("t-alice", "2").status, 200u);
    EXPECT_EQ(patch("t-bob", "3").status, 403u);
    EXPECT_EQ(patch("t-root", "4").status, 200u);
    EXPECT_EQ(root("GET", one).body.text_at({"data", "v"}), "4");
    EXPECT_EQ(with_token("DELETE", one, "t-alice").status, 200u);
    EXPECT_EQ(root("GET", one).status, 404u);
}

TEST_F(KubeApiNode, WhatAPathDoesNotTakeIsNotAllowed) {
    for (const auto& [method, path] : {std::pair{"POST", "/api/v1/pods"},
                                       {"DELETE", "/api/v1/pods"},
                                       {"POST", "/version"},
                                       {"POST", "/api/v1"},
                                       {"DELETE", "/apis"}}) {
        const auto answer = root(method, path, "{}");
        EXPECT_EQ(answer.status, 405u) << method << " " << path << ": " << answer.text;
        EXPECT_EQ(answer.body.text_at({"reason"}), "MethodNotAllowed");
    }
}

TEST_F(KubeApiNode, AChangeNamesTheObjectOfItsPath) {
    const std::string maps = "/api/v1/namespaces/default/configmaps";
    ASSERT_EQ(root("POST", maps, config_map("one", "1")).status, 201u);
    const auto refused = [&](const auto& answer, std::string_view why) {
        EXPECT_EQ(answer.status, 400u) << answer.text;
        EXPECT_EQ(answer.body.text_at({"message"}), why);
    };
    constexpr std::string_view kOther = "the name of the object (other) does not match the name on the URL (one)";
    refused(root("PUT", maps + "/one", config_map("other", "2")), kOther);
    refused(root("PATCH", maps + "/one", R"({"metadata":{"name":"other"}})", "application/merge-patch+json"), kOther);
    refused(root("PUT", maps + "/one", R"({"data":{"v":"2"}})"),
            "the name of the object (one based on URL) was undeterminable: name must be provided");
    EXPECT_EQ(root("GET", maps + "/one").body.text_at({"data", "v"}), "1");
    EXPECT_EQ(root("PATCH", maps + "/none", "{}", "text/plain").status, 415u);
}

TEST_F(KubeApiNode, AVersionThatWasSeenBeforeIsAConflict) {
    const Answered first = root("POST", kMaps, config_map("a", "1"));
    ASSERT_EQ(first.status, 201u) << first.text;
    EXPECT_EQ(root("POST", kMaps, config_map("a", "1")).reason(), "AlreadyExists");
    const std::string one = std::string{kMaps} + "/a";
    const std::string seen{first.body.text_at({"metadata", "resourceVersion"})};
    const Answered second = root("PUT", one, config_map("a", "2", fmt::format(R"(,"resourceVersion":"{}")", seen)));
    ASSERT_EQ(second.status, 200u) << second.text;
    EXPECT_NE(second.body.text_at({"metadata", "resourceVersion"}), seen);
    EXPECT_EQ(second.body.text_at({"metadata", "uid"}), first.body.text_at({"metadata", "uid"}));
    const Answered stale = root("PUT", one, config_map("a", "3", fmt::format(R"(,"resourceVersion":"{}")", seen)));
    EXPECT_EQ(stale.status, 409u);
    EXPECT_EQ(stale.reason(), "Conflict");
    // Without a version the last one wins; the same again is no transaction.
    const Answered third = root("PUT", one, config_map("a", "3"));
    EXPECT_EQ(third.status, 200u);
    const Answered same = root("PUT", one, config_map("a", "3"));
    EXPECT_EQ(same.body.text_at({"metadata", "resourceVersion"}), third.body.text_at({"metadata", "resourceVersion"}));
    EXPECT_TRUE(same.txid.empty());
    EXPECT_EQ(root("DELETE", one, R"({"preconditions":{"uid":"other"}})").status, 409u);
    EXPECT_EQ(root("DELETE", one).status, 200u);
}

TEST_F(KubeApiNode, WhatWaitsForFinalizersStaysUntilTheyAreGone) {
    ASSERT_EQ(root("POST", kMaps, config_map("f", "1", R"(,"finalizers":["example.com/x"])")).status, 201u);
    const std::string one = std::string{kMaps} + "/f";
    const Answered asked = root("DELETE", one);
    EXPECT_EQ(asked.status, 200u);
    EXPECT_FALSE(asked.body.text_at({"metadata", "deletionTimestamp"}).empty()) << asked.text;
    EXPECT_EQ(root("GET", one).status, 200u);
    EXPECT_EQ(root("PATCH", one, R"({"metadata":{"finalizers":null}})", "application/merge-patch+json").status, 200u);
    EXPECT_EQ(root("GET", one).status, 404u);
}

TEST_F(KubeApiNode, ADryRunChangesNothing) {
    const Answered dry = root("POST", std::string{kMaps} + "?dryRun=All", config_map("d", "1"));
    EXPECT_EQ(dry.status, 201u) << dry.text;
    EXPECT_EQ(root("GET", std::string{kMaps} + "/d").status, 404u);
    ASSERT_EQ(root("POST", kMaps, config_map("d", "1")).status, 201u);
    EXPECT_EQ(root("DELETE", std::string{kMaps} + "/d?dryRun=All").status, 200u);
    EXPECT_EQ(root("DELETE", std::string{kMaps} + "/d", R"({"dryRun":["All"]})").status, 200u);
    EXPECT_EQ(root("GET", std::string{kMaps} + "/d").status, 200u);
}

TEST_F(KubeApiNode, PatchesOfManyClientsAllArrive) {
    ASSERT_EQ(root("POST", kMaps, config_map("p", "0")).status, 201u);
    std::vector<std::thread> clients;
    std::atomic<int> good = 0;
    for (int i = 0; i < 8; ++i)
        clients.emplace_back([this, i, &good] {
            const Answered done = root("PATCH", std::string{kMaps} + "/p",
                                       fmt::format(R"({{"data":{{"k{}":"x"}}}})", i), "application/merge-patch+json");
            if (done.status == 200) ++good;
        });
    for (std::thread& one : clients) one.join();
    EXPECT_EQ(good, 8);
    EXPECT_EQ(root("GET", std::string{kMaps} + "/p").body.find("data")->if_object()->size(), 9u);
}

TEST_F(KubeApiNode, ACollectionIsDeletedByItsSelector) {
    for (const char* name : {"a", "b"})
        ASSERT_EQ(root("POST", kMaps, config_map(name, "1", R"(,"labels":{"x":"y"})")).status, 201u);
    ASSERT_EQ(root("POST", kMaps, config_map("c", "1")).status, 201u);
    const Answered gone = root("DELETE", std::string{kMaps} + "?labelSelector=x%3Dy");
    EXPECT_EQ(gone.status, 200u) << gone.text;
    EXPECT_EQ(gone.body.find("items")->if_array()->size(), 2u);
    const Answered left = root("GET", kMaps);
    ASSERT_EQ(left.body.find("items")->if_array()->size(), 1u);
    EXPECT_EQ(left.body.find("items")->if_array()->front().text_at({"metadata", "name"}), "c");
}

TEST_F(KubeApiNode, EventsLiveOffTheChain) {
    const Answered made = root("POST", "/api/v1/namespaces/default/events",
                               R"({"metadata":{"generateName":"e-"},"involvedObject":{"kind":"Pod","name":"p"},)"
                               R"("reason":"Tested","message":"m","type":"Normal"})");
    ASSERT_EQ(made.status, 201u) << made.text;
    EXPECT_TRUE(made.body.text_at({"metadata", "name"}).starts_with("e-"));
    EXPECT_TRUE(made.txid.empty());
    const Answered all = root("GET", "/api/v1/events?fieldSelector=reason%3DTested");
    EXPECT_EQ(all.body.find("items")->if_array()->size(), 1u) << all.text;
    EXPECT_FALSE(daemon_->host().view()->state.contains(
        *state::Path::of("", "Event", "default", made.body.text_at({"metadata", "name"}))));
}

TEST_F(KubeApiNode, SaysWhereAVersionComesFrom) {
    const Answered made = root("POST", std::string{kMaps} + "?rhizomeWait=final", config_map("o", "1"));
    ASSERT_EQ(made.status, 201u) << made.text;
    const Answered origin = root("GET", std::string{kMaps} + "/o/origin");
    EXPECT_EQ(origin.body.text_at({"written", "txid"}), made.txid);
    EXPECT_EQ(origin.body.text_at({"finality"}), "final");
    EXPECT_EQ(root("POST", std::string{kMaps} + "?rhizomeWait=never", config_map("q", "1")).status, 400u);
}

struct RefusedCase {
    const char* about;
    const char* method;
    const char* target;
    const char* body;
    unsigned status;
};

TEST_F(KubeApiNode, RefusesInKubernetesWords) {
    const RefusedCase cases[] = {
        {"no such path", "GET", "/apis/none.example/v1/things", "", 404},
        {"no such object", "GET", "/api/v1/namespaces/default/pods/x", "", 404},
        {"a namespace that is not there", "POST", "/api/v1/namespaces/nowhere/configmaps",
         R"({"metadata":{"name":"a"}})", 404},
        {"no name", "POST", kMaps, R"({"metadata":{}})", 422},
        {"a bad name", "POST", kMaps, R"({"metadata":{"name":"A_b"}})", 422},
        {"another kind", "POST", kMaps, R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}})", 400},
        {"another namespace", "POST", kMaps, R"({"metadata":{"name":"a","namespace":"web"}})", 400},
        {"no JSON", "POST", kMaps, "{", 400},
        {"no body", "POST", kMaps, "", 400},
        {"an unknown field", "POST", "/api/v1/namespaces/default/configmaps?fieldValidation=Strict",
         R"({"metadata":{"name":"a"},"bogus":1})", 400},
        {"a foreign revision", "GET", "/api/v1/namespaces/default/configmaps?resourceVersion=7&watch=true", "", 410},
        {"a bad selector", "GET", "/api/v1/namespaces/default/configmaps?labelSelector=%21%21", "", 400},
        {"an unknown field selector", "GET", "/api/v1/namespaces/default/configmaps?fieldSelector=spec.x%3D1", "", 400},
        {"a bad continue", "GET", "/api/v1/namespaces/default/configmaps?continue=zz", "", 400},
        {"a method nobody knows", "BREW", kMaps, "", 405},
        {"a status is not deleted", "DELETE", "/apis/apps/v1/namespaces/default/deployments/web/status", "", 405},
        {"what is new has no name in its path", "POST", "/api/v1/namespaces/default/configmaps/foo",
         R"({"metadata":{"name":"bar"}})", 405},
        {"what is changed has one", "PUT", kMaps, R"({"metadata":{"name":"a"}})", 405},
        {"a list of what is kept nowhere", "GET", "/api/v1/namespaces/default/bindings", "", 405},
        {"an origin is only read", "DELETE", "/api/v1/namespaces/default/configmaps/a/origin", "", 405},
    };
    for (const RefusedCase& one : cases) {
        SCOPED_TRACE(one.about);
        const Answered refused = root(one.method, one.target, one.body);
        EXPECT_EQ(refused.status, one.status) << refused.text;
        EXPECT_EQ(refused.body.text_at({"kind"}), "Status") << refused.text;
    }
    const Answered apply =
        root("PATCH", std::string{kMaps} + "/x?fieldManager=m", "{}", "application/apply-patch+yaml");
    EXPECT_EQ(apply.status, 400u) << "what is applied says what it is";
    EXPECT_EQ(apply.body.text_at({"message"}), "invalid object type: /, Kind=");
}

TEST(KubeAuthority, IsMadeOnceAndReadBack) {
    const test::TempFolder temp;
    const auto first = open_authority(temp.path(), runtime::now());
    ASSERT_TRUE(first);
    const auto again = open_authority(temp.path(), runtime::now());
    ASSERT_TRUE(again);
    EXPECT_EQ(first->chain.front(), again->chain.front());
    const auto key = std::filesystem::status(authority_folder(temp.path()) / "ca.key").permissions();
    EXPECT_EQ(key, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    std::ofstream{authority_folder(temp.path()) / "ca.key"} << "rubbish";
    EXPECT_EQ(open_authority(temp.path(), runtime::now()).error().kind, ErrorKind::Corrupt);
}

}  // namespace
}  // namespace rhizome::node
