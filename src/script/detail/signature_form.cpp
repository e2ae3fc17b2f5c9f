// SPDX-License-Identifier: Apache-2.0
#include "script/detail/signature_form.h"

#include <algorithm>
#include <array>

#include "crypto/keys.h"

namespace rhizome::script::detail {
namespace {

/// Bitcoin reads numbers that are too large as zero, which is low, and looks at S even when R is zero. Such signatures
/// are never good, but which rule refuses them first is part of the verdict.
bool has_high_s(ByteView der, const Result<crypto::Signature, crypto::SignatureFault>& parsed) {
    if (parsed) return !parsed->is_low_s();
    const bool r_is_zero = der[3] == 1 && der[4] == 0;  // 30 size 02 01 00 …
    if (!r_is_zero) return false;
    std::array<std::uint8_t, crypto::Signature::kDerSizeMax> copy{};
    std::copy(der.begin(), der.end(), copy.begin());
    copy[4] = 1;
    const auto with_other_r = crypto::Signature::from_der(ByteView{copy.data(), der.size()});
    return with_other_r && !with_other_r->is_low_s();
}

}  // namespace

ScriptError signature_form(ByteView signature, const Rules& rules) {
    if (signature.empty()) return ScriptError::Ok;
    if (rules.strict_der || rules.low_s || rules.strict_encoding) {
        const ByteView der = signature.first(signature.size() - 1);
        const auto parsed = crypto::Signature::from_der(der);
        if (!parsed && parsed.error() == crypto::SignatureFault::BadDer) return ScriptError::SigDer;
        if (rules.low_s && has_high_s(der, parsed)) return ScriptError::SigHighS;
    }
    const std::uint8_t hash_type = signature.back();
    constexpr std::uint8_t kAnyoneCanPay = 0x80;
    const unsigned kind = hash_type & ~unsigned{kAnyoneCanPay};
    if (rules.strict_encoding && (kind < 1 || kind > 3)) return ScriptError::SigHashtype;
    if (rules.hash_type_all && hash_type != 1) return ScriptError::SigHashtype;
    return ScriptError::Ok;
}

ScriptError key_form(ByteView key, const Rules& rules) {
    if (!rules.strict_encoding && !rules.compressed_keys) return ScriptError::Ok;
    const bool compressed = key.size() == 33 && (key[0] == 2 || key[0] == 3);
    const bool uncompressed = key.size() == 65 && key[0] == 4;
    return compressed || (uncompressed && !rules.compressed_keys) ? ScriptError::Ok : ScriptError::PubkeyType;
}

}  // namespace rhizome::script::detail
