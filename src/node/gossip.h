// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/log.h"
#include "core/passing.h"
#include "node/host.h"

namespace rhizome::node {

/// `core::Passing` on real time: events and leases of all members, on the host's strand, over the links of `Peers`.
class Gossip {
public:
    /// `host` and `keys` outlive it. `takes_part`: false for one who is no member and signs nothing.
    Gossip(Host& host, const crypto::NodeKeys& keys, bool takes_part, Log log);
    ~Gossip();
    Gossip(const Gossip&) = delete;
    Gossip& operator=(const Gossip&) = delete;

    // ---- any thread ------------------------------------------------------------------------------------------------

    /// A client of this node has written a document, or deleted it (null). In the order of the calls; each is answered
    /// on the strand with what stands there now, once that has been told to whoever is shown it.
    void write(const state::Path& path, state::EntryPtr entry, Time until,
               std::function<void(const std::optional<core::PassingStands>& stands)> settled);
    /// What stands, from now on, and first all that stands now, on the strand; until the handle is gone.
    [[nodiscard]] std::shared_ptr<void> show_to(std::function<void(const core::PassingStands&)> told);
    [[nodiscard]] core::Passing::Usage usage() const;

    // ---- on the strand: for links ----------------------------------------------------------------------------------

    /// Who carries what is said; null: nobody.
    class Carrier {
    public:
        virtual ~Carrier() = default;
        virtual void pass(core::PeerId to, const core::SharedPassing& message) = 0;
        virtual void blame(core::PeerId peer, const ledger::Reject& why) = 0;
    };
    void set_carrier(Carrier* carrier);
    void peer_up(core::PeerId peer);
    void peer_down(core::PeerId peer);
    void heard(core::PeerId from, core::PassingMessage message);

private:
    struct Inside;
    std::shared_ptr<Inside> inside_;
};

}  // namespace rhizome::node
