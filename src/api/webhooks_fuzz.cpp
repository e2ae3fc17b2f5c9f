// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include "api/webhooks.h"
#include "support/fuzz_target.h"

/// Whatever a webhook answers: read within bounds, and what becomes a header or a log line is one line.
FUZZ_TARGET(webhooks_fuzz) {
    using namespace rhizome;
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const auto said = json::parse(text, {.bytes = api::kAnswerBytesMax});
    if (!said) return 0;
    for (const bool mutates : {true, false}) {
        const api::Webhook hook{.name = "h.example.com", .mutates = mutates};
        const auto answer = api::read_admission(*said, "u", hook);
        if (!answer) continue;
        for (const std::string& warning : answer->warnings)
            ensure(warning.size() <= 256 && warning.find('\n') == std::string::npos, "a warning is one line");
        ensure(mutates || !answer->patch, "only mutating webhooks patch");
        ensure(answer->allowed || answer->denial.code >= 400, "a denial is no success");
    }
    (void)api::webhooks_of(*said, true);
    return 0;
}
