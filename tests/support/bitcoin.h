// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "crypto/hash.h"
#include "script/interpreter.h"

/// What the public script vectors need of Bitcoin and our chain does not have: its transactions, its old signature
/// digest, its lax reading of signatures and keys, and P2SH. Test code only.
namespace rhizome::test::bitcoin {

struct TxIn {
    std::array<std::uint8_t, 32> previous{};
    std::uint32_t index = 0xffff'ffff;
    Bytes script{};
    std::uint32_t sequence = 0xffff'ffff;
};
struct TxOut {
    std::int64_t value = 0;
    Bytes script{};
};
struct Tx {
    std::uint32_t version = 1;
    std::vector<TxIn> inputs{};
    std::vector<TxOut> outputs{};
    std::uint32_t lock_time = 0;
};

std::optional<Tx> parse_tx(ByteView bytes);
Bytes serialize(const Tx& tx);

/// The digest that signatures covered before segregated witness. Code separators are left out of `script_code`.
crypto::Hash256 legacy_digest(const Tx& tx, ByteView script_code, std::size_t input, std::int32_t hash_type);

/// A transaction that pays to `locking`, and one that spends it with `unlocking`, as Bitcoin's script tests build them.
Tx credit_tx(ByteView locking);
Tx spend_tx(ByteView unlocking, const Tx& credit);

/// Answers for input 0 of a transaction.
class Host final : public script::Host {
public:
    explicit Host(const Tx& tx) : tx_(tx) {}
    [[nodiscard]] bool check_signature(const script::SignatureQuestion& question) const override;
    [[nodiscard]] bool check_lock_time(std::int64_t operand) const override;
    [[nodiscard]] bool check_sequence(std::int64_t operand) const override;
    [[nodiscard]] bool keeps_script_code(ByteView script_code, std::span<const ByteView> signatures) const override;

private:
    const Tx& tx_;
};

struct Flags {
    script::Rules rules{};
    bool p2sh = false;
};
/// `P2SH,STRICTENC`, or `NONE`; nothing for a flag that is not known. WITNESS and MINIMALIF, which concern witness
/// scripts only, are read over.
std::optional<Flags> parse_flags(std::string_view text);

/// Bitcoin's VerifyScript without witnesses.
script::Verdict verify_script(ByteView unlocking, ByteView locking, const Flags& flags, const script::Host& host);

}  // namespace rhizome::test::bitcoin
