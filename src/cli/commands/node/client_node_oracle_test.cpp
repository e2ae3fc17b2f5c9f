// SPDX-License-Identifier: Apache-2.0
// A client that is not kubectl: npm's @kubernetes/client-node, which generated code and an informer of its own.
#include <gtest/gtest.h>

#include "runtime/environment.h"
#include "support/kubectl_world.h"
#include "support/vectors.h"

namespace rhizome::cli {
namespace {

class ClientNodeOracle : public test::KubectlWorld {
protected:
    void SetUp() override {
        const auto environment = runtime::Environment::of_process();
        const auto npm = environment.find_program("npm");
        const auto node = environment.find_program("node");
        if (!npm || !node) GTEST_SKIP() << "node and npm are not installed";
        node_ = node->string();
        const auto installed = run(npm->string(), {"install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix",
                                                   temp_.path().string(), "@kubernetes/client-node@1"});
        if (!std::filesystem::exists(temp_ / "node_modules" / "@kubernetes" / "client-node"))
            GTEST_SKIP() << "npm could not install @kubernetes/client-node: no registry can be reached\n"
                         << installed.err;
        std::filesystem::copy_file(test::source_root() / "tests/oracles/kubernetes_client.mjs", temp_ / "client.mjs");
    }
    std::string node_;
};

TEST_F(ClientNodeOracle, ListsWatchesInformsPatchesAppliesAndDefinesKinds) {
    found("n1");
    const auto end = run(node_, {(temp_ / "client.mjs").string(), (temp_ / "kubeconfig").string()});
    EXPECT_TRUE(end.succeeded()) << end.out << end.err;
    test::expect_golden("kubectl/client-node.txt", end.out);
}

}  // namespace
}  // namespace rhizome::cli
