// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/doctor/facts.h"

namespace rhizome::cli::doctor {

/// What trying network things in a fresh namespace showed. Nothing is left behind and the host's own network is never
/// touched: everything happens in a child process whose namespace goes with it.
struct NetworkProbe {
    Attempt network_namespace{};
    Attempt veth{};
    Attempt bridge{};
    Attempt wireguard{};
    Attempt nftables{};
};

/// Without the rights to make a network namespace, tries in a user namespace of its own, which ordinary users may make
/// on most hosts. The process must have no other threads (it forks).
NetworkProbe probe_network();

}  // namespace rhizome::cli::doctor
