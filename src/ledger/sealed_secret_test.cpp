// SPDX-License-Identifier: Apache-2.0
#include "ledger/sealed_secret.h"

#include <gtest/gtest.h>

#include "support/read_json.h"
#include "support/test_chain.h"

namespace rhizome::ledger {
namespace {

constexpr std::array<std::uint8_t, 32> kEntropy{7};

crypto::X25519Secret key(std::uint8_t mark) {
    SecretArray<32> bytes;
    bytes.writable()[3] = mark;
    return crypto::X25519Secret{std::move(bytes)};
}

json::Value secret() {
    return test::read(R"({"apiVersion":"v1","kind":"Secret","metadata":{"namespace":"web","name":"db","uid":"u-1",
        "labels":{"app":"x"},"annotations":{"rhizome.dev/lock":"p2pkh alice",
        "kubectl.kubernetes.io/last-applied-configuration":"{\"data\":{\"password\":\"bWFya2Vy\"}}"},
        "managedFields":[{"manager":"kubectl","fieldsV1":{"f:data":{"f:password":{}}}}]},
        "type":"Opaque","data":{"password":"bWFya2Vy"}})");
}

json::Value sealed(const ChainId& chain = {}) { return *seal_secret(secret(), key(1).public_key(), chain, kEntropy); }

TEST(SealedSecret, ShowsNothingOfItsData) {
    const json::Value document = sealed();
    const std::string text = json::print(document);
    for (const char* word : {"bWFya2Vy", "password", "last-applied", "managedFields", "\"data\""})
        EXPECT_EQ(text.find(word), std::string::npos) << word << " in " << text;
    // What lists select by, and what says who decides, stays.
    EXPECT_EQ(document.text_at({"metadata", "labels", "app"}), "x");
    EXPECT_EQ(document.text_at({"type"}), "Opaque");
    EXPECT_EQ(document.text_at({"metadata", "annotations", "rhizome.dev/lock"}), "p2pkh alice");
    EXPECT_TRUE(check_secret(document));
    EXPECT_EQ(*key_of_secret(document), key(1).public_key());
    // Sealing twice is sealing once.
    EXPECT_EQ(*seal_secret(document, key(2).public_key(), {}, kEntropy), document);
}

TEST(SealedSecret, ComesBackAsItWent) {
    const auto opened = open_secret(sealed(), key(1), {});
    ASSERT_TRUE(opened) << to_error(opened.error()).message;
    EXPECT_EQ(json::print_canonical(*opened), json::print_canonical(secret()));
    const json::Value empty = test::read(R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"e"}})");
    EXPECT_EQ(*open_secret(*seal_secret(empty, key(1).public_key(), {}, kEntropy), key(1), {}), empty);
    EXPECT_EQ(*open_secret(empty, key(1), {}), empty);
}

TEST(SealedSecret, SizesAreRounded) {
    const auto size = [](std::size_t bytes) {
        json::Value one = secret();
        one["data"]["password"] = std::string(bytes, 'A');
        return json::print(*seal_secret(one, key(1).public_key(), {}, kEntropy)).size();
    };
    EXPECT_EQ(size(4), size(8));
    EXPECT_NE(size(4), size(4 + kSecretPadding));
}

TEST(SealedSecret, DoesNotOpenElsewhere) {
    struct Case {
        const char* about;
        std::function<void(json::Value&)> bend;
    };
    const Case cases[] = {
        {"another namespace", [](json::Value& d) { d["metadata"]["namespace"] = "mine"; }},
        {"another name", [](json::Value& d) { d["metadata"]["name"] = "mine"; }},
        {"another uid", [](json::Value& d) { d["metadata"]["uid"] = "u-2"; }},
        {"another type", [](json::Value& d) { d["type"] = "kubernetes.io/tls"; }},
        {"parts moved between fields",
         [](json::Value& d) {
             d["metadata"]["namespace"] = "we";
             d["metadata"]["name"] = "bdb";
         }},
        {"a bit of the box",
         [](json::Value& d) {
             std::string box{d.text_at({"sealed", "box"})};
             box[box.size() / 2] = box[box.size() / 2] == 'A' ? 'B' : 'A';
             d["sealed"]["box"] = box;
         }},
    };
    for (const Case& one : cases) {
        json::Value bent = sealed();
        one.bend(bent);
        const auto opened = open_secret(bent, key(1), {});
        ASSERT_FALSE(opened) << one.about;
        EXPECT_EQ(opened.error(), SecretFault::NotOpened) << one.about;
    }
    EXPECT_FALSE(open_secret(sealed(), key(2), {}));
    const ChainId other{std::array<std::uint8_t, 32>{1}};
    EXPECT_FALSE(open_secret(sealed(), key(1), other));
    // Labels and finalizers may be changed by whoever opens the lock, without opening the box.
    json::Value labelled = sealed();
    labelled["metadata"]["labels"]["app"] = "y";
    EXPECT_TRUE(open_secret(labelled, key(1), {}));
}

TEST(SealedSecret, TheChainTakesNoneInClear) {
    test::TestChain chain;
    chain.mine_all({chain.create("/", "creator", test::document("v1", "Namespace", "", "web"))});
    const auto verdict = [&](const json::Value& document) {
        return chain.verdict(chain.create("/", "creator", json::print(document)));
    };
    EXPECT_EQ(verdict(secret()), "SchemaInvalid");
    json::Value text = secret();
    text.make_object().erase("data");
    text["stringData"] = json::Object{{"a", "b"}};
    EXPECT_EQ(verdict(text), "SchemaInvalid");
    EXPECT_EQ(verdict(sealed(chain.chain_id())), "OK");
    for (const char* bad : {R"({})", R"({"key":"00","box":"AAAA"})", R"("x")", R"({"key":"x","box":"y","more":1})"}) {
        json::Value bent = sealed();
        bent["sealed"] = test::read(bad);
        EXPECT_EQ(verdict(bent), "SchemaInvalid") << bad;
    }
}

}  // namespace
}  // namespace rhizome::ledger
