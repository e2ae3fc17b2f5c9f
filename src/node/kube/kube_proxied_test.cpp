// SPDX-License-Identifier: Apache-2.0
#include <mutex>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "http/server.h"
#include "stream/timers.h"
#include "support/http_samples.h"
#include "support/kube_node.h"

/// The subresource `proxy` of a whole node: what is behind is a real HTTP server in this process.
namespace rhizome::node {
namespace {

using test::KubeReply;

constexpr const char* kServices = "/api/v1/namespaces/default/services";
constexpr const char* kPods = "/api/v1/namespaces/default/pods";

class KubeProxied : public test::KubeNode {
protected:
    void change(DaemonOptions& options) override { options.api_proxy.to_loopback = true; }
    void SetUp() override {
        KubeNode::SetUp();
        if (HasFatalFailure()) return;
        plain_ = listen(nullptr);
        secure_ = listen(test::server_tls());
    }
    void TearDown() override {
        for (auto* server : {&plain_, &secure_})
            if (*server) (*server)->stop(milliseconds{0});
        KubeNode::TearDown();
    }
    [[nodiscard]] static unsigned port(const std::unique_ptr<http::Server>& server) {
        return server->addresses().front().port;
    }
    void make(std::string_view kind, const std::string& body) {
        const KubeReply made = ask("POST", kind, body);
        ASSERT_EQ(made.status, 201u) << made.body;
    }
    void make_service(std::string_view name, std::string_view ports) {
        make(kServices, fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"ports":[{}]}}}})", name, ports));
    }
    void make_slice(std::string_view service, std::string_view address, unsigned number, std::string_view port = "") {
        make("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
             fmt::format(R"({{"metadata":{{"generateName":"{}-","labels":{{"kubernetes.io/service-name":"{}"}}}},)"
                         R"("addressType":"IPv4","ports":[{{"name":"{}","port":{}}}],)"
                         R"("endpoints":[{{"addresses":["{}"]}}]}})",
                         service, service, port, number, address));
    }
    void make_web() {
        make_service("web", R"({"port":80})");
        make_slice("web", "127.0.0.1", port(plain_));
    }
    std::vector<http::Request> heard() {
        const std::lock_guard hold{mutex_};
        return heard_;
    }
    static std::string reason(const KubeReply& reply) { return std::string{reply.value().text_at({"reason"})}; }
    static std::string message(const KubeReply& reply) { return std::string{reply.value().text_at({"message"})}; }

private:
    std::unique_ptr<http::Server> listen(std::shared_ptr<const stream::TlsContext> tls) {
        auto server = http::Server::start(io_, test::local(std::move(tls)),
                                          [this](http::Exchange& exchange) { return serve(exchange); });
        ensure(server.has_value(), "a server listens");
        return *std::move(server);
    }
    stream::Task<void> serve(http::Exchange& exchange) {
        const http::Request& request = exchange.request();
        auto body = co_await exchange.read_body(32u << 20);
        {
            const std::lock_guard hold{mutex_};
            heard_.push_back(request);
        }
        const std::string_view path = request.path();
        http::Response response{.headers = {{"Content-Type", "text/plain"}}};
        if (path == "/silent") {
            stream::Event never{exchange.strand()};
            exchange.when_ending([&](http::Ending) { never.set(); });
            co_await never.wait();
            co_return;
        }
        if (path == "/cut") {
            response.body = "half";
            (void)co_await exchange.start(std::move(response));
            co_return;
        }
        if (path == "/large") {
            (void)co_await exchange.start(std::move(response));
            const Bytes piece(1u << 20, 'x');
            for (int i = 0; i < 80; ++i) (void)co_await exchange.write(piece);
            (void)co_await exchange.finish();
            co_return;
        }
        if (path == "/moved") {
            response.status = 302;
            response.headers.add("Location", "/login");
        }
        if (path == "/error") response.status = 418;
        if (path == "/empty") response.status = 204;
        response.body = fmt::format("{} {} {}", request.method, request.target, body ? *body : "?");
        (void)co_await exchange.respond(std::move(response));
    }

protected:
    stream::IoContext io_{{.threads = 1}};
    std::unique_ptr<http::Server> plain_;
    std::unique_ptr<http::Server> secure_;

private:
    std::mutex mutex_;
    std::vector<http::Request> heard_;
};

