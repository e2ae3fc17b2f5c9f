// SPDX-License-Identifier: Apache-2.0
#include "follow/unusual.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/ensure.h"
#include "state/path.h"

namespace rhizome::follow {
namespace {

/// Means move by a sixteenth of the difference: what was usual two minutes ago still counts for half.
constexpr std::uint64_t kMeanShare = 16;
/// Means are kept in 256ths, so that a subject with one change a minute has one.
constexpr std::uint64_t kScale = 256;
/// After so many empty slots nothing of a mean is left.
constexpr std::uint64_t kSlotsForgotten = 256;
/// Documents of a subject before their size is judged.
constexpr std::uint64_t kDocumentsLearnt = 16;

/// Sum of squared differences over 16 classes of 16 expected each. Divided by 16 it is chi-squared with 15 degrees of
/// freedom; beyond 44 it is chance once in ten thousand times.
constexpr std::uint64_t kSpreadMax = 44 * 16;

std::uint64_t moved_mean(std::uint64_t mean, std::uint64_t value) {
    const std::uint64_t scaled = value * kScale;
    return scaled >= mean ? mean + (scaled - mean) / kMeanShare : mean - (mean - scaled) / kMeanShare;
}

/// All documents of this kind in this namespace: the key without its last component. Keys end each component with a
/// zero byte.
std::string_view subject_key(std::string_view key) {
    if (key.size() < 2) return key;
    const std::size_t end = key.rfind('\0', key.size() - 2);
    return end == std::string_view::npos ? key : key.substr(0, end + 1);
}

std::string subject_text(std::string_view full_key) {
    const std::string text = state::Path::from_checked_key(full_key).text();
    const std::size_t slash = text.rfind('/');
    return slash == 0 || slash == std::string::npos ? text : text.substr(0, slash);
}

std::uint64_t spread_of(const std::vector<std::uint64_t>& nonces, unsigned shift) {
    std::array<std::uint64_t, 16> classes{};
    for (const std::uint64_t nonce : nonces) ++classes[nonce >> shift & 15u];
    const std::uint64_t expected = nonces.size() / classes.size();
    std::uint64_t sum = 0;
    for (const std::uint64_t count : classes) {
        const std::uint64_t off = count > expected ? count - expected : expected - count;
        sum += off * off;
    }
    return sum;
}

}  // namespace

std::string_view name(UnusualKind kind) {
    switch (kind) {
        case UnusualKind::Rate: return "rate";
        case UnusualKind::Size: return "size";
        case UnusualKind::Nonces: return "nonces";
        case UnusualKind::Pace: return "pace";
    }
    unreachable("an UnusualKind is one of four");
}

UsualWatch::Subject& UsualWatch::subject(std::string_view key, std::uint64_t slot) {
    auto found = subjects_.find(key);
    if (found == subjects_.end()) {
        if (subjects_.size() >= rules_.subjects_max) {
            const auto quietest =
                std::min_element(subjects_.begin(), subjects_.end(),
                                 [](const auto& a, const auto& b) { return a.second.slot < b.second.slot; });
            subjects_.erase(quietest);
        }
        found = subjects_.emplace(std::string{key}, Subject{.slot = slot}).first;
    }
    Subject& one = found->second;
    // Blocks of another branch may be older than what was counted: they belong to the slot that is open.
    if (slot > one.slot) {
        one.mean = moved_mean(one.mean, one.changes);
        const std::uint64_t empty = slot - one.slot - 1;
        if (empty >= kSlotsForgotten) one.mean = 0;
        for (std::uint64_t i = 0; i < std::min(empty, kSlotsForgotten) && one.mean > 0; ++i)
            one.mean = moved_mean(one.mean, 0);
        one.slot = slot;
        one.changes = 0;
        one.flooded = false;
    }
    return one;
}

void UsualWatch::note(UnusualKind kind, Subject* about, std::string_view key, Time at, std::string what,
                      std::vector<Unusual>& out) {
    ++counts_[static_cast<std::size_t>(kind)];
    Time& told = about == nullptr ? pace_told_ : about->told;
    if (told != Time{} && at - told < rules_.quiet) return;
    told = at;
    out.push_back({.kind = kind, .at = at, .subject = std::string{key}, .what = std::move(what)});
}

std::vector<Unusual> UsualWatch::changed(Time at, const state::Delta& delta) {
    std::vector<Unusual> out;
    const auto slot =
        static_cast<std::uint64_t>(std::max<std::int64_t>(0, at.unix_millis() / (rules_.slot.count() * 1'000)));
    const state::Prefix documents = state::Prefix::documents();
    for (const state::Change& change : delta.changes()) {
        const std::string_view key = change.key();
        if (!documents.covers(key)) continue;
        Subject& one = subject(subject_key(key), slot);
        ++one.changes;
        if (!one.flooded && one.changes > rules_.changes_least && one.changes * kScale > one.mean * rules_.rate_times) {
            one.flooded = true;
            const std::string where = subject_text(key);
            note(UnusualKind::Rate, &one, where, at,
                 fmt::format("more than {} changes below {} within {} s; {} are usual", one.changes - 1, where,
                             rules_.slot.count(), one.mean / kScale),
                 out);
        }
        if (!change.after) continue;
        const std::uint64_t bytes = change.after->document().size();
        if (one.documents >= kDocumentsLearnt && bytes > rules_.bytes_least &&
            bytes * kScale > one.bytes_mean * rules_.size_times) {
            note(UnusualKind::Size, &one, subject_text(key), at,
                 fmt::format("{} has {} bytes; {} are usual of its kind there",
                             state::Path::from_checked_key(key).text(), bytes, one.bytes_mean / kScale),
                 out);
        }
        one.bytes_mean = one.documents == 0 ? bytes * kScale : moved_mean(one.bytes_mean, bytes);
        ++one.documents;
    }
    return out;
}

std::vector<Unusual> UsualWatch::worked(Time at, std::uint64_t nonce, milliseconds wanted) {
    std::vector<Unusual> out;
    nonces_.push_back(nonce);
    if (nonces_.size() == kNonces) {
        // Whoever searches alone counts upwards from anywhere: the lower digits of what is found are even chances.
        if (std::max(spread_of(nonces_, 0), spread_of(nonces_, 4)) > kSpreadMax)
            note(UnusualKind::Nonces, nullptr, "", at,
                 fmt::format(
                     "the nonces of the last {} blocks are not spread evenly: some of the machines that mine may "
                     "share out the search",
                     kNonces),
                 out);
        nonces_.clear();
    }
    times_.push_back(at);
    if (times_.size() > kPaceBlocks) {
        const auto took = std::chrono::duration_cast<milliseconds>(times_.back() - times_.front());
        times_.pop_front();
        if (took * 3 < wanted * static_cast<std::int64_t>(kPaceBlocks)) {
            note(UnusualKind::Pace, nullptr, "", at,
                 fmt::format("the last {} blocks took {} s instead of about {} s: more machines mine than the target "
                             "was made for",
                             kPaceBlocks, took.count() / 1'000,
                             wanted.count() * static_cast<std::int64_t>(kPaceBlocks) / 1'000),
                 out);
            times_.clear();  // judged again when as many new ones have come
        }
    }
    return out;
}

}  // namespace rhizome::follow
