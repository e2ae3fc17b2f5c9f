// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace rhizome::runtime {

/// The numbers under which others may reach this machine: IPv4 first, IPv6 in brackets; loopback and link-local ones
/// left out. May be empty.
std::vector<std::string> host_addresses();

}  // namespace rhizome::runtime
