// SPDX-License-Identifier: Apache-2.0
#include "stream/tls.h"

#include <gtest/gtest.h>

#include "stream/pipe.h"
#include "support/tls_samples.h"

namespace rhizome::stream {
namespace {

using Context = std::shared_ptr<const TlsContext>;
using Made = Result<std::unique_ptr<Stream>>;

Context must(Result<Context> made) {
    ensure(made.has_value(), made ? "" : made.error().message);
    return std::move(*made);
}

/// Both sides of one handshake over a pipe.
struct Pair {
    Made server = fail(ErrorKind::Failed, "not tried");
    Made client = fail(ErrorKind::Failed, "not tried");
};

Task<void> accept_into(std::unique_ptr<Stream> lower, Context context, Made* out) {
    *out = co_await tls_accept(std::move(lower), std::move(context), after(seconds{180}));
}

Task<Pair> shake(Context server, Context client, std::string name) {
    const Strand strand = co_await this_strand();
    auto [left, right] = make_pipe(strand);
    Pair pair;
    Event done{strand};
    spawn(strand, accept_into(std::move(left), std::move(server), &pair.server), [&] { done.set(); });
    pair.client = co_await tls_connect(std::move(right), std::move(client), std::move(name), after(seconds{180}));
    // In TLS 1.3 a client is through before the server has looked at its certificate.
    co_await done.wait();
    co_return pair;
}

class Tls : public ::testing::Test {
protected:
    Pair pair_of(TlsServerOptions server, TlsClientOptions client, std::string name = "server.test") {
        return block_on(context_, strand_,
                        shake(must(TlsContext::server(std::move(server))), must(TlsContext::client(std::move(client))),
                              std::move(name)));
    }

