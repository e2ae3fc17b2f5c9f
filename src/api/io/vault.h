// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "api/revisions.h"
#include "api/status.h"
#include "api/users.h"
#include "base/json.h"
#include "cluster/kinds.h"
#include "stream/strand.h"

namespace rhizome::api {

/// Why a document is not shown in clear.
struct Withheld {
    enum class Why : unsigned char {
        Denied,       ///< the user could not open its lock, nor an ancestor's
        Unavailable,  ///< this machine cannot open it now
        Damaged,      ///< nobody can
    };
    Why why = Why::Denied;
    std::string message{};
};

/// Documents of which a part is sealed on the chain (docs/spec/secrets.md). Verbs see them in clear; they are opened
/// before a verb and sealed before a signature.
class Vault {
public:
    virtual ~Vault() = default;
    [[nodiscard]] virtual bool keeps(const cluster::Kind& kind) const = 0;
    /// Each in clear, where this user may see it.
    virtual stream::Task<std::vector<Result<Standing, Withheld>>> open(std::vector<Standing> all, User user) = 0;
    /// The document for the chain. What is sealed already stays as it is.
    virtual stream::Task<Result<json::Value>> seal(json::Value object) = 0;
};

}  // namespace rhizome::api
