// SPDX-License-Identifier: Apache-2.0
#include "p2p/eviction.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace rhizome::p2p {
namespace {

constexpr std::size_t kOldest = 2;
constexpr std::size_t kNearest = 2;
constexpr std::size_t kUseful = 2;
constexpr std::size_t kGroups = 4;

}  // namespace

std::optional<LinkId> choose_eviction(std::vector<Evictable> links) {
    std::set<LinkId> stay;
    const auto protect = [&](std::size_t count, auto counts, auto before) {
        std::sort(links.begin(), links.end(), before);
        for (const Evictable& link : links)
            if (count > 0 && counts(link)) {
                stay.insert(link.link);
                --count;
            }
    };
    const auto all = [](const Evictable&) { return true; };
    const auto older = [](const Evictable& left, const Evictable& right) {
        return std::tie(left.since, left.link) < std::tie(right.since, right.link);
    };
    protect(
        kNearest, [](const Evictable& link) { return link.ping.has_value(); },
        [](const Evictable& left, const Evictable& right) {
            return std::tuple{left.ping.value_or(microseconds::max()), left.link} <
                   std::tuple{right.ping.value_or(microseconds::max()), right.link};
        });
    protect(
        kUseful, [](const Evictable& link) { return link.active > Time{}; },
        [](const Evictable& left, const Evictable& right) {
            return std::tie(right.active, left.link) < std::tie(left.active, right.link);
        });
    protect(kOldest, all, older);
    std::set<AddressGroup> seen;
    protect(
        kGroups, [&](const Evictable& link) { return seen.insert(link.group).second; }, older);

    std::erase_if(links, [&](const Evictable& link) { return stay.contains(link.link); });
    if (links.empty()) return std::nullopt;
    std::map<AddressGroup, std::size_t> sizes;
    for (const Evictable& link : links) ++sizes[link.group];
    return std::max_element(links.begin(), links.end(),
                            [&](const Evictable& left, const Evictable& right) {
                                return std::tuple{sizes[left.group], left.since, left.link} <
                                       std::tuple{sizes[right.group], right.since, right.link};
                            })
        ->link;
}

}  // namespace rhizome::p2p
