// SPDX-License-Identifier: Apache-2.0
#include "http/router.h"

#include <gtest/gtest.h>

#include "support/raw_http.h"

namespace rhizome::http {
namespace {

/// Answers with its label and what the blanks stood for.
Router::RouteHandler show(std::string label) {
    return [label](Exchange& exchange, const PathParts& parts) -> Task<void> {
        std::string text = label;
        for (const auto& [name, value] : parts) text += " " + name + "=" + value;
        Response response;
        response.body = text + ";";
        auto ignored = co_await exchange.respond(std::move(response));
    };
}

std::shared_ptr<const Router> sample() {
    Router router;
    router.route("GET", "/", show("root"));
    router.route("GET", "/api/v1/pods", show("list"));
    router.route("POST", "/api/v1/pods", show("create"));
    router.route("GET", "/api/v1/pods/{name}", show("get"));
    router.route("GET", "/api/v1/pods/special", show("special"));
    router.route("GET", "/api/v1/pods/{name}/log", show("log"));
    router.route("*", "/api/v1/proxy/{name}/*", show("proxy"));
    router.route("GET", "/api/*", show("rest"));
    return std::make_shared<const Router>(std::move(router));
}

TEST(Router, FindsTheMostExactPattern) {
    const struct {
        const char* line;
        const char* expected;  // part of the answer
    } rows[] = {
        {"GET /", "root;"},
        {"GET /api/v1/pods", "list;"},
        {"GET /api/v1/pods?watch=1", "list;"},
        {"POST /api/v1/pods", "create;"},
        {"GET /api/v1/pods/web-0", "get name=web-0;"},
        {"GET /api/v1/pods/a%2Fb", "get name=a/b;"},
        {"GET /api/v1/pods/special", "special;"},
        {"GET /api/v1/pods/special/log", "log name=special;"},
        {"PATCH /api/v1/proxy/x/y/z", "proxy *=y/z name=x;"},
        {"GET /api/v1/proxy/x/", "proxy *= name=x;"},
        {"GET /api/other/thing", "rest *=other/thing;"},
        {"GET /api/v1/pods/", "rest *=v1/pods/;"},
        {"GET /nothing", "404 Not Found: there is nothing at this path"},
        {"DELETE /api/v1/pods", "Allow: GET, POST, HEAD\r\n"},
        {"GET /api/%zz", "400 Bad Request"},
    };
    for (const auto& row : rows) {
        test::RawHttp raw{Router::handler(sample())};
        const std::string answer = raw.talk(std::string(row.line) + " HTTP/1.1\r\nHost: x\r\n\r\n");
        EXPECT_NE(answer.find(row.expected), std::string::npos) << row.line << "\n" << answer;
    }
}

TEST(Router, HeadIsAnsweredByGet) {
    test::RawHttp raw{Router::handler(sample())};
    const std::string answer = raw.talk("HEAD /api/v1/pods HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_NE(answer.find("Content-Length: 5\r\n"), std::string::npos) << answer;
    EXPECT_EQ(answer.find("list;"), std::string::npos);
}

}  // namespace
}  // namespace rhizome::http
