// SPDX-License-Identifier: Apache-2.0
#include "script/stack.h"

#include <algorithm>
#include <utility>

namespace rhizome::script {

void Stack::push_copy(ByteView bytes) {
    ensure(bytes.size() <= kMadeBytes - made_, "operations are counted, so the bytes they make are");
    if (!bytes.empty()) std::memcpy(bytes_.data() + made_, bytes.data(), bytes.size());
    const ByteView kept{bytes_.data() + made_, bytes.size()};
    made_ += bytes.size();
    push(kept);
}

void Stack::push_number(std::int64_t number) { push_copy(NumberItem{number}.view()); }

void Stack::tuck(std::size_t depth) {
    ensure(depth < size_ && total() < kItems, "the items are there");
    const Item top = items_[size_ - 1];
    Item* const place = items_.data() + (size_ - 1 - depth);
    std::move_backward(place, items_.data() + size_, items_.data() + size_ + 1);
    *place = top;
    ++size_;
}

void Stack::raise(std::size_t depth) {
    ensure(depth < size_, "the item is there");
    Item* const place = items_.data() + (size_ - 1 - depth);
    std::rotate(place, place + 1, items_.data() + size_);
}

void Stack::swap(std::size_t depth_a, std::size_t depth_b) {
    ensure(depth_a < size_ && depth_b < size_, "the items are there");
    std::swap(items_[size_ - 1 - depth_a], items_[size_ - 1 - depth_b]);
}

void Stack::to_alt() {
    ensure(size_ > 0, "the item is there");
    const Item top = items_[--size_];
    items_[kItems - 1 - alt_size_++] = top;
}

void Stack::from_alt() {
    ensure(alt_size_ > 0, "the item is there");
    const Item top = items_[kItems - 1 - --alt_size_];
    items_[size_++] = top;
}

}  // namespace rhizome::script
