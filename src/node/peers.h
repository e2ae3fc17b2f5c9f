// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "net/links.h"
#include "node/host.h"

namespace rhizome::node {

class Gossip;

struct PeerOptions {
    std::vector<stream::Address> listen{};  ///< empty: this node only dials
    std::vector<stream::Address> seeds{};   ///< names are resolved, now and then again
    std::size_t outbound = 8;
    std::size_t inbound_max = 64;
    Gossip* gossip = nullptr;  ///< who hears of documents off the chain; outlives them
    Log log{};
};

/// The most that a frame of this type may have, whether it is the link's own, the core's or about documents
/// off the chain; 0: there is no such type.
[[nodiscard]] std::size_t frame_bytes_max(std::uint8_t type);

/// The links of a node: brings together who decides about them (`p2p::PeerManager`), who carries them (`net::Links`)
/// and the node that speaks over them. Everything on the host's strand.
class Peers {
public:
    /// `host` outlives it.
    static Result<std::unique_ptr<Peers>> start(stream::IoContext& io, Host& host, const crypto::NodeKeys& keys,
                                                PeerOptions options);
    /// Says goodbye and ends all links. Not from a task.
    void stop();
    ~Peers();
    Peers(const Peers&) = delete;
    Peers& operator=(const Peers&) = delete;

    /// One more place to look for peers, found while it runs. On the host's strand.
    void add_seed(const stream::Address& address);
    /// From now on it has no links with these nodes, whoever dials, instead of those named before: a cut made by hand,
    /// where the network cannot be cut (docs/operating/playground.md). Forgotten when it stops. Any thread.
    void refuse(std::set<ledger::MemberKey> keys);
    /// Where others reach it, with the ports chosen. Any thread.
    [[nodiscard]] const std::vector<stream::Address>& addresses() const;
    /// For `status` and `peers`: who is linked, by name where the chain knows it. Any thread; a moment old.
    [[nodiscard]] json::Array list() const;

    struct Inside;

private:
    explicit Peers(std::shared_ptr<Inside> inside);
    std::shared_ptr<Inside> inside_;
};

}  // namespace rhizome::node
