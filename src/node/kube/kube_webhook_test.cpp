// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <mutex>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "cluster/base64.h"
#include "http/server.h"
#include "stream/timers.h"
#include "support/kube_client.h"
#include "support/kube_world.h"
#include "support/tls_samples.h"

/// Admission webhooks of a whole node: they are real HTTPS servers in this process.
namespace rhizome::node {
namespace {

using test::Answered;

using test::kMaps;

class KubeWebhooks : public test::KubeWorld {
protected:
    /// The `response` of an AdmissionReview for its `request`.
    using Answer = std::function<std::string(const json::Value& request)>;

    void SetUp() override {
        KubeWorld::SetUp();
        if (HasFatalFailure()) return;
        stream::CertificateSpec spec = test::sample_spec("webhook");
        spec.addresses = {"127.0.0.1"};
        spec.dns_names = {"hook.default.svc"};
        auto key = *stream::PrivateKey::generate(stream::KeyKind::P256);
        auto certificate = stream::make_certificate(spec, key, hook_authority_);
        ASSERT_TRUE(certificate) << certificate.error().message;
        auto tls = stream::TlsContext::server({.identity = {.chain = {*certificate}, .key = std::move(key)}});
        ASSERT_TRUE(tls);
        http::ServerOptions options{.tls = *std::move(tls)};
        options.listen.push_back({.address = {.host = "127.0.0.1", .port = 0}});
        auto server =
            http::Server::start(io_, std::move(options), [this](http::Exchange& exchange) { return serve(exchange); });
        ASSERT_TRUE(server) << server.error().message;
        server_ = *std::move(server);
    }
    void TearDown() override {
        if (server_) server_->stop(milliseconds{0});
        KubeWorld::TearDown();
    }

    void at(const std::string& path, Answer answer) {
        const std::lock_guard hold{mutex_};
        answers_[path] = std::move(answer);
    }
    std::vector<std::string> heard() {
        const std::lock_guard hold{mutex_};
        return heard_;
    }
    std::vector<json::Value> requests() {
        const std::lock_guard hold{mutex_};
        return requests_;
    }
    void forget() {
        const std::lock_guard hold{mutex_};
        heard_.clear();
        requests_.clear();
    }
    [[nodiscard]] std::string url(std::string_view path) const {
        return fmt::format("https://127.0.0.1:{}{}", server_->addresses().front().port, path);
    }
    [[nodiscard]] std::string bundle() const {
        return cluster::base64(as_bytes(hook_authority_.chain.front().to_pem()));
    }
    /// One webhook that is asked about ConfigMaps.
    [[nodiscard]] std::string webhook(std::string_view path, std::string_view more = "",
                                      std::string_view operations = R"("*")") const {
        return fmt::format(
            R"({{"name":"{}.example.com","sideEffects":"None","admissionReviewVersions":["v1"],)"
            R"("clientConfig":{{"url":"{}","caBundle":"{}"}},"rules":[{{"operations":[{}],"apiGroups":[""],)"
            R"("apiVersions":["v1"],"resources":["configmaps"]}}]{}}})",
            path, url("/" + std::string{path}), bundle(), operations, more);
    }
    void configure(std::string_view kind, std::string_view name, const std::string& hooks) {
        const Answered made =
            root("POST", fmt::format("/apis/admissionregistration.k8s.io/v1/{}webhookconfigurations", kind),
                 fmt::format(R"({{"metadata":{{"name":"{}"}},"webhooks":[{}]}})", name, hooks));
        ASSERT_EQ(made.status, 201u) << made.text;
        EXPECT_TRUE(made.warnings.empty()) << made.warnings.front();
    }
    Answered make(std::string_view name, std::string_view query = "") {
        return root("POST", fmt::format("{}{}", kMaps, query), config_map(name, "1"));
    }
    static std::string patched(std::string_view operations) {
        return fmt::format(R"("allowed":true,"patchType":"JSONPatch","patch":"{}")",
                           cluster::base64(as_bytes(operations)));
    }
    static Answer append(std::string letter) {
        return [letter](const json::Value& request) {
            const std::string now{request.text_at({"object", "data", "v"})};
            return patched(fmt::format(R"([{{"op":"replace","path":"/data/v","value":"{}{}"}}])", now, letter));
        };
    }

private:
    stream::Task<void> serve(http::Exchange& exchange) {
        const std::string path{exchange.request().path()};
        auto body = co_await exchange.read_body(16u << 20);
        if (path == "/slow") {
            // Never answers: whoever asked has a bound of its own.
            stream::Event never{exchange.strand()};
            exchange.when_ending([&](http::Ending) { never.set(); });
            co_await never.wait();
            co_return;
        }
        if (path == "/huge") {
            http::Response huge{.status = 200, .body = std::string(8u << 20, ' ')};
            (void)co_await exchange.respond(std::move(huge));
            co_return;
        }
        if (path == "/rubbish") {
            http::Response rubbish{.status = 200, .body = "<html>"};
            (void)co_await exchange.respond(std::move(rubbish));
            co_return;
        }
        const auto review = json::parse(*body);
        const json::Value* request = review ? review->find("request") : nullptr;
        http::Response response{.status = 404};
        if (request != nullptr) {
            Answer answer;
            {
                const std::lock_guard hold{mutex_};
                heard_.push_back(path);
                requests_.push_back(*request);
                if (const auto found = answers_.find(path); found != answers_.end()) answer = found->second;
            }
            if (answer)
                response = {.status = 200,
                            .body = fmt::format(R"({{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1",)"
                                                R"("response":{{"uid":"{}",{}}}}})",
                                                request->text_at({"uid"}), answer(*request))};
        }
        (void)co_await exchange.respond(std::move(response));
    }

