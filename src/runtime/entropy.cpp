// SPDX-License-Identifier: Apache-2.0
#include "runtime/entropy.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/ensure.h"

namespace rhizome::runtime {

void fill_with_entropy(std::span<std::uint8_t> out) {
    while (!out.empty()) {
        const auto got = ::getrandom(out.data(), out.size(), 0);
        if (got < 0 && errno == EINTR) continue;
        ensure(got > 0, "the kernel gives no random bytes (getrandom)");
        out = out.subspan(static_cast<std::size_t>(got));
    }
}

std::uint64_t random_number() {
    std::array<std::uint8_t, sizeof(std::uint64_t)> bytes{};
    fill_with_entropy(bytes);
    std::uint64_t number = 0;
    std::memcpy(&number, bytes.data(), sizeof number);
    return number;
}

}  // namespace rhizome::runtime
