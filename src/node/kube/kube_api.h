// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/io/front.h"
#include "base/log.h"
#include "node/gossip.h"
#include "node/host.h"
#include "node/refusal_journal.h"
#include "node/rpc.h"
#include "node/secrets/key_keeper.h"
#include "runtime/log_file.h"
#include "stream/address.h"

namespace rhizome::node {

struct KubeApiOptions {
    std::filesystem::path data{};
    std::vector<stream::Address> listen{};
    /// One that was not asked for: where the port is taken (a second node on the machine) it does without.
    std::optional<stream::Address> listen_if_free{};
    std::string token_file{};
    runtime::LogFileOptions audit{};     ///< no file: none
    std::filesystem::path keys{};        ///< the keystore that its users' writes are signed from
    RpcLimits limits{};                  ///< of connections and times; rates are for strangers and do not hold here
    api::ProxyOptions proxy{};           ///< of what is passed on to services, pods and nodes
    RefusalJournal* refusals = nullptr;  ///< outlives it
    std::string version{};
    Log log{};
};

/// The Kubernetes API of a node, on its own listener with its own certificates (`kube/authority.h`).
class KubeApi {
public:
    /// Null when it listens nowhere. `host`, `gossip` and `keeper` outlive it.
    static Result<std::unique_ptr<KubeApi>> start(stream::IoContext& io, Host& host, Gossip& gossip, KeyKeeper& keeper,
                                                  KubeApiOptions options);
    /// Not from a task.
    void stop(milliseconds grace);
    ~KubeApi();
    KubeApi(const KubeApi&) = delete;
    KubeApi& operator=(const KubeApi&) = delete;

    [[nodiscard]] std::vector<stream::Address> addresses() const;
    /// What others know its users by.
    [[nodiscard]] stream::Certificate authority() const;

private:
    struct Inside;
    explicit KubeApi(std::unique_ptr<Inside> inside);
    std::unique_ptr<Inside> inside_;
};

}  // namespace rhizome::node
