// SPDX-License-Identifier: Apache-2.0
#include "ledger/could_open.h"

#include <gtest/gtest.h>

#include "script/template.h"
#include "support/test_chain.h"

namespace rhizome::ledger {
namespace {

using test::key_of;

class People final : public script::KeyResolver {
public:
    [[nodiscard]] std::optional<crypto::PublicKey> find(std::string_view name) const override {
        return key_of(name).public_key();
    }
    [[nodiscard]] std::vector<std::string> names() const override { return {}; }
};

crypto::PublicKey::Array key(std::string_view person) { return key_of(person).public_key().bytes(); }

struct Case {
    const char* lock;
    std::vector<std::string> people;
    std::int64_t seconds_since;  ///< the lock point
    bool opens;
};

TEST(CouldOpen, IsWhatATransactionWouldBeTold) {
    const Case cases[] = {
        {"p2pkh alice", {"alice"}, 0, true},
        {"p2pkh alice", {"bob"}, 0, false},
        {"p2pkh alice", {}, 0, false},
        {"p2pk alice", {"bob", "alice"}, 0, true},
        {"multisig 2 alice bob carol", {"alice"}, 0, false},
        {"multisig 2 alice bob carol", {"alice", "carol"}, 0, true},
        {"after 5d p2pkh alice", {"alice"}, 0, false},
        {"after 5d p2pkh alice", {"alice"}, 6 * 86'400, true},
        {"either multisig 2 alice bob carol or after 7d p2pkh alice", {"alice"}, 86'400, false},
        {"either multisig 2 alice bob carol or after 7d p2pkh alice", {"alice"}, 8 * 86'400, true},
        {"either multisig 2 alice bob carol or after 7d p2pkh alice", {"bob", "carol"}, 0, true},
        {"until 2027-01-01 p2pkh alice", {"alice"}, 0, true},
        {"until 2027-01-01 p2pkh alice", {"alice"}, 400 * 86'400, false},
        {"after 2027-01-01 p2pkh alice", {"alice"}, 0, false},
        {"after 2027-01-01 p2pkh alice", {"alice"}, 400 * 86'400, true},
        {"cosigned tower p2pkh alice", {"alice"}, 0, false},
        {"cosigned tower p2pkh alice", {"alice", "tower"}, 0, true},
        {"member", {"alice"}, 0, false},
    };
    const test::TestChain chain;
    const People people;
    const Time since = *from_rfc3339("2026-06-01T00:00:00Z");
    for (const Case& one : cases) {
        const auto lock = script::compile(one.lock, &people);
        ASSERT_TRUE(lock) << one.lock;
        std::vector<crypto::PublicKey::Array> keys;
        for (const std::string& person : one.people) keys.push_back(key(person));
        const state::Mark mark{.output = {}, .height = state::Height{10}, .time = since};
        EXPECT_EQ(could_open(*lock, mark, keys, {state::Height{20}, since + seconds{one.seconds_since}},
                             chain.state().view()),
                  one.opens)
            << one.lock << " by " << one.people.size() << " after " << one.seconds_since;
    }
}

TEST(CouldOpen, TheNearestAncestorIsFound) {
    test::TestChain chain;
    chain.mine_all(
        {chain.create("/", "creator", test::document("v1", "Namespace", "", "web"), test::lock_of("nadia"))});
    chain.mine_all({chain.create("/namespaces/web", "nadia", test::document("v1", "ConfigMap", "web", "c"),
                                 test::lock_of("carl"))});
    const auto path = *state::Path::parse("/namespaces/web/core/ConfigMap/c");
    const auto found = [&](std::string_view person) {
        const std::vector keys{key(person)};
        const auto by = opened_by(path, keys, {chain.tip().height + 1, chain.now()}, chain.state().view());
        return by ? by->text() : "nobody";
    };
    EXPECT_EQ(found("carl"), "/namespaces/web/core/ConfigMap/c");
    EXPECT_EQ(found("nadia"), "/namespaces/web");
    EXPECT_EQ(found("creator"), "/");
    EXPECT_EQ(found("mallory"), "nobody");
}

}  // namespace
}  // namespace rhizome::ledger
