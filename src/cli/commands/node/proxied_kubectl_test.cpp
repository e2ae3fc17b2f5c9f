// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "http/server.h"
#include "runtime/process.h"
#include "support/http_samples.h"
#include "support/kube_node.h"

/// The real kubectl, passed on by a node to a real HTTP server in this process.
namespace rhizome::cli {
namespace {

class ProxiedKubectl : public test::KubeNode {
protected:
    void change(node::DaemonOptions& options) override { options.api_proxy.to_loopback = true; }
    runtime::ProcessEnd kubectl(std::vector<std::string> words, std::string_view token = "t-root") {
        const auto authority = node::open_authority(temp_.path() / "data", runtime::now());
        const std::string file = (temp_.path() / "ca.crt").native();
        std::ofstream{file} << authority->chain.front().to_pem();
        words.insert(words.end(), {"--server", "https://" + daemon_->api_addresses().front().text(), "--token",
                                   std::string{token}, "--certificate-authority", file, "--kubeconfig", "/dev/null"});
        auto environment = runtime::Environment::of_process();
        environment.set("HOME", temp_.path().native());
        const auto end = runtime::run_process({.program = "kubectl",
                                               .arguments = std::move(words),
                                               .environment = environment,
                                               .deadline = milliseconds{180'000}});
        if (end) return *end;
        runtime::ProcessEnd failed;
        failed.exit_code = 255;
        failed.err = end.error().message;
        return failed;
    }
};

stream::Task<void> say_what_was_asked(http::Exchange& exchange) {
    http::Response response{.body = fmt::format("you asked for {}", exchange.request().target)};
    auto ignored = co_await exchange.respond(std::move(response));
}

TEST_F(ProxiedKubectl, ReadsWhatAServiceAnswers) {
    if (!kubectl({"version", "--client"}).succeeded()) GTEST_SKIP() << "there is no kubectl on the PATH";
    stream::IoContext io{{.threads = 1}};
    const auto server = http::Server::start(io, test::local(), &say_what_was_asked);
    ASSERT_TRUE(server);
    const unsigned port = (*server)->addresses().front().port;
    ASSERT_EQ(ask("POST", "/api/v1/namespaces/default/services",
                  R"({"metadata":{"name":"web"},"spec":{"ports":[{"port":80}]}})")
                  .status,
              201u);
    const std::string hello = "/api/v1/namespaces/default/services/web:80/proxy/hello";
    const auto none = kubectl({"get", "--raw", hello});
    EXPECT_EQ(none.exit_code, 1);
    EXPECT_EQ(none.err, "Error from server (ServiceUnavailable): no endpoints available for service \"web\"\n");
    ASSERT_EQ(ask("POST", "/api/v1/namespaces/default/endpoints",
                  fmt::format(R"({{"metadata":{{"name":"web"}},"subsets":[{{"addresses":[{{"ip":"127.0.0.1"}}],)"
                              R"("ports":[{{"port":{}}}]}}]}})",
                              port))
                  .status,
              201u);
    const auto found = kubectl({"get", "--raw", hello});
    EXPECT_EQ(found.exit_code, 0) << found.err;
    EXPECT_EQ(found.out, "you asked for /hello");
    const auto health = kubectl({"get", "--raw", "/api/v1/nodes/n1/proxy/healthz"});
    EXPECT_EQ(health.out, "ok") << health.err;
    const auto stranger = kubectl({"get", "--raw", hello}, "t-bob");
    EXPECT_EQ(stranger.exit_code, 1);
    EXPECT_TRUE(stranger.err.starts_with("Error from server (Forbidden): services \"web\" is forbidden: "))
        << stranger.err;
    (*server)->stop(milliseconds{0});
}

}  // namespace
}  // namespace rhizome::cli
