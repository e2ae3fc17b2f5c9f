// SPDX-License-Identifier: Apache-2.0
#include "consensus/fork_choice.h"

#include <tuple>

namespace rhizome::consensus {

std::strong_ordering operator<=>(const ChainRank& left, const ChainRank& right) {
    if (const auto order = std::tie(left.generation, left.final_epoch, left.justified_epoch, left.weight) <=>
                           std::tie(right.generation, right.final_epoch, right.justified_epoch, right.weight);
        order != std::strong_ordering::equal)
        return order;
    return right.tip <=> left.tip;
}

}  // namespace rhizome::consensus
