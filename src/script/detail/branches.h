// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>

namespace rhizome::script::detail {

/// Which branches of the open IFs are taken. Only two numbers matter: how many are open, and the outermost that is not
/// taken; so a script of nothing but IFs costs no more than any other.
class Branches {
public:
    [[nodiscard]] bool taken() const { return first_skipped_ == kNone; }
    [[nodiscard]] std::size_t open() const { return open_; }
    void enter(bool take) {
        if (!take && taken()) first_skipped_ = open_;
        ++open_;
    }
    void turn() {
        if (taken()) {
            first_skipped_ = open_ - 1;
        } else if (first_skipped_ == open_ - 1) {
            first_skipped_ = kNone;
        }
    }
    void leave() {
        --open_;
        if (first_skipped_ == open_) first_skipped_ = kNone;
    }

private:
    static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
    std::size_t open_ = 0;
    std::size_t first_skipped_ = kNone;
};

}  // namespace rhizome::script::detail