    stream::IoContext io_{{.threads = 1}};
    stream::Identity hook_authority_ = test::sample_authority();
    std::unique_ptr<http::Server> server_;
    std::mutex mutex_;
    std::map<std::string, Answer> answers_;
    std::vector<std::string> heard_;
    std::vector<json::Value> requests_;
};

TEST_F(KubeWebhooks, AValidatingOneRefusesInItsOwnWords) {
    at("/deny", [](const json::Value& request) {
        const bool bad =
            request.text_at({"object", "data", "v"}) == "bad" || request.text_at({"operation"}) == "DELETE";
        return bad ? std::string{R"("allowed":false,"status":{"code":403,"message":"not here"})"}
                   : std::string{R"("allowed":true,"warnings":["mind the gap"])"};
    });
    configure("validating", "v", webhook("deny"));
    const Answered good = make("good");
    ASSERT_EQ(good.status, 201u) << good.text;
    ASSERT_EQ(good.warnings.size(), 1u);
    EXPECT_NE(good.warnings[0].find("mind the gap"), std::string::npos);
    const json::Value seen = requests().front();
    EXPECT_EQ(seen.text_at({"operation"}), "CREATE");
    EXPECT_EQ(seen.text_at({"name"}), "good");
    EXPECT_EQ(seen.text_at({"namespace"}), "default");
    EXPECT_EQ(seen.text_at({"userInfo", "username"}), "root");
    EXPECT_EQ(seen.text_at({"resource", "resource"}), "configmaps");
    EXPECT_EQ(seen.find("oldObject")->is_null(), true);
    const Answered bad = root("POST", kMaps, config_map("worse", "bad"));
    EXPECT_EQ(bad.status, 403u);
    EXPECT_EQ(bad.body.text_at({"message"}), R"(admission webhook "deny.example.com" denied the request: not here)");
    EXPECT_EQ(root("GET", std::string{kMaps} + "/worse").status, 404u);
    const Answered changed = root("PUT", std::string{kMaps} + "/good", config_map("good", "bad"));
    EXPECT_EQ(changed.status, 403u);
    EXPECT_EQ(requests().back().text_at({"operation"}), "UPDATE");
    EXPECT_EQ(requests().back().text_at({"oldObject", "data", "v"}), "1");
    EXPECT_EQ(root("DELETE", std::string{kMaps} + "/good").status, 403u);
    EXPECT_TRUE(requests().back().find("object")->is_null());
    // Whoever may change the configuration is never locked out by it.
    EXPECT_EQ(root("DELETE", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/v").status, 200u);
    EXPECT_EQ(root("DELETE", std::string{kMaps} + "/good").status, 200u);
}

TEST_F(KubeWebhooks, AnApplyThatCreatesIsACreation) {
    at("/deny", [](const json::Value&) { return std::string{R"("allowed":false)"}; });
    configure("validating", "v", webhook("deny", "", R"("CREATE")"));
    const auto apply = [&] {
        return root("PATCH", std::string{kMaps} + "/m?fieldManager=me", config_map("m", "1"),
                    "application/apply-patch+yaml");
    };
    EXPECT_EQ(apply().status, 400u);
    ASSERT_EQ(requests().size(), 1u);
    EXPECT_EQ(requests().front().text_at({"operation"}), "CREATE");
    EXPECT_EQ(requests().front().text_at({"options", "kind"}), "CreateOptions");
    at("/deny", [](const json::Value&) { return std::string{R"("allowed":true)"}; });
    EXPECT_EQ(apply().status, 201u);
    forget();
    EXPECT_EQ(
        root("PATCH", std::string{kMaps} + "/m?fieldManager=me", config_map("m", "2"), "application/apply-patch+yaml")
            .status,
        200u);
    EXPECT_TRUE(requests().empty()) << "what is there is updated";
}

TEST_F(KubeWebhooks, SeeWhatIsLeftOfAnObjectThatGoesWithItsLastFinalizer) {
    ASSERT_EQ(root("POST", kMaps, config_map("m", "1", R"(,"finalizers":["example.com/x"])")).status, 201u);
    ASSERT_EQ(root("DELETE", std::string{kMaps} + "/m").status, 200u);
    at("/look", [](const json::Value& request) {
        return std::string{request.text_at({"object", "data", "v"}) == "1" ? R"("allowed":true)"
                                                                           : R"("allowed":false)"};
    });
    configure("mutating", "m", webhook("look"));
    configure("validating", "v", webhook("look"));
    const Answered done =
        root("PATCH", std::string{kMaps} + "/m", R"({"metadata":{"finalizers":null}})", "application/merge-patch+json");
    EXPECT_EQ(done.status, 200u) << done.text;
    ASSERT_EQ(requests().size(), 2u);
    for (const json::Value& one : requests()) {
        EXPECT_EQ(one.text_at({"operation"}), "UPDATE");
        EXPECT_EQ(one.find_path({"object", "metadata", "finalizers"}), nullptr) << json::print(one);
        EXPECT_NE(one.find_path({"oldObject", "metadata", "finalizers"}), nullptr);
    }
    EXPECT_EQ(root("GET", std::string{kMaps} + "/m").status, 404u);
}

TEST_F(KubeWebhooks, OfAScaleTheySeeBothScalesHoweverItIsSent) {
    constexpr const char* kDeployments = "/apis/apps/v1/namespaces/default/deployments";
    ASSERT_EQ(root("POST", kDeployments,
                   R"({"metadata":{"name":"w"},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":)"
                   R"({"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})")
                  .status,
              201u);
    at("/few", [](const json::Value& request) {
        const json::Value* wanted = request.find_path({"object", "spec", "replicas"});
        const bool few = wanted != nullptr && wanted->if_int64().value_or(99) <= 3;
        return std::string{few ? R"("allowed":true)" : R"("allowed":false,"status":{"message":"too many"})"};
    });
    configure("validating", "few",
              fmt::format(R"({{"name":"few.example.com","sideEffects":"None","admissionReviewVersions":["v1"],)"
                          R"("clientConfig":{{"url":"{}","caBundle":"{}"}},"rules":[{{"operations":["UPDATE"],)"
                          R"("apiGroups":["apps"],"apiVersions":["v1"],"resources":["deployments/scale"]}}]}})",
                          url("/few"), bundle()));
    const std::string scale = std::string{kDeployments} + "/w/scale";
    const auto by_patch = [&](std::string_view replicas) {
        return root("PATCH", scale, fmt::format(R"({{"spec":{{"replicas":{}}}}})", replicas),
                    "application/merge-patch+json");
    };
    EXPECT_EQ(by_patch("4").status, 400u) << "a patch does not pass it by";
    const Answered done = by_patch("2");
    ASSERT_EQ(done.status, 200u) << done.text;
    EXPECT_EQ(root("PUT", scale,
                   R"({"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"w"},"spec":{"replicas":9}})")
                  .status,
              400u);
    const json::Value first = requests().front();
    EXPECT_EQ(json::print(*first.find("kind")), R"({"group":"autoscaling","version":"v1","kind":"Scale"})");
    EXPECT_EQ(json::print(*first.find("requestKind")), json::print(*first.find("kind")));
    EXPECT_EQ(first.text_at({"object", "kind"}), "Scale");
    EXPECT_EQ(first.text_at({"oldObject", "kind"}), "Scale");
    EXPECT_EQ(first.find_path({"oldObject", "spec", "replicas"})->if_int64(), 1);
    EXPECT_EQ(first.text_at({"resource", "resource"}), "deployments");
    EXPECT_EQ(first.text_at({"subResource"}), "scale");
}

