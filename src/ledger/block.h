// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/time.h"
#include "crypto/hash.h"
#include "ledger/tx.h"

namespace rhizome::ledger {

using BlockHash = Id<struct BlockHashTag, 32>;
using Height = state::Height;

enum class ConsensusId : std::uint8_t { Authority = 0, Work = 1, Space = 2, Stake = 3 };

inline constexpr std::uint32_t kBlockMagic = 0x15042011;  ///< bytes 11 20 04 15
inline constexpr std::uint32_t kBlockVersion = 1;
inline constexpr std::size_t kHeaderBytes = 4 + 3 * 32 + 8 + 8 + 1 + 32 + 4 + 8;  // 161

/// What the block hash covers. Bits and nonce stand last, so that a miner hashes one compression per try.
struct Header {
    std::uint32_t version = kBlockVersion;
    BlockHash previous{};
    crypto::Hash256 merkle_root{};
    crypto::Hash256 state_root{};  ///< after this block
    Time time{};                   ///< whole milliseconds
    Height height{};
    ConsensusId consensus = ConsensusId::Authority;
    crypto::Hash256 seal_root{};
    std::uint32_t bits = 0;   ///< work only
    std::uint64_t nonce = 0;  ///< work only
    friend bool operator==(const Header&, const Header&) = default;
};

/// What the consensus in force needs besides the header; its root is in the header. Opaque to the ledger.
struct Seal {
    Bytes proof{};         ///< proposer key ‖ VRF proof or empty ‖ engine data
    Bytes attestations{};  ///< grouped votes carried by this block
    friend bool operator==(const Seal&, const Seal&) = default;
};

struct Block {
    Header header{};
    std::array<std::uint8_t, 64> signature{};  ///< the proposer's, over the block hash; in no hash
    std::vector<Tx> txs{};
    Seal seal{};
    friend bool operator==(const Block&, const Block&) = default;
};

BlockHash hash_of(const Header& header);
/// RFC 6962 over wire ids.
crypto::Hash256 merkle_root_of(std::span<const WireId> wire_ids);
/// H(H(proof) ‖ H(attestations)): a relay that strips attestations breaks the header.
crypto::Hash256 seal_root_of(const Seal& seal);
/// Whether this is all of the block that its header names. A refusal says something about the header only then: what a
/// relay changed, or a disk lost, must not get a good block banned.
bool is_whole(const Block& block);
/// The transactions alone: for whoever has looked at the seal already, which may be much longer.
bool has_its_txs(const Block& block);

}  // namespace rhizome::ledger
