// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

/// Benchmarks as ratios. This code runs on shared, noisy machines, where absolute times mean little; so each benchmark
/// runs its subject and an anchor (a bare library call, a plain loop) in turns within one run and compares the two.
namespace rhizome::bench {

/// Does its work `times` times. Results that nobody reads go through `keep`.
using Body = std::function<void(std::uint64_t times)>;

struct Benchmark {
    std::string name;       ///< `crypto.ecdsa_verify_1_thread`; selected by prefix on the command line
    std::string unit;       ///< what is counted per second: "verifies", "MB", "hashes"
    Body subject;           ///< our code
    Body anchor;            ///< what it is measured against
    double aim;             ///< the least ratio subject/anchor that we want
    double units_each = 1;  ///< units done by one time
    std::string also_in{};  ///< a second group that selects it, for figures that are read together
};

/// A figure that has a required value instead of an anchor to run beside it: bytes, a percentile, a rate that a
/// document promises. Printed like the others, with what is required as the anchor; the ratio is at least 1 where it is
/// kept.
struct Figure {
    std::string name;
    std::string unit;  ///< as printed: "updates/s", "µs"
    std::function<double()> measure;
    double required;
    bool at_most = false;  ///< the figure must not exceed `required`, and smaller is better
    std::string also_in{};
};

/// Registers at start-up: `const bool registered = add({…});` at namespace scope.
bool add(Benchmark benchmark);
bool add_figure(Figure figure);

/// Tells the optimiser that `value` is used.
template <class T>
inline void keep(const T& value) {
    asm volatile("" : : "r,m"(value) : "memory");
}

}  // namespace rhizome::bench