TEST_F(KubeWebhooks, AreAskedAboutChangesThatChangeNothing) {
    ASSERT_EQ(make("one").status, 201u);
    const std::string one = std::string{kMaps} + "/one";
    const std::string version{root("GET", one).body.text_at({"metadata", "resourceVersion"})};
    at("/yes", [](const json::Value&) { return std::string{R"("allowed":true,"warnings":["seen"])"}; });
    configure("validating", "yes", webhook("yes"));
    const auto nothing = [&] { return root("PATCH", one, "{}", "application/merge-patch+json"); };
    const Answered same = nothing();
    ASSERT_EQ(same.status, 200u) << same.text;
    EXPECT_EQ(same.body.text_at({"metadata", "resourceVersion"}), version) << "nothing was written";
    EXPECT_EQ(requests().size(), 1u);
    EXPECT_EQ(same.warnings, std::vector<std::string>{R"(299 - "seen")"});
    at("/yes", [](const json::Value&) { return std::string{R"("allowed":false,"status":{"message":"no"})"}; });
    EXPECT_EQ(nothing().status, 400u);
}

TEST_F(KubeWebhooks, AStatusHasItsOwnersWhileAnybodyIsAsked) {
    at("/fine", [](const json::Value&) { return std::string{R"("allowed":true)"}; });
    configure("validating", "v", webhook("fine"));
    const std::string pods = "/api/v1/namespaces/default/pods";
    ASSERT_EQ(
        root("POST", pods, R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}})").status,
        201u);
    const Answered changed = root("PATCH", pods + "/p/status?fieldManager=agent", R"({"status":{"phase":"Running"}})",
                                  "application/merge-patch+json");
    ASSERT_EQ(changed.status, 200u) << changed.text;
    std::vector<std::string> owners;
    for (const json::Value& entry : *changed.body.find_path({"metadata", "managedFields"})->if_array())
        if (entry.text_at({"subresource"}) == "status") owners.emplace_back(entry.text_at({"manager"}));
    EXPECT_EQ(owners, std::vector<std::string>{"agent"}) << changed.text;
}

