// SPDX-License-Identifier: Apache-2.0
#include "script/host.h"

namespace rhizome::script {

bool Host::check_signature(const SignatureQuestion& /*question*/) const { return false; }
bool Host::check_lock_time(std::int64_t /*operand*/) const { return false; }
bool Host::check_sequence(std::int64_t /*operand*/) const { return false; }
bool Host::check_expiry(std::int64_t /*operand*/) const { return false; }
bool Host::is_member(ByteView /*key*/) const { return false; }
bool Host::keeps_script_code(ByteView /*script_code*/, std::span<const ByteView> /*signatures*/) const { return true; }

}  // namespace rhizome::script
