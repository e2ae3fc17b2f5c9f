// SPDX-License-Identifier: Apache-2.0
// Any text is assembled or refused with a place inside it; any bytes are printed so that they assemble back.
#include <cstdio>
#include <cstdlib>

#include "script/assembler.h"
#include "script/explain.h"
#include "script/template.h"
#include "support/fuzz_target.h"

namespace {

void check(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "%s\n", what);
    std::abort();
}

}  // namespace

FUZZ_TARGET(assembler_fuzz) {
    using namespace rhizome;
    const ByteView input{data, size};
    const auto back = script::assemble(script::disassemble(input));
    check(back && *back == to_bytes(input), "a printed script does not assemble back");
    static_cast<void>(script::explain(input));

    const std::string_view text = as_text(input);
    for (const auto& made : {script::assemble(text), script::compile(text)}) {
        if (made) continue;
        check(made.error().line >= 1 && made.error().column >= 1 && !made.error().message.empty(),
              "a fault has no place");
        check(!script::point_at(text, made.error()).empty(), "a fault cannot be pointed at");
    }
    if (const auto policy = script::parse_template(text); policy && script::compile(text)) {
        const auto known = script::recognise(script::compile(*policy));
        check(known.has_value() && *known == *policy, "a template is not recognised after it was compiled");
        const auto again = script::parse_template(script::to_text(*policy));
        check(again && *again == *policy, "a template does not read what it prints");
    }
    return 0;
}
