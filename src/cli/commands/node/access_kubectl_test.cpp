// SPDX-License-Identifier: Apache-2.0
#include <regex>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "cluster/base64.h"
#include "stream/certificate_request.h"
#include "support/golden.h"
#include "support/kubectl_world.h"

/// Who may do what, tokens, certificates and deletions, as the real kubectl shows them.
namespace rhizome::cli {
namespace {

class AccessKubectl : public test::KubectlWorld {
protected:
    void keep(const std::string& name) {
        for (const auto& [pattern, with] : {std::pair{R"(\b[0-9a-f]{40}\b)", "ADDRESS"}, std::pair{R"(JTI=UID)", "JTI"},
                                            std::pair{R"(eyJ[-\w]+\.[-\w]+\.[-\w]+)", "TOKEN"}})
            transcript_ = std::regex_replace(transcript_, std::regex{pattern}, with);
        test::expect_golden(name, transcript_);
    }
    static std::string signing_request(const std::string& name) {
        const auto key = stream::PrivateKey::generate(stream::KeyKind::P256);
        stream::CertificateSpec spec;
        spec.common_name = name;
        return signing_request(name, stream::CertificateRequest::make(spec, *key)->to_pem());
    }
    static std::string signing_request(const std::string& name, const std::string& pem) {
        return fmt::format(R"({{"apiVersion":"certificates.k8s.io/v1","kind":"CertificateSigningRequest",)"
                           R"("metadata":{{"name":"{}"}},"spec":{{"request":"{}","usages":["client auth"],)"
                           R"("signerName":"kubernetes.io/kube-apiserver-client"}}}})",
                           name, cluster::base64(as_bytes(pem)));
    }
};

TEST_F(AccessKubectl, ReviewsAnswerFromTheLocks) {
    found("n1");
    rhizome({"key", "new", "alice", "--no-passphrase"});
    say({"auth", "whoami"});
    say({"auth", "can-i", "create", "pods"});
    say({"auth", "can-i", "create", "pods", "--as", "alice"});
    say({"auth", "can-i", "get", "pods", "--as", "alice"});
    say({"auth", "can-i", "delete", "nodes", "--as", "eve"});
    say({"auth", "can-i", "get", "/healthz", "--as", "eve"});
    say({"create", "-f", "-"},
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"hers","annotations":{"rhizome.dev/lock":"p2pkh alice"}}})");
    say({"auth", "can-i", "update", "configmaps/hers", "--as", "alice"});
    say({"auth", "can-i", "--list", "--as", "alice"});
    say({"label", "configmap", "hers", "a=b", "--as", "alice"});
    say({"label", "configmap", "hers", "a=c", "--as", "eve"});
    say({"get", "pods", "--as-group", "foo"});
    say({"create", "-f", "-", "--as", "user1", "--as-group", "g2", "--as-group", "g1"}, signing_request("joe"));
    say({"get", "csr", "joe", "-o", "jsonpath={.spec.username} {.spec.groups}"});
    say({"certificate", "approve", "joe", "--as", "user1"});
    say({"certificate", "approve", "joe"});
    say({"get", "csr", "joe", "-o", "jsonpath={.status.conditions[*].type}"});
    say({"get", "csr"});
    say({"create", "-f", "-"}, signing_request("bad"));
    say({"certificate", "deny", "bad"});
    say({"get", "csr", "bad", "-o", "jsonpath={.status.conditions[*].type}{.status.certificate}"});
    say({"delete", "csr", "joe", "bad"});
    const std::string roles = R"({"apiVersion":"v1","kind":"List","items":[)"
                              R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole",)"
                              R"("metadata":{"name":"readers"},"rules":[{"verbs":["get"],"apiGroups":[""],)"
                              R"("resources":["pods"]}]},)"
                              R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding",)"
                              R"("metadata":{"name":"rb","namespace":"elsewhere"},"roleRef":{"kind":"ClusterRole",)"
                              R"("name":"readers","apiGroup":"rbac.authorization.k8s.io"},)"
                              R"("subjects":[{"kind":"User","name":"bob","apiGroup":"rbac.authorization.k8s.io"}]}]})";
    say({"auth", "reconcile", "-f", "-"}, roles);
    say({"auth", "reconcile", "-f", "-"}, roles);
    say({"get", "rolebinding", "rb", "-n", "elsewhere", "-o", "jsonpath={.subjects[*].name}"});
    keep("kubectl/access.txt");
}

TEST_F(AccessKubectl, ATokenIsGoodOnEveryNode) {
    found("n1");
    join("n2", "n1");
    say({"config", "use-context", "n1"});
    say({"create", "serviceaccount", "robot"});
    const auto made = kubectl({"create", "token", "robot", "--duration=1h"});
    ASSERT_TRUE(made.succeeded()) << made.err;
    std::string token = made.out;
    while (token.ends_with('\n')) token.pop_back();
    say({"--context", "n2", "wait", "--for=create", "serviceaccount/robot", "--timeout=60s"});
    say({"--context", "n1", "auth", "whoami", "--token", token});
    say({"--context", "n2", "auth", "whoami", "--token", token});
    say({"--context", "n2", "create", "configmap", "x", "--token", token});
    say({"create", "token", "robot", "--duration=5m"});
    say({"create", "token", "nobody"});
    say({"delete", "serviceaccount", "robot"});
    say({"--context", "n1", "auth", "whoami", "--token", token});
    keep("kubectl/tokens.txt");
}

