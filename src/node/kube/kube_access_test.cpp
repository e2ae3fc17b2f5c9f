// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "api/service_token.h"
#include "cluster/base64.h"
#include "stream/certificate_request.h"
#include "support/kube_client.h"
#include "support/kube_world.h"

/// Who may do what, who somebody is, and how he comes to be known, over a whole node.
namespace rhizome::node {
namespace {

using test::Answered;

using test::kMaps;
constexpr const char* kAccounts = "/api/v1/namespaces/default/serviceaccounts";
constexpr const char* kRequests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";

class KubeAccess : public test::KubeWorld {
protected:
    Answered review(std::string_view kind, std::string_view token, std::string_view spec) {
        const std::string_view group = kind == "tokenreviews" ? "authentication.k8s.io" : "authorization.k8s.io";
        return with_token("POST", fmt::format("/apis/{}/v1/{}", group, kind), token,
                          fmt::format(R"({{"spec":{{{}}}}})", spec));
    }
    Answered can_i(std::string_view token, std::string_view verb, std::string_view resource, std::string_view name = "",
                   std::string_view space = "default") {
        return review(
            "selfsubjectaccessreviews", token,
            fmt::format(R"("resourceAttributes":{{"verb":"{}","resource":"{}","name":"{}","namespace":"{}"}})", verb,
                        resource, name, space));
    }
    static bool allowed(const Answered& answered) {
        const json::Value* said = answered.body.find_path({"status", "allowed"});
        EXPECT_EQ(answered.status, 201u) << answered.text;
        return said != nullptr && said->if_boolean() == true;
    }
    void give(std::string_view name, std::string_view lock) {
        const Answered made = root(
            "POST", kMaps, config_map(name, "1", fmt::format(R"(,"annotations":{{"rhizome.dev/lock":"{}"}})", lock)));
        ASSERT_EQ(made.status, 201u) << made.text;
    }
    Answered write_as_alice(std::string_view name) {
        return with_token("PATCH", fmt::format("{}/{}", kMaps, name), "t-alice", R"({"data":{"v":"2"}})",
                          "application/merge-patch+json");
    }
    static std::string token_in(const Answered& answered) {
        return std::string{answered.body.text_at({"status", "token"})};
    }
    Answered whoami(std::string_view token) {
        return with_token("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", token, "{}");
    }
    static std::string signing_request(std::string_view name, std::string_view pem, std::string_view more = "") {
        return fmt::format(R"({{"apiVersion":"certificates.k8s.io/v1","kind":"CertificateSigningRequest",)"
                           R"("metadata":{{"name":"{}"}},"spec":{{"request":"{}",)"
                           R"("signerName":"kubernetes.io/kube-apiserver-client","usages":["client auth"]{}}}}})",
                           name, cluster::base64(as_bytes(pem)), more);
    }
    static std::string pem_for(const stream::PrivateKey& key, std::string user, std::vector<std::string> groups = {}) {
        stream::CertificateSpec spec;
        spec.common_name = std::move(user);
        spec.organizations = std::move(groups);
        const auto made = stream::CertificateRequest::make(spec, key);
        return made ? made->to_pem() : std::string{};
    }
};

TEST_F(KubeAccess, CanIIsWhatALockWouldSay) {
    EXPECT_TRUE(allowed(can_i("t-root", "create", "pods")));
    const Answered no = can_i("t-alice", "create", "pods");
    EXPECT_FALSE(allowed(no));
    EXPECT_NE(no.body.text_at({"status", "reason"}).find("; it opens to the key with address"), std::string_view::npos)
        << no.text;
    EXPECT_TRUE(allowed(can_i("t-alice", "list", "pods"))) << "reads are open";
    EXPECT_FALSE(allowed(can_i("t-bob", "delete", "namespaces", "default", "")));
    give("a", "p2pkh alice");
    const Answered yes = can_i("t-alice", "update", "configmaps", "a");
    EXPECT_TRUE(allowed(yes));
    EXPECT_NE(yes.body.text_at({"status", "reason"}).find("/namespaces/default/core/ConfigMap/a, which opens to"),
              std::string_view::npos)
        << yes.text;
    EXPECT_TRUE(allowed(can_i("t-root", "delete", "configmaps", "a"))) << "the owner's lock stands above it";
    EXPECT_FALSE(allowed(can_i("t-bob", "update", "configmaps", "a")));
    EXPECT_FALSE(allowed(can_i("t-alice", "update", "configmaps", "b")));
    EXPECT_FALSE(allowed(can_i("t-alice", "create", "things.example.com", "", "nowhere")));
    EXPECT_FALSE(allowed(can_i("t-alice", "impersonate", "users", "root")));
    EXPECT_TRUE(allowed(can_i("t-root", "*", "*", "", "")));
}

TEST_F(KubeAccess, TimeLocksOpenAndCloseForReviewsAndWritesAlike) {
    struct Case {
        const char* name;
        const char* lock;
        bool opens;
    };
    const Case cases[] = {
        {"not-yet", "after 2099-01-01 p2pkh alice", false},
        {"by-now", "after 2021-01-01 p2pkh alice", true},
        {"over", "until 2021-01-01 p2pkh alice", false},
        {"still", "until 2099-01-01 p2pkh alice", true},
        {"days", "after 5d p2pkh alice", false},
        {"both", "multisig 2 alice admin", false},
        {"late-or-early", "either p2pkh admin or after 2021-01-01 p2pkh alice", true},
        {"over-or-other", "either until 2021-01-01 p2pkh alice or p2pkh admin", false},
    };
    for (const Case& one : cases) {
        SCOPED_TRACE(one.name);
        give(one.name, one.lock);
        EXPECT_EQ(allowed(can_i("t-alice", "patch", "configmaps", one.name)), one.opens);
        EXPECT_EQ(write_as_alice(one.name).status, one.opens ? 200u : 403u);
    }
}

TEST_F(KubeAccess, OthersAreAskedAboutByName) {
    give("a", "p2pkh alice");
    const auto about = [&](std::string_view user, std::string_view kind, std::string_view space) {
        const std::string spec = fmt::format(
            R"("user":"{}","resourceAttributes":{{"verb":"update","resource":"configmaps","name":"a","namespace":"{}"}})",
            user, space);
        return with_token("POST", fmt::format("/apis/authorization.k8s.io/v1/{}", kind), "t-bob",
                          fmt::format(R"({{"spec":{{{}}}}})", spec));
    };
    EXPECT_TRUE(allowed(about("alice", "subjectaccessreviews", "default")));
    EXPECT_FALSE(allowed(about("bob", "subjectaccessreviews", "default")));
    EXPECT_TRUE(allowed(about("alice", "namespaces/default/localsubjectaccessreviews", "default")));
    EXPECT_EQ(about("alice", "namespaces/default/localsubjectaccessreviews", "web").status, 400u);
    EXPECT_EQ(review("subjectaccessreviews", "t-bob", R"("resourceAttributes":{"verb":"get"})").status, 422u);
    EXPECT_EQ(review("selfsubjectaccessreviews", "t-bob", R"("x":1)").status, 422u);
}

TEST_F(KubeAccess, RulesNameWhatAUsersKeyOpens) {
    give("a", "p2pkh alice");
    const auto rules = [&](std::string_view token) {
        return review("selfsubjectrulesreviews", token, R"("namespace":"default")").body;
    };
    const json::Value hers = rules("t-alice");
    const json::Array& all = *hers.find_path({"status", "resourceRules"})->if_array();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(json::print(*all[1].find("resourceNames")), R"(["a"])");
    EXPECT_EQ(json::print(*all[1].find("resources")), R"(["configmaps"])");
    EXPECT_EQ(rules("t-bob").find_path({"status", "resourceRules"})->if_array()->size(), 1u);
    EXPECT_EQ(json::print(*rules("t-root").find_path({"status", "resourceRules"})->if_array()->back().find("verbs")),
              R"(["*"])");
}

TEST_F(KubeAccess, ATokenOfAServiceAccountIsGoodUntilTheAccountGoes) {
    ASSERT_EQ(root("POST", kAccounts, R"({"metadata":{"name":"robot"}})").status, 201u);
    const std::string ask_for = std::string{kAccounts} + "/robot/token";
    EXPECT_EQ(with_token("POST", ask_for, "t-alice", "{}").status, 403u);
    EXPECT_EQ(root("POST", std::string{kAccounts} + "/nobody/token", "{}").status, 404u);
    const Answered made = root("POST", ask_for, R"({"spec":{"expirationSeconds":3600}})");
    ASSERT_EQ(made.status, 201u) << made.text;
    const std::string token = token_in(made);
    const Answered who = whoami(token);
    ASSERT_EQ(who.status, 201u) << who.text;
    EXPECT_EQ(who.body.text_at({"status", "userInfo", "username"}), "system:serviceaccount:default:robot");
    EXPECT_EQ(json::print(*who.body.find_path({"status", "userInfo", "groups"})),
              R"(["system:serviceaccounts","system:serviceaccounts:default","system:authenticated"])");
    EXPECT_EQ(with_token("GET", kMaps, token).status, 200u);
    EXPECT_EQ(with_token("POST", kMaps, token, config_map("x", "1")).status, 403u) << "it has no key";

    const Answered known = review("tokenreviews", "t-bob", fmt::format(R"("token":"{}")", token));
    EXPECT_EQ(known.body.find_path({"status", "authenticated"})->if_boolean(), true) << known.text;
    const Answered elsewhere =
        review("tokenreviews", "t-bob", fmt::format(R"("token":"{}","audiences":["vault"])", token));
    EXPECT_EQ(elsewhere.body.find_path({"status", "authenticated"})->if_boolean(), false) << elsewhere.text;

    const std::string for_vault = token_in(root("POST", ask_for, R"({"spec":{"audiences":["vault"]}})"));
    EXPECT_EQ(whoami(for_vault).status, 401u) << "it is for others";
    EXPECT_EQ(root("POST", ask_for, R"({"spec":{"expirationSeconds":60}})").status, 422u);
    const Answered long_one = root("POST", ask_for, R"({"spec":{"expirationSeconds":31536000}})");
    EXPECT_EQ(long_one.warnings.size(), 1u) << "cut, and said so";

    // Nobody but a member signs: a changed claim or a foreign signature is refused.
    const auto read = api::read_token(token);
    ASSERT_TRUE(read);
    api::TokenClaims other = read->claims;
    other.account = "root";
    EXPECT_EQ(whoami(api::token_text(api::signing_text(other, read->key_id), read->signature)).status, 401u);
    EXPECT_EQ(whoami(api::token_text(api::signing_text(read->claims, "n9"), read->signature)).status, 401u);
    const auto stranger = crypto::Ed25519Secret::from_seed(std::array<std::uint8_t, 32>{1});
    const std::string text = api::signing_text(read->claims, read->key_id);
    EXPECT_EQ(whoami(api::token_text(text, stranger.sign(as_bytes(text)).view())).status, 401u);

    ASSERT_EQ(root("DELETE", std::string{kAccounts} + "/robot").status, 200u);
    EXPECT_EQ(whoami(token).status, 401u);
    ASSERT_EQ(root("POST", kAccounts, R"({"metadata":{"name":"robot"}})").status, 201u);
    EXPECT_EQ(whoami(token).status, 401u) << "another account of the same name";
}

TEST_F(KubeAccess, ATokenBoundToAPodEndsWithIt) {
    ASSERT_EQ(root("POST", kAccounts, R"({"metadata":{"name":"robot"}})").status, 201u);
    ASSERT_EQ(root("POST", "/api/v1/namespaces/default/pods",
                   R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}})")
                  .status,
              201u);
    const std::string ask_for = std::string{kAccounts} + "/robot/token";
    EXPECT_EQ(root("POST", ask_for, R"({"spec":{"boundObjectRef":{"kind":"Pod","name":"q"}}})").status, 404u);
    EXPECT_EQ(root("POST", ask_for, R"({"spec":{"boundObjectRef":{"kind":"Job","name":"p"}}})").status, 400u);
    EXPECT_EQ(root("POST", ask_for, R"({"spec":{"boundObjectRef":{"kind":"Pod","name":"p","uid":"x"}}})").status, 409u);
    const std::string token =
        token_in(root("POST", ask_for, R"({"spec":{"boundObjectRef":{"kind":"Pod","name":"p"}}})"));
    EXPECT_EQ(whoami(token).status, 201u);
    ASSERT_EQ(root("DELETE", "/api/v1/namespaces/default/pods/p").status, 200u);
    EXPECT_EQ(whoami(token).status, 401u);
}

