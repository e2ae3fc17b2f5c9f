// SPDX-License-Identifier: Apache-2.0
#include "cluster/ownership.h"

#include <algorithm>

#include "state/document.h"

namespace rhizome::cluster {

std::vector<std::string> order_of(std::string_view object_uid, std::span<const std::string> nodes) {
    struct Weighed {
        state::Hash256 weight;
        std::string node;
        bool operator<(const Weighed& other) const {
            return weight != other.weight ? other.weight < weight : node < other.node;
        }
    };
    std::vector<Weighed> weighed;
    for (const std::string& node : nodes) {
        // A zero byte between the two: no uid and name run into each other.
        std::string text = "rhizome/ownership/1";
        text.push_back('\0');
        text += object_uid;
        text.push_back('\0');
        text += node;
        weighed.push_back({crypto::sha256(as_bytes(text)), node});
    }
    std::sort(weighed.begin(), weighed.end());
    std::vector<std::string> order;
    for (Weighed& one : weighed)
        if (order.empty() || order.back() != one.node) order.push_back(std::move(one.node));
    return order;
}

std::optional<std::size_t> rank_of(std::string_view object_uid, std::span<const std::string> nodes,
                                   std::string_view node) {
    const auto order = order_of(object_uid, nodes);
    const auto at = std::find(order.begin(), order.end(), node);
    if (at == order.end()) return std::nullopt;
    return static_cast<std::size_t>(at - order.begin());
}

}  // namespace rhizome::cluster
