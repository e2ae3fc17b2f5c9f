// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace rhizome::cli {

/// What this program was built from and with. Defined in a file that the build writes, the only one that changes with
/// every commit, so that a compiler cache keeps the rest.
struct BuildInfo {
    struct Library {
        std::string_view name;
        std::string_view version;
    };
    std::string_view version;     ///< SemVer
    std::string_view revision;    ///< of the source; empty when it was no git checkout
    std::string_view compiler;    ///< `GNU 12.2.0`
    std::string_view build_type;  ///< `Release`, with sanitizers named
    std::string_view system;      ///< `Linux x86_64`
    std::span<const Library> libraries;
};
const BuildInfo& build_info();

}  // namespace rhizome::cli
