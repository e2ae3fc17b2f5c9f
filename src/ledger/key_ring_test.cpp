// SPDX-License-Identifier: Apache-2.0
#include "ledger/key_ring.h"

#include <gtest/gtest.h>

#include "crypto/seal.h"
#include "ledger/draft.h"
#include "ledger/special_kinds.h"
#include "support/test_chain.h"

namespace rhizome::ledger {
namespace {

using test::Draft;
using test::node_keys_of;
using test::TestChain;

std::string node_document(std::string_view node, const ChainId& chain) {
    json::Object metadata{{"name", node}, {"annotations", member_annotations(node_keys_of(node), node, chain)}};
    return json::print(json::Object{{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", std::move(metadata)}});
}

/// A cluster of `creator` with the members n1 and n2; n3 is none.
class KeyRingOnChain : public ::testing::Test {
protected:
    KeyRingOnChain() {
        for (const char* node : {"n1", "n2"})
            chain.mine_all({chain.create("/", "creator", node_document(node, chain.chain_id()))});
    }

    KeyRing ring(std::string_view by, const std::vector<std::string>& holders, std::uint8_t mark = 1) const {
        SecretArray<32> bytes;
        bytes.writable()[5] = mark;
        const crypto::X25519Secret secret{std::move(bytes)};
        KeyRing made{.key = secret.public_key(), .by = node_keys_of(by).chain.public_key().bytes()};
        std::vector<crypto::X25519Public> recipients;
        for (const std::string& node : holders) {
            made.holders.push_back({.node = node, .key = node_keys_of(node).wireguard.public_key()});
            recipients.push_back(made.holders.back().key);
        }
        std::sort(made.holders.begin(), made.holders.end(),
                  [](const auto& left, const auto& right) { return left.key < right.key; });
        const std::array<std::uint8_t, 32> entropy{mark};
        made.sealed =
            *crypto::seal(secret.view(), recipients, key_ring_associated(made.key, chain.chain_id()), entropy);
        sign(made, by);
        return made;
    }
    void sign(KeyRing& made, std::string_view by) const {
        made.signature = crypto::sign(node_keys_of(by).chain, digest_of(made, chain.chain_id())).to_compact();
    }
    std::string verdict(const KeyRing& made) { return verdict(json::print(to_document(made, chain.chain_id()))); }
    std::string verdict(const std::string& document) {
        Draft draft{.outputs = {{.value = document}}};
        chain.by(draft, "/", "");
        return chain.verdict(chain.sign(draft));
    }

    TestChain chain;
};

TEST_F(KeyRingOnChain, IsWrittenByAnyMemberAndReadsBack) {
    const KeyRing made = ring("n2", {"n1", "n2"});
    const auto tx = check_tx(key_ring_tx(made, chain.chain_id(), chain.state().view(), chain.now()));
    ASSERT_TRUE(tx) << to_text(tx.error());
    ASSERT_EQ(chain.verdict(*tx), "OK");
    chain.mine_all({*tx});
    state::Cursor cursor = chain.state().view().walk(all_key_rings());
    const state::Entry* entry = cursor.next();
    ASSERT_NE(entry, nullptr);
    const auto read = read_key_ring(parse_checked(entry->document()));
    ASSERT_TRUE(read) << to_text(read.error());
    EXPECT_EQ(*read, made);
    for (const char* node : {"n1", "n2"}) {
        const auto opened =
            crypto::open(read->sealed, node_keys_of(node).wireguard, key_ring_associated(read->key, chain.chain_id()));
        ASSERT_TRUE(opened) << node;
    }
    EXPECT_FALSE(
        crypto::open(read->sealed, node_keys_of("n3").wireguard, key_ring_associated(read->key, chain.chain_id())));
    // The same again is there already; what another says of the same key is another document.
    EXPECT_EQ(verdict(made), "AlreadyExists");
    EXPECT_EQ(verdict(ring("n1", {"n1", "n2"})), "OK");
}

TEST_F(KeyRingOnChain, IsRefusedFromWhoeverIsNoMember) {
    EXPECT_EQ(verdict(ring("n3", {"n1"})), "NotAuthorised");
    KeyRing forged = ring("n3", {"n1"});
    forged.by = node_keys_of("n1").chain.public_key().bytes();
    EXPECT_EQ(verdict(forged), "NotAuthorised");
    // A member that was removed is none any more.
    const KeyRing made = ring("n2", {"n1", "n2"});
    Draft gone{.outputs = {{.value = deletion_of(node_document("n2", chain.chain_id()))}}};
    chain.by(gone, "/", "creator");
    chain.mine_all({chain.sign(gone)});
    EXPECT_EQ(verdict(made), "NotAuthorised");
}

TEST_F(KeyRingOnChain, LendsNoAuthority) {
    // Something else in the same transaction needs an authority of its own.
    Draft draft{.outputs = {{.value = json::print(to_document(ring("n1", {"n1"}), chain.chain_id()))},
                            {.value = test::document("v1", "Namespace", "", "stolen")}}};
    chain.by(draft, "/", "");
    EXPECT_NE(chain.verdict(chain.sign(draft)), "OK");
    // Nor does it get a lock that only its writer opens.
    Draft locked{.outputs = {{.value = json::print(to_document(ring("n1", {"n1"}), chain.chain_id())),
                              .locking = test::lock_of("n1")}}};
    chain.by(locked, "/", "");
    EXPECT_EQ(chain.verdict(chain.sign(locked)), "NotAuthorised");
}

TEST_F(KeyRingOnChain, HasOneForm) {
    const json::Value good{to_document(ring("n1", {"n1", "n2"}), chain.chain_id())};
    ASSERT_TRUE(read_key_ring(good));
    struct Case {
        const char* about;
        std::function<void(json::Value&)> bend;
    };
    const Case cases[] = {
        {"another name", [](json::Value& d) { d["metadata"]["name"] = "x"; }},
        {"a label",
         [](json::Value& d) {
             d["metadata"]["labels"] = json::Object{{"a", "b"}};
         }},
        {"a member more", [](json::Value& d) { d["spec"]["note"] = "x"; }},
        {"a member less", [](json::Value& d) { d["spec"].make_object().erase("by"); }},
        {"no generation", [](json::Value& d) { d["spec"]["generation"] = 0; }},
        {"a generation that is no number", [](json::Value& d) { d["spec"]["generation"] = "1"; }},
        {"no holders", [](json::Value& d) { d["spec"]["holders"] = json::Array{}; }},
        {"a holder twice",
         [](json::Value& d) { d["spec"]["holders"].make_array()[1] = d["spec"]["holders"].make_array()[0]; }},
        {"holders in another order",
         [](json::Value& d) {
             auto& all = d["spec"]["holders"].make_array();
             std::swap(all[0], all[1]);
         }},
        {"an envelope for fewer", [](json::Value& d) { d["spec"]["holders"].make_array().pop_back(); }},
        {"a key that is none", [](json::Value& d) { d["spec"]["key"] = std::string(64, 'f'); }},
        {"capital digits", [](json::Value& d) { d["spec"]["sealed"] = "AB"; }},
        {"another envelope",
         [](json::Value& d) {
             std::string text{d.text_at({"spec", "sealed"})};
             text.back() = text.back() == '0' ? '1' : '0';
             d["spec"]["sealed"] = text;
         }},
    };
    for (const Case& one : cases) {
        json::Value bent = good;
        one.bend(bent);
        EXPECT_NE(verdict(json::print(bent)), "OK") << one.about;
    }
}

}  // namespace
}  // namespace rhizome::ledger
