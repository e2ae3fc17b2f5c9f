// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "cli/console.h"
#include "cli/known_keys.h"
#include "script/tracer.h"
#include "script/verdict.h"

/// Scripts and their runs, for people and for programs; and scripts from what people typed.
namespace rhizome::cli {

/// The script that a text in either language says. A mistake is shown on stderr with its place, `what` names the
/// script.
Result<Bytes> compile_script(Console& console, std::string_view what, std::string_view text, const KnownKeys& keys);

std::string verdict_text(const script::Verdict& verdict, const Style& style);

/// One row a step, with the names of keys instead of their bytes.
std::string trace_table(const script::Trace& trace, ByteView unlocking, ByteView locking, const KnownKeys& keys,
                        const Console& console);

}  // namespace rhizome::cli
