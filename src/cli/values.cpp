// SPDX-License-Identifier: Apache-2.0
#include "cli/values.h"

#include <charconv>
#include <limits>

#include <fmt/core.h>

#include "base/time.h"
#include "cli/text.h"
#include "script/assembler.h"

namespace rhizome::cli {

Result<std::uint64_t> whole_number(const Invocation& call, std::string_view option, std::uint64_t most) {
    const std::string text = call.text(option);
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number > most) {
        return fail(ErrorKind::Usage,
                    fmt::format("--{} {} is not a number from 0 to {}", option, printable(text), most));
    }
    return number;
}

Result<std::uint32_t> lock_number(const Invocation& call, std::string_view option) {
    const std::string text = call.text(option);
    if (const auto moment = script::parse_moment(text);
        moment && *moment <= std::numeric_limits<std::uint32_t>::max()) {
        return static_cast<std::uint32_t>(*moment);
    }
    if (const auto wait = parse_duration(text); wait && option == "sequence") {
        if (const auto operand = script::relative_lock(*wait)) return static_cast<std::uint32_t>(*operand);
    }
    TRY(const std::uint64_t number, whole_number(call, option, std::numeric_limits<std::uint32_t>::max()));
    return static_cast<std::uint32_t>(number);
}

}  // namespace rhizome::cli
