// SPDX-License-Identifier: Apache-2.0
// Who is let in over the network, and what strangers, slow ones and crowds are told.
#include "node/identity.h"
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
