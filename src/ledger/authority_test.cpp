// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "support/test_chain.h"

namespace rhizome::ledger {
namespace {

using test::document;
using test::Draft;
using test::lock_of;
using test::TestChain;

/// The kinds of the thesis's appendix 2 with their real API versions, and the kinds this level has besides.
struct KindRow {
    const char* api_version;
    const char* kind;
    const char* name_space;  // empty: lives in none
    const char* path;        // of the resource named "x"
    const char* parent;
};
const KindRow kKinds[] = {
    {"v1", "Node", "", "/nodes/x", "/"},
    {"v1", "Namespace", "", "/namespaces/x", "/"},
    {"v1", "Pod", "web", "/namespaces/web/core/Pod/x", "/namespaces/web"},
    {"v1", "Service", "web", "/namespaces/web/core/Service/x", "/namespaces/web"},
    {"apps/v1", "Deployment", "web", "/namespaces/web/apps/Deployment/x", "/namespaces/web"},
    {"v1", "ReplicationController", "web", "/namespaces/web/core/ReplicationController/x", "/namespaces/web"},
    {"batch/v1", "Job", "web", "/namespaces/web/batch/Job/x", "/namespaces/web"},
    {"batch/v1", "CronJob", "web", "/namespaces/web/batch/CronJob/x", "/namespaces/web"},
    {"apps/v1", "ReplicaSet", "web", "/namespaces/web/apps/ReplicaSet/x", "/namespaces/web"},
    {"apps/v1", "StatefulSet", "web", "/namespaces/web/apps/StatefulSet/x", "/namespaces/web"},
    {"apps/v1", "DaemonSet", "web", "/namespaces/web/apps/DaemonSet/x", "/namespaces/web"},
    {"v1", "Secret", "web", "/namespaces/web/core/Secret/x", "/namespaces/web"},
    {"v1", "ServiceAccount", "web", "/namespaces/web/core/ServiceAccount/x", "/namespaces/web"},
    {"networking.k8s.io/v1", "Ingress", "web", "/namespaces/web/networking.k8s.io/Ingress/x", "/namespaces/web"},
    {"networking.k8s.io/v1", "NetworkPolicy", "web", "/namespaces/web/networking.k8s.io/NetworkPolicy/x",
     "/namespaces/web"},
    {"v1", "ConfigMap", "web", "/namespaces/web/core/ConfigMap/x", "/namespaces/web"},
    {"example.com/v1", "Widget", "web", "/namespaces/web/example.com/Widget/x", "/namespaces/web"},
    {"example.com/v1", "Planet", "", "/global/example.com/Planet/x", "/"},
};

std::string definition(std::string_view kind, std::string_view plural, std::string_view scope) {
    return fmt::format(
        R"({{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{{"name":"{}.example.com"}},)"
        R"("spec":{{"group":"example.com","names":{{"kind":"{}","plural":"{}"}},"scope":"{}"}}}})",
        plural, kind, plural, scope);
}

/// A cluster of `creator` with the namespace `web` of `nadia` and two custom kinds.
TestChain chain_with_namespace() {
    TestChain chain;
    chain.mine_all({chain.create("/", "creator", document("v1", "Namespace", "", "web"), lock_of("nadia")),
                    chain.create("/", "creator", definition("Widget", "widgets", "Namespaced")),
                    chain.create("/", "creator", definition("Planet", "planets", "Cluster"))});
    return chain;
}

std::string parent_owner(const KindRow& row) { return std::string_view{row.parent} == "/" ? "creator" : "nadia"; }

TEST(Authority, EveryKindIsCreatedChangedAndDeletedByItsOwnLockAndByItsParents) {
    for (const KindRow& row : kKinds) {
        SCOPED_TRACE(row.kind);
        TestChain chain = chain_with_namespace();
        const auto text = [&](std::string_view note) {
            return document(row.api_version, row.kind, row.name_space, "x", note);
        };
        const std::string owner = parent_owner(row);

        // A stranger may not create it; its parent's owner may, and gives it to olga.
        EXPECT_EQ(chain.verdict(chain.create(row.parent, "stranger", text("a"))), "NotAuthorised");
        chain.mine_all({chain.create(row.parent, owner, text("a"), lock_of("olga"))});
        EXPECT_EQ(chain.get(row.path)->document(), text("a"));
        EXPECT_EQ(chain.verdict(chain.create(row.parent, owner, text("again"))), "AlreadyExists");

        // Its own lock: olga, and nobody else.
        EXPECT_EQ(chain.verdict(chain.update(row.path, owner, text("b"), lock_of("olga"))), "NotAuthorised");
        chain.mine_all({chain.update(row.path, "olga", text("b"), lock_of("olga"))});
        EXPECT_EQ(chain.get(row.path)->document(), text("b"));

        // Its parent's: the version with an empty script, and the parent's lock.
        Draft by_parent;
        chain.version(by_parent, row.path).by(by_parent, row.parent, owner);
        by_parent.outputs.push_back({.value = text("c"), .locking = lock_of("olga")});
        chain.mine_all({chain.sign(by_parent)});
        EXPECT_EQ(chain.get(row.path)->document(), text("c"));

        // Deleting by its own lock, with no output at all.
        Draft own_deletion;
        chain.version(own_deletion, row.path, "olga");
        chain.mine_all({chain.sign(own_deletion)});
        EXPECT_EQ(chain.get(row.path), nullptr);

        // Again, and deleted by the parent: with a null output, the version named.
        chain.mine_all({chain.create(row.parent, owner, text("d"), lock_of("olga"))});
        Draft parent_deletion;
        chain.version(parent_deletion, row.path).by(parent_deletion, row.parent, owner);
        parent_deletion.outputs.push_back({});
        chain.mine_all({chain.sign(parent_deletion)});
        EXPECT_EQ(chain.get(row.path), nullptr);

        // Again, and deleted by name, whatever its version.
        chain.mine_all({chain.create(row.parent, owner, text("e"), lock_of("olga"))});
        const std::string by_name =
            fmt::format(R"({{"apiVersion":"{}","kind":"{}","metadata":{{{}"name":"x"}},"deleted":true}})",
                        row.api_version, row.kind, *row.name_space == '\0' ? "" : R"("namespace":"web",)");
        EXPECT_EQ(chain.verdict(chain.create(row.parent, "stranger", by_name)), "NotAuthorised");
        chain.mine_all({chain.create(row.parent, owner, by_name)});
        EXPECT_EQ(chain.get(row.path), nullptr);
        EXPECT_EQ(chain.verdict(chain.create(row.parent, owner, by_name)), "NotFound");
    }
}

TEST(Authority, DeletingADefinitionDeletesAllDocumentsOfItsKind) {
    TestChain chain = chain_with_namespace();
    chain.mine_all({chain.create("/", "creator", document("v1", "Namespace", "", "webb"), lock_of("nadia"))});
    const auto widget = [](std::string_view space) { return document("example.com/v1", "Widget", space, "x"); };
    chain.mine_all({chain.create("/namespaces/web", "nadia", widget("web"), lock_of("olga")),
                    chain.create("/namespaces/webb", "nadia", widget("webb"), lock_of("olga")),
                    chain.create("/namespaces/web", "nadia", document("v1", "Pod", "web", "p"), lock_of("olga")),
                    chain.create("/", "creator", document("example.com/v1", "Planet", "", "x"), lock_of("olga"))});
    const auto before = chain.state().view().root();
    Draft deletion;
    chain.version(deletion, "/global/apiextensions.k8s.io/CustomResourceDefinition/widgets.example.com")
        .by(deletion, "/", "creator");
    // What touches one of them in the same block comes first, and is gone too.
    chain.mine_all({chain.sign(deletion),
                    chain.update("/namespaces/web/example.com/Widget/x", "olga", widget("web"), lock_of("olga"))});
    EXPECT_EQ(chain.get("/namespaces/web/example.com/Widget/x"), nullptr);
    EXPECT_EQ(chain.get("/namespaces/webb/example.com/Widget/x"), nullptr);
    EXPECT_NE(chain.get("/namespaces/web/core/Pod/p"), nullptr);
    EXPECT_NE(chain.get("/global/example.com/Planet/x"), nullptr);
    EXPECT_EQ(chain.verdict(chain.create("/namespaces/web", "nadia", widget("web"))), "UnknownKind");
    const auto undone = state::undo(chain.state().view(), chain.commits().back().delta);
    ASSERT_TRUE(undone);
    EXPECT_EQ(undone->root(), before) << "a reorganisation brings all of them back";

    // The kind comes back empty.
    chain.mine_all({chain.create("/", "creator", definition("Widget", "widgets", "Namespaced"))});
    EXPECT_EQ(chain.get("/namespaces/webb/example.com/Widget/x"), nullptr);
    EXPECT_EQ(chain.verdict(chain.create("/namespaces/web", "nadia", widget("web"))), "OK");
}

TEST(Authority, ADefinitionThatMovesItsKindLeavesNothingBehind) {
    TestChain chain = chain_with_namespace();
    const auto widget = document("example.com/v1", "Widget", "web", "x");
    const std::string path = "/global/apiextensions.k8s.io/CustomResourceDefinition/widgets.example.com";
    chain.mine_all({chain.create("/namespaces/web", "nadia", widget, lock_of("olga"))});
    Draft same;
    chain.version(same, path).by(same, "/", "creator");
    same.outputs.push_back({.value = definition("Widget", "widgets", "Namespaced"), .locking = {}});
    chain.mine_all({chain.sign(same)});
    EXPECT_NE(chain.get("/namespaces/web/example.com/Widget/x"), nullptr);
    Draft moved;
    chain.version(moved, path).by(moved, "/", "creator");
    moved.outputs.push_back({.value = definition("Widget", "widgets", "Cluster"), .locking = {}});
    chain.mine_all({chain.sign(moved)});
    EXPECT_EQ(chain.get("/namespaces/web/example.com/Widget/x"), nullptr);
}

TEST(Authority, OneTransactionDoesNotTakeAKindAwayAndWriteADocumentOfIt) {
    TestChain chain = chain_with_namespace();
    Draft both;
    chain.version(both, "/global/apiextensions.k8s.io/CustomResourceDefinition/widgets.example.com")
        .by(both, "/", "creator");
    both.outputs.push_back({.value = document("example.com/v1", "Widget", "web", "x"), .locking = {}});
    EXPECT_EQ(chain.verdict(chain.sign(both)), "OrphanParent");
}

TEST(Authority, TheClusterIsChangedByItsLockAndNeverDeleted) {
    TestChain chain;
    const std::string changed =
        R"({"apiVersion":"rhizome.dev/v1","kind":"Cluster","metadata":{"name":"demo"},"spec":{"heartbeat":"10s"}})";
    EXPECT_EQ(chain.verdict(chain.update("/", "stranger", changed, lock_of("creator"))), "NotAuthorised");
    chain.mine_all({chain.update("/", "creator", changed, lock_of("creator"))});
    EXPECT_EQ(chain.state().parameters().heartbeat, seconds{10});

    Draft deletion;
    chain.version(deletion, "/", "creator");
    EXPECT_EQ(chain.verdict(chain.sign(deletion)), "UnusedInput");
    EXPECT_EQ(chain.verdict(chain.create(
                  "/", "creator",
                  R"({"apiVersion":"rhizome.dev/v1","kind":"Cluster","metadata":{"name":"demo"},"deleted":true})")),
              "NotAuthorised");
}

TEST(Authority, DeletingANamespaceDeletesAllThatIsInIt) {
    TestChain chain = chain_with_namespace();
    std::vector<SharedTx> pods;
    for (int i = 0; i < 50; ++i)
        pods.push_back(chain.create("/namespaces/web", "nadia", document("v1", "Pod", "web", fmt::format("p{}", i)),
                                    lock_of("olga")));
    chain.mine_all(pods);
    Draft deletion;
    chain.version(deletion, "/namespaces/web", "nadia");
    chain.mine_all({chain.sign(deletion)});
    EXPECT_EQ(chain.get("/namespaces/web"), nullptr);
    EXPECT_EQ(chain.get("/namespaces/web/core/Pod/p7"), nullptr);
    // The creator alone may make it again, and nothing of the old one comes back.
    chain.mine_all({chain.create("/", "creator", document("v1", "Namespace", "", "web"), lock_of("nadia"))});
    EXPECT_EQ(chain.get("/namespaces/web/core/Pod/p7"), nullptr);
}

TEST(Authority, RelabellingANamespaceDisturbsNothingUnderItAndANewLockRevokesAll) {
    TestChain chain = chain_with_namespace();
    const SharedTx pending =
        chain.create("/namespaces/web", "nadia", document("v1", "Pod", "web", "a"), lock_of("olga"));
    chain.mine_all({chain.update("/namespaces/web", "nadia", document("v1", "Namespace", "", "web", "relabelled"),
                                 lock_of("nadia"))});
    EXPECT_EQ(chain.verdict(pending), "OK");
    chain.mine_all(
        {chain.update("/namespaces/web", "nadia", document("v1", "Namespace", "", "web"), lock_of("new owner"))});
    EXPECT_EQ(chain.verdict(pending), "MissingInput");
}

TEST(Authority, OneTransactionMayCreateANamespaceAndWhatIsInIt) {
    TestChain chain;
    Draft draft;
    chain.by(draft, "/", "creator");
    draft.outputs.push_back({.value = document("v1", "Pod", "shop", "a"), .locking = lock_of("olga")});
    draft.outputs.push_back({.value = document("v1", "Namespace", "", "shop"), .locking = lock_of("nadia")});
    chain.mine_all({chain.sign(draft)});
    EXPECT_NE(chain.get("/namespaces/shop/core/Pod/a"), nullptr);
    EXPECT_EQ(chain.verdict(chain.create("/", "creator", document("v1", "Pod", "nowhere", "a"))), "OrphanParent");
}

TEST(Authority, AnEmptyLockLeavesAuthorityToAncestors) {
    TestChain chain;
    chain.mine_all({chain.create("/", "creator", document("v1", "Namespace", "", "bare"))});
    Draft by_namespace;
    chain.by(by_namespace, "/namespaces/bare", "creator");
    by_namespace.outputs.push_back({.value = document("v1", "Pod", "bare", "a")});
    EXPECT_EQ(chain.verdict(chain.sign(by_namespace)), "NotAuthorised");
    chain.mine_all({chain.create("/", "creator", document("v1", "Pod", "bare", "a"))});
}

TEST(Authority, MultisigNeedsItsSigners) {
    TestChain chain;
    chain.mine_all(
        {chain.create("/", "creator", document("v1", "Namespace", "", "team"), test::lock_of_any(2, {"a", "b", "c"}))});
    EXPECT_EQ(chain.verdict(chain.create("/namespaces/team", "a,c", document("v1", "Pod", "team", "x"))), "OK");
    EXPECT_EQ(chain.verdict(chain.create("/namespaces/team", "c,a", document("v1", "Pod", "team", "x"))),
              "NotAuthorised");
    EXPECT_EQ(chain.verdict(chain.create("/namespaces/team", "a,stranger", document("v1", "Pod", "team", "x"))),
              "NotAuthorised");
}

TEST(Authority, AnInputMayServeAsVersionAndAuthorityAtOnce) {
    TestChain chain = chain_with_namespace();
    Draft draft;
    chain.version(draft, "/namespaces/web", "nadia");
    draft.outputs.push_back({.value = document("v1", "Namespace", "", "web", "new"), .locking = lock_of("nadia")});
    draft.outputs.push_back({.value = document("v1", "Pod", "web", "a")});
    chain.mine_all({chain.sign(draft)});
    EXPECT_NE(chain.get("/namespaces/web/core/Pod/a"), nullptr);
}

TEST(Authority, BornLatestAndLockAreKeptApart) {
    TestChain chain = chain_with_namespace();
    const auto created = chain.get("/namespaces/web")->origin();
    chain.mine_all(
        {chain.update("/namespaces/web", "nadia", document("v1", "Namespace", "", "web", "b"), lock_of("nadia"))});
    const auto edited = chain.get("/namespaces/web")->origin();
    EXPECT_EQ(edited.born, created.born);
    EXPECT_EQ(edited.lock, created.lock);
    EXPECT_NE(edited.latest, created.latest);
    chain.mine_all(
        {chain.update("/namespaces/web", "nadia", document("v1", "Namespace", "", "web", "b"), lock_of("other"))});
    const auto locked = chain.get("/namespaces/web")->origin();
    EXPECT_EQ(locked.born, created.born);
    EXPECT_EQ(locked.lock, locked.latest);
}

}  // namespace
}  // namespace rhizome::ledger
