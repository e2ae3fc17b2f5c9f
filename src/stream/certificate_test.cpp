// SPDX-License-Identifier: Apache-2.0
#include "stream/certificate.h"

#include <gtest/gtest.h>

#include "crypto/ed25519.h"
#include "stream/certificate_request.h"
#include "support/tls_samples.h"

namespace rhizome::stream {
namespace {

TEST(PrivateKey, SurvivesItsPem) {
    for (const KeyKind kind : {KeyKind::Ed25519, KeyKind::P256}) {
        const PrivateKey key = test::sample_key(kind);
        const auto again = PrivateKey::from_pem(as_text(key.to_pem().view()));
        ASSERT_TRUE(again) << again.error().message;
        EXPECT_EQ(again->public_der(), key.public_der());
        EXPECT_EQ(again->kind(), kind);
    }
    EXPECT_FALSE(PrivateKey::generate(KeyKind::Other));
}

TEST(PrivateKey, RefusesWhatIsNone) {
    for (const char* text : {"", "hello", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"}) {
        const auto key = PrivateKey::from_pem(text);
        ASSERT_FALSE(key);
        EXPECT_EQ(key.error().kind, ErrorKind::Invalid);
    }
}

TEST(Certificate, OfATransportKeyShowsThatKey) {
    std::array<std::uint8_t, 32> seed{};
    seed.fill(7);
    const auto secret = crypto::Ed25519Secret::from_seed(seed);
    const auto key = PrivateKey::from(secret);
    ASSERT_TRUE(key);
    const auto certificate = make_self_signed(test::sample_spec("node"), *key);
    ASSERT_TRUE(certificate) << certificate.error().message;
    EXPECT_EQ(certificate->ed25519_key(), secret.public_key().bytes());
    EXPECT_EQ(certificate->key_kind(), KeyKind::Ed25519);
    EXPECT_TRUE(certificate->signed_by(*certificate));
    EXPECT_TRUE(certificate->belongs_to(*key));
}

TEST(Certificate, SaysWhatItWasMadeWith) {
    const Identity authority = test::sample_authority();
    auto spec = test::sample_spec("kubernetes-admin");
    spec.organizations = {"system:masters", "höher"};
    spec.dns_names = {"a.test", "*.b.test"};
    spec.addresses = {"10.0.0.1", "fe80::1"};
    spec.uris = {"rhizome://cluster/x"};
    spec.extensions = {{"1.3.6.1.4.1.99999.1", Bytes{4, 2, 1, 2}, false}};
    const PrivateKey key = test::sample_key(KeyKind::P256);
    const auto made = make_certificate(spec, key, authority);
    ASSERT_TRUE(made) << made.error().message;
    const auto read = Certificate::from_pem(made->to_pem());
    ASSERT_TRUE(read);
    EXPECT_EQ(read->common_name(), "kubernetes-admin");
    EXPECT_EQ(read->organizations(), spec.organizations);
    EXPECT_EQ(read->dns_names(), spec.dns_names);
    EXPECT_EQ(read->addresses(), spec.addresses);
    EXPECT_EQ(read->uris(), spec.uris);
    EXPECT_EQ(read->not_before(), spec.not_before);
    EXPECT_EQ(read->not_after(), spec.not_after);
    EXPECT_EQ(read->extension("1.3.6.1.4.1.99999.1"), (Bytes{4, 2, 1, 2}));
    EXPECT_FALSE(read->extension("1.3.6.1.4.1.99999.2"));
    EXPECT_FALSE(read->is_authority());
    EXPECT_TRUE(authority.chain[0].is_authority());
    EXPECT_TRUE(read->signed_by(authority.chain[0]));
    EXPECT_FALSE(read->signed_by(test::sample_authority().chain[0]));
    EXPECT_FALSE(read->ed25519_key());
    EXPECT_EQ(read->fingerprint().size(), 32u);
    EXPECT_EQ(Certificate::from_der(made->to_der()).value(), *made);
}

TEST(Certificate, RefusesBadSpecs) {
    const PrivateKey key = test::sample_key(KeyKind::Ed25519);
    auto spec = test::sample_spec("x");
    spec.not_after = spec.not_before;
    EXPECT_FALSE(make_self_signed(spec, key));
    spec = test::sample_spec(std::string(65, 'x'));
    EXPECT_FALSE(make_self_signed(spec, key));
    spec = test::sample_spec("x");
    spec.addresses = {"example.org"};
    EXPECT_FALSE(make_self_signed(spec, key));
    spec = test::sample_spec("x");
    spec.extensions = {{"no oid", {}, false}};
    EXPECT_FALSE(make_self_signed(spec, key));
    const auto by_a_leaf = make_certificate(test::sample_spec("x"), key, test::sample_peer("leaf"));
    ASSERT_FALSE(by_a_leaf);
    EXPECT_EQ(by_a_leaf.error().kind, ErrorKind::Denied);
}

TEST(Certificate, RefusesBadText) {
    EXPECT_FALSE(Certificate::from_pem(""));
    EXPECT_FALSE(Certificate::from_pem("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"));
    const std::string good = test::sample_peer("x").chain[0].to_pem();
    EXPECT_EQ(Certificate::chain_from_pem(good + good).value().size(), 2u);
    EXPECT_FALSE(Certificate::chain_from_pem(good + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"));
    Bytes der = test::sample_peer("x").chain[0].to_der();
    der.push_back(0);
    EXPECT_FALSE(Certificate::from_der(der));
}

TEST(Identity, NeedsTheKeyOfItsCertificate) {
    const Identity one = test::sample_peer("one");
    const Identity two = test::sample_peer("two");
    EXPECT_TRUE(Identity::from_pem(one.chain[0].to_pem(), as_text(one.key.to_pem().view())));
    EXPECT_FALSE(Identity::from_pem(one.chain[0].to_pem(), as_text(two.key.to_pem().view())));
}

TEST(CertificateRequest, SaysWhatItAsksForAndIsSignedByItsOwnKey) {
    const PrivateKey key = test::sample_key(KeyKind::P256);
    auto spec = test::sample_spec("robot");
    spec.organizations = {"dev", "ops"};
    const auto made = CertificateRequest::make(spec, key);
    ASSERT_TRUE(made) << made.error().message;
    const std::string pem = made->to_pem();
    const auto read = CertificateRequest::from_pem(pem);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->common_name(), "robot");
    EXPECT_EQ(read->organizations(), spec.organizations);
    EXPECT_FALSE(read->has_alternative_names());
    spec.dns_names = {"a.test"};
    const auto named = CertificateRequest::make(spec, key);
    ASSERT_TRUE(named);
    EXPECT_TRUE(CertificateRequest::from_pem(named->to_pem())->has_alternative_names());

    const Identity authority = test::sample_authority();
    const auto issued = make_certificate(test::sample_spec("robot"), *read, authority);
    ASSERT_TRUE(issued) << issued.error().message;
    EXPECT_TRUE(issued->belongs_to(key));
    EXPECT_TRUE(issued->signed_by(authority.chain.front()));

    for (const std::string& bad : {std::string{}, std::string{"hello"}, authority.chain.front().to_pem(), pem + pem,
                                   std::string(70'000, ' '), pem.substr(0, pem.size() / 2)})
        EXPECT_FALSE(CertificateRequest::from_pem(bad)) << bad.substr(0, 80);
    // A byte of the body changed: still a request, but nobody signed that one.
    bool refused = true;
    for (std::size_t i = 60; i < pem.size() - 60; i += 7) {
        if (pem[i] == '\n') continue;
        std::string changed = pem;
        changed[i] = changed[i] == 'A' ? 'B' : 'A';
        refused = refused && (changed == pem || !CertificateRequest::from_pem(changed));
    }
    EXPECT_TRUE(refused);
}

}  // namespace
}  // namespace rhizome::stream