TEST_F(KubeAccess, AnApprovedRequestBecomesACertificateThatIsBelieved) {
    const auto key = stream::PrivateKey::generate(stream::KeyKind::P256);
    ASSERT_TRUE(key);
    const Answered asked =
        with_token("POST", kRequests, "t-bob", signing_request("carol", pem_for(*key, "carol", {"dev"})));
    ASSERT_EQ(asked.status, 201u) << asked.text;
    EXPECT_EQ(asked.body.text_at({"spec", "username"}), "bob") << "who asks is written down, not taken from the body";
    const std::string one = std::string{kRequests} + "/carol";
    const std::string approval = R"({"status":{"conditions":[{"type":"Approved","status":"True","reason":"R"}]}})";
    const auto patch = [&](std::string_view token, const std::string& body) {
        return with_token("PATCH", one + "/approval", token, body, "application/merge-patch+json");
    };
    EXPECT_EQ(patch("t-bob", approval).status, 403u) << "nobody approves for himself";
    EXPECT_EQ(with_token("DELETE", one, "t-bob").status, 403u);
    const Answered approved = patch("t-root", approval);
    ASSERT_EQ(approved.status, 200u) << approved.text;
    const auto pem = cluster::from_base64(root("GET", one).body.text_at({"status", "certificate"}));
    ASSERT_TRUE(pem);
    auto certificate = stream::Certificate::from_pem(as_text(*pem));
    ASSERT_TRUE(certificate) << certificate.error().message;
    http::Request who{.method = "POST", .target = "/apis/authentication.k8s.io/v1/selfsubjectreviews", .body = "{}"};
    who.headers.add("Content-Type", "application/json");
    const Answered answered = ask(who, stream::Identity{.chain = {*certificate}, .key = *key});
    ASSERT_EQ(answered.status, 201u) << answered.text;
    EXPECT_EQ(answered.body.text_at({"status", "userInfo", "username"}), "carol");
    // What was decided stays decided.
    EXPECT_EQ(patch("t-root", R"({"status":{"conditions":[]}})").status, 422u);
    EXPECT_EQ(patch("t-root", R"({"status":{"conditions":[{"type":"Approved","status":"True","reason":"R"},)"
                              R"({"type":"Denied","status":"True"}]}})")
                  .status,
              422u);
    EXPECT_EQ(root("DELETE", one).status, 200u);
}

