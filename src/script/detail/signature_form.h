// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/bytes.h"
#include "script/interpreter.h"

namespace rhizome::script::detail {

/// What the rules say about the form of a signature with its hash type; whether it is good is the host's answer. An
/// empty one has no form to look at.
ScriptError signature_form(ByteView signature, const Rules& rules);

ScriptError key_form(ByteView key, const Rules& rules);

}  // namespace rhizome::script::detail
