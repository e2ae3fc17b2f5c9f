// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "base/bytes.h"
#include "base/ensure.h"
#include "script/script.h"

namespace rhizome::script {

/// The two stacks of a run, without allocating. An item is a view: of the script that pushed it, of a constant, or of
/// bytes kept in here; so copying and moving items moves no bytes.
///
/// Scripts whose data was pushed outlive the stack. About 40 KB, of which a run touches what it uses; cheap to make,
/// since nothing is cleared.
class Stack {
public:
    Stack() {}  // NOLINT(modernize-use-equals-default): `= default` would clear the arrays on value-initialisation
    Stack(const Stack&) = delete;
    Stack& operator=(const Stack&) = delete;

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::size_t alt_size() const { return alt_size_; }
    /// Both stacks together: what the limit is about.
    [[nodiscard]] std::size_t total() const { return size_ + alt_size_; }

    /// The item `depth` places below the top, which is 0.
    [[nodiscard]] ByteView top(std::size_t depth = 0) const {
        ensure(depth < size_, "the item is there");
        return items_[size_ - 1 - depth].view();
    }
    /// The item `place` places above the bottom, which is 0.
    [[nodiscard]] ByteView at(std::size_t place) const { return top(size_ - 1 - place); }
    [[nodiscard]] ByteView alt_at(std::size_t place) const {
        ensure(place < alt_size_, "the item is there");
        return items_[kItems - 1 - place].view();
    }

    /// Pushes bytes that outlive the stack.
    void push(ByteView borrowed) {
        ensure(total() < kItems, "instructions push at most three items before the limit is looked at");
        items_[size_++] = Item{borrowed.data(), borrowed.size()};
    }
    void push(bool value) { push(value ? ByteView{kOne} : ByteView{}); }
    /// Pushes a copy of at most 32 bytes: a number or a hash.
    void push_copy(ByteView bytes);
    void push_number(std::int64_t number);

    void pop(std::size_t count = 1) {
        ensure(count <= size_, "the items are there");
        size_ -= count;
    }
    /// Puts a copy of the top item in front of the item `depth` places below it.
    void tuck(std::size_t depth);
    /// Moves the item `depth` places below the top to the top.
    void raise(std::size_t depth);
    void swap(std::size_t depth_a, std::size_t depth_b);

    void to_alt();
    void from_alt();
    /// The alternative stack ends with the script that used it.
    void clear_alt() { alt_size_ = 0; }

private:
    static constexpr std::array<std::uint8_t, 1> kOne{1};
    /// An instruction pushes at most three before the limit is looked at (3DUP).
    static constexpr std::size_t kItems = kStackItemsMax + 3;
    /// Only counted instructions make bytes, at most 32 each; a stack sees at most three scripts (the third in
    /// Bitcoin's P2SH, which the tests run).
    static constexpr std::size_t kMadeBytes = 3 * kOperationsMax * 32;

    struct Item {
        const std::uint8_t* data;
        std::size_t size;
        [[nodiscard]] ByteView view() const { return {data, size}; }
    };

    std::size_t size_ = 0;
    std::size_t alt_size_ = 0;
    std::size_t made_ = 0;
    std::array<Item, kItems> items_;  ///< the main stack from the front, the other from the end
    std::array<std::uint8_t, kMadeBytes> bytes_;
};

}  // namespace rhizome::script
