// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "stream/stream.h"

namespace rhizome::stream::detail {

/// `cannot <doing>: <what the system says>`, with a kind for programs.
Error socket_error(std::string_view doing, int number);

/// The address a system structure holds (sockaddr of `size` bytes).
Address address_of(const void* sockaddr, std::size_t size);

/// Waits on a descriptor with deadlines, one waiter for each direction. The one place that asks Asio about sockets:
/// all bytes move by plain system calls that never block.
class Poller {
public:
    enum class Side : unsigned char { Read, Write };

    /// Owns `descriptor`, which is set to not block.
    Poller(const Strand& strand, int descriptor);
    ~Poller();
    Poller(const Poller&) = delete;
    Poller& operator=(const Poller&) = delete;

    /// Until the descriptor is ready for that side, its deadline passes, or `close`.
    Task<Result<void>> wait(Side side);
    void set_deadline(Side side, Deadline deadline);
    [[nodiscard]] bool expired(Side side) const;
    void close();

    [[nodiscard]] int descriptor() const;  ///< -1 once closed
    [[nodiscard]] const Strand& strand() const;

private:
    struct Core;
    std::shared_ptr<Core> core_;
};

/// A stream over a connected socket. `keep` is dropped with the stream: whoever counts connections learns of it.
std::unique_ptr<Stream> make_socket_stream(const Strand& strand, int descriptor, Address peer,
                                           std::shared_ptr<void> keep);

/// Until a socket stream made above can be written to: how a connection that is being made becomes one.
Task<Result<void>> wait_writable(Stream& socket_stream);

}  // namespace rhizome::stream::detail
