// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "cluster/base64.h"
#include "http/server.h"
#include "support/kube_client.h"
#include "support/kube_world.h"

/// Custom kinds over a whole node: their definitions, objects, versions and end.
namespace rhizome::node {
namespace {

using test::Answered;

constexpr const char* kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
constexpr const char* kCrontabs = "/apis/stable.example.com/v1/namespaces/default/crontabs";
using test::kMerge;

std::string definition(std::string_view conversion = R"({"strategy":"None"})") {
    return fmt::format(
        R"({{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{{"name":"crontabs.stable.example.com"}},
"spec":{{"group":"stable.example.com","scope":"Namespaced","conversion":{},
"names":{{"plural":"crontabs","singular":"crontab","kind":"CronTab","shortNames":["ct"],"categories":["all"]}},
"versions":[
 {{"name":"v1","served":true,"storage":true,
  "schema":{{"openAPIV3Schema":{{"type":"object","properties":{{
    "spec":{{"type":"object","properties":{{"host":{{"type":"string","minLength":2}},"replicas":{{"type":"integer","default":1,"maximum":10}}}}}},
    "status":{{"type":"object","properties":{{"replicas":{{"type":"integer"}},"selector":{{"type":"string"}}}}}}}}}}}},
  "additionalPrinterColumns":[{{"name":"Host","type":"string","jsonPath":".spec.host"}},{{"name":"Wanted","type":"integer","jsonPath":".spec.replicas","priority":1}}],
  "selectableFields":[{{"jsonPath":".spec.host"}}],
  "subresources":{{"status":{{}},"scale":{{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas","labelSelectorPath":".status.selector"}}}}}},
 {{"name":"v2","served":true,"storage":false,
  "schema":{{"openAPIV3Schema":{{"type":"object","properties":{{
    "spec":{{"type":"object","properties":{{"hosts":{{"type":"array","items":{{"type":"string"}}}},"replicas":{{"type":"integer"}}}}}}}}}}}}}}
]}}}})",
        conversion);
}

std::string crontab(std::string_view name, std::string_view spec, std::string_view metadata = "",
                    std::string_view version = "v1") {
    return fmt::format(
        R"({{"apiVersion":"stable.example.com/{}","kind":"CronTab","metadata":{{"name":"{}"{}}},"spec":{}}})", version,
        name, metadata, spec);
}

class KubeCustom : public test::KubeWorld {
protected:
    /// Texts as views: g++ 12 warns of long literals that become strings.
    Answered root(std::string method, std::string_view target, std::string_view body = {},
                  std::string_view media = "application/json") {
        return KubeWorld::root(std::move(method), fmt::format("{}", target), fmt::format("{}", body),
                               fmt::format("{}", media));
    }
    void define(std::string_view conversion = R"({"strategy":"None"})") {
        const Answered made = root("POST", kDefinitions, definition(conversion));
        ASSERT_EQ(made.status, 201u) << made.text;
    }
    static std::string one(std::string_view name) { return fmt::format("{}/{}", kCrontabs, name); }
    static std::string kDefinition() { return fmt::format("{}/crontabs.stable.example.com", kDefinitions); }
};

TEST_F(KubeCustom, AreServedAsSoonAsTheyAreDefined) {
    EXPECT_EQ(root("GET", kCrontabs).status, 404u);
    define();
    const Answered shown = root("GET", kDefinition());
    EXPECT_NE(shown.text.find(R"("type":"Established","status":"True")"), std::string::npos) << shown.text;
    EXPECT_EQ(shown.body.text_at({"spec", "names", "listKind"}), "CronTabList");
    EXPECT_EQ(root("GET", "/apis/stable.example.com/v1").status, 200u);
    EXPECT_EQ(root("GET", "/openapi/v3/apis/stable.example.com/v1").status, 200u);
    const Answered none = root("GET", kCrontabs);
    EXPECT_EQ(none.body.text_at({"kind"}), "CronTabList");

    const Answered made = root("POST", kCrontabs, crontab("a", R"({"host":"web"})"));
    ASSERT_EQ(made.status, 201u) << made.text;
    EXPECT_EQ(made.body.find_path({"spec", "replicas"})->if_int64(), 1) << "filled in";
    EXPECT_EQ(made.body.find_path({"metadata", "generation"})->if_int64(), 1);
    EXPECT_EQ(root("POST", kCrontabs, crontab("a", "{}")).reason(), "AlreadyExists");
    EXPECT_EQ(
        root("GET", fmt::format("{}?fieldSelector=spec.host%3Dweb", kCrontabs)).body.find("items")->if_array()->size(),
        1u);
    EXPECT_EQ(
        root("GET", fmt::format("{}?fieldSelector=spec.host%3Dx", kCrontabs)).body.find("items")->if_array()->size(),
        0u);
    EXPECT_EQ(root("GET", fmt::format("{}?fieldSelector=spec.replicas%3D1", kCrontabs)).status, 400u);

    // A second definition of the kind is refused by the ledger; one that only wants its other names is not served.
    const auto renamed = [](std::string text, std::string_view from, std::string_view to) {
        for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
            text.replace(at, from.size(), to);
        return text;
    };
    const std::string second = renamed(definition(), "crontabs", "cronothers");
    EXPECT_EQ(root("POST", kDefinitions, second).status, 409u);
    const std::string other = renamed(second, "CronTab", "CronOther");
    EXPECT_EQ(root("POST", kDefinitions, other).status, 201u);
    const Answered refused = root("GET", fmt::format("{}/cronothers.stable.example.com", kDefinitions));
    EXPECT_NE(refused.text.find("NotAccepted"), std::string::npos) << refused.text;
}

TEST_F(KubeCustom, ObjectsAreJudgedByTheirSchema) {
    define();
    const Answered bad = root("POST", kCrontabs, crontab("a", R"({"host":7,"replicas":11})"));
    EXPECT_EQ(bad.status, 422u) << bad.text;
    EXPECT_NE(bad.text.find(R"(spec.host in body must be of type string: \"integer\")"), std::string::npos) << bad.text;
    EXPECT_NE(bad.text.find("FieldValueTypeInvalid"), std::string::npos);
    EXPECT_NE(bad.text.find("spec.replicas in body should be less than or equal to 10"), std::string::npos);
    const std::string unknown = crontab("a", R"({"host":"web","bogus":1})");
    const Answered strict = root("POST", fmt::format("{}?fieldValidation=Strict", kCrontabs), unknown);
    EXPECT_EQ(strict.status, 400u);
    EXPECT_NE(strict.text.find(R"(strict decoding error: unknown field \"spec.bogus\")"), std::string::npos)
        << strict.text;
    const Answered warned = root("POST", kCrontabs, unknown);
    ASSERT_EQ(warned.status, 201u);
    EXPECT_EQ(warned.body.find_path({"spec", "bogus"}), nullptr);
    ASSERT_EQ(warned.warnings.size(), 1u);
    EXPECT_NE(warned.warnings[0].find("spec.bogus"), std::string::npos);

    EXPECT_EQ(root("PATCH", one("a"), R"({"spec":{"host":"x"}})", kMerge).status, 422u);
    EXPECT_EQ(root("PATCH", one("a"), "{}", "application/strategic-merge-patch+json").status, 415u);
    const Answered scaled = root("PATCH", one("a") + "/scale", R"({"spec":{"replicas":4}})", kMerge);
    EXPECT_EQ(scaled.status, 200u) << scaled.text;
    EXPECT_EQ(scaled.body.find_path({"spec", "replicas"})->if_int64(), 4);
    EXPECT_EQ(root("PATCH", one("a") + "/scale", R"({"spec":{"replicas":40}})", kMerge).status, 422u);
    const Answered status = root("PATCH", one("a") + "/status",
                                 R"({"spec":{"host":"no"},"status":{"replicas":3,"selector":"a=b"}})", kMerge);
    EXPECT_EQ(status.status, 200u) << status.text;
    EXPECT_EQ(status.body.text_at({"spec", "host"}), "web");
    const Answered scale = root("GET", one("a") + "/scale");
    EXPECT_EQ(scale.body.find_path({"status", "replicas"})->if_int64(), 3);
    EXPECT_EQ(scale.body.text_at({"status", "selector"}), "a=b");
    EXPECT_EQ(root("GET", one("a")).body.find_path({"metadata", "generation"})->if_int64(), 2);

    // A definition may not say nonsense, nor change what its objects rest on.
    EXPECT_EQ(root("PATCH", kDefinition(), R"({"spec":{"scope":"Cluster"}})", kMerge).status, 422u);
    EXPECT_EQ(root("PATCH", kDefinition(), R"({"spec":{"names":{"kind":"Other"}}})", kMerge).status, 422u);
}

TEST_F(KubeCustom, GoWithTheirDefinitionAndWatchesEnd) {
    define();
    ASSERT_EQ(root("POST", kCrontabs, crontab("a", R"({"host":"web"})")).status, 201u);
    const Answered list = root("GET", kCrontabs);
    const std::string from{list.body.text_at({"metadata", "resourceVersion"})};
    Answered watched;
    std::thread watching{[&] {
        watched = root("GET", fmt::format("{}?watch=true&timeoutSeconds=600&resourceVersion={}", kCrontabs, from));
    }};
    const Answered gone = root("DELETE", kDefinition());
    EXPECT_EQ(gone.status, 200u) << gone.text;
    watching.join();  // it ends by itself; the client would give up after a minute, with nothing read
    EXPECT_TRUE(watched.status == 404 || watched.text.find(R"("type":"DELETED")") != std::string::npos) << watched.text;
    EXPECT_EQ(root("GET", kCrontabs).status, 404u);
    EXPECT_EQ(root("GET", "/apis/stable.example.com/v1").status, 404u);
    EXPECT_EQ(root("GET", kDefinition()).status, 404u);
    // Defined again, there are none.
    define();
    EXPECT_EQ(root("GET", kCrontabs).body.find("items")->if_array()->size(), 0u);
}

TEST_F(KubeCustom, ADefinitionWaitsForTheFinalizersOfItsObjects) {
    define();
    ASSERT_EQ(root("POST", kCrontabs, crontab("plain", R"({"host":"web"})")).status, 201u);
    ASSERT_EQ(
        root("POST", kCrontabs, crontab("held", R"({"host":"web"})", R"(,"finalizers":["example.com/x"])")).status,
        201u);
    const Answered ending = root("DELETE", kDefinition());
    EXPECT_EQ(ending.status, 200u) << ending.text;
    EXPECT_EQ(ending.body.text_at({"kind"}), "CustomResourceDefinition");
    const Answered shown = root("GET", kDefinition());
    EXPECT_NE(shown.text.find(R"("type":"Terminating","status":"True")"), std::string::npos) << shown.text;
    const Answered left = root("GET", kCrontabs);
    ASSERT_EQ(left.body.find("items")->if_array()->size(), 1u) << left.text;
    EXPECT_EQ(root("POST", kCrontabs, crontab("new", "{}")).status, 405u);
    EXPECT_EQ(root("PATCH", one("held"), R"({"metadata":{"finalizers":null}})", kMerge).status, 200u);
    EXPECT_EQ(root("GET", kDefinition()).status, 404u);
    EXPECT_EQ(root("GET", kCrontabs).status, 404u);
}

TEST_F(KubeCustom, VersionsDifferInTheirNameAloneWithoutAWebhook) {
    define();
    ASSERT_EQ(root("POST", kCrontabs, crontab("a", R"({"host":"web"})")).status, 201u);
    const Answered second = root("GET", "/apis/stable.example.com/v2/namespaces/default/crontabs/a");
    EXPECT_EQ(second.body.text_at({"apiVersion"}), "stable.example.com/v2");
    EXPECT_EQ(second.body.find_path({"spec", "host"}), nullptr) << "not of that version's schema";
    EXPECT_EQ(second.body.find_path({"spec", "replicas"})->if_int64(), 1);
    ASSERT_EQ(root("POST", "/apis/stable.example.com/v2/namespaces/default/crontabs",
                   crontab("b", R"({"replicas":2})", "", "v2"))
                  .status,
              201u);
    const Answered list = root("GET", kCrontabs);
    EXPECT_EQ(list.body.find("items")->if_array()->size(), 2u);
    for (const json::Value& item : *list.body.find("items")->if_array())
        EXPECT_EQ(item.text_at({"apiVersion"}), "stable.example.com/v1") << list.text;
}

/// `host` of v1 is the one element of `hosts` of v2.
class KubeConversion : public KubeCustom {
protected:
    void serve() {
        stream::TlsServerOptions tls{.identity = *server_identity(*authority_, {"127.0.0.1"}, runtime::now())};
        http::ServerOptions options{.listen = {{.address = {.host = "127.0.0.1", .port = 0}}},
                                    .tls = *stream::TlsContext::server(std::move(tls))};
        server_ = *http::Server::start(io_, std::move(options),
                                       [this](http::Exchange& exchange) { return answer(this, exchange); });
        const std::string bundle = cluster::base64(as_bytes(authority_->chain.front().to_pem()));
        define(fmt::format(
            R"({{"strategy":"Webhook","webhook":{{"conversionReviewVersions":["v1"],"clientConfig":{{"url":"https://127.0.0.1:{}/convert","caBundle":"{}"}}}}}})",
            server_->addresses().front().port, bundle));
    }
    void TearDown() override {
        KubeCustom::TearDown();
        server_.reset();
    }
    static stream::Task<void> answer(KubeConversion* self, http::Exchange& exchange) {
        const auto body = co_await exchange.read_body(16u << 20);
        json::Value review = *json::parse(*body);
        const std::string wanted{review.text_at({"request", "desiredAPIVersion"})};
        json::Array objects = *review.find_path({"request", "objects"})->if_array();
        for (json::Value& object : objects) {
            object["apiVersion"] = wanted;
            json::Value& spec = object["spec"];
            if (wanted.ends_with("/v2")) {
                spec["hosts"] = json::Array{std::string{spec.text_at({"host"})}};
                spec.make_object().erase("host");
            } else {
                spec["host"] = *(*spec.find("hosts")->if_array())[0].if_string();
                spec.make_object().erase("hosts");
            }
        }
        json::Value out = json::Object{
            {"kind", "ConversionReview"},
            {"apiVersion", "apiextensions.k8s.io/v1"},
            {"response", json::Object{{"uid", review.text_at({"request", "uid"})},
                                      {"result", json::Object{{"status", self->refuses() ? "Failed" : "Success"},
                                                              {"message", "not today"}}},
                                      {"convertedObjects", std::move(objects)}}}};
        http::Response response{
            .status = 200, .headers = {{"Content-Type", "application/json"}}, .body = json::print(out)};
        (void)co_await exchange.respond(std::move(response));
    }
    stream::IoContext io_{{.threads = 1}};
    std::unique_ptr<http::Server> server_;
    bool refuses() { return refuses_ || (good_left_ >= 0 && good_left_-- == 0); }
    std::atomic<bool> refuses_ = false;
    std::atomic<int> good_left_ = -1;  ///< then one is refused; less than nothing: none
};

TEST_F(KubeConversion, IsAskedForVersionsThatAreNotStored) {
    serve();
    const std::string second = "/apis/stable.example.com/v2/namespaces/default/crontabs";
    const Answered made = root("POST", second, crontab("a", R"({"hosts":["web"]})", R"(,"labels":{"x":"y"})", "v2"));
    ASSERT_EQ(made.status, 201u) << made.text;
    EXPECT_EQ(json::print(*made.body.find_path({"spec", "hosts"})), R"(["web"])");
    const Answered stored = root("GET", one("a"));
    EXPECT_EQ(stored.body.text_at({"spec", "host"}), "web") << stored.text;
    EXPECT_EQ(stored.body.text_at({"metadata", "uid"}), made.body.text_at({"metadata", "uid"}));
    const Answered patched = root("PATCH", second + "/a", R"({"spec":{"hosts":["other"]}})", kMerge);
    EXPECT_EQ(patched.status, 200u) << patched.text;
    EXPECT_EQ(root("GET", one("a")).body.text_at({"spec", "host"}), "other");
    EXPECT_NE(root("GET", second).text.find(R"("hosts":["other"])"), std::string::npos);

    refuses_ = true;
    const Answered refused = root("GET", second + "/a");
    EXPECT_EQ(refused.status, 500u);
    EXPECT_NE(refused.text.find("not today"), std::string::npos) << refused.text;
    EXPECT_EQ(root("GET", one("a")).status, 200u) << "the stored version needs nobody";
    server_.reset();
    EXPECT_EQ(root("GET", second + "/a").status, 500u);
}

TEST_F(KubeConversion, AWriteThatStandsIsAnsweredAsOneWhenItCannotBeConvertedBack) {
    serve();
    good_left_ = 1;  // for storage
    const Answered made = root("POST", "/apis/stable.example.com/v2/namespaces/default/crontabs",
                               crontab("a", R"({"hosts":["web"]})", "", "v2"));
    EXPECT_EQ(made.status, 201u) << made.text;
    EXPECT_EQ(made.body.text_at({"apiVersion"}), "stable.example.com/v2");
    EXPECT_NE(made.text.find(R"("hosts":["web"])"), std::string::npos) << made.text;
    EXPECT_EQ(good_left_, -1) << "it was refused";
    EXPECT_EQ(root("GET", one("a")).body.text_at({"spec", "host"}), "web");
}

}  // namespace
}  // namespace rhizome::node