TEST_F(KubeAccess, RequestsThatNobodyMaySignAreRefused) {
    const auto key = stream::PrivateKey::generate(stream::KeyKind::P256);
    ASSERT_TRUE(key);
    const std::string pem = pem_for(*key, "carol");
    EXPECT_EQ(root("POST", kRequests, signing_request("a", "rubbish")).status, 422u);
    EXPECT_EQ(root("POST", kRequests, signing_request("a", pem, R"(,"expirationSeconds":60)")).status, 422u);
    EXPECT_EQ(root("POST", kRequests, signing_request("a", pem_for(*key, "evil", {"system:masters"}))).status, 403u);
    std::string no_usages = signing_request("a", pem);
    no_usages.replace(no_usages.find(R"(["client auth"])"), 15, "[]");
    EXPECT_EQ(root("POST", kRequests, no_usages).status, 422u);
    std::string server = signing_request("server", pem);
    server.replace(server.find("client auth"), 11, "server auth");
    ASSERT_EQ(root("POST", kRequests, server).status, 201u);
    const Answered failed =
        root("PATCH", std::string{kRequests} + "/server/approval",
             R"({"status":{"conditions":[{"type":"Approved","status":"True"}]}})", "application/merge-patch+json");
    ASSERT_EQ(failed.status, 200u) << failed.text;
    EXPECT_TRUE(failed.body.text_at({"status", "certificate"}).empty());
    EXPECT_NE(failed.text.find("SignerValidationFailure"), std::string::npos) << failed.text;
}

