// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "crypto/keys.h"
#include "script/interpreter.h"
#include "script/key_resolver.h"
#include "script/locks.h"

/// People with real keys, and a transaction that consists of nothing but what scripts ask about. For tests of locking
/// scripts from end to end, before there are transactions.
namespace rhizome::test {

/// A key pair made of a name.
struct Person {
    explicit Person(std::string_view name_in)
        : name(name_in),
          secret(*crypto::SecretKey::from_bytes(crypto::sha256(as_bytes(name_in)).view())),
          key(secret.public_key()) {}

    std::string name;
    crypto::SecretKey secret;
    crypto::PublicKey key;
};

/// Signatures cover H("rhizome script test" ‖ script code), so a signature for one script is none for another.
class SigningHost final : public script::Host {
public:
    std::uint32_t lock_time = 0;
    std::uint32_t sequence = script::kSequenceFinal;
    std::int64_t height = 0;
    std::int64_t time = 0;
    std::vector<Bytes> members{};

    static crypto::Digest digest(ByteView script_code) {
        return crypto::sha256(as_bytes("rhizome script test"), script_code);
    }
    /// What stands in an unlocking script: DER and the hash type ALL.
    static Bytes sign(const Person& person, ByteView script_code) {
        Bytes signature = crypto::sign(person.secret, digest(script_code)).to_der();
        signature.push_back(1);
        return signature;
    }

    [[nodiscard]] bool check_signature(const script::SignatureQuestion& question) const override {
        const ByteView der = question.signature.first(question.signature.size() - 1);
        return crypto::verify_der(question.key, digest(question.script_code), der).has_value();
    }
    [[nodiscard]] bool check_lock_time(std::int64_t operand) const override {
        return script::waits_for(operand, lock_time, sequence);
    }
    [[nodiscard]] bool check_sequence(std::int64_t operand) const override {
        return script::waits_as_long_as(operand, sequence);
    }
    [[nodiscard]] bool check_expiry(std::int64_t operand) const override {
        return script::before_expiry(operand, height, time);
    }
    [[nodiscard]] bool is_member(ByteView key) const override {
        return std::find(members.begin(), members.end(), to_bytes(key)) != members.end();
    }
};

class People final : public script::KeyResolver {
public:
    explicit People(std::vector<const Person*> people) : people_(std::move(people)) {}
    [[nodiscard]] std::optional<crypto::PublicKey> find(std::string_view name) const override {
        for (const Person* person : people_) {
            if (person->name == name) return person->key;
        }
        return std::nullopt;
    }
    [[nodiscard]] std::vector<std::string> names() const override {
        std::vector<std::string> all;
        for (const Person* person : people_) all.push_back(person->name);
        return all;
    }

private:
    std::vector<const Person*> people_;
};

}  // namespace rhizome::test