TEST_F(KubeWebhooks, MutatingOnesComeInTheOrderOfTheirNamesAndBeforeValidatingOnes) {
    at("/b", append("b"));
    at("/a1", append("a"));
    at("/a2", append("A"));
    at("/check", [](const json::Value& request) {
        return request.text_at({"object", "data", "v"}) == "1aAb" ? std::string{R"("allowed":true)"}
                                                                  : std::string{R"("allowed":false)"};
    });
    configure("mutating", "zz", webhook("b"));
    configure("mutating", "aa", webhook("a1") + "," + webhook("a2"));
    configure("validating", "aa", webhook("check"));
    const Answered made = make("m");
    ASSERT_EQ(made.status, 201u) << made.text;
    EXPECT_EQ(made.body.text_at({"data", "v"}), "1aAb");
    EXPECT_EQ(heard(), (std::vector<std::string>{"/a1", "/a2", "/b", "/check"}));
    EXPECT_EQ(root("GET", std::string{kMaps} + "/m").body.text_at({"data", "v"}), "1aAb");
}

TEST_F(KubeWebhooks, OneIsAskedAgainOnceWhenOthersChangedTheObject) {
    at("/again", append("x"));
    at("/other", append("y"));
    configure("mutating", "a", webhook("again", R"(,"reinvocationPolicy":"IfNeeded")"));
    configure("mutating", "b", webhook("other", R"(,"reinvocationPolicy":"IfNeeded")"));
    const Answered made = make("m");
    ASSERT_EQ(made.status, 201u) << made.text;
    // Both would go on for ever: each is asked twice, no more.
    EXPECT_EQ(heard(), (std::vector<std::string>{"/again", "/other", "/again", "/other"}));
    EXPECT_EQ(made.body.text_at({"data", "v"}), "1xyxy");
}

