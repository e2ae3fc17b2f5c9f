// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/log.h"
#include "net/transport_identity.h"
#include "p2p/frame.h"
#include "stream/tcp.h"

namespace rhizome::net {

/// Never used again in one run.
using LinkNumber = std::uint64_t;

struct LinkOptions {
    std::vector<stream::Address> listen{};  ///< numbers; port 0 chooses one; empty: only dials
    std::size_t connections_max = 512;      ///< that came from outside, handshakes included
    /// For TCP alone: the kernel knocks again after one, three and seven seconds, and a fresh dial knocks at once.
    milliseconds connect_time{4'000};
    /// Of those, how many of one host may be at their handshake: one that opens connections and says nothing holds up
    /// itself and nobody else. More are closed at once.
    std::size_t host_handshakes_max = 64;
    milliseconds handshake_time{10'000};
    milliseconds write_time{30'000};            ///< for a peer to take what waits for it
    milliseconds frame_time{60'000};            ///< for a frame that was begun
    std::size_t unsent_bytes_max = 24u << 20;   ///< that wait for one slow peer; more and it is dropped
    std::size_t unheard_bytes_max = 16u << 20;  ///< of one peer that wait for us; then nothing more is read of it
    Log log{};
};

/// Who is told about links, on the strand it gave.
class LinkOwner {
public:
    virtual ~LinkOwner() = default;
    /// The handshake is done and the peer has shown who it is.
    virtual void linked(LinkNumber link, bool dialled, const stream::Address& remote, const ChainKey& identity) = 0;
    virtual void dial_failed(const stream::Address& address, const Error& why) = 0;
    /// One payload, type first. `heard` returns before the next of the same link is given.
    virtual void heard(LinkNumber link, Bytes payload) = 0;
    /// It sent what is no frame: nobody knows where to read on. `closed` follows.
    virtual void broke(LinkNumber, const Error&) {}
    /// It is gone, for whatever reason, also ours. The last that is said of it.
    virtual void closed(LinkNumber link, const std::string& why) = 0;
};

/// Encrypted links to other nodes: TLS 1.3 over TCP, both sides with certificates, frames of bounded size. A slow peer
/// is dropped rather than waited for, a fast one is read no faster than it is heard. Called on the owner's strand.
class Links {
public:
    static Result<std::unique_ptr<Links>> start(stream::IoContext& io, const stream::Strand& strand,
                                                LinkOptions options, const crypto::NodeKeys& keys,
                                                p2p::FrameLimit limit_of, LinkOwner& owner);
    /// Ends all links; nobody is told any more. Not from a task, and not on the owner's strand.
    void stop();
    ~Links();
    Links(const Links&) = delete;
    Links& operator=(const Links&) = delete;

    /// Where it listens, with the ports chosen. Any thread.
    [[nodiscard]] const std::vector<stream::Address>& addresses() const;

    /// Ends with `linked` or `dial_failed`. A peer other than the expected one is a failure.
    void dial(const stream::Address& address, std::optional<ChainKey> expected);
    /// A whole frame (`p2p::frame_of`), shared by all who get it.
    void send(LinkNumber link, std::shared_ptr<const Bytes> frame);
    /// After what was sent before has left, or the time for that is over.
    void close(LinkNumber link, std::string why);

    struct Inside;

private:
    explicit Links(std::shared_ptr<Inside> inside);
    std::shared_ptr<Inside> inside_;
};

}  // namespace rhizome::net
