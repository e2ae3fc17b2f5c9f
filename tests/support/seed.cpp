// SPDX-License-Identifier: Apache-2.0
#include "support/seed.h"

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "base/ensure.h"
#include "base/random.h"

namespace rhizome::test {
namespace {

std::optional<std::uint64_t> asked_for() {
    const char* text = std::getenv("RHIZOME_TEST_SEED");
    if (text == nullptr || *text == '\0') return std::nullopt;
    const std::string_view digits{text};
    std::uint64_t number = 0;
    const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    ensure(failed == std::errc{} && end == digits.data() + digits.size(), "RHIZOME_TEST_SEED is a number");
    return number;
}

}  // namespace

std::uint64_t seed() { return asked_for().value_or(kUsualSeed); }

std::uint64_t seed_for(std::uint64_t usual) {
    const auto asked = asked_for();
    if (!asked) return usual;
    // A generator's output, for seeds beside each other must not give histories beside each other; and so small that it
    // can be counted on from and typed.
    return Random{*asked ^ Random{usual}.next()}.next() >> 16;
}

void seed_properties() {
    // RC_PARAMS is where RapidCheck looks; whoever sets it (to replay a case, to draw more of them) may name a seed,
    // too.
    const char* given = std::getenv("RC_PARAMS");
    std::string parameters = given == nullptr ? "" : given;
    if (parameters.find("seed=") != std::string::npos) return;
    if (!parameters.empty()) parameters += ' ';
    parameters += "seed=" + std::to_string(seed());
    ensure(::setenv("RC_PARAMS", parameters.c_str(), 1) == 0, "the environment takes a variable");
}

}  // namespace rhizome::test