    IoContext context_{{.threads = 0}};
    Strand strand_ = context_.make_strand();
    Identity authority_ = test::sample_authority();
    Identity server_ = test::sample_server(authority_);
};

Task<Result<std::string>> read_all(Stream* from, std::size_t piece) {
    std::string out;
    Bytes buffer(piece);
    for (;;) {
        CO_TRY(const std::size_t got, co_await from->read_some(buffer));
        if (got == 0) co_return out;
        out.append(as_text(ByteView{buffer.data(), got}));
    }
}

Task<void> send_and_shut(Stream* to, std::string text, Result<void>* result) {
    const std::string_view all = text;
    const ByteView parts[] = {as_bytes(all.substr(0, all.size() / 3)), as_bytes(all.substr(all.size() / 3))};
    *result = co_await to->write(parts);
    if (*result) *result = co_await to->shutdown();
}

TEST_F(Tls, CarriesBytesBothWaysHalfClosed) {
    auto pair = pair_of({.identity = server_}, {.trust = {.authorities = authority_.chain}});
    ASSERT_TRUE(pair.server) << pair.server.error().message;
    ASSERT_TRUE(pair.client) << pair.client.error().message;
    EXPECT_EQ((*pair.server)->tls()->version, TlsVersion::Tls13);
    EXPECT_EQ((*pair.server)->tls()->server_name, "server.test");
    EXPECT_FALSE((*pair.server)->tls()->peer);
    EXPECT_EQ((*pair.client)->tls()->peer->common_name(), "server");
    for (const std::size_t size : {1u, 16'384u, 300'000u}) {
        SCOPED_TRACE(size);
        auto again = pair_of({.identity = server_}, {.trust = {.authorities = authority_.chain}});
        for (Stream* from : {again.client->get(), again.server->get()}) {
            Stream* to = from == again.client->get() ? again.server->get() : again.client->get();
            Result<void> sent;
            spawn(strand_, send_and_shut(from, std::string(size, 'x'), &sent));
            const auto got = block_on(context_, strand_, read_all(to, 10'000));
            ASSERT_TRUE(got) << got.error().message;
            EXPECT_EQ(got->size(), size);
            EXPECT_TRUE(sent);
        }
    }
}

TEST_F(Tls, ProtocolsAreAgreedByTheServersWish) {
    auto pair = pair_of({.identity = server_, .protocols = {"h2", "http/1.1"}},
                        {.protocols = {"http/1.1", "h2"}, .trust = {.authorities = authority_.chain}});
    EXPECT_EQ((*pair.server)->tls()->protocol, "h2");
    EXPECT_EQ((*pair.client)->tls()->protocol, "h2");
    auto other = pair_of({.identity = server_, .protocols = {"h2"}},
                         {.protocols = {"x"}, .trust = {.authorities = authority_.chain}});
    EXPECT_EQ((*other.client)->tls()->protocol, "");
    auto refused = pair_of({.identity = server_, .protocols = {"peer/1"}, .protocol_required = true},
                           {.protocols = {"x"}, .trust = {.authorities = authority_.chain}});
    EXPECT_FALSE(refused.server);
    EXPECT_FALSE(refused.client);
}

TEST_F(Tls, ServersThatAreNotTrustedAreRefusedWithTheReason) {
    const Identity stranger = test::sample_authority("stranger");
    auto expired_spec = test::sample_spec("old");
    expired_spec.dns_names = {"server.test"};
    expired_spec.not_after = expired_spec.not_before + hours{1};
    const Identity expired = test::sample_identity(authority_, expired_spec);
    auto client_only = test::sample_spec("client");
    client_only.dns_names = {"server.test"};
    client_only.server_auth = false;
    const struct {
        const char* name;
        Identity identity;
        TlsTrust trust;
        const char* host;
        const char* reason;  // empty: trusted
    } rows[] = {
        {"its authority is trusted", server_, {.authorities = authority_.chain}, "server.test", ""},
        {"a number among its addresses", server_, {.authorities = authority_.chain}, "127.0.0.1", ""},
        {"another name", server_, {.authorities = authority_.chain}, "other.test", "hostname mismatch"},
        {"another number", server_, {.authorities = authority_.chain}, "127.0.0.2", "IP address mismatch"},
        {"another authority", server_, {.authorities = stranger.chain}, "server.test", "unable to get local issuer"},
        {"nothing to trust by", server_, {}, "server.test", "no authority, key or check"},
        {"expired", expired, {.authorities = authority_.chain}, "server.test", "expired"},
        {"a client's certificate",
         test::sample_identity(authority_, client_only),
         {.authorities = authority_.chain},
         "server.test",
         "purpose"},
        {"its key is pinned", server_, {.pinned_keys = {server_.key.public_der()}}, "whatever.test", ""},
        {"another key is pinned", server_, {.pinned_keys = {stranger.key.public_der()}}, "", "not the one expected"},
        {"pinned, by a stranger's authority",
         server_,
         {.authorities = stranger.chain, .pinned_keys = {server_.key.public_der()}},
         "server.test",
         "local issuer"},
        {"the check says no",
         server_,
         {.verify = [](const Certificate&) -> Result<void> { return fail(ErrorKind::Denied, "not today"); }},
         "",
         "not today"},
        {"the check says yes", server_, {.verify = [](const Certificate&) { return ok(); }}, "", ""},
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(row.name);
        auto pair = pair_of({.identity = row.identity}, {.trust = row.trust}, row.host);
        if (*row.reason == '\0') {
            EXPECT_TRUE(pair.client) << pair.client.error().message;
            EXPECT_TRUE(pair.server);
            continue;
        }
        ASSERT_FALSE(pair.client);
        EXPECT_NE(pair.client.error().message.find(row.reason), std::string::npos) << pair.client.error().message;
        EXPECT_FALSE(pair.server);
    }
}

Task<Result<std::size_t>> read_one(Stream* from) {
    Bytes buffer(10);
    co_return co_await from->read_some(buffer);
}

TEST_F(Tls, ClientsShowCertificatesAsAsked) {
    auto spec = test::sample_spec("alice");
    spec.organizations = {"dev"};
    const Identity alice = test::sample_identity(authority_, spec);
    const Identity stranger = test::sample_peer("mallory");
    const TlsTrust trust{.authorities = authority_.chain};
    const struct {
        const char* name;
        ClientCertificate asked;
        std::optional<Identity> shown;
        bool accepted;
        const char* who;
    } rows[] = {
        {"none asked", ClientCertificate::None, alice, true, ""},
        {"optional, shown", ClientCertificate::Optional, alice, true, "alice"},
        {"optional, not shown", ClientCertificate::Optional, std::nullopt, true, ""},
        {"optional, bad", ClientCertificate::Optional, stranger, false, ""},
        {"required, shown", ClientCertificate::Required, alice, true, "alice"},
        {"required, not shown", ClientCertificate::Required, std::nullopt, false, ""},
        {"required, bad", ClientCertificate::Required, stranger, false, ""},
    };
    for (const TlsVersion version : {TlsVersion::Tls13, TlsVersion::Tls12}) {
        for (const auto& row : rows) {
            SCOPED_TRACE(row.name);
            auto pair =
                pair_of({.identity = server_, .version_min = version, .client_certificate = row.asked, .trust = trust},
                        {.identity = row.shown, .trust = trust});
            EXPECT_EQ(pair.server.has_value(), row.accepted);
            if (pair.server) {
                const auto& peer = (*pair.server)->tls()->peer;
                EXPECT_EQ(peer ? peer->common_name() : "", row.who);
            } else if (pair.client) {
                // The client learns of it when it reads.
                EXPECT_FALSE(block_on(context_, strand_, read_one(pair.client->get())));
            }
        }
    }
}

TEST_F(Tls, PeersKnowEachOtherByTheirKeys) {
    const Identity one = test::sample_peer("one");
    const Identity two = test::sample_peer("two");
    const auto only = [](const Identity& who) {
        return [wanted = who.chain[0].ed25519_key()](const Certificate& shown) -> Result<void> {
            if (shown.ed25519_key() == wanted) return {};
            return fail(ErrorKind::Denied, "no member has this key");
        };
    };
    auto pair =
        pair_of({.identity = one, .client_certificate = ClientCertificate::Required, .trust = {.verify = only(two)}},
                {.identity = two, .trust = {.verify = only(one)}}, "");
    ASSERT_TRUE(pair.server) << pair.server.error().message;
    ASSERT_TRUE(pair.client) << pair.client.error().message;
    EXPECT_EQ((*pair.server)->tls()->peer->ed25519_key(), two.chain[0].ed25519_key());
    auto wrong =
        pair_of({.identity = one, .client_certificate = ClientCertificate::Required, .trust = {.verify = only(one)}},
                {.identity = two, .trust = {.verify = only(one)}}, "");
    ASSERT_FALSE(wrong.server);
    EXPECT_NE(wrong.server.error().message.find("no member has this key"), std::string::npos);
}

TEST_F(Tls, TheNameAskedForChoosesTheCertificate) {
    auto spec = test::sample_spec("second");
    spec.dns_names = {"second.test"};
    const Context second = must(TlsContext::server({.identity = test::sample_identity(authority_, spec)}));
    const TlsServerOptions options{.identity = server_, .choose = [&](std::string_view name) {
                                       return name == "second.test" ? second : Context{};
                                   }};
    EXPECT_EQ((*pair_of(options, {.trust = {.authorities = authority_.chain}}, "second.test").client)
                  ->tls()
                  ->peer->common_name(),
              "second");
    EXPECT_EQ((*pair_of(options, {.trust = {.authorities = authority_.chain}}).client)->tls()->peer->common_name(),
              "server");
}

Task<void> babble(std::unique_ptr<Stream> to, std::string bytes) {
    auto ignored = co_await write_all(*to, as_bytes(bytes));
    Bytes buffer(1000);
    for (;;) {
        const auto got = co_await to->read_some(buffer);
        if (!got || *got == 0) break;
    }
}

Task<Made> accept_garbage(Context server, std::string bytes, Deadline end) {
    const Strand strand = co_await this_strand();
    auto [left, right] = make_pipe(strand);
    Event done{strand};
    spawn(strand, babble(std::move(right), std::move(bytes)), [&] { done.set(); });
    auto made = co_await tls_accept(std::move(left), std::move(server), end);
    co_await done.wait();
    co_return made;
}

TEST_F(Tls, GarbageAndSilenceAreRefused) {
    const Context server = must(TlsContext::server({.identity = server_}));
    const auto garbage = block_on(context_, strand_, accept_garbage(server, "GET / HTTP/1.1\r\n\r\n", kNever));
    ASSERT_FALSE(garbage);
    EXPECT_NE(garbage.error().message.find("http request"), std::string::npos) << garbage.error().message;
    const auto silence = block_on(context_, strand_, accept_garbage(server, "", after(milliseconds{50})));
    ASSERT_FALSE(silence);
    EXPECT_EQ(silence.error().kind, ErrorKind::Unavailable);
}

/// A pipe end that can be cut below TLS.
TEST_F(Tls, ACutConnectionIsNoEnd) {
    // `close` of a TLS stream sends no goodbye: the other side must not take that for an orderly end.
    auto pair = pair_of({.identity = server_}, {.trust = {.authorities = authority_.chain}});
    (*pair.server)->close();
    const auto got = block_on(context_, strand_, read_one(pair.client->get()));
    ASSERT_FALSE(got);
    EXPECT_NE(got.error().message.find("goodbye"), std::string::npos) << got.error().message;
}

}  // namespace
}  // namespace rhizome::stream
