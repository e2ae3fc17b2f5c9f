// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "base/log.h"
#include "stream/stream.h"

/// TCP over IPv4 and IPv6, and local sockets, as `Stream`s.
namespace rhizome::stream {

/// The numbers a host name stands for, IPv4 and IPv6 as the system orders them; a number stands for itself and asks
/// nobody. NotFound when there are none, Unavailable when the deadline passed.
Task<Result<std::vector<Address>>> resolve(Address address, Deadline deadline);

/// A connection on the calling task's strand. A name is resolved and its numbers are tried one after another, each with
/// an even share of the time left, since the first may be a host that swallows everything.
Task<Result<std::unique_ptr<Stream>>> connect(Address address, Deadline deadline);

struct ListenOptions {
    /// A number, not a name; port 0 chooses a free one. `fd:N`: the socket that this process was given under the
    /// number N and that listens already, which also brings it into networks that are not the process's own. It stays
    /// open for whoever opens it next.
    Address address;
    int backlog = 512;                    ///< connections that wait for `accept`
    std::size_t connections_max = 4'096;  ///< streams alive at once; more wait in the backlog
    bool reuse_port = false;              ///< several processes share the port
    bool v6_only = false;                 ///< `[::]` does not take IPv4 as well
    Log log{};
};

/// Takes connections. Each gets a strand of its own. Confined to its strand; outlives its `accept`.
class Listener {
public:
    /// A local socket's file is replaced when nobody listens there any more.
    static Result<std::unique_ptr<Listener>> open(IoContext& context, ListenOptions options);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    /// The address with the port chosen.
    [[nodiscard]] const Address& local() const;
    /// Where `accept` and `close` are called.
    [[nodiscard]] const Strand& strand() const;

    /// The next connection. Connections that broke while they waited are skipped; when the process has no descriptors
    /// left it tries again later instead of failing. Fails only once closed.
    Task<Result<std::unique_ptr<Stream>>> accept();
    /// `accept` fails from now on, and nobody can connect.
    void close();

    /// Streams made here that are alive. From any thread.
    [[nodiscard]] std::size_t connections_now() const;

private:
    struct Inside;
    explicit Listener(std::unique_ptr<Inside> inside);
    std::unique_ptr<Inside> inside_;
};

}  // namespace rhizome::stream
