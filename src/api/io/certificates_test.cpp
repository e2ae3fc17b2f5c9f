// SPDX-License-Identifier: Apache-2.0
#include "api/certificates.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "cluster/base64.h"
#include "stream/certificate_request.h"
#include "support/still_backend.h"

namespace rhizome::api {
namespace {

class SigningTest : public ::testing::Test {
protected:
    /// A request as another machine tells of it: nobody here has looked at it.
    void hear_of(std::string_view name, std::vector<std::string> groups) {
        stream::CertificateSpec spec;
        spec.common_name = "carol";
        spec.organizations = std::move(groups);
        const auto key = stream::PrivateKey::generate(stream::KeyKind::P256);
        ASSERT_TRUE(key);
        const auto request = stream::CertificateRequest::make(spec, *key);
        ASSERT_TRUE(request) << request.error().message;
        const state::Path path = *state::Path::cluster_scoped("certificates.k8s.io", "CertificateSigningRequest", name);
        auto entry = state::Entry::written(
            path, {}, {},
            fmt::format(R"({{"apiVersion":"certificates.k8s.io/v1","kind":"CertificateSigningRequest",)"
                        R"("metadata":{{"name":"{}","uid":"u-{}"}},"spec":{{"request":"{}","username":"trusted",)"
                        R"("signerName":"kubernetes.io/kube-apiserver-client","usages":["client auth"]}}}})",
                        name, name, cluster::base64(as_bytes(request->to_pem()))));
        ASSERT_TRUE(entry);
        backend_.live().show({.path = path, .entry = *std::move(entry), .until = backend_.now() + hours{1}});
    }
    json::Value approve(const std::string& name) {
        Call call = test::StillBackend::call(*service_, Verb::Patch,
                                             {.group = "certificates.k8s.io",
                                              .version = "v1",
                                              .resource = "certificatesigningrequests",
                                              .name = name,
                                              .subresource = "approval"});
        call.media = "application/merge-patch+json";
        call.body = R"({"status":{"conditions":[{"type":"Approved","status":"True","reason":"R"}]}})";
        stream::IoContext io{{.threads = 0}};
        const stream::Strand strand = io.make_strand();
        const Reply reply = stream::block_on(io, strand, write(service_, std::move(call), strand, {}));
        EXPECT_EQ(reply.code, 200u) << reply.body;
        return json::parse(reply.body).value_or(json::Value{});
    }
    test::StillBackend backend_;
    SharedService service_ = make_service(backend_, {});
};

TEST_F(SigningTest, WhatIsHeardOfIsSignedWhenItIsApproved) {
    hear_of("fine", {"dev"});
    EXPECT_FALSE(approve("fine").text_at({"status", "certificate"}).empty());
    ASSERT_EQ(backend_.issued.size(), 1u);
    EXPECT_EQ(backend_.issued[0].groups, std::vector<std::string>{"dev"});
}

TEST_F(SigningTest, AGroupThatDecidesEverythingIsNotSignedForWhoeverTellsOfTheRequest) {
    hear_of("evil", {"dev", std::string{kMasters}});
    const json::Value shown = approve("evil");
    EXPECT_TRUE(shown.text_at({"status", "certificate"}).empty());
    const std::string text = json::print(shown);
    EXPECT_NE(text.find("SignerValidationFailure"), std::string::npos) << text;
    EXPECT_NE(text.find("with system:masters group is not allowed"), std::string::npos) << text;
    EXPECT_TRUE(backend_.issued.empty());
}

}  // namespace
}  // namespace rhizome::api