TEST_F(KubeProxied, AServicesEndpointAnswersInItsOwnWords) {
    make_web();
    const std::string web = std::string{kServices} + "/web:80/proxy";
    EXPECT_EQ(ask("GET", web + "/hello").body, "GET /hello ");
    EXPECT_EQ(ask("GET", std::string{kServices} + "/web/proxy/a%20b//c?d=%2F&watch=true").body,
              "GET /a%20b//c?d=%2F&watch=true ");
    for (const char* method : {"POST", "PUT", "PATCH", "DELETE"})
        EXPECT_EQ(ask(method, web + "/x", R"({"a":1})").body, fmt::format(R"({} /x {{"a":1}})", method));
    EXPECT_EQ(ask("GET", web + "/error").status, 418u);
    EXPECT_EQ(ask("GET", web + "/empty").status, 204u);
    const KubeReply head = ask("HEAD", web + "/x");
    EXPECT_EQ(head.status, 200u);
    EXPECT_EQ(head.header("Content-Length"), "8");
    EXPECT_EQ(ask("GET", web + "/moved").header("Location"), web + "/login");
    const KubeReply slash = ask("GET", web + "?a=b");
    EXPECT_EQ(slash.status, 301u);
    EXPECT_EQ(slash.header("Location"), web + "/?a=b");
    const http::Request first = heard().front();
    EXPECT_FALSE(first.headers.contains("Authorization")) << "a token is for this server alone";
    EXPECT_EQ(first.headers.find("X-Forwarded-Uri"), web + "/hello");
    EXPECT_EQ(first.headers.find("X-Forwarded-For"), "127.0.0.1");
    EXPECT_EQ(first.headers.find("X-Forwarded-Proto"), "https");
}

TEST_F(KubeProxied, PortsAreThoseOfTheServiceByNameAndByNumber) {
    make_service("two", R"({"name":"a","port":80},{"name":"b","port":443},{"name":"c","port":82})");
    make_slice("two", "127.0.0.1", port(plain_), "a");
    make_slice("two", "127.0.0.1", port(secure_), "b");
    const auto get = [&](std::string_view name) { return ask("GET", fmt::format("{}/{}/proxy/x", kServices, name)); };
    for (const char* name : {"two:a", "two:80", "http:two:80", "https:two:443", "https:two:b"})
        EXPECT_EQ(get(name).body, "GET /x ") << name;
    EXPECT_EQ(message(get("two:81")), R"(no service port 81 found for service "two")");
    for (const char* name : {"two", "two:c", "two:82", "two:nothing"}) {
        const KubeReply none = get(name);
        EXPECT_EQ(none.status, 503u) << name;
        EXPECT_EQ(reason(none), "ServiceUnavailable") << name;
        EXPECT_EQ(message(none), R"(no endpoints available for service "two")") << name;
    }
    EXPECT_EQ(get("nothing:80").status, 404u);
    EXPECT_EQ(message(get("ftp:two:80")), R"(invalid service request "ftp:two:80")");
    EXPECT_EQ(get("two:443").status, 503u) << "it speaks TLS only";
}

TEST_F(KubeProxied, EndpointsStandInForSlices) {
    make_service("old", R"({"port":80})");
    make("/api/v1/namespaces/default/endpoints",
         fmt::format(R"({{"metadata":{{"name":"old"}},"subsets":[{{"addresses":[{{"ip":"127.0.0.1"}}],)"
                     R"("ports":[{{"port":{}}}]}}]}})",
                     port(plain_)));
    EXPECT_EQ(ask("GET", std::string{kServices} + "/old/proxy/x").body, "GET /x ");
}

TEST_F(KubeProxied, PodsAndNodesAreReachedAtTheirAddresses) {
    make(kPods, fmt::format(R"({{"metadata":{{"name":"p"}},"spec":{{"containers":[{{"name":"c","image":"i",)"
                            R"("ports":[{{"containerPort":{}}}]}}]}}}})",
                            port(plain_)));
    const std::string pod = std::string{kPods} + "/p";
    EXPECT_EQ(ask("GET", pod + "/proxy/x").status, 503u) << "nobody runs it";
    ASSERT_EQ(
        ask("PATCH", pod + "/status", R"({"status":{"podIP":"127.0.0.1"}})", "application/merge-patch+json").status,
        200u);
    EXPECT_EQ(ask("GET", pod + "/proxy/x").body, "GET /x ");
    EXPECT_EQ(ask("GET", fmt::format("{}/https:p:{}/proxy/x", kPods, port(secure_))).body, "GET /x ");
    EXPECT_EQ(ask("GET", std::string{kPods} + "/none/proxy/x").status, 404u);
    make("/api/v1/nodes", R"({"metadata":{"name":"other"}})");
    ASSERT_EQ(
        ask("PATCH", "/api/v1/nodes/other/status",
            R"({"status":{"addresses":[{"type":"InternalIP","address":"127.0.0.1"}]}})", "application/merge-patch+json")
            .status,
        200u);
    EXPECT_EQ(ask("GET", fmt::format("/api/v1/nodes/other:{}/proxy/x", port(plain_))).body, "GET /x ");
    EXPECT_EQ(ask("GET", "/api/v1/nodes/other/proxy/x").status, 503u);
    // Of itself a node tells how it is, without a port.
    EXPECT_EQ(ask("GET", "/api/v1/nodes/n1/proxy/healthz").body, "ok");
    EXPECT_NE(ask("GET", "/api/v1/nodes/n1/proxy/readyz?verbose").body.find("[+]ping ok"), std::string::npos);
    EXPECT_NE(ask("GET", "/api/v1/nodes/n1/proxy/metrics").body.find("# TYPE"), std::string::npos);
    EXPECT_EQ(ask("GET", "/api/v1/nodes/n1/proxy/api").status, 503u);
    EXPECT_EQ(ask("GET", "/api/v1/nodes/none/proxy/healthz").status, 404u);
}