TEST_F(AccessKubectl, ACertificateTellsOtherNodesWhoAsksAndNoMore) {
    found("n1");
    join("n2", "n1");
    rhizome({"key", "new", "joe", "--no-passphrase"});  // in the keystore of both
    say({"config", "use-context", "n1"});
    const auto key = stream::PrivateKey::generate(stream::KeyKind::P256);
    stream::CertificateSpec spec;
    spec.common_name = "joe";
    const auto request = stream::CertificateRequest::make(spec, *key);
    say({"create", "-f", "-"}, signing_request("joe", request->to_pem()));
    say({"certificate", "approve", "joe"});
    const auto given = kubectl({"get", "csr", "joe", "-o", "jsonpath={.status.certificate}"});
    const auto certificate = cluster::from_base64(given.out);
    ASSERT_TRUE(certificate) << given.out << given.err;
    std::ofstream{temp_.path() / "joe.crt"} << as_text(*certificate);
    std::ofstream{temp_.path() / "joe.key"} << as_text(key->to_pem().view());
    ASSERT_TRUE(kubectl({"config", "set-credentials", "joe", "--client-certificate", data("joe.crt"), "--client-key",
                         data("joe.key")})
                    .succeeded());
    say({"create", "secret", "generic", "hidden", "--from-literal=a=b"});
    say({"create", "-f", "-"},
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"his","annotations":{"rhizome.dev/lock":"p2pkh joe"}}})");
    const auto as = [&](const std::string& user, const std::string& node, std::vector<std::string> words) {
        words.insert(words.begin(), {"--context", node, "--user", user});
        say(words);
    };
    as("joe", "n1", {"label", "configmap", "his", "a=1"});
    say({"--context", "n2", "wait", "--for=create", "configmap/his", "--timeout=110s"});
    say({"--context", "n2", "wait", "--for=jsonpath={.metadata.labels.a}=1", "configmap/his", "--timeout=110s"});
    as("joe", "n2", {"get", "configmap", "his", "-o", "jsonpath={.metadata.labels.a}"});
    as("joe", "n2", {"auth", "whoami", "-o", "jsonpath={.status.userInfo}"});
    as("joe", "n2", {"label", "configmap", "his", "--overwrite", "a=2"});
    as("joe", "n2", {"create", "configmap", "new"});
    as("joe", "n2", {"create", "token", "default"});
    as("joe", "n2", {"auth", "can-i", "update", "configmap/his"});
    as("joe", "n2", {"get", "secret", "hidden"});
    as("joe", "n2", {"get", "pods", "--as", "root"});
    // Not even the owner, whom the first node knows as a master.
    as("n1-admin", "n2", {"get", "configmap", "his", "-o", "name"});
    as("n1-admin", "n2", {"delete", "configmap", "his"});
    as("n1-admin", "n2", {"get", "secret", "hidden"});
    as("joe", "n1", {"label", "configmap", "his", "--overwrite", "a=3"});
    // Whoever is no member vouches for nobody.
    say({"--context", "n1", "delete", "node", "n1", "--wait=false"});
    ASSERT_TRUE(kubectl({"--context", "n2", "wait", "--for=delete", "node/n1", "--timeout=110s"}).succeeded());
    as("joe", "n2", {"get", "configmap", "his", "-o", "name"});
    keep("kubectl/certificates.txt");
}

TEST_F(AccessKubectl, DeletionsEnd) {
    found("n1");
    say({"create", "configmap", "owner"});
    const auto uid = kubectl({"get", "configmap", "owner", "-o", "jsonpath={.metadata.uid}"});
    const auto child = [&](const std::string& name) {
        return fmt::format(R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{}","ownerReferences":)"
                           R"([{{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":"{}",)"
                           R"("blockOwnerDeletion":true}}]}}}})",
                           name, uid.out);
    };
    say({"create", "-f", "-"}, child("a"));
    say({"delete", "configmap", "owner", "--cascade=orphan"});
    say({"get", "configmap", "a", "-o", "jsonpath={.metadata.ownerReferences}"});
    say({"create", "configmap", "owner"});
    const auto next = kubectl({"get", "configmap", "owner", "-o", "jsonpath={.metadata.uid}"});
    say({"create", "-f", "-"}, std::regex_replace(child("b"), std::regex{uid.out}, next.out));
    say({"delete", "configmap", "owner", "--cascade=foreground"});
    say({"get", "configmap", "b"});
    say({"create", "namespace", "web"});
    say({"create", "-f", "-", "-n", "web"},
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"held","finalizers":["example.com/x"]}})");
    say({"delete", "namespace", "web", "--wait=false"});
    say({"get", "namespace", "web", "--no-headers", "-o", "custom-columns=N:.metadata.name,S:.status.phase"});
    say({"create", "configmap", "late", "-n", "web"});
    say({"patch", "configmap", "held", "-n", "web", "--type=merge", "-p", R"({"metadata":{"finalizers":null}})"});
    say({"wait", "--for=delete", "namespace/web", "--timeout=60s"});
    say({"run", "p1", "--image=busybox"});
    say({"cordon", "n1"});
    say({"debug", "p1", "--image=busybox", "-c", "dbg"});
    say({"get", "pod", "p1", "-o", "jsonpath={.spec.ephemeralContainers[*].name}"});
    say({"delete", "pods", "--all"});
    keep("kubectl/deletions.txt");
}

}  // namespace
}  // namespace rhizome::cli
