// SPDX-License-Identifier: Apache-2.0
// What a node says when it refuses, word for word: people read it, and programs go by its codes (docs/spec/rpc.md).
#include <regex>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "support/golden.h"
#include "support/rpc_world.h"

namespace rhizome::node::rpc {
namespace {

class RpcRefusals : public test::RpcWorld {
protected:
    /// One refusal, without what is different in every run.
    void note(std::string_view who, std::string_view asked, unsigned status, const json::Value& body) {
        std::string said = fmt::format("{}: {}", body.text_at({"code"}), body.text_at({"message"}));
        if (body.find("refused") != nullptr)
            said = fmt::format("refused, {}: {}", body.text_at({"refused", "code"}), body.text_at({"refused", "why"}));
        said = std::regex_replace(said, std::regex{"[0-9a-f]{40,}"}, "(hex)");
        said = std::regex_replace(said, std::regex{"20[0-9]{2}-[0-9-]+T[0-9:.]+Z"}, "(time)");
        said = std::regex_replace(said, std::regex{"ends at height [0-9]+"}, "ends at height (n)");
        text += fmt::format("{} {}\n    {} {}\n", who, asked, status, said);
        EXPECT_GE(status, 400U) << asked;
    }
    void ask_locally(const std::string& method, const std::string& target, const std::string& body = {}) {
        const auto reply = local->ask(method, "/rhizome/v1/" + target, body);
        ASSERT_TRUE(reply) << target << ": " << reply.error().message;
        note("local  ", fmt::format("{} {}{}{}", method, target, body.empty() ? "" : " ", body), reply->status,
             reply->body);
    }
    Raw ask_over_network(const std::string& target, const std::string& authorization, std::string_view described,
                         const std::string& method = "GET", const std::string& body = {}) {
        http::Request request{.method = method, .target = "/rhizome/v1/" + target};
        request.body = body;
        if (!authorization.empty()) request.headers.set("Authorization", authorization);
        Raw answer = raw(std::move(request));
        note("network", fmt::format("{} {} ({})", method, target, described), answer.status, answer.body);
        return answer;
    }
    [[nodiscard]] std::string signed_by_owner(const std::string& target, Time now = runtime::now()) const {
        return field("GET", "/rhizome/v1/" + target, "", now);
    }

    std::string text;
};

TEST_F(RpcRefusals, AreWordedAsTheyAlwaysWere) {
    const std::string nobody(64, 'a');
    make_namespace("web");
    for (const char* target : {"nothing",
                               "status?verbose=1",
                               "state?pth=/",
                               "headers/x",
                               "headers/999999",
                               "blocks/-1",
                               "blocks/999999",

                               "chain?last=x",
                               "txs/12",
                               "state",
                               "state?path=web",
                               "state?path=/namespaces/none",
                               "state?resource=pods",
                               "state?resource=pods/x&namespace=web",
                               "state?path=/&at=999999",
                               "state?path=/&at=x",
                               "state/list?limit=0",
                               "state/list?limit=x",
                               "state/list?prefix=x",
                               "state/list?documents=maybe",
                               "state/list?after=x",
                               "state/proof",
                               "state/proof?path=x",
                               "finality?after=x",
                               "finality?at=999999",

                               "state/subtree?prefix=x",
                               "state/subtree?prefix=/&since=x",
                               "refusals",
                               "refusals?path=x",
                               "subscribe"})
        ask_locally("GET", target);
    ask_locally("GET", "txs/" + nobody);
    ask_locally("GET", "txs/" + nobody + "/proof");
    ask_locally("GET", "headers/" + nobody);
    ask_locally("PUT", "status");
    ask_locally("POST", "tip", "{}");

    for (const char* body :
         {"", "{", "[]", R"({"version":1})", R"({"version":1,"vin":[],"vout":[],"locktime":0,"x":1})"})
        ask_locally("POST", "txs", body);
    const std::string order = text_of(namespace_tx("other"));
    const auto ask_order = [&](const std::string& target, const std::string& body) {
        const auto reply = local->ask("POST", "/rhizome/v1/" + target, body);
        ASSERT_TRUE(reply) << target;
        note("local  ", fmt::format("POST {} (an order)", target), reply->status, reply->body);
    };
    ask_order("txs?wait=later", order);
    ask_order("txs?timeout=soon", order);
    ask_order("txs?dryRun=perhaps", order);
    ask_order("txs?trace=true", order);
    ledger::Tx twin = namespace_tx("twin");
    twin.outputs.front().value = R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"web","labels":{}}})";
    ask_order("txs", text_of(sign(std::move(twin))));
    ledger::Tx unsigned_tx = namespace_tx("unsigned");
    for (ledger::Input& input : unsigned_tx.inputs) input.unlocking.clear();
    ask_order("txs", text_of(unsigned_tx));
    ask_order("txs/context", "{}");
    for (const char* body :
         {"", "{}", R"({"changes":[]})", R"({"changes":[{"document":1}]})", R"({"changes":[{"lock":"p2pkh x"}]})",
          R"({"changes":[{"document":{"kind":"Namespace"}}],"more":1})"})
        ask_locally("POST", "drafts", body);
    ask_locally("POST", "cosign", "{}");
    for (const char* body : {"", "{}", R"({"paths":[1]})"}) ask_locally("POST", "secrets/open", body);
    ask_locally("POST", "peers/refused", "{}");

    ask_over_network("tip", "", "nothing signed");
    ask_over_network("tip", "Bearer abc", "another scheme");
    ask_over_network("tip", "Rhizome key=12", "a field cut short");
    const std::string good = signed_by_owner("tip");
    ASSERT_EQ(raw([&] {
                  http::Request request{.target = "/rhizome/v1/tip"};
                  request.headers.set("Authorization", good);
                  return request;
              }())
                  .status,
              200U);
    ask_over_network("tip", good, "the same again");
    ask_over_network("status", signed_by_owner("tip"), "signed for another target");
    ask_over_network("tip", signed_by_owner("tip", runtime::now() + minutes{5}), "a clock that is ahead");
    ask_over_network("tip",
                     sign_request(stranger, stranger.public_key(), node_key(), "GET", "/rhizome/v1/tip", "",
                                  runtime::now(), test::fresh_bytes<16>()),
                     "a key nobody knows");
    ask_over_network("stop", field("POST", "/rhizome/v1/stop", "{}"), "by the owner", "POST", "{}");

    start({.address_requests_per_second = 1});
    Raw last;
    for (int i = 0; i < 50 && last.status != 429; ++i) last = raw({.target = "/livez"});
    note("network", "GET /livez (too often)", last.status, last.body);
    start({.body_bytes_max = 10});
    const std::string large(11, ' ');
    ask_over_network("txs", field("POST", "/rhizome/v1/txs", large), "a body too large", "POST", large);

    test::expect_golden("node/rpc-refusals.txt", text);
}

}  // namespace
}  // namespace rhizome::node::rpc
