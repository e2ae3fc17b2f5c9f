// SPDX-License-Identifier: Apache-2.0
// Any bytes as rules, unlocking and locking script: the interpreter and the naive one of the tests must agree.
#include <cstdio>
#include <cstdlib>

#include "support/fuzz_target.h"
#include "support/script_agreement.h"

FUZZ_TARGET(script_fuzz) {
    using namespace rhizome;
    constexpr std::size_t kFront = 6;  // two bytes of rules, a salt, a budget, two bytes of size
    if (size < kFront) return 0;
    const ByteView input{data, size};
    const std::uint32_t bits = input[0] | std::uint32_t{input[1]} << 8;
    const bool chain = bits == 0xffff;
    const script::Rules rules = chain ? script::kChainRules : test::rules_of(bits);
    const ByteView scripts = input.subspan(kFront);
    const std::size_t first = std::min<std::size_t>(input[4] | std::size_t{input[5]} << 8, scripts.size());
    if (const auto why = test::disagreement(scripts.first(first), scripts.subspan(first), rules, input[2], input[3])) {
        std::fprintf(stderr, "%s\n", why->c_str());
        std::abort();
    }
    return 0;
}
