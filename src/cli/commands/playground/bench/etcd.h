// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/background_process.h"
#include "runtime/descriptor.h"

/// The other side of the cluster benchmark: etcd, with three members on this machine, as its packages bring it.
namespace rhizome::bench {

/// Puts keys over etcd's own protocol (gRPC on HTTP/2, in clear). Its JSON gateway would cost etcd processor time that
/// no client of its own costs it, and a comparison should not be won by that. One put at a time, blocking.
class EtcdClient {
public:
    static Result<std::unique_ptr<EtcdClient>> connect(std::uint16_t port);
    /// False when etcd refuses, or says nothing in the time: then the connection is of no use any more.
    bool put(std::string_view key, std::string_view value, milliseconds most);

private:
    explicit EtcdClient(runtime::Descriptor socket) : socket_(std::move(socket)) {}
    bool send_all(std::string_view bytes);
    bool read_exactly(std::string& into, std::size_t size);
    bool wait_for_answer(std::uint32_t stream);
    runtime::Descriptor socket_;
    std::uint32_t next_stream_ = 1;
};

class EtcdCluster {
public:
    /// Nothing when etcd is not installed.
    static std::optional<std::string> program();
    /// In a folder of the benchmark's; returns when a leader takes puts.
    static Result<std::unique_ptr<EtcdCluster>> start(const std::filesystem::path& folder);
    ~EtcdCluster();
    EtcdCluster(const EtcdCluster&) = delete;
    EtcdCluster& operator=(const EtcdCluster&) = delete;

    static constexpr unsigned kMembers = 3;
    [[nodiscard]] std::uint16_t port(unsigned member) const { return members_[member].client_port; }
    /// The member that leads; nothing while there is none.
    [[nodiscard]] std::optional<unsigned> leader() const;
    void kill(unsigned member);
    Result<void> restart(unsigned member);
    /// Whether a put goes through at this member within the time.
    [[nodiscard]] bool takes_puts(unsigned member, milliseconds most) const;
    /// Processor time of all members that run, in seconds.
    [[nodiscard]] double cpu_seconds() const;

private:
    struct Member {
        std::uint16_t client_port = 0;
        std::uint16_t peer_port = 0;
        runtime::ProcessId process{};
    };
    explicit EtcdCluster(std::filesystem::path folder) : folder_(std::move(folder)) {}
    std::filesystem::path folder_;
    std::vector<Member> members_{};
};

/// A port of the loopback that nobody has.
std::uint16_t free_port();
/// Processor time that a process has used, in seconds.
double cpu_seconds_of(const runtime::ProcessId& process);

}  // namespace rhizome::bench