TEST_F(KubeWebhooks, WhatTheyChangeBelongsToWhoeverAsked) {
    at("/stamp", [](const json::Value& request) {
        const std::string now{request.text_at({"object", "data", "v"})};
        return patched(fmt::format(R"([{{"op":"add","path":"/data/stamp","value":"for {}"}}])", now));
    });
    configure("mutating", "a", webhook("stamp"));
    const auto owners = [](const Answered& answered, std::string_view field) {
        std::vector<std::string> all;
        for (const json::Value& entry : *answered.body.find_path({"metadata", "managedFields"})->if_array())
            if (entry.find_path({"fieldsV1", "f:data", field}) != nullptr)
                all.push_back(fmt::format("{} {}", entry.text_at({"manager"}), entry.text_at({"operation"})));
        return all;
    };
    using Owners = std::vector<std::string>;
    const Answered made = make("m", "?fieldManager=maker");
    ASSERT_EQ(made.status, 201u) << made.text;
    EXPECT_EQ(owners(made, "f:v"), Owners{"maker Update"});
    EXPECT_EQ(owners(made, "f:stamp"), Owners{"maker Update"}) << made.text;
    const auto change = [&](std::string_view manager, std::string_view data) {
        return root("PATCH", fmt::format("{}/m?fieldManager={}", kMaps, manager), fmt::format(R"({{"data":{}}})", data),
                    "application/merge-patch+json");
    };
    const Answered other = change("other", R"({"w":"1"})");
    EXPECT_EQ(owners(other, "f:w"), Owners{"other Update"}) << other.text;
    EXPECT_EQ(owners(other, "f:stamp"), Owners{"maker Update"}) << "it says what it said";
    const Answered third = change("third", R"({"v":"2"})");
    EXPECT_EQ(third.body.text_at({"data", "stamp"}), "for 2");
    EXPECT_EQ(owners(third, "f:stamp"), Owners{"third Update"}) << third.text;
    // Whoever applies owns what he names: the same again is no conflict with himself.
    const std::string applied = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"v":"3"}})";
    for (const unsigned status : {201u, 200u}) {
        const Answered done =
            root("PATCH", fmt::format("{}/a?fieldManager=applier", kMaps), applied, "application/apply-patch+yaml");
        EXPECT_EQ(done.status, status) << done.text;
        EXPECT_EQ(done.body.text_at({"data", "stamp"}), "for 3");
        EXPECT_EQ(owners(done, "f:v"), Owners{"applier Apply"});
        EXPECT_EQ(owners(done, "f:stamp"), Owners{});
    }
}

