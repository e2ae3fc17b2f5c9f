// SPDX-License-Identifier: Apache-2.0
#include "state/path.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace rhizome::state {
namespace {

using Shape = Path::Shape;

TEST(Path, IsMadeAndReadInOneWay) {
    const struct {
        Result<Path, PathFault> path;
        const char* text;
        Shape shape;
        const char *group, *kind, *space, *name;
        unsigned depth;
    } rows[] = {
        {Path::cluster(), "/", Shape::Cluster, "rhizome.dev", "Cluster", "", "", 0},
        {Path::node("n1"), "/nodes/n1", Shape::Node, "", "Node", "", "n1", 1},
        {Path::node_report("n1"), "/nodes/n1/report", Shape::NodeReport, "rhizome.dev", "NodeReport", "", "n1", 2},
        {Path::join_token("t"), "/jointokens/t", Shape::JoinToken, "rhizome.dev", "JoinToken", "", "t", 1},
        {Path::namespace_("default"), "/namespaces/default", Shape::Namespace, "", "Namespace", "", "default", 1},
        {Path::namespaced("default", "apps", "Deployment", "web"), "/namespaces/default/apps/Deployment/web",
         Shape::Namespaced, "apps", "Deployment", "default", "web", 2},
        {Path::namespaced("default", "", "Pod", "web"), "/namespaces/default/core/Pod/web", Shape::Namespaced, "",
         "Pod", "default", "web", 2},
        {Path::cluster_scoped("storage.k8s.io", "StorageClass", "fast"), "/global/storage.k8s.io/StorageClass/fast",
         Shape::ClusterScoped, "storage.k8s.io", "StorageClass", "", "fast", 1},
        {Path::cluster_scoped("rbac.authorization.k8s.io", "ClusterRole", "system:node"),
         "/global/rbac.authorization.k8s.io/ClusterRole/system:node", Shape::ClusterScoped, "rbac.authorization.k8s.io",
         "ClusterRole", "", "system:node", 1},
        {Path::chain({"voters"}), "/chain/voters", Shape::Chain, "", "", "", "", 0},
        {Path::chain({"replay", "00ff"}), "/chain/replay/00ff", Shape::Chain, "", "", "", "", 0},
    };
    for (const auto& row : rows) {
        ASSERT_TRUE(row.path) << row.text;
        EXPECT_EQ(row.path->text(), row.text);
        EXPECT_EQ(*Path::parse(row.text), *row.path);
        EXPECT_EQ(*Path::from_key(as_bytes(row.path->key())), *row.path);
        EXPECT_EQ(row.path->shape(), row.shape) << row.text;
        EXPECT_EQ(row.path->group(), row.group) << row.text;
        EXPECT_EQ(row.path->kind(), row.kind) << row.text;
        EXPECT_EQ(row.path->namespace_name(), row.space) << row.text;
        EXPECT_EQ(row.path->name(), row.name) << row.text;
        EXPECT_EQ(row.path->depth(), row.depth) << row.text;
        if (row.shape == Shape::Chain) continue;
        EXPECT_EQ(*Path::of(row.group, row.kind, row.space, row.name), *row.path) << row.text;
    }
}

TEST(Path, RefusesWhatIsNoPath) {
    const std::string long_name(254, 'a'), long_kind(64, 'K');
    const struct {
        Result<Path, PathFault> path;
        PathFault fault;
    } rows[] = {
        {Path::node(""), PathFault::Empty},
        {Path::node(long_name), PathFault::TooLong},
        {Path::namespace_(std::string(64, 'n')), PathFault::TooLong},
        {Path::namespaced("a", "apps", long_kind, "x"), PathFault::TooLong},
        {Path::namespaced("a", long_name, "Kind", "x"), PathFault::TooLong},
        {Path::node("a/b"), PathFault::BadByte},
        {Path::node(std::string_view{"a\0b", 3}), PathFault::BadByte},
        {Path::node("a\nb"), PathFault::BadByte},
        {Path::node("a\x7f"), PathFault::BadByte},
        {Path::node(".."), PathFault::Dots},
        {Path::node("."), PathFault::Dots},
        {Path::cluster_scoped("", "Node", "n1"), PathFault::ReservedKind},
        {Path::namespaced("a", "", "Namespace", "b"), PathFault::ReservedKind},
        {Path::cluster_scoped("rhizome.dev", "JoinToken", "t"), PathFault::ReservedKind},
        {Path::namespaced("a", "core", "Pod", "x"), PathFault::BadShape},  // `core` is how the empty group is written
        {Path::of("", "Node", "default", "n1"), PathFault::BadShape},
        {Path::chain({}), PathFault::BadShape},
        {Path::chain({"1", "2", "3", "4", "5", "6", "7", "8", "9"}), PathFault::TooMany},
        {Path::chain({std::string(253, 'a'), std::string(253, 'b'), std::string(253, 'c'), std::string(253, 'd'), "e"}),
         PathFault::TooLong},
        {Path::parse(""), PathFault::NotAbsolute},
        {Path::parse("nodes/n1"), PathFault::NotAbsolute},
        {Path::parse("/nodes"), PathFault::BadShape},
        {Path::parse("/nodes/n1/"), PathFault::Empty},
        {Path::parse("//nodes/n1"), PathFault::Empty},
        {Path::parse("/nodes/n1/status"), PathFault::BadShape},
        {Path::parse("/pods/x"), PathFault::BadShape},
        {Path::parse("/chain"), PathFault::BadShape},
        {Path::parse("/global/core/Node/n1"), PathFault::ReservedKind},
        {Path::parse(std::string(2000, '/')), PathFault::TooLong},
        {Path::from_key({}), PathFault::BadShape},
        {Path::from_key(as_bytes("cluster")), PathFault::BadShape},
        {Path::from_key(as_bytes(std::string_view{"cluster\0\0", 9})), PathFault::Empty},
        {Path::from_key(as_bytes(std::string_view{"other\0", 6})), PathFault::BadShape},
    };
    for (std::size_t i = 0; i < std::size(rows); ++i) {
        ASSERT_FALSE(rows[i].path) << i << ' ' << rows[i].path->text();
        EXPECT_EQ(rows[i].path.error(), rows[i].fault) << i << ' ' << name(rows[i].path.error());
        EXPECT_FALSE(to_error(rows[i].fault).message.empty());
    }
}

TEST(Path, TakesTheLongestNames) {
    const auto path =
        Path::namespaced(std::string(63, 'n'), std::string(253, 'g'), std::string(63, 'K'), std::string(253, 'x'));
    ASSERT_TRUE(path);
    EXPECT_EQ(path->key().size(), 655u);
    EXPECT_EQ(*Path::parse(path->text()), *path);
}

TEST(Path, AncestorsComeNearestFirst) {
    const Path pod = *Path::namespaced("a", "", "Pod", "x"), space = *Path::namespace_("a"),
               report = *Path::node_report("n");
    EXPECT_EQ(pod.ancestors(), (std::vector<Path>{space, Path::cluster()}));
    EXPECT_EQ(report.ancestors(), (std::vector<Path>{*Path::node("n"), Path::cluster()}));
    EXPECT_EQ(Path::cluster().parent(), std::nullopt);
    EXPECT_TRUE(Path::chain({"voters"})->ancestors().empty());
    EXPECT_TRUE(space.is_ancestor_of(pod));
    EXPECT_TRUE(Path::cluster().is_ancestor_of(report));
    EXPECT_FALSE(pod.is_ancestor_of(pod));
    EXPECT_FALSE(Path::namespace_("ab")->is_ancestor_of(pod));
    EXPECT_FALSE(Path::cluster().is_ancestor_of(*Path::chain({"voters"})));
    EXPECT_FALSE(Path::chain({"a"})->is_ancestor_of(*Path::chain({"a", "b"})));
}

TEST(Path, ADeletedResourceTakesItsDescendantsAndNoOthers) {
    const Prefix gone = Path::namespace_("a")->subtree();
    EXPECT_TRUE(gone.covers(Path::namespace_("a")->key()));
    EXPECT_TRUE(gone.covers(Path::namespaced("a", "", "Pod", "x")->key()));
    EXPECT_FALSE(gone.covers(Path::namespace_("ab")->key()));
    EXPECT_FALSE(gone.covers(Path::cluster().key()));
    EXPECT_TRUE(Path::node("n")->subtree().covers(Path::node_report("n")->key()));
    EXPECT_FALSE(Path::node("n")->subtree().covers(Path::node_report("n2")->key()));
}

TEST(Path, PrefixesNameWhatIsListedTogether) {
    const Path pod = *Path::namespaced("a", "", "Pod", "x");
    EXPECT_TRUE(Prefix::kind_in_namespace("a", "", "Pod")->covers(pod.key()));
    EXPECT_FALSE(Prefix::kind_in_namespace("a", "", "Po")->covers(pod.key()));
    EXPECT_TRUE(Prefix::in_namespace("a")->covers(pod.key()));
    EXPECT_TRUE(Prefix::documents().covers(pod.key()));
    EXPECT_FALSE(Prefix::documents().covers(Path::chain({"voters"})->key()));
    EXPECT_TRUE(Prefix::everything().covers(Path::chain({"voters"})->key()));
    EXPECT_TRUE(Prefix::chain({"replay"})->covers(Path::chain({"replay", "00"})->key()));
    EXPECT_TRUE(Prefix::cluster_scoped_kind("g", "K")->covers(Path::cluster_scoped("g", "K", "n")->key()));
    EXPECT_TRUE(Prefix::join_tokens().covers(Path::join_token("t")->key()));
    EXPECT_EQ(Prefix::from_key(as_bytes("half")).error(), PathFault::BadShape);
    EXPECT_EQ(Prefix::kind_in_namespace("a", "core", "Pod").error(), PathFault::BadShape);
}

}  // namespace
}  // namespace rhizome::state
