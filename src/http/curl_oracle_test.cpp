// SPDX-License-Identifier: Apache-2.0
// Other people's client: curl, in plain and over TLS.
#include <fstream>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "http/router.h"
#include "http/server.h"
#include "runtime/environment.h"
#include "runtime/process.h"
#include "support/http_samples.h"
#include "support/temp_folder.h"

namespace rhizome::http {
namespace {

using namespace test;
using stream::IoContext;

TEST(CurlOracle, IsUnderstood) {
    const auto curl = runtime::Environment::of_process().find_program("curl");
    if (!curl) GTEST_SKIP() << "curl is not installed";
    const TempFolder folder;
    std::ofstream{folder / "ca.pem"} << authority().chain[0].to_pem();
    const auto bob = sample_identity(authority(), sample_spec("bob"));
    std::ofstream{folder / "bob.pem"} << bob.chain[0].to_pem();
    std::ofstream{folder / "bob.key"} << as_text(bob.key.to_pem().view());
    std::ofstream{folder / "large"} << std::string(2'000'000, 'y');
    Router router;
    router.route("GET", "/hello", [](Exchange& exchange, const PathParts&) { return hello(exchange); });
    router.route("POST", "/echo", [](Exchange& exchange, const PathParts&) { return echo(exchange); });
    const auto shared = std::make_shared<const Router>(std::move(router));
    IoContext context{{.threads = 2}};
    for (const bool secure : {false, true}) {
        const auto server =
            std::move(Server::start(context, local(secure ? server_tls(stream::ClientCertificate::Optional) : nullptr),
                                    Router::handler(shared))
                          .value());
        const std::string base =
            fmt::format("{}://127.0.0.1:{}", secure ? "https" : "http", server->addresses()[0].port);
        const auto run = [&](std::vector<std::string> more) {
            std::vector<std::string> arguments{"-sS", "--max-time", "20", "--cacert", (folder / "ca.pem").string()};
            arguments.insert(arguments.end(), more.begin(), more.end());
            const auto end = runtime::run_process({.program = "curl", .arguments = arguments, .output_max = 4u << 20});
            return end ? end->out + end->err : end.error().message;
        };
        EXPECT_EQ(run({base + "/hello"}), "hello stranger");
        EXPECT_EQ(run({base + "/hello", base + "/hello", "-w", " %{num_connects};"}),
                  "hello stranger 1;hello stranger 0;");
        EXPECT_EQ(run({"--http1.0", base + "/hello"}), "hello stranger");
        EXPECT_EQ(run({"-X", "DELETE", "-o", "/dev/null", "-w", "%{http_code}", base + "/hello"}), "405");
        const std::string large = (folder / "large").string();
        EXPECT_EQ(run({"--data-binary", "@" + large, base + "/echo"}), std::string(2'000'000, 'y'));  // 100-continue
        EXPECT_EQ(run({"-H", "Transfer-Encoding: chunked", "--data-binary", "@" + large, base + "/echo"}).size(),
                  2'000'000u);
        EXPECT_EQ(run({"--compressed", "--data-binary", "@" + large, base + "/echo"}).size(), 2'000'000u);
        if (secure) {
            EXPECT_EQ(
                run({"--cert", (folder / "bob.pem").string(), "--key", (folder / "bob.key").string(), base + "/hello"}),
                "hello bob");
            EXPECT_EQ(run({"--tls-max", "1.2", base + "/hello"}), "hello stranger");
            EXPECT_NE(run({"--http2", "-v", base + "/hello"}).find("HTTP/1.1 200 OK"), std::string::npos);
        }
    }
}

}  // namespace
}  // namespace rhizome::http
