// SPDX-License-Identifier: Apache-2.0
#include "support/bench.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <unistd.h>

#include "runtime/memory.h"

namespace rhizome::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Figures {
    double value;
    double anchor;
    double ratio;
};

struct Registered {
    std::string name;
    std::string unit;
    std::string also_in;
    double aim;
    std::function<Figures()> measure;
};

std::vector<Registered>& registry() {
    static std::vector<Registered> all;
    return all;
}

double seconds_for(const Body& body, std::uint64_t times) {
    const auto start = Clock::now();
    body(times);
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// How many times make a round of about 20 ms: long enough to time, short enough that the other side's round right
/// after it meets the same machine.
std::uint64_t times_per_round(const Body& body) {
    body(1);  // untimed: whatever the body prepares at its first call
    std::uint64_t times = 1;
    for (;;) {
        const double took = seconds_for(body, times);
        if (took > 0.02 || times > (1u << 30)) return times;
        times = took > 0.002 ? static_cast<std::uint64_t>(static_cast<double>(times) * 0.022 / took) + 1 : times * 8;
    }
}

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

Figures measure(const Benchmark& benchmark) {
    constexpr int kRounds = 41;
    const std::uint64_t subject_times = times_per_round(benchmark.subject);
    const std::uint64_t anchor_times = times_per_round(benchmark.anchor);
    std::vector<double> values, anchors, ratios;
    for (int round = 0; round < kRounds; ++round) {
        // The side that goes first changes with every round, so that neither always meets a cold or a busy machine.
        double subject = 0, anchor = 0;
        if (round % 2 == 0) subject = seconds_for(benchmark.subject, subject_times);
        anchor = seconds_for(benchmark.anchor, anchor_times);
        if (round % 2 != 0) subject = seconds_for(benchmark.subject, subject_times);
        values.push_back(static_cast<double>(subject_times) * benchmark.units_each / subject);
        anchors.push_back(static_cast<double>(anchor_times) * benchmark.units_each / anchor);
        ratios.push_back(values.back() / anchors.back());
    }
    return {median(values), median(anchors), median(ratios)};
}

bool selected(const Registered& benchmark, const std::vector<std::string_view>& wanted) {
    const auto matches = [&](std::string_view prefix) {
        const std::string_view name = benchmark.name;
        return benchmark.also_in == prefix ||
               (name.starts_with(prefix) && (name.size() == prefix.size() || name[prefix.size()] == '.' ||
                                             prefix.find('.') != std::string_view::npos));
    };
    return wanted.empty() || std::any_of(wanted.begin(), wanted.end(), matches);
}

int run(const std::vector<std::string_view>& wanted, bool json) {
    std::sort(registry().begin(), registry().end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    const bool terminal = isatty(STDERR_FILENO) != 0;
    std::string lines;
    std::size_t count = 0;
    for (const Registered& benchmark : registry()) {
        if (!selected(benchmark, wanted)) continue;
        if (terminal) fmt::print(stderr, "\r\x1b[Kmeasuring {} …", benchmark.name);
        const Figures figures = benchmark.measure();
        const bool reached = figures.ratio >= benchmark.aim;
        if (json) {
            lines += fmt::format(
                R"({}  {{"name":"{}","unit":"{}","value":{:.1f},"anchor":{:.1f},"ratio":{:.3f},"aim":{:.3f},"reached":{}}})",
                count == 0 ? "" : ",\n", benchmark.name, benchmark.unit, figures.value, figures.anchor, figures.ratio,
                benchmark.aim, reached);
        } else {
            if (count == 0) {
                if (terminal) fmt::print(stderr, "\r\x1b[K");
                fmt::print("{:<36} {:>16} {:>16}  {:<12} {:>6} {:>6}\n", "NAME", "VALUE", "ANCHOR", "UNIT", "RATIO",
                           "AIM");
            }
            if (terminal) fmt::print(stderr, "\r\x1b[K");
            fmt::print("{:<36} {:>16.1f} {:>16.1f}  {:<12} {:>6.2f} {:>6.2f}{}\n", benchmark.name, figures.value,
                       figures.anchor, benchmark.unit, figures.ratio, benchmark.aim, reached ? "" : "  below aim");
        }
        std::fflush(stdout);
        ++count;
    }
    if (json) fmt::print("[\n{}\n]\n", lines);
    if (count == 0) {
        fmt::print(stderr, "no benchmark matches; there are:\n");
        for (const Registered& benchmark : registry()) fmt::print(stderr, "  {}\n", benchmark.name);
        return 2;
    }
    return 0;
}

}  // namespace

bool add(Benchmark benchmark) {
    registry().push_back({benchmark.name, benchmark.unit + "/s", benchmark.also_in, benchmark.aim,
                          [benchmark] { return measure(benchmark); }});
    return true;
}

bool add_figure(Figure figure) {
    registry().push_back({figure.name, figure.unit, figure.also_in, 1, [figure] {
                              const double value = figure.measure();
                              const double ratio = figure.at_most ? figure.required / value : value / figure.required;
                              return Figures{value, figure.required, ratio};
                          }});
    return true;
}

}  // namespace rhizome::bench

int main(int argc, char** argv) {
    rhizome::runtime::keep_memory_caches_small();  // as the program does
    std::vector<std::string_view> wanted;
    bool json = false;
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "-o") == 0 && i + 1 < argc) {
            const std::string_view format = argv[++i];
            if (format != "json" && format != "table") {
                fmt::print(stderr, "bench: unknown output format \"{}\"; use table or json\n", format);
                return 2;
            }
            json = format == "json";
        } else if (argv[i][0] == '-') {
            fmt::print(stderr, "usage: ./run bench [name…] [-o table|json]\n");
            return 2;
        } else {
            wanted.emplace_back(argv[i]);
        }
    }
    return rhizome::bench::run(wanted, json);
}