TEST_F(KubeAccess, OnlyMastersSpeakForOthersAndThenWithTheirRights) {
    const auto as = [&](std::string_view token, std::string_view user, std::string_view group) {
        http::Request request{.method = "POST", .target = kMaps, .body = config_map("i", "1")};
        request.headers.add("Authorization", "Bearer " + std::string{token});
        request.headers.add("Content-Type", "application/json");
        if (!user.empty()) request.headers.add("Impersonate-User", std::string{user});
        if (!group.empty()) request.headers.add("Impersonate-Group", std::string{group});
        return ask(std::move(request));
    };
    EXPECT_EQ(as("t-alice", "root", "").status, 403u);
    EXPECT_EQ(as("t-root", "alice", "").status, 403u) << "alice has no right here, whoever speaks for her";
    EXPECT_EQ(as("t-root", "", "dev").status, 400u);
    EXPECT_EQ(as("t-root", "somebody", "system:masters").status, 201u);
}

TEST_F(KubeAccess, RolesAreKeptAndCheckedAndSaidToDecideNothing) {
    const char* roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    const Answered made =
        root("POST", roles,
             R"({"metadata":{"name":"r:x"},"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]})");
    ASSERT_EQ(made.status, 201u) << made.text;
    ASSERT_EQ(made.warnings.size(), 1u);
    EXPECT_EQ(root("POST", roles, R"({"metadata":{"name":"y"},"rules":[{"verbs":[]}]})").status, 422u);
    EXPECT_EQ(root("POST", roles,
                   R"({"metadata":{"name":"y"},"rules":[{"verbs":["get"],"nonResourceURLs":["/x"],)"
                   R"("apiGroups":[""],"resources":["pods"]}]})")
                  .status,
              422u);
    const std::string bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
    const auto binding = [](std::string_view role) {
        return fmt::format(R"({{"metadata":{{"name":"b"}},"roleRef":{{"apiGroup":"rbac.authorization.k8s.io",)"
                           R"("kind":"ClusterRole","name":"{}"}},"subjects":[{{"kind":"User","name":"bob"}}]}})",
                           role);
    };
    ASSERT_EQ(root("POST", bindings, binding("r:x")).status, 201u);
    const Answered moved = root("PUT", bindings + "/b", binding("other"));
    EXPECT_EQ(moved.status, 422u);
    EXPECT_NE(moved.text.find("cannot change roleRef"), std::string::npos) << moved.text;
    EXPECT_FALSE(allowed(can_i("t-bob", "create", "pods"))) << "a role decides nothing here";
}

}  // namespace
}  // namespace rhizome::node