TEST_F(KubeProxied, OnlyWhoCouldChangeTheObjectMayAsk) {
    make_web();
    access_.token = "t-bob";
    for (const std::string& target : {std::string{kServices} + "/web:80/proxy/hello",
                                      std::string{"/api/v1/nodes/n1/proxy/metrics"}, std::string{kPods} + "/p/proxy/"})
        for (const char* method : {"GET", "POST"}) {
            const KubeReply refused = ask(method, target);
            EXPECT_EQ(refused.status, 403u) << target << refused.body;
            EXPECT_EQ(reason(refused), "Forbidden");
            EXPECT_NE(message(refused).find("cannot open the lock"), std::string::npos) << refused.body;
        }
    EXPECT_TRUE(heard().empty());
}

TEST_F(KubeProxied, LargeBodiesGoThroughPieceByPiece) {
    make_web();
    const std::string web = std::string{kServices} + "/web:80/proxy";
    EXPECT_EQ(ask("GET", web + "/large").body.size(), 80u << 20);
    const std::string large(10u << 20, 'y');
    EXPECT_EQ(ask("POST", web + "/x", large).body, "POST /x " + large);
    EXPECT_EQ(heard().back().headers.find("Content-Length"), std::to_string(large.size()));
}

class KubeProxiedShortly : public KubeProxied {
protected:
    void change(DaemonOptions& options) override {
        KubeProxied::change(options);
        options.api_proxy.answer_time = milliseconds{3'000};
    }
};

TEST_F(KubeProxiedShortly, WhoDoesNotAnswerIsSaidToBeUnreachable) {
    make_web();
    make_service("gone", R"({"port":80})");
    const unsigned closed = port(secure_);
    secure_->stop(milliseconds{0});
    secure_.reset();
    make_slice("gone", "127.0.0.1", closed);
    const KubeReply refused = ask("GET", std::string{kServices} + "/gone/proxy/x");
    EXPECT_EQ(refused.status, 503u);
    EXPECT_TRUE(message(refused).starts_with("error trying to reach service: ")) << refused.body;
    const KubeReply late = ask("GET", std::string{kServices} + "/web/proxy/silent");
    EXPECT_EQ(late.status, 503u) << late.body;
    const auto cut = test::ask_kube(access_, "GET", std::string{kServices} + "/web/proxy/cut");
    EXPECT_FALSE(cut) << "half an answer is not shown as a whole one";
}

TEST_F(KubeProxied, AddressesOfOneLinkAndOfManyAreNotDialled) {
    const std::pair<const char*, const char*> cases[] = {{"link", "169.254.169.254"}, {"many", "224.0.0.1"}};
    for (const auto& [name, address] : cases) {
        make_service(name, R"({"port":80})");
        make_slice(name, address, 80);
        const KubeReply refused = ask("GET", fmt::format("{}/{}/proxy/x", kServices, name));
        EXPECT_EQ(refused.status, 400u) << refused.body;
        EXPECT_EQ(message(refused), fmt::format("address not allowed: {}", address));
    }
}

class KubeProxiedStrictly : public KubeProxied {
protected:
    void change(DaemonOptions&) override {}
};

TEST_F(KubeProxiedStrictly, ItsOwnAddressIsNotDialledForOthers) {
    make_web();
    const KubeReply refused = ask("GET", std::string{kServices} + "/web:80/proxy/hello");
    EXPECT_EQ(refused.status, 400u);
    EXPECT_EQ(message(refused), "address not allowed: 127.0.0.1");
    EXPECT_TRUE(heard().empty());
}

}  // namespace
}  // namespace rhizome::node
