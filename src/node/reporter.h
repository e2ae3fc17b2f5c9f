// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "node/host.h"
#include "node/machine.h"

namespace rhizome::node {

struct ReporterOptions {
    std::filesystem::path data{};
    NodeTraits traits{};
    std::map<std::string, std::uint64_t> capacity{};     ///< said instead of what the machine has
    std::map<std::string, std::uint64_t> allocatable{};  ///< said instead of the capacity
    std::vector<stream::Address> advertise{};            ///< where others reach it; empty: found out from `listens`
    std::vector<stream::Address> listens{};
    std::string version{};
    Bytes api_authority{};   ///< of its Kubernetes API, for others to know its users by; empty: none
    seconds look_every{60};  ///< an address or a disk that changed is known to the cluster after this time
    Log log{};
};

/// Keeps what the cluster knows of this machine true, with the machine's own key: its NodeReport (capacity, addresses,
/// versions) and, in its Node, whether it hosts pods. Writes only what changed; an idle machine writes nothing. Waits
/// as long as the machine is no member yet. Where the owner gave the Node a lock of its own, that stays and is said.
class Reporter {
public:
    /// `host` and `keys` outlive it.
    Reporter(stream::IoContext& io, Host& host, const crypto::NodeKeys& keys, ReporterOptions options);
    /// Writes nothing any more. Not from a task.
    void stop();
    ~Reporter();
    Reporter(const Reporter&) = delete;
    Reporter& operator=(const Reporter&) = delete;

private:
    struct Inside;
    std::shared_ptr<Inside> inside_;
};

/// What a member's own key writes so that the state says what the machine is: nothing when it does already. Denied when
/// the Node's lock is not one that this key opens.
Result<std::optional<ledger::SharedTx>> make_report_tx(const NodeView& view, const ReportWish& wish,
                                                       const Machine& machine, const crypto::NodeKeys& keys, Time now);

}  // namespace rhizome::node
