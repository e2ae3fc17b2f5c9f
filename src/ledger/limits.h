// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// Limits that hold on every chain whatever its parameters. Parameters may be stricter, never laxer.
namespace rhizome::ledger {

inline constexpr std::size_t kDocumentBytesMax = 1u << 20;  ///< Kubernetes' own limit is 1.5 MiB in etcd
inline constexpr std::size_t kScriptBytesMax = 10'000;      ///< as the script machine
inline constexpr std::size_t kInputsMax = 10'000;
inline constexpr std::size_t kOutputsMax = 10'000;
inline constexpr std::size_t kTxBytesMax = 4u << 20;     ///< no transaction is larger than the largest block
inline constexpr std::size_t kBlockBytesMax = 4u << 20;  ///< default of the chain parameter, and its upper end
inline constexpr std::size_t kBlockTxsMax = 65'536;      ///< 4 MiB of transactions of the least size (64 bytes)
inline constexpr std::size_t kSealBytesMax = 1u << 20;   ///< attestations of a thousand members with room
inline constexpr std::size_t kDocumentDepthMax = 64;

/// Signature checks a transaction may make: it pays for them in bytes. 1 per 32 bytes + 4 lets every honest multisig
/// pass (a signature and its key alone take 105 bytes).
inline constexpr std::size_t checks_allowed(std::size_t tx_bytes) { return tx_bytes / 32 + 4; }
inline constexpr std::size_t kBlockChecksMax = 20'000;  ///< half a second on two cores

inline constexpr std::int64_t kExpirySecondsMax = 30 * 24 * 3600;  ///< how long replay ids may have to be kept
inline constexpr std::int64_t kExpirySecondsDefault = 7 * 24 * 3600;

}  // namespace rhizome::ledger
