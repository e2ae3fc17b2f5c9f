// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "support/kube_world.h"

/// What a deletion brings with it, over a whole node: finalizers, owners, namespaces, evictions.
namespace rhizome::node {
namespace {

using test::Answered;

class KubeDeletion : public test::KubeWorld {
protected:
    static std::string at(std::string_view space, std::string_view kind, std::string_view name = "") {
        return fmt::format("/api/v1/namespaces/{}/{}{}{}", space, kind, name.empty() ? "" : "/", name);
    }
    Answered merge(const std::string& target, const std::string& patch) {
        return root("PATCH", target, patch, "application/merge-patch+json");
    }
    std::string make(std::string_view name, std::string_view metadata = "", std::string_view space = "default") {
        const Answered made = root("POST", at(space, "configmaps"), config_map(name, "1", metadata));
        EXPECT_EQ(made.status, 201u) << made.text;
        return std::string{made.body.text_at({"metadata", "uid"})};
    }
    static std::string owner(std::string_view name, std::string_view uid, bool blocks = false) {
        return fmt::format(R"(,"ownerReferences":[{{"apiVersion":"v1","kind":"ConfigMap","name":"{}","uid":"{}",)"
                           R"("blockOwnerDeletion":{}}}])",
                           name, uid, blocks);
    }
    /// Waits, by watching, until the object is gone.
    void until_gone(const std::string& target) {
        for (int looks = 0;; ++looks) {
            ASSERT_LT(looks, 60) << target << " stays";
            const Answered now = root("GET", target);
            if (now.status == 404) return;
            ASSERT_EQ(now.status, 200u) << now.text;
            const std::size_t slash = target.rfind('/');
            // A watch from the version that was seen ends when something happens to it.
            (void)root("GET", fmt::format("{}?watch=true&timeoutSeconds=1&resourceVersion={}&fieldSelector="
                                          "metadata.name%3D{}",
                                          target.substr(0, slash), now.body.text_at({"metadata", "resourceVersion"}),
                                          target.substr(slash + 1)));
        }
    }
    void make_namespace(std::string_view name) {
        ASSERT_EQ(root("POST", "/api/v1/namespaces", fmt::format(R"({{"metadata":{{"name":"{}"}}}})", name)).status,
                  201u);
    }
    std::string pod(std::string_view name, std::string_view labels = "{}") {
        return fmt::format(R"({{"metadata":{{"name":"{}","labels":{}}},)"
                           R"("spec":{{"containers":[{{"name":"c","image":"i"}}]}}}})",
                           name, labels);
    }
};

TEST_F(KubeDeletion, ANamespaceEndsWhenNothingInItWaitsAnyMore) {
    make_namespace("web");
    make("plain", "", "web");
    make("held", R"(,"finalizers":["example.com/x"])", "web");
    const std::string web = "/api/v1/namespaces/web";
    const Answered ends = root("DELETE", web);
    ASSERT_EQ(ends.status, 200u) << ends.text;
    EXPECT_EQ(ends.body.text_at({"status", "phase"}), "Terminating");
    const Answered refused = root("POST", at("web", "configmaps"), config_map("late", "1"));
    EXPECT_EQ(refused.status, 403u);
    EXPECT_NE(refused.text.find("because it is being terminated"), std::string::npos) << refused.text;
    EXPECT_EQ(refused.body.find_path({"details", "causes"})->if_array()->front().text_at({"reason"}),
              "NamespaceTerminating");
    const Answered applied = root("PATCH", at("web", "configmaps", "late") + "?fieldManager=me",
                                  config_map("late", "1"), "application/apply-patch+yaml");
    EXPECT_EQ(applied.status, 403u) << "an apply that would create it is refused like a creation";
    EXPECT_NE(applied.text.find("NamespaceTerminating"), std::string::npos) << applied.text;
    EXPECT_EQ(root("DELETE", web).status, 409u);
    until_gone(at("web", "configmaps", "plain"));
    const Answered held = root("GET", at("web", "configmaps", "held"));
    EXPECT_EQ(held.status, 200u);
    EXPECT_EQ(root("GET", web).body.text_at({"status", "phase"}), "Terminating");
    const Answered let_go = merge(at("web", "configmaps", "held"), R"({"metadata":{"finalizers":null}})");
    EXPECT_EQ(let_go.status, 200u);
    EXPECT_EQ(let_go.body.text_at({"kind"}), "ConfigMap") << "a change is answered with the object, also its last";
    until_gone(web);
    make_namespace("web");
    EXPECT_EQ(root("GET", at("web", "configmaps")).body.find("items")->if_array()->size(), 0u);
}

TEST_F(KubeDeletion, ANamespacesOwnFinalizersAreTakenOutByFinalize) {
    ASSERT_EQ(root("POST", "/api/v1/namespaces",
                   R"({"metadata":{"name":"own"},"spec":{"finalizers":["kubernetes","example.com/y"]}})")
                  .status,
              201u);
    const std::string own = "/api/v1/namespaces/own";
    ASSERT_EQ(root("DELETE", own).status, 200u);
    EXPECT_EQ(root("GET", own).body.text_at({"status", "phase"}), "Terminating");
    const Answered done = root("PUT", own + "/finalize", R"({"metadata":{"name":"own"},"spec":{"finalizers":[]}})");
    EXPECT_EQ(done.status, 200u) << done.text;
    until_gone(own);
}

TEST_F(KubeDeletion, DependentsFollowTheirOwner) {
    const std::string uid = make("owner");
    make("child", owner("owner", uid));
    make("grandchild",
         owner("child",
               std::string{root("GET", at("default", "configmaps", "child")).body.text_at({"metadata", "uid"})}));
    make("free");
    ASSERT_EQ(root("DELETE", at("default", "configmaps", "owner")).status, 200u);
    until_gone(at("default", "configmaps", "child"));
    until_gone(at("default", "configmaps", "grandchild"));
    EXPECT_EQ(root("GET", at("default", "configmaps", "free")).status, 200u);
    // One that refers to somebody who was never there goes as well.
    make("lost", owner("nobody", "00000000-0000-0000-0000-000000000000"));
    until_gone(at("default", "configmaps", "lost"));
}

TEST_F(KubeDeletion, AnOwnerDeletedInTheForegroundGoesLast) {
    const std::string uid = make("owner");
    make("child", R"(,"finalizers":["example.com/x"])" + owner("owner", uid, true));
    const std::string one = at("default", "configmaps", "owner");
    const Answered asked = root("DELETE", one, R"({"propagationPolicy":"Foreground"})");
    ASSERT_EQ(asked.status, 200u) << asked.text;
    EXPECT_EQ(json::print(*asked.body.find_path({"metadata", "finalizers"})), R"(["foregroundDeletion"])");
    EXPECT_EQ(root("GET", one).status, 200u);
    const std::string child = at("default", "configmaps", "child");
    // The child is told to go; it waits for its own finalizer, and its owner for it.
    for (Answered now = root("GET", child); now.body.text_at({"metadata", "deletionTimestamp"}).empty();
         now = root("GET", child)) {
        ASSERT_EQ(now.status, 200u) << now.text;
        (void)root("GET", fmt::format("{}?watch=true&timeoutSeconds=1&resourceVersion={}", at("default", "configmaps"),
                                      now.body.text_at({"metadata", "resourceVersion"})));
    }
    EXPECT_EQ(root("GET", one).status, 200u);
    ASSERT_EQ(merge(child, R"({"metadata":{"finalizers":null}})").status, 200u);
    until_gone(one);
    // With nothing below it, it goes at once.
    make("alone");
    EXPECT_EQ(root("DELETE", at("default", "configmaps", "alone"), R"({"propagationPolicy":"Foreground"})")
                  .body.text_at({"status"}),
              "Success");
}

TEST_F(KubeDeletion, OptionsThatNobodyKnowsDeleteNothing) {
    make("one");
    const std::string one = at("default", "configmaps", "one");
    const auto refused = [&](std::string_view query, std::string_view body, std::string_view why) {
        const Answered answer = root("DELETE", fmt::format("{}{}", one, query), std::string{body});
        EXPECT_EQ(answer.status, 422u) << answer.text;
        EXPECT_EQ(answer.body.text_at({"message"}), why);
    };
    constexpr std::string_view kPolicy =
        R"(DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Slowly": supported values: )"
        R"("Background", "Foreground", "Orphan", "nil")";
    refused("?propagationPolicy=Slowly", "", kPolicy);
    refused("", R"({"propagationPolicy":"Slowly"})", kPolicy);
    refused(
        "", R"({"propagationPolicy":"Orphan","orphanDependents":true})",
        R"(DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Invalid value: "Orphan": orphanDependents and )"
        "deletionPropagation cannot be both set");
    constexpr std::string_view kDry =
        R"(DeleteOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: "Some": supported values: "All")";
    refused("?dryRun=Some", "", kDry);
    refused("", R"({"dryRun":["All","Some"]})", kDry);
    EXPECT_EQ(root("GET", one).status, 200u);
    EXPECT_EQ(root("DELETE", one, R"({"dryRun":["All"]})").status, 200u);
    EXPECT_EQ(root("GET", one).status, 200u);
    EXPECT_EQ(root("POST", at("default", "configmaps") + "?dryRun=", R"({"metadata":{"name":"two"}})").status, 422u);
}

TEST_F(KubeDeletion, OrphanDependentsIsTheOldWayToSayIt) {
    const std::string uid = make("owner");
    make("child", owner("owner", uid));
    ASSERT_EQ(root("DELETE", at("default", "configmaps", "owner"), R"({"orphanDependents":true})").status, 200u);
    until_gone(at("default", "configmaps", "owner"));
    EXPECT_EQ(root("GET", at("default", "configmaps", "child")).status, 200u);
}

TEST_F(KubeDeletion, OrphansStayWithoutTheirOwner) {
    const std::string uid = make("owner");
    make("child", owner("owner", uid));
    ASSERT_EQ(root("DELETE", at("default", "configmaps", "owner"), R"({"propagationPolicy":"Orphan"})").status, 200u);
    until_gone(at("default", "configmaps", "owner"));
    const Answered child = root("GET", at("default", "configmaps", "child"));
    ASSERT_EQ(child.status, 200u);
    EXPECT_EQ(child.body.find_path({"metadata", "ownerReferences"}), nullptr) << child.text;
}

TEST_F(KubeDeletion, APodIsEvictedAsFarAsItsBudgetSays) {
    const std::string pods = at("default", "pods");
    for (const char* name : {"a", "b", "c"}) ASSERT_EQ(root("POST", pods, pod(name, R"({"app":"x"})")).status, 201u);
    const auto evict = [&](std::string_view name) {
        return root("POST", fmt::format("{}/{}/eviction", pods, name),
                    fmt::format(R"({{"apiVersion":"policy/v1","kind":"Eviction","metadata":{{"name":"{}"}}}})", name));
    };
    // `kubectl drain --dry-run=server` says so inside the eviction, nowhere else.
    EXPECT_EQ(root("POST", pods + "/a/eviction",
                   R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"a"},)"
                   R"("deleteOptions":{"dryRun":["All"]}})")
                  .status,
              201u);
    EXPECT_EQ(root("GET", pods + "/a").status, 200u);
    const Answered free = evict("a");
    EXPECT_EQ(free.status, 201u) << free.text;
    EXPECT_EQ(free.body.text_at({"status"}), "Success");
    EXPECT_EQ(root("GET", pods + "/a").status, 404u);
    for (const char* name : {"b", "c"})
        ASSERT_EQ(merge(pods + "/" + name + "/status", R"({"status":{"phase":"Running"}})").status, 200u);
    const std::string budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
    ASSERT_EQ(root("POST", budgets,
                   R"({"metadata":{"name":"pdb"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"x"}}}})")
                  .status,
              201u);
    const Answered early = evict("b");
    EXPECT_EQ(early.status, 429u) << early.text;
    EXPECT_NE(early.text.find("still being processed"), std::string::npos);
    ASSERT_EQ(
        merge(budgets + "/pdb/status", R"({"status":{"observedGeneration":1,"disruptionsAllowed":1,"currentHealthy":2,)"
                                       R"("desiredHealthy":1,"expectedPods":2}})")
            .status,
        200u);
    EXPECT_EQ(evict("b").status, 201u);
    const Answered over = evict("c");
    EXPECT_EQ(over.status, 429u) << over.text;
    EXPECT_NE(over.text.find("needs 1 healthy pods and has 2 currently"), std::string::npos) << over.text;
    EXPECT_EQ(root("GET", budgets + "/pdb").body.find_path({"status", "disruptionsAllowed"})->if_int64(), 0);
    EXPECT_EQ(evict("nobody").status, 404u);
}