TEST_F(KubeWebhooks, WhatTheyMakeIsValidatedLikeAnythingElse) {
    const char* operations = "[]";
    at("/patch", [&](const json::Value&) { return patched(operations); });
    configure("mutating", "a", webhook("patch"));
    operations = R"([{"op":"add","path":"/data","value":"no map"}])";
    const Answered broken = make("m");
    EXPECT_EQ(broken.status, 500u);
    EXPECT_NE(broken.text.find("returned a patch that breaks the object"), std::string::npos) << broken.text;
    operations = R"([{"op":"add","path":"/metadata/labels","value":{"a":"not valid!"}}])";
    EXPECT_EQ(make("m").status, 422u);
    operations = R"([{"op":"remove","path":"/nothing"}])";
    EXPECT_EQ(make("m").status, 500u);
    operations = R"([{"op":"replace","path":"/metadata/name","value":"other"}])";
    const Answered kept = make("m");
    EXPECT_EQ(kept.status, 201u) << kept.text;
    EXPECT_EQ(kept.body.text_at({"metadata", "name"}), "m") << "what it is called is settled";
    // What would be refused without them may be good with them.
    operations = R"([{"op":"replace","path":"/metadata/labels","value":{"a":"fine"}}])";
    const Answered mended = root("POST", kMaps, config_map("mended", "1", R"(,"labels":{"a":"not valid!"})"));
    EXPECT_EQ(mended.status, 201u) << mended.text;
}

struct Failure {
    const char* path;
    const char* says;
};

TEST_F(KubeWebhooks, FailuresRefuseOrAreIgnoredAsThePolicySays) {
    const Failure failures[] = {{"slow", "failed calling webhook"},
                                {"huge", "failed calling webhook"},
                                {"rubbish", "no JSON"},
                                {"nobody", "status 404"}};
    for (const Failure& one : failures) {
        SCOPED_TRACE(one.path);
        configure("validating", "fail", webhook(one.path, R"(,"timeoutSeconds":1)", R"("CREATE")"));
        const Answered refused = make(fmt::format("{}-fail", one.path));
        EXPECT_EQ(refused.status, 500u);
        EXPECT_NE(refused.text.find(fmt::format(R"(failed calling webhook \"{}.example.com\")", one.path)),
                  std::string::npos)
            << refused.text;
        EXPECT_NE(refused.text.find(one.says), std::string::npos) << refused.text;
        ASSERT_EQ(root("DELETE", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/fail").status,
                  200u);
        configure("mutating", "ignore",
                  webhook(one.path, R"(,"timeoutSeconds":1,"failurePolicy":"Ignore")", R"("CREATE")"));
        EXPECT_EQ(make(fmt::format("{}-ignore", one.path)).status, 201u);
        ASSERT_EQ(root("DELETE", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/ignore").status,
                  200u);
    }
}

TEST_F(KubeWebhooks, OneThatIsNotThereOrNotBelievedCannotBeAsked) {
    const std::string down = fmt::format(
        R"({{"name":"down.example.com","sideEffects":"None","admissionReviewVersions":["v1"],"timeoutSeconds":5,)"
        R"("clientConfig":{{"url":"https://127.0.0.1:1/x","caBundle":"{}"}},"rules":[{{"operations":["*"],)"
        R"("apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}}]}})",
        bundle());
    configure("validating", "down", down);
    EXPECT_EQ(make("a").status, 500u);
    ASSERT_EQ(root("DELETE", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/down").status,
              200u);
    // Its certificate is of another authority.
    at("/fine", [](const json::Value&) { return std::string{R"("allowed":true)"}; });
    std::string stranger = webhook("fine");
    const std::string other = cluster::base64(as_bytes(authority_->chain.front().to_pem()));
    stranger.replace(stranger.find(bundle()), bundle().size(), other);
    configure("validating", "stranger", stranger);
    EXPECT_EQ(make("b").status, 500u);
    EXPECT_TRUE(heard().empty());
}

