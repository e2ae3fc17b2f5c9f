// SPDX-License-Identifier: Apache-2.0
#include "api/proxied.h"

#include <gtest/gtest.h>

#include "support/read_json.h"

namespace rhizome::api {
namespace {

TEST(Proxied, NamesCarrySchemeAndPort) {
    struct Case {
        const char* text;
        bool tls;
        const char* name;
        const char* port;
    };
    const Case cases[] = {
        {"web", false, "web", ""},          {"web:80", false, "web", "80"},
        {"web:http", false, "web", "http"}, {"http:web:80", false, "web", "80"},
        {"https:web:", true, "web", ""},    {"https:web:443", true, "web", "443"},
        {":web:80", false, "web", "80"},    {"https:443", false, "https", "443"},
    };
    for (const Case& one : cases) {
        SCOPED_TRACE(one.text);
        const auto read = parse_proxied_name(one.text);
        ASSERT_TRUE(read);
        EXPECT_EQ(read->tls, one.tls);
        EXPECT_EQ(read->name, one.name);
        EXPECT_EQ(read->port, one.port);
    }
    for (const char* bad : {"", ":80", "ftp:web:80", "a:b:c:d", "https::443"})
        EXPECT_FALSE(parse_proxied_name(bad)) << bad;
}

TEST(Proxied, OnlyAddressesOfOneMachineElsewhereAreDialled) {
    for (const char* good : {"10.0.0.1", "192.168.1.5", "203.0.113.7", "100.64.0.1", "223.255.255.255", "169.253.0.1",
                             "2001:db8::1", "fd00::1", "::ffff:10.0.0.1", "fec0::1"})
        EXPECT_TRUE(may_be_dialled(good, false)) << good;
    for (const char* bad : {"169.254.169.254",
                            "169.254.0.1",
                            "224.0.0.1",
                            "239.1.2.3",
                            "255.255.255.255",
                            "240.0.0.1",
                            "0.0.0.0",
                            "0.1.2.3",
                            "fe80::1",
                            "febf::1",
                            "ff02::1",
                            "::",
                            "::ffff:169.254.169.254",
                            "::ffff:0.0.0.0",
                            "::2",
                            "::10.0.0.1",
                            "localhost",
                            "example.com",
                            "10.0.0",
                            "010.0.0.1",
                            "",
                            "1",
                            "127.1",
                            "0x7f000001"}) {
        EXPECT_FALSE(may_be_dialled(bad, false)) << bad;
        EXPECT_FALSE(may_be_dialled(bad, true)) << bad;
    }
    for (const char* own :
         {"127.0.0.1", "127.255.0.3", "::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1", "::ffff:7f00:1"}) {
        EXPECT_FALSE(may_be_dialled(own, false)) << own;
        EXPECT_TRUE(may_be_dialled(own, true)) << own;
    }
}

TEST(Proxied, APodIsReachedAtItsAddress) {
    const json::Value pod = test::read(
        R"({"spec":{"containers":[{"name":"a"},{"name":"b","ports":[{"containerPort":8080},{"containerPort":9090}]}]},)"
        R"("status":{"podIP":"10.1.2.3"}})");
    EXPECT_EQ(proxied_pod(pod, {.name = "p"}, false)->authority(), "10.1.2.3:8080");
    EXPECT_EQ(proxied_pod(pod, {.name = "p", .port = "81"}, false)->authority(), "10.1.2.3:81");
    for (const char* bad : {"http", "0", "65536", "-1", "80 "})
        EXPECT_EQ(proxied_pod(pod, {.name = "p", .port = bad}, false).error().code, 400u) << bad;
    const json::Value bare = test::read(R"({"status":{"podIP":"2001:db8::5"}})");
    EXPECT_EQ(proxied_pod(bare, {.name = "p"}, false)->authority(), "[2001:db8::5]:80");
    EXPECT_EQ(proxied_pod(bare, {.tls = true, .name = "p"}, false)->authority(), "[2001:db8::5]:443");
    EXPECT_EQ(proxied_pod(test::read("{}"), {.name = "p"}, false).error().code, 503u);
    const auto link = proxied_pod(test::read(R"({"status":{"podIP":"169.254.169.254"}})"), {.name = "p"}, true);
    EXPECT_EQ(link.error().code, 400u);
    EXPECT_EQ(link.error().message, "address not allowed: 169.254.169.254");
}

TEST(Proxied, ANodeIsReachedAtItsInternalAddress) {
    const json::Value node = test::read(
        R"({"status":{"addresses":[{"type":"Hostname","address":"n"},{"type":"ExternalIP","address":"203.0.113.1"},)"
        R"({"type":"InternalIP","address":"10.0.0.7"}]}})");
    EXPECT_EQ(proxied_node(node, {.name = "n", .port = "9100"}, false)->authority(), "10.0.0.7:9100");
    EXPECT_FALSE(proxied_node(node, {.name = "n", .port = "9100"}, false)->tls);
    EXPECT_EQ(proxied_node(node, {.name = "n"}, false).error().code, 503u) << "it has no agent";
    json::Value with_agent = node;
    with_agent["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"] = 10'250;
    EXPECT_EQ(proxied_node(with_agent, {.name = "n"}, false)->authority(), "10.0.0.7:10250");
    EXPECT_TRUE(proxied_node(with_agent, {.name = "n"}, false)->tls);
    EXPECT_EQ(proxied_node(test::read("{}"), {.name = "n", .port = "1"}, false).error().code, 503u);
}

TEST(Proxied, WhatIsPassedOnTellsNobodyWhoAsked) {
    const ProxiedFrom from{.host = "api:6443", .prefix = "/p/proxy", .rest = "/x", .client = "192.0.2.9"};
    const HeaderFields fields = fields_passed_on({{"Host", "api:6443"},
                                                  {"authorization", "Bearer secret"},
                                                  {"Impersonate-User", "root"},
                                                  {"x-remote-user", "root"},
                                                  {"Connection", "keep-alive, X-Mine"},
                                                  {"Keep-Alive", "5"},
                                                  {"X-Mine", "1"},
                                                  {"te", "trailers"},
                                                  {"Upgrade", "websocket"},
                                                  {"Transfer-Encoding", "chunked"},
                                                  {"X-Forwarded-Proto", "gopher"},
                                                  {"X-Forwarded-For", "198.51.100.1"},
                                                  {"Accept", "text/html"},
                                                  {"Cookie", "a=b"}},
                                                 from);
    const HeaderFields expected{{"Host", "api:6443"},
                                {"Accept", "text/html"},
                                {"Cookie", "a=b"},
                                {"X-Forwarded-For", "198.51.100.1, 192.0.2.9"},
                                {"X-Forwarded-Host", "api:6443"},
                                {"X-Forwarded-Proto", "https"},
                                {"X-Forwarded-Uri", "/p/proxy/x"}};
    EXPECT_EQ(fields, expected);
}

TEST(Proxied, RedirectionsLeadBackThroughHere) {
    const ProxiedFrom from{.host = "api:6443", .prefix = "/p/proxy", .rest = "/x"};
    const ProxiedTo to{.host = "10.0.0.1", .port = 80};
    const std::pair<const char*, const char*> cases[] = {
        {"/login?next=%2F", "/p/proxy/login?next=%2F"},
        {"/", "/p/proxy/"},
        {"http://10.0.0.1:80/a/b#c", "https://api:6443/p/proxy/a/b#c"},
        {"http://10.0.0.1/a", "https://api:6443/p/proxy/a"},
        {"//10.0.0.1:80/a", "https://api:6443/p/proxy/a"},
        {"https://api:6443/a", "https://api:6443/p/proxy/a"},
        {"/p/proxy/a", "/p/proxy/a"},
        {"/p/proxyish", "/p/proxy/p/proxyish"},
        {"http://elsewhere.example/a", "http://elsewhere.example/a"},
        {"http://10.0.0.1:81/a", "http://10.0.0.1:81/a"},
        {"next", "next"},
        {"?page=2", "?page=2"},
        {"", ""},
        {"http://10.0.0.1:80", "http://10.0.0.1:80"},
    };
    for (const auto& [given, expected] : cases) {
        const HeaderFields fields = fields_passed_back({{"location", given}}, from, to);
        ASSERT_EQ(fields.size(), 1u);
        EXPECT_EQ(fields.front().second, expected) << given;
    }
    EXPECT_TRUE(fields_passed_back({{"Connection", "close, X-Hop"},
                                    {"X-Hop", "1"},
                                    {"Transfer-Encoding", "chunked"},
                                    {"Access-Control-Allow-Origin", "*"}},
                                   from, to)
                    .empty());
}

}  // namespace
}  // namespace rhizome::api