TEST_F(KubeDeletion, APodIsBoundOnce) {
    const std::string pods = at("default", "pods");
    ASSERT_EQ(root("POST", pods, pod("p")).status, 201u);
    const std::string binding =
        R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"p"},"target":{"kind":"Node","name":"n1"}})";
    EXPECT_EQ(root("POST", pods + "/p/binding", R"({"target":{"kind":"Pod","name":"n1"}})").status, 422u);
    const Answered bound = root("POST", pods + "/p/binding", binding);
    EXPECT_EQ(bound.status, 201u) << bound.text;
    EXPECT_EQ(root("GET", pods + "/p").body.text_at({"spec", "nodeName"}), "n1");
    EXPECT_EQ(root("POST", pods + "/p/binding", binding).status, 409u);
    ASSERT_EQ(root("POST", pods, pod("q")).status, 201u);
    EXPECT_EQ(
        root("POST", at("default", "bindings"), R"({"metadata":{"name":"q"},"target":{"kind":"Node","name":"n1"}})")
            .status,
        201u);
    EXPECT_EQ(root("GET", pods + "/q").body.text_at({"spec", "nodeName"}), "n1");
}

TEST_F(KubeDeletion, EphemeralContainersAreOnlyAdded) {
    const std::string pods = at("default", "pods");
    ASSERT_EQ(root("POST", pods, pod("p")).status, 201u);
    const auto patch = [&](const std::string& containers) {
        return root("PATCH", pods + "/p/ephemeralcontainers",
                    fmt::format(R"({{"spec":{{"ephemeralContainers":[{}]}}}})", containers),
                    "application/merge-patch+json");
    };
    const std::string one = R"({"name":"dbg","image":"busybox"})";
    EXPECT_EQ(patch(one).status, 200u);
    EXPECT_EQ(root("GET", pods + "/p").body.find_path({"spec", "ephemeralContainers"})->if_array()->size(), 1u);
    EXPECT_EQ(patch(one + R"(,{"name":"dbg2","image":"busybox"})").status, 200u);
    EXPECT_EQ(patch(one).status, 422u) << "none is taken away";
    EXPECT_EQ(patch(R"({"name":"dbg","image":"other"},{"name":"dbg2","image":"busybox"})").status, 422u);
}

TEST_F(KubeDeletion, WhatCannotBeReachedIsSaidToBeSo) {
    const std::string pods = at("default", "pods");
    ASSERT_EQ(root("POST", pods, pod("p")).status, 201u);
    ASSERT_EQ(
        root("POST", at("default", "services"), R"({"metadata":{"name":"s"},"spec":{"ports":[{"port":80}]}})").status,
        201u);
    for (const std::string& target : {pods + "/p/proxy/x/y", at("default", "services", "s") + "/proxy/",
                                      std::string{"/api/v1/nodes/n1/proxy/logs"}}) {
        const Answered refused = root("GET", target);
        EXPECT_EQ(refused.status, 503u) << target << refused.text;
        EXPECT_EQ(refused.reason(), "ServiceUnavailable");
    }
    EXPECT_EQ(root("GET", pods + "/q/proxy/x").status, 404u);
    EXPECT_EQ(root("POST", pods + "/p/proxy/x", "{}").status, 503u);
}

}  // namespace
}  // namespace rhizome::node
