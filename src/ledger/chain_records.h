// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "ledger/block.h"
#include "ledger/member.h"
#include "ledger/parameters.h"
#include "ledger/resource.h"
#include "state/path.h"

/// What the ledger keeps under `/chain/`: all that validity reads besides documents. Whoever has the tree under a
/// header's root and the blocks after it decides like one with the whole chain.
///
///     /chain/id                         the chain id: the genesis block's hash
///     /chain/parameters                 the Cluster's spec in force, canonical JSON
///     /chain/clock                      the lease clock, milliseconds
///     /chain/leases/<key>               lease clock when the member was last heard (8 bytes)
///     /chain/members/<key>              member record, by chain key in hexadecimal
///     /chain/nodes/<node>               chain key of the member of that name
///     /chain/replay/<expiry>/<txid>     empty; expiry as eight hexadecimal digits, so that the oldest come first
///     /chain/definitions/<group>/<Kind> `namespaced` or `cluster`, then the definition's name
///     /chain/history                    peaks of the Merkle mountain range over header hashes
///     /chain/pardons/<name>             time of the block that deleted the Evidence of that name, Unix milliseconds
///     /chain/voters                     chain keys of the voters, 33 bytes each, sorted: written by consensus
///
/// Consensus keeps its own beside them (seed, standing, work, last final checkpoint): consensus/records.h.
namespace rhizome::ledger::records {

state::Path chain_id();
state::Path parameters();
state::Path clock();
state::Path lease(const MemberKey& key);
state::Path member(const MemberKey& key);
state::Path node(std::string_view name);
state::Path replay(std::uint32_t expiry, const TxId& id);
state::Path definition(const GroupKind& type);
state::Path history();
state::Path pardon(std::string_view evidence);
state::Path voters();

state::Prefix all_replay();
state::Prefix all_leases();
state::Prefix all_members();

/// The expiry in a replay path.
std::uint32_t replay_expiry(const state::Path& path);

Bytes encode_number(std::uint64_t number);
std::uint64_t decode_number(ByteView bytes);  ///< of our own record

/// A custom kind's place, and which CustomResourceDefinition says so.
struct Definition {
    Scope scope = Scope::Namespaced;  ///< Namespaced or ClusterScoped
    std::string name{};
};
Bytes encode(const Definition& definition);
Definition decode_definition(ByteView bytes);

/// Chain keys in ascending order, none twice. No more than a state could have members.
inline constexpr std::size_t kVotersMax = 10'000;
Bytes encode_voters(std::vector<MemberKey> voters);
Result<std::vector<MemberKey>, DecodeFault> decode_voters(ByteView bytes);

/// Merkle mountain range over the hashes of all blocks before this one: appending costs O(log n) and the peaks are all
/// that is kept, so a header can commit to the whole history. A peak of 2^k blocks stands for bit k of the count.
struct History {
    std::uint64_t count = 0;
    std::vector<crypto::Hash256> peaks{};  ///< largest first, one for each set bit of `count`

    void append(const BlockHash& hash);
    /// The peaks folded from the right, with the count: one hash for the whole history.
    [[nodiscard]] crypto::Hash256 root() const;
};
Bytes encode(const History& history);
Result<History, DecodeFault> decode_history(ByteView bytes);

}  // namespace rhizome::ledger::records
