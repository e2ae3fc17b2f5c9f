// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Recoveries on the smaller side of a cut, and the others coming back: a table of them.
namespace rhizome::sim {

/// How long the recovered chain is, beside the one that it takes back.
enum class BranchLength : std::uint8_t { Shorter, Equal, Longer };
/// How the machines of the larger side come back.
enum class ComingBack : std::uint8_t {
    OneByOne,
    Together,
    AfterAnother,  ///< recovery
    FromBelow,     ///< the chains part below what their disks and memories keep
};

struct RecoveryCase {
    std::uint64_t seed = 1;
    std::size_t machines = 3;
    BranchLength length = BranchLength::Shorter;
    ComingBack coming = ComingBack::Together;
    bool restart = false;  ///< the power of all fails soon after the heal, and again at the end

    [[nodiscard]] std::string describe() const;
};

/// What went wrong; empty when nothing did.
[[nodiscard]] std::string run_recovery(const RecoveryCase& recovery);

/// The table of docs/spec/chain.md section 8: each size, length, way and restart once.
[[nodiscard]] std::vector<RecoveryCase> recovery_table(std::uint64_t seed);

}  // namespace rhizome::sim
