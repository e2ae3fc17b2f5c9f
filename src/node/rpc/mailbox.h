// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>

#include "stream/timers.h"

namespace rhizome::node::rpc {

/// A row of things that come from another strand, for one task that waits for them.
template <class T>
struct Mailbox {
    explicit Mailbox(const stream::Strand& strand_in) : strand(strand_in), came(strand_in) {}
    stream::Strand strand;
    stream::Event came;
    std::deque<T> waiting{};
    bool overflowed = false;
};

/// From any thread. The box is kept alive on the way; with `most` in it already, the rest is lost and it says so.
template <class T>
void put(const std::shared_ptr<Mailbox<T>>& box, T what, std::size_t most) {
    box->strand.post([box, what = std::move(what), most]() mutable {
        if (box->waiting.size() >= most) {
            box->overflowed = true;
        } else {
            box->waiting.push_back(std::move(what));
        }
        box->came.set();
    });
}

}  // namespace rhizome::node::rpc
