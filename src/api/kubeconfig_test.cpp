// SPDX-License-Identifier: Apache-2.0
#include "api/kubeconfig.h"

#include <gtest/gtest.h>

namespace rhizome::api {
namespace {

TEST(Kubeconfig, AContextIsPutInOrReplacedAndTheRestStays) {
    const KubeContext demo{.name = "demo", .server = "https://127.0.0.1:6443", .user = "admin"};
    auto file = with_kube_context(nullptr, demo);
    ASSERT_TRUE(file);
    EXPECT_EQ(file->text_at({"current-context"}), "demo");
    KubeContext other = demo;
    other.name = "other";
    file = with_kube_context(*file, other);
    KubeContext moved = demo;
    moved.server = "https://10.0.0.1:6443";
    file = with_kube_context(*file, moved);
    ASSERT_TRUE(file);
    const json::Array& clusters = *file->find("clusters")->if_array();
    ASSERT_EQ(clusters.size(), 2u);
    EXPECT_EQ(clusters[0].text_at({"cluster", "server"}), "https://10.0.0.1:6443");
    EXPECT_EQ(clusters[1].text_at({"name"}), "other");
    EXPECT_EQ(file->find("users")->if_array()->size(), 2u);
    EXPECT_FALSE(with_kube_context(json::Value{json::Object{{"kind", "Pod"}}}, demo));
    EXPECT_FALSE(with_kube_context(json::Value{json::Object{{"clusters", "x"}}}, demo));
}

}  // namespace
}  // namespace rhizome::api
