// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <algorithm>

#include <fmt/core.h>

#include "cli/print.h"

namespace rhizome::cli {
namespace {

constexpr auto kFirst = std::chrono::milliseconds{500};
constexpr auto kBetween = std::chrono::milliseconds{100};
constexpr auto kEstimate = std::chrono::seconds{3};  // before that the pace says little
constexpr std::uint64_t kBarColumns = 24;
constexpr std::string_view kSpinner = "|/-\\";  // letters that every terminal and font has

}  // namespace

Progress::Progress(Console& console, std::string label, std::optional<std::uint64_t> total)
    : console_(console),
      label_(std::move(label)),
      total_(total),
      begun_(console.instant_now()),
      next_draw_(begun_ + kFirst) {}

Progress::~Progress() {
    if (drawn_) console_.err << "\r\x1b[K" << std::flush;
}

void Progress::advance(std::uint64_t steps) {
    done_ += steps;
    if (!console_.err_is_terminal) return;
    const auto now = console_.instant_now();
    if (now < next_draw_) return;
    next_draw_ = now + kBetween;
    draw();
}

void Progress::draw() {
    drawn_ = true;
    std::string line = "\r" + label_ + " ";
    if (total_) {
        // Large ones lose their last digits, so that a product with 100 fits.
        const unsigned shift = *total_ >> 56 != 0 ? 8 : 0;
        const auto total = *total_ >> shift;
        const auto part = std::min(done_ >> shift, total);
        const auto share = [&](std::uint64_t of) { return total == 0 ? of : part * of / total; };
        const auto full = share(kBarColumns);
        line += "[" + console_.err_style.paint(Tone::Good, std::string(full, '#')) +
                std::string(kBarColumns - full, '.') + fmt::format("] {:>3}%", share(100));
        const auto spent = console_.instant_now() - begun_;
        const unsigned fewer = total >> 32 != 0 ? 24 : 0;  // so that a product with milliseconds fits
        const auto rest = (total - part) >> fewer;
        if (spent >= kEstimate && part >> fewer != 0 && rest != 0) {
            const auto spent_ms = std::chrono::duration_cast<std::chrono::milliseconds>(spent).count();
            const auto left_ms = static_cast<std::uint64_t>(spent_ms) * rest / (part >> fewer);
            line += " " + age_text(std::chrono::milliseconds{static_cast<std::int64_t>(left_ms)}) + " left";
        }
    } else {
        line += fmt::format("{} {}", kSpinner[frame_ % kSpinner.size()], done_);
    }
    if (!note_.empty()) line += ", " + note_;
    ++frame_;
    console_.err << line << "\x1b[K" << std::flush;
}

}  // namespace rhizome::cli
