// SPDX-License-Identifier: Apache-2.0
// Who is let in over the network, and what strangers, slow ones and crowds are told.
#include <gtest/gtest.h>

#include "node/identity.h"
#include "stream/tcp.h"
#include "support/rpc_world.h"

namespace rhizome::node::rpc {
namespace {

const std::string kTip = "/rhizome/v1/tip";

class RpcRemote : public test::RpcWorld {
protected:
    static http::Request request(std::string method, std::string target, std::string body = {}) {
        http::Request made;
        made.method = std::move(method);
        made.target = std::move(target);
        made.body = std::move(body);
        return made;
    }
    Raw with_field(const std::string& field, std::string target = kTip) {
        auto made = request("GET", std::move(target));
        made.headers.set("Authorization", field);
        return raw(std::move(made));
    }
};

TEST_F(RpcRemote, OwnersAndMembersAreLetInAndStrangersAreNot) {
    const auto admin = remote(owner);
    ASSERT_TRUE(admin) << admin.error().message;
    EXPECT_TRUE((*admin)->get(kTip));
    EXPECT_TRUE((*admin)->post("/rhizome/v1/txs?wait=final", text_of(namespace_tx("web"))));
    const auto seed = load_identity(folder());
    ASSERT_TRUE(seed);
    const auto member = remote(seed->keys.chain);
    ASSERT_TRUE(member);
    EXPECT_TRUE((*member)->get(kTip));

    const auto nobody = remote(stranger);
    ASSERT_TRUE(nobody);  // health is open
    const auto refused = (*nobody)->get(kTip);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::Denied);
    EXPECT_EQ(raw(request("GET", kTip)).code(), "NotSigned");
    EXPECT_EQ(raw(request("GET", kTip)).status, 401u);
    EXPECT_EQ(raw(request("GET", "/livez")).status, 200u);
    EXPECT_EQ(raw(request("GET", "/rhizome/v1/openapi.json")).status, 200u);
    EXPECT_EQ((*admin)->ask("POST", "/rhizome/v1/stop")->body.text_at({"code"}), "LocalOnly");
}

TEST_F(RpcRemote, ANodeThatIsNotTheOneMeantIsNotAsked) {
    auto other = node_key();
    other.back() ^= 1;
    const auto client = RpcClient::connect(
        {.address = address(), .node_key = other, .secret = owner.clone(), .key = owner.public_key()});
    ASSERT_FALSE(client);
    EXPECT_NE(client.error().message.find(to_hex(node_key())), std::string::npos) << client.error().message;
    EXPECT_EQ(RpcClient::shown_key(address()).value(), node_key());
}

TEST_F(RpcRemote, ARequestIsGoodOnceForOneTargetOneNodeAndNow) {
    const std::string good = field("GET", kTip, "");
    EXPECT_EQ(with_field(good).status, 200u);
    EXPECT_EQ(with_field(good).code(), "Replayed");
    EXPECT_EQ(with_field(field("GET", kTip, ""), kTip + "?x=1").code(), "BadSignature");
    EXPECT_EQ(with_field(field("POST", kTip, "")).code(), "BadSignature");

    auto elsewhere = node_key();
    elsewhere.back() ^= 1;
    EXPECT_EQ(
        with_field(sign_request(owner, owner.public_key(), elsewhere, "GET", kTip, "", runtime::now(), {})).code(),
        "BadSignature");
    for (const auto off : {-minutes{5}, minutes{5}}) {
        const auto late = with_field(field("GET", kTip, "", runtime::now() + off));
        EXPECT_EQ(late.code(), "ClockSkew");
        EXPECT_NE(late.body.text_at({"message"}).find("this node has 20"), std::string_view::npos);
    }
    auto other_body = request("POST", "/rhizome/v1/txs", "{}");
    other_body.headers.set("Authorization", field("POST", "/rhizome/v1/txs", "[]"));
    EXPECT_EQ(raw(std::move(other_body)).code(), "BadSignature");
    EXPECT_EQ(with_field("Bearer abc").code(), "NotSigned");
}

TEST_F(RpcRemote, WhoAsksTooOftenWaits) {
    start({.address_requests_per_second = 5});
    unsigned refused = 0;
    for (int i = 0; i < 30; ++i) refused += raw(request("GET", "/livez")).status == 429 ? 1 : 0;
    EXPECT_GT(refused, 0u);
    EXPECT_EQ(raw(request("GET", kTip)).code(), "RateLimited");
    start({.address_requests_per_second = 0, .key_requests_per_second = 5});
    refused = 0;
    for (int i = 0; i < 30; ++i) {
        const auto answer = with_field(field("GET", kTip, ""));
        if (answer.status != 429) continue;
        ++refused;
        EXPECT_EQ(answer.code(), "RateLimited");
    }
    EXPECT_GT(refused, 0u);
    EXPECT_EQ(raw(request("GET", "/livez")).status, 200u);  // others go on
}

TEST_F(RpcRemote, WhatIsUsedUpIsRefusedAndNotForgotten) {
    start({.nonces_max = 2});
    const std::string first = field("GET", kTip, "");
    EXPECT_EQ(with_field(first).status, 200u);
    EXPECT_EQ(with_field(field("GET", kTip, "")).status, 200u);
    EXPECT_EQ(with_field(field("GET", kTip, "")).code(), "RateLimited");
    EXPECT_EQ(with_field(first).code(), "Replayed");
}

TEST_F(RpcRemote, ABodyHasABound) {
    start({.body_bytes_max = 1'000});
    const std::string body(1'001, ' ');
    auto large = request("POST", "/rhizome/v1/txs", body);
    large.headers.set("Authorization", field("POST", "/rhizome/v1/txs", body));
    const auto answer = raw(std::move(large));
    EXPECT_EQ(answer.status, 413u);
    EXPECT_EQ(answer.code(), "BodyTooLarge");
}

/// Everything that comes until the node ends the connection; cut off when it does not end it.
stream::Task<Result<std::string>> read_to_end(stream::Address address, std::shared_ptr<const stream::TlsContext> tls,
                                              std::string say) {
    const auto deadline = stream::after(seconds{180});
    CO_TRY(auto link, co_await stream::connect(std::move(address), deadline));
    if (tls) {
        CO_TRY(link, co_await stream::tls_connect(std::move(link), std::move(tls), std::string{}, deadline));
    }
    link->set_read_deadline(deadline);
    if (!say.empty()) {
        CO_TRY(co_await stream::write_all(*link, as_bytes(say)));
    }
    std::string heard;
    Bytes buffer(4'096);
    for (;;) {
        const auto got = co_await link->read_some(buffer);
        if (!got && stream::passed(deadline)) co_return Fail{got.error()};
        if (!got || *got == 0) co_return heard;
        heard.append(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(*got));
    }
}

TEST_F(RpcRemote, WhoTakesTooLongIsCutOff) {
    start({.handshake_time = milliseconds{200}, .header_time = milliseconds{200}, .idle_time = milliseconds{200}});
    const auto heard = [&](bool secured, std::string say) {
        stream::IoContext io{{.threads = 0}};
        const auto tls = secured ? any_tls() : nullptr;
        auto all = stream::block_on(io, read_to_end(daemon->rpc_addresses().front(), tls, std::move(say)));
        EXPECT_TRUE(all) << all.error().message;
        return all ? *std::move(all) : "";
    };
    EXPECT_EQ(heard(false, ""), "");  // no handshake
    EXPECT_EQ(heard(true, ""), "");   // no request
    const std::string half = heard(true, "GET /livez HTTP/1.1\r\nHost: x\r\n");
    EXPECT_NE(half.find(" 408 "), std::string::npos) << half;
    EXPECT_NE(half.find(R"("code":"TooSlow")"), std::string::npos) << half;
    const std::string once = heard(true, "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n");  // answered, then idle
    EXPECT_NE(once.find(" 200 "), std::string::npos) << once;
    EXPECT_EQ(once.find(" 408 "), std::string::npos) << once;
}

TEST_F(RpcRemote, FiguresAreReadInClearWhereThatWasAskedForAndNothingElseIs) {
    EXPECT_TRUE(daemon->metrics_addresses().empty()) << "nobody asked for it";
    DaemonOptions options;
    options.metrics_listen = {{.host = "127.0.0.1", .port = 0}};
    start({}, std::move(options));
    const auto asked = [&](const std::string& line) {
        stream::IoContext io{{.threads = 0}};
        const std::string request = line + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        return stream::block_on(io, read_to_end(daemon->metrics_addresses().front(), nullptr, request)).value();
    };
    const std::string figures = asked("GET /metrics");
    EXPECT_NE(figures.find(" 200 "), std::string::npos) << figures;
    EXPECT_NE(figures.find("\nrhizome_height "), std::string::npos) << figures;
    for (const auto* other : {"GET /rhizome/v1/status", "GET /", "POST /rhizome/v1/stop"})
        EXPECT_NE(asked(other).find(" 404 "), std::string::npos) << other;
    EXPECT_NE(asked("POST /metrics").find(" 405 "), std::string::npos);
}

TEST_F(RpcRemote, AHeaderHasABound) {
    const auto answer = raw(request("GET", "/" + std::string(10'000, 'a')));
    EXPECT_EQ(answer.status, 414u);
    EXPECT_EQ(answer.code(), "HeaderTooLarge");
}

TEST_F(RpcRemote, ConnectionsHaveABoundInAllAndOfAnAddress) {
    for (const RpcLimits& limits : {RpcLimits{.connections_max = 2}, RpcLimits{.address_connections_max = 2}}) {
        start(limits);
        // Two that are kept: a client each, which has asked once.
        std::vector<std::unique_ptr<RpcClient>> kept;
        for (int i = 0; i < 2; ++i) kept.push_back(std::move(remote(owner).value()));
        const auto third = raw(request("GET", "/livez"));
        EXPECT_EQ(third.status, 429u);
        EXPECT_EQ(third.code(), "TooManyConnections");
        EXPECT_TRUE(kept.front()->get(kTip));
    }
}

}  // namespace
}  // namespace rhizome::node::rpc
