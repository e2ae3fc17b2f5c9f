// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace rhizome::state {
class Entry;
}

namespace rhizome::state::detail {

struct Inner;

/// An inner node or an entry; which one is told by the lowest bit of the pointer, without a look at the memory. Owns
/// nothing: whoever stores one keeps the count. Private to state; public headers use it for members only.
class NodeRef {
public:
    NodeRef() = default;
    explicit NodeRef(const Entry* entry) : bits_(std::bit_cast<std::uintptr_t>(entry) | 1) {}
    explicit NodeRef(Inner* inner) : bits_(std::bit_cast<std::uintptr_t>(inner)) {}

    explicit operator bool() const { return bits_ != 0; }
    [[nodiscard]] bool is_leaf() const { return (bits_ & 1) != 0; }
    [[nodiscard]] const Entry* leaf() const { return std::bit_cast<const Entry*>(bits_ & ~std::uintptr_t{1}); }
    [[nodiscard]] Inner* inner() const { return std::bit_cast<Inner*>(bits_); }
    friend bool operator==(NodeRef, NodeRef) = default;

private:
    std::uintptr_t bits_ = 0;
};

}  // namespace rhizome::state::detail
