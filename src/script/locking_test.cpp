// SPDX-License-Identifier: Apache-2.0
// Locking scripts from end to end, with real signatures: the patterns of the thesis's section 6.5 as it prints them,
// and our templates.
#include <gtest/gtest.h>

#include "script/assembler.h"
#include "script/explain.h"
#include "script/interpreter.h"
#include "script/template.h"
#include "support/signing_host.h"

namespace rhizome::script {
namespace {

using test::Person;
using test::SigningHost;

class Locking : public testing::Test {
protected:
    Locking() : people{{&owner_1, &owner_2, &owner_3, &admin, &watchtower}} {}

    Bytes lock(std::string_view text) const {
        auto made = compile(text, &people);
        EXPECT_TRUE(made) << (made ? "" : to_error(made.error()).message);
        return made ? *made : Bytes{};
    }
    /// A signature of the whole locking script.
    static Bytes by(const Person& person, const Bytes& locking) { return SigningHost::sign(person, locking); }

    ScriptError open(const ScriptBuilder& unlocking, const Bytes& locking) {
        last = verify(unlocking.view(), locking, host);
        return last.error;
    }

    static std::uint32_t days(int count) {
        return static_cast<std::uint32_t>(relative_lock(hours{24 * count}).value());
    }

    Person owner_1{"owner_1"}, owner_2{"owner_2"}, owner_3{"owner_3"}, admin{"admin"}, watchtower{"watchtower"};
    Person stranger{"stranger"};
    test::People people;
    SigningHost host;
    Verdict last;
};

TEST_F(Locking, AKeyHashOpensForItsKeyOnly) {
    const Bytes locking = lock("OP_DUP OP_HASH160 <hash_public_key_from_admin> OP_EQUALVERIFY OP_CHECKSIG");
    EXPECT_EQ(locking, lock("p2pkh admin"));
    EXPECT_EQ(open(ScriptBuilder{}.data(by(admin, locking)).data(admin.key.bytes()), locking), ScriptError::Ok);
    EXPECT_EQ(last.signature_checks, 1u);
    EXPECT_FALSE(last.depends_on_block);
    EXPECT_EQ(open(ScriptBuilder{}.data(by(stranger, locking)).data(stranger.key.bytes()), locking),
              ScriptError::EqualVerify);
    EXPECT_EQ(open(ScriptBuilder{}.data(by(stranger, locking)).data(admin.key.bytes()), locking),
              ScriptError::NullFail);
    EXPECT_EQ(open(ScriptBuilder{}.data({}).data(admin.key.bytes()), locking), ScriptError::EvalFalse);
    EXPECT_EQ(open(ScriptBuilder{}.data(by(admin, lock("p2pkh owner_1"))).data(admin.key.bytes()), locking),
              ScriptError::NullFail)
        << "a signature for another script is none for this one";
    EXPECT_EQ(open(ScriptBuilder{}.number(1).data(by(admin, locking)).data(admin.key.bytes()), locking),
              ScriptError::CleanStack);
}

TEST_F(Locking, SignaturesHaveOneFormOnly) {
    const Bytes locking = lock("p2pkh admin");
    const auto opens_with = [&](const Bytes& signature) {
        return open(ScriptBuilder{}.data(signature).data(admin.key.bytes()), locking);
    };
    Bytes signature = by(admin, locking);
    signature.back() = 2;
    EXPECT_EQ(opens_with(signature), ScriptError::SigHashtype);
    signature.back() = 0x81;
    EXPECT_EQ(opens_with(signature), ScriptError::SigHashtype);
    signature.back() = 1;
    signature.insert(signature.end() - 1, 0);
    EXPECT_EQ(opens_with(signature), ScriptError::SigDer);
    // n − s is as valid as s in ECDSA; only the low one is ours.
    const auto low = crypto::Signature::from_der(crypto::sign(admin.secret, SigningHost::digest(locking)).to_der());
    Bytes compact{low->to_compact().begin(), low->to_compact().end()};
    const auto order = *from_hex("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141");
    int borrow = 0;
    for (std::size_t i = 32; i-- > 0;) {
        const int difference = order[i] - compact[32 + i] - borrow;
        compact[32 + i] = static_cast<std::uint8_t>(difference & 0xff);
        borrow = difference < 0 ? 1 : 0;
    }
    Bytes high = crypto::Signature::from_compact(compact)->to_der();
    high.push_back(1);
    EXPECT_EQ(opens_with(high), ScriptError::SigHighS);

    const Bytes long_key(65, 4);
    const Bytes odd = to_bytes(ScriptBuilder{}.data(long_key).op(OP_CHECKSIG).view());
    EXPECT_EQ(open(ScriptBuilder{}.data(by(admin, odd)), odd), ScriptError::PubkeyType);
}

// 6.5.1: the thesis grants for five days with CHECKSEQUENCEVERIFY, which is a delay; 0xb3 is what it meant.
TEST_F(Locking, AGrantEndsWhenItsTimeIsOver) {
    const std::int64_t end = parse_moment("2027-01-06").value();
    const Bytes locking = lock(R"(
        2027-01-06               # five days from the first of January on
        OP_CHECKEXPIRYVERIFY
        OP_DROP
        1
        <hash_public_key_owner_1>
        <hash_public_key_owner_2>
        <hash_public_key_owner_3>
        3
        OP_CHECKMULTISIG)");
    EXPECT_EQ(locking, lock("until 2027-01-06 multisig 1 owner_1 owner_2 owner_3"));
    const auto unlocking = ScriptBuilder{}.number(0).data(by(owner_2, locking));
    host.time = end - 1;
    EXPECT_EQ(open(unlocking, locking), ScriptError::Ok);
    EXPECT_TRUE(last.depends_on_block);
    host.time = end;
    EXPECT_EQ(open(unlocking, locking), ScriptError::Expired);
    EXPECT_TRUE(last.depends_on_block);

    const Bytes by_height = lock("until 1000 p2pkh admin");
    const auto early = ScriptBuilder{}.data(by(admin, by_height)).data(admin.key.bytes());
    host.height = 999;
    EXPECT_EQ(open(early, by_height), ScriptError::Ok);
    host.height = 1000;
    EXPECT_EQ(open(early, by_height), ScriptError::Expired);
}

TEST_F(Locking, TheThesissOwnGrantIsADelay) {
    const Bytes locking = lock(R"(5d OP_CHECKSEQUENCEVERIFY OP_VERIFY 1 <hash_public_key_owner_1>
        <hash_public_key_owner_2> <hash_public_key_owner_3> 3 OP_CHECKMULTISIG)");
    const auto unlocking = ScriptBuilder{}.number(0).data(by(owner_1, locking));
    EXPECT_EQ(open(unlocking, locking), ScriptError::UnsatisfiedLocktime);
    host.sequence = days(5);
    EXPECT_EQ(open(unlocking, locking), ScriptError::Ok);
    EXPECT_EQ(explain(locking).sentence, "after 5 days, any 1 of 3 keys");
}

// 6.5.2
TEST_F(Locking, ALockHoldsForFiveDays) {
    const Bytes locking = lock(
        "5d OP_CHECKSEQUENCEVERIFY OP_DROP OP_DUP OP_HASH160 <hash_public_key_from_admin> OP_EQUALVERIFY OP_CHECKSIG");
    EXPECT_EQ(locking, lock("after 5d p2pkh admin"));
    const auto unlocking = ScriptBuilder{}.data(by(admin, locking)).data(admin.key.bytes());
    EXPECT_EQ(open(unlocking, locking), ScriptError::UnsatisfiedLocktime) << "a final input waits for nothing";
    host.sequence = days(5) - 1;
    EXPECT_EQ(open(unlocking, locking), ScriptError::UnsatisfiedLocktime);
    host.sequence = 2000;  // blocks are no time
    EXPECT_EQ(open(unlocking, locking), ScriptError::UnsatisfiedLocktime);
    host.sequence = days(5);
    EXPECT_EQ(open(unlocking, locking), ScriptError::Ok);
    EXPECT_FALSE(last.depends_on_block) << "what a sequence says is part of the transaction";
    host.sequence = days(6);
    EXPECT_EQ(open(unlocking, locking), ScriptError::Ok);
}

// 6.5.3
TEST_F(Locking, TwoOfThreeInTheOrderOfTheKeys) {
    const Bytes locking =
        lock("2 <hash_public_key_owner_1> <hash_public_key_owner_2> <hash_public_key_owner_3> 3 OP_CHECKMULTISIG");
    EXPECT_EQ(locking, lock("multisig 2 owner_1 owner_2 owner_3"));
    const Bytes one = by(owner_1, locking), two = by(owner_2, locking), three = by(owner_3, locking);
    EXPECT_EQ(open(ScriptBuilder{}.number(0).data(one).data(two), locking), ScriptError::Ok);
    EXPECT_EQ(last.signature_checks, 3u);
    EXPECT_EQ(open(ScriptBuilder{}.number(0).data(one).data(three), locking), ScriptError::Ok);
    EXPECT_EQ(open(ScriptBuilder{}.number(0).data(two).data(three), locking), ScriptError::Ok);
    EXPECT_EQ(last.signature_checks, 2u);
    EXPECT_EQ(open(ScriptBuilder{}.number(0).data(two).data(one), locking), ScriptError::NullFail);
    EXPECT_EQ(open(ScriptBuilder{}.number(0).data(one).data(one), locking), ScriptError::NullFail);
    EXPECT_EQ(open(ScriptBuilder{}.number(0).data(one).data(by(stranger, locking)), locking), ScriptError::NullFail);
    EXPECT_EQ(open(ScriptBuilder{}.number(0).data({}).data({}), locking), ScriptError::EvalFalse);
    EXPECT_EQ(open(ScriptBuilder{}.number(1).data(one).data(two), locking), ScriptError::SigNullDummy);
    EXPECT_EQ(open(ScriptBuilder{}.data(one).data(two), locking), ScriptError::InvalidStackOperation);
}

// 6.5.4
TEST_F(Locking, TwoSignaturesAndAfterFiveDaysOne) {
    const Bytes locking = lock(R"(
OP_IF
  2
  <hash_public_key_owner_1>
  <hash_public_key_owner_2>
  <hash_public_key_owner_3>
  3
  OP_CHECKMULTISIG
OP_ELSE
  5d
  OP_CHECKSEQUENCEVERIFY
  OP_DROP
  1
  <hash_public_key_owner_1>
  <hash_public_key_owner_2>
  <hash_public_key_owner_3>
  3
  OP_CHECKMULTISIG
OP_ENDIF)");
    EXPECT_EQ(locking,
              lock("either multisig 2 owner_1 owner_2 owner_3 or after 5d multisig 1 owner_1 owner_2 owner_3"));
    EXPECT_EQ(explain(locking).sentence, "any 2 of 3 keys; or, after 5 days, any 1 of 3 keys");
    const Bytes one = by(owner_1, locking), three = by(owner_3, locking);
    const auto together = ScriptBuilder{}.number(0).data(one).data(three).number(1);
    const auto alone = ScriptBuilder{}.number(0).data(three).number(0);
    EXPECT_EQ(open(together, locking), ScriptError::Ok);
    EXPECT_EQ(open(alone, locking), ScriptError::UnsatisfiedLocktime);
    host.sequence = days(5);
    EXPECT_EQ(open(alone, locking), ScriptError::Ok);
    EXPECT_EQ(open(together, locking), ScriptError::Ok);
    EXPECT_EQ(open(ScriptBuilder{}.number(0).data(one).data(three).number(2), locking), ScriptError::MinimalIf);
}

TEST_F(Locking, AnyNodeOfTheCluster) {
    const Bytes locking = lock("member");
    const auto unlocking = ScriptBuilder{}.data(by(owner_1, locking)).data(owner_1.key.bytes());
    EXPECT_EQ(open(unlocking, locking), ScriptError::NullFail);
    EXPECT_EQ(last.signature_checks, 0u) << "a stranger's signature is not worth looking at";
    EXPECT_TRUE(last.depends_on_block);
    host.members = {to_bytes(owner_2.key.bytes()), to_bytes(owner_1.key.bytes())};
    EXPECT_EQ(open(unlocking, locking), ScriptError::Ok);
    EXPECT_EQ(last.signature_checks, 1u);
    EXPECT_EQ(open(ScriptBuilder{}.data(by(stranger, locking)).data(owner_1.key.bytes()), locking),
              ScriptError::NullFail);
}

TEST_F(Locking, AWatchtowerSignsToo) {
    const Bytes locking = lock("cosigned watchtower either p2pkh admin or until 2027-01-01 member");
    host.members = {to_bytes(owner_1.key.bytes())};
    host.time = parse_moment("2026-12-31").value();
    const Bytes tower = by(watchtower, locking);
    EXPECT_EQ(open(ScriptBuilder{}.data(by(admin, locking)).data(admin.key.bytes()).number(1).data(tower), locking),
              ScriptError::Ok);
    EXPECT_FALSE(last.depends_on_block) << "the branch that asks about the block was not taken";
    EXPECT_EQ(open(ScriptBuilder{}.data(by(owner_1, locking)).data(owner_1.key.bytes()).number(0).data(tower), locking),
              ScriptError::Ok);
    EXPECT_TRUE(last.depends_on_block);
    EXPECT_EQ(open(ScriptBuilder{}.data(by(admin, locking)).data(admin.key.bytes()).number(1).data({}), locking),
              ScriptError::CheckSigVerify);
    EXPECT_EQ(open(ScriptBuilder{}.data(by(admin, locking)).data(admin.key.bytes()).number(1).data(by(admin, locking)),
                   locking),
              ScriptError::NullFail);
}

TEST_F(Locking, ADateHoldsUntilTheTransactionWaitsForIt) {
    const Bytes locking = lock("after 2027-01-01 p2pkh admin");
    const auto unlocking = ScriptBuilder{}.data(by(admin, locking)).data(admin.key.bytes());
    host.lock_time = static_cast<std::uint32_t>(parse_moment("2027-01-01").value());
    EXPECT_EQ(open(unlocking, locking), ScriptError::UnsatisfiedLocktime) << "a final input ignores the lock time";
    host.sequence = 0xffff'fffe;
    EXPECT_EQ(open(unlocking, locking), ScriptError::Ok);
    host.lock_time -= 1;
    EXPECT_EQ(open(unlocking, locking), ScriptError::UnsatisfiedLocktime);
    host.lock_time = 400'000'000;  // a height
    EXPECT_EQ(open(unlocking, locking), ScriptError::UnsatisfiedLocktime);
}

TEST_F(Locking, SignaturesCoverTheScriptFromTheLastSeparatorOn) {
    const Bytes locking = lock("<admin> OP_CHECKSIGVERIFY OP_CODESEPARATOR <owner_1> OP_CHECKSIG");
    const Bytes rest = lock("<owner_1> OP_CHECKSIG");
    EXPECT_EQ(open(ScriptBuilder{}.data(by(owner_1, rest)).data(by(admin, locking)), locking), ScriptError::Ok);
    EXPECT_EQ(open(ScriptBuilder{}.data(by(owner_1, locking)).data(by(admin, locking)), locking),
              ScriptError::NullFail);
}

}  // namespace
}  // namespace rhizome::script
