// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/json.h"
#include "base/log.h"
#include "crypto/derive.h"
#include "follow/cosign_rules.h"
#include "ledger/tx.h"

namespace rhizome::node {

class Host;

/// Signs what meets its rules, when asked: the other half of the script template `cosigned`, and, where a rule has a
/// command, an oracle. Signs with the node's chain key, which must be no member's: what a member's key says decides
/// about blocks.
///
/// It signs last. A transaction is judged with its signature in place, by the rules that every node has, and what it
/// would then do is held against the co-signer's own; only then is the signature given away.
class Cosigning {
public:
    /// `host` and `keys` outlive it.
    Cosigning(Host& host, const crypto::NodeKeys& keys, std::vector<follow::CosignRule> rules, Log log);
    /// What is being asked is not answered any more.
    ~Cosigning();
    Cosigning(const Cosigning&) = delete;
    Cosigning& operator=(const Cosigning&) = delete;

    /// `{"transaction":{…},"rules":[…]}`, the transaction with the signature; or why not: Denied by the rules or a
    /// command, Exhausted when too many ask, else what would become of it. `told` is called once, on a thread of its
    /// own or the host's strand. Any thread.
    using Told = std::function<void(Result<json::Object>)>;
    void cosign(ledger::Tx tx, Told told);

private:
    struct Inside;
    std::shared_ptr<Inside> inside_;
};

}  // namespace rhizome::node