TEST_F(KubeWebhooks, AServiceIsFoundByItsEndpoints) {
    at("/svc", [](const json::Value&) { return std::string{R"("allowed":false,"status":{"message":"reached"})"}; });
    std::string hook = webhook("svc");
    const std::string address = fmt::format(R"("url":"{}")", url("/svc"));
    hook.replace(hook.find(address), address.size(),
                 R"("service":{"namespace":"default","name":"hook","path":"/svc"})");
    configure("validating", "svc", hook);
    EXPECT_NE(make("a").text.find(R"(service \"hook\" not found)"), std::string::npos);
    ASSERT_EQ(root("POST", "/api/v1/namespaces/default/services",
                   R"({"metadata":{"name":"hook"},"spec":{"clusterIP":"None","ports":[{"port":443}]}})")
                  .status,
              201u);
    EXPECT_NE(make("a").text.find(R"(no endpoints available for service \"hook\")"), std::string::npos);
    ASSERT_EQ(root("POST", "/api/v1/namespaces/default/endpoints",
                   fmt::format(R"({{"metadata":{{"name":"hook"}},"subsets":[{{"addresses":[{{"ip":"127.0.0.1"}}],)"
                               R"("ports":[{{"port":{}}}]}}]}})",
                               url("").substr(18)))
                  .status,
              201u);
    const Answered reached = make("a");
    EXPECT_NE(reached.text.find("denied the request: reached"), std::string::npos) << reached.text;
}

TEST_F(KubeWebhooks, SelectorsAndDryRunsAreTold) {
    at("/fine", [](const json::Value&) { return std::string{R"("allowed":true)"}; });
    configure("validating", "s",
              webhook("fine", R"(,"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"web"}})"));
    ASSERT_EQ(root("POST", "/api/v1/namespaces", R"({"metadata":{"name":"web"}})").status, 201u);
    EXPECT_EQ(make("a").status, 201u);
    EXPECT_TRUE(heard().empty());
    EXPECT_EQ(root("POST", "/api/v1/namespaces/web/configmaps?dryRun=All", config_map("a", "1")).status, 201u);
    ASSERT_EQ(heard().size(), 1u);
    EXPECT_EQ(requests().front().find("dryRun")->if_boolean(), true);
    EXPECT_EQ(root("GET", "/api/v1/namespaces/web/configmaps/a").status, 404u);
}

TEST_F(KubeWebhooks, ConfigurationsAreChecked) {
    const auto refused = [&](const std::string& hook) {
        return root("POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
                    fmt::format(R"({{"metadata":{{"name":"x"}},"webhooks":[{}]}})", hook))
            .status;
    };
    std::string plain = webhook("a");
    plain.replace(plain.find("https://"), 8, "http://");
    EXPECT_EQ(refused(plain), 422u);
    EXPECT_EQ(refused(webhook("a", R"(,"timeoutSeconds":31)")), 422u);
    EXPECT_EQ(refused(webhook("a", R"(,"failurePolicy":"Maybe")")), 422u);
    EXPECT_EQ(refused(webhook("a") + "," + webhook("a")), 422u);
    EXPECT_EQ(refused(webhook("a", "", R"("EAT")")), 422u);
    const Answered conditions =
        root("POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations?dryRun=All",
             fmt::format(R"({{"metadata":{{"name":"x"}},"webhooks":[{}]}})",
                         webhook("a", R"(,"matchConditions":[{"name":"c","expression":"true"}])")));
    EXPECT_EQ(conditions.status, 201u) << conditions.text;
    ASSERT_EQ(conditions.warnings.size(), 1u);
    EXPECT_NE(conditions.warnings[0].find("matchConditions are stored and not evaluated yet"), std::string::npos);
}

}  // namespace
}  // namespace rhizome::node
