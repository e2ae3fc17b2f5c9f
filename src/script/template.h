// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "script/key_resolver.h"
#include "script/policy.h"
#include "script/text_fault.h"

/// Locking scripts by their purpose, for people who do not want to write instructions:
///
///   p2pkh WHO                   whoever has this key; WHO is a key's name, a key or an address in hexadecimal
///   p2pk KEY                    the same, with the key itself in the script
///   multisig M KEY…             any M of these keys, up to 20
///   member                      any node of this cluster
///   after WHEN POLICY           POLICY, once it is time: 5d, 10 blocks, 2027-01-01, a height
///   until WHEN POLICY           POLICY, as long as it is not yet time: 2027-01-01, a height
///   either POLICY or POLICY     one of them; `or` may be repeated
///   cosigned WHO POLICY         POLICY, and WHO signs too
///   ( POLICY )
///
/// `either multisig 2 alice bob carol or after 5d multisig 1 alice bob carol` is 6.5.4 of the thesis.
namespace rhizome::script {

Result<Policy, TextFault> parse_template(std::string_view text, const KeyResolver* keys = nullptr);

/// Text that `parse_template` turns into the same policy, with keys in hexadecimal.
std::string to_text(const Policy& policy);

/// Whether a text begins with a word of the template language; else it is assembly.
[[nodiscard]] bool is_template(std::string_view text);

/// A script from either language. A template whose script would break a limit is refused.
Result<Bytes, TextFault> compile(std::string_view text, const KeyResolver* keys = nullptr);

}  // namespace rhizome::script
