// SPDX-License-Identifier: Apache-2.0
#include "ledger/tx_host.h"

#include <algorithm>

#include "ledger/chain_records.h"
#include "script/locks.h"

namespace rhizome::ledger {

bool TxHost::check_signature(const script::SignatureQuestion& question) const {
    const ByteView der = question.signature.first(question.signature.size() - 1);  // the last byte is the hash type
    const crypto::Hash256 digest = signature_digest(tx_, place_.chain, input_, question.script_code, spent_);
    const auto key = SignatureCache::key_of(digest, question.key, der);
    if (cache_.contains(key)) return true;
    // A script that checks one signature again and again pays for it once.
    if (!found_.empty() && found_.back() == key) return true;
    const auto good =
        keys_ != nullptr ? keys_->verify_der(question.key, digest, der) : crypto::verify_der(question.key, digest, der);
    if (!good) return false;
    found_.push_back(key);
    return true;
}

bool TxHost::check_lock_time(std::int64_t operand) const {
    // Bitcoin ignores the lock time of a transaction whose inputs are all final; here it always holds (`decide`), so
    // the sequence says nothing about it.
    return script::waits_for(operand, tx_.tx.lock_time, 0);
}

bool TxHost::check_sequence(std::int64_t operand) const {
    return script::waits_as_long_as(operand, tx_.tx.inputs[input_].sequence);
}

bool TxHost::check_expiry(std::int64_t operand) const {
    return script::before_expiry(operand, static_cast<std::int64_t>(place_.height.number()),
                                 place_.time.unix_seconds());
}

bool TxHost::is_member(ByteView key) const {
    MemberKey member{};
    if (key.size() != member.size()) return false;
    std::copy(key.begin(), key.end(), member.begin());
    return parent_.contains(records::member(member));
}

}  // namespace rhizome::ledger
