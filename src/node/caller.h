// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/messages.h"
#include "net/links.h"
#include "p2p/link_messages.h"

namespace rhizome::node {

/// Speaks with nodes of a chain before there is a chain here: says hello and answers pings, so that whoever derives
/// from it only asks. On the strand of its links.
class Caller : public net::LinkOwner {
public:
    explicit Caller(const ledger::ChainId& chain) : chain_(chain) {}
    /// On the strand, before the first dial. The links outlive everything up to `hang_up`.
    void begin(net::Links& links) { links_ = &links; }
    /// On the strand, before the links are stopped: from then on nothing is asked of them.
    void hang_up() { links_ = nullptr; }
    /// Ends in `met` or `lost`.
    void dial(const stream::Address& address);

    void linked(net::LinkNumber link, bool dialled, const stream::Address& remote,
                const net::ChainKey& identity) override;
    void dial_failed(const stream::Address& address, const Error& why) override;
    void heard(net::LinkNumber link, Bytes payload) override;
    void closed(net::LinkNumber link, const std::string& why) override;

protected:
    [[nodiscard]] bool has_hung_up() const { return links_ == nullptr; }
    void close(net::LinkNumber link, std::string why);
    void send(net::LinkNumber link, const core::Message& message);
    /// Answered with `told_of`.
    void ask_for_peers(net::LinkNumber link);

    /// It is a node of the chain and may be asked.
    virtual void met(net::LinkNumber link) = 0;
    virtual void told(net::LinkNumber link, core::Message message) = 0;
    /// Where others are, none of them closer than the teller is.
    virtual void told_of(net::LinkNumber, const std::vector<stream::Address>&) {}
    /// Nobody was met, or who was is gone (`link`). Denied: it is of another chain.
    virtual void lost(std::optional<net::LinkNumber> link, const Error& why) = 0;

private:
    void send_bytes(net::LinkNumber link, const Bytes& payload);
    void end(net::LinkNumber link, Error why);

    struct Other {
        stream::Address remote{};
        bool is_met = false;
    };
    ledger::ChainId chain_;
    net::Links* links_ = nullptr;
    std::map<net::LinkNumber, Other> others_;
};

}  // namespace rhizome::node
