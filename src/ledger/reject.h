// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/codec.h"
#include "base/result.h"

namespace rhizome::ledger {

/// Every reason to refuse a transaction or a block. The names are stable: RPC, API, CLI and metrics carry them.
enum class RejectCode : std::uint8_t {
    // ledger
    BadEncoding,      ///< not the one encoding of anything
    TooLarge,         ///< beyond a size or count limit
    UnknownKind,      ///< no such kind, or it does not live where the document says
    MissingInput,     ///< an input names an output that is not current
    StaleInput,       ///< the resource has changed since the version named
    AlreadyExists,    ///< a creation of something that exists
    NotFound,         ///< a deletion of something that does not exist
    NotAuthorised,    ///< the locking script was not satisfied
    Replay,           ///< this transaction is already in the chain
    NonFinal,         ///< its lock time, or that of an input, is still to come
    Expired,          ///< its expiry has passed, or lies too far ahead
    QuotaExceeded,    ///< more documents or bytes of a kind than the cluster allows
    DuplicateOutput,  ///< two outputs name one resource
    UnusedInput,      ///< an input that nothing needs
    OrphanParent,     ///< the parent does not exist, or is deleted in the same transaction
    BadOrder,         ///< a block's transactions are not in the canonical order
    BadMerkle,        ///< a block's Merkle root is not that of its transactions
    BadStateRoot,     ///< a block's state root is not what its transactions give
    TooManyChecks,    ///< more signature checks than its size allows
    TooManyPending,   ///< the pool, or the sender's share of it, is full
    // pool and gateway
    SchemaInvalid,
    PolicyDenied,
    Throttled,
    // consensus
    BadSeal,
    NotYourTurn,
    FutureBlock,
    BadVote,
};
inline constexpr std::size_t kRejectCodes = static_cast<std::size_t>(RejectCode::BadVote) + 1;

std::string_view name(RejectCode code);
std::optional<RejectCode> reject_code_from_name(std::string_view name);

/// A refusal: the code for programs, the sentence for people, and where the fault lies when one input is to blame.
struct Reject {
    RejectCode code = RejectCode::BadEncoding;
    std::string why;                           ///< what happened and why, without the code's name
    std::optional<std::uint16_t> input{};      ///< which input
    std::optional<std::size_t> transaction{};  ///< which transaction of a block
    std::string script_error{};                ///< `EQUALVERIFY` …, when a script said no
    std::optional<std::size_t> position{};     ///< the byte of the locking (or unlocking) script where it said so

    friend bool operator==(const Reject&, const Reject&) = default;
};

/// `return reject(RejectCode::NotFound, "there is no namespace \"web\"");`
inline Fail<Reject> reject(RejectCode code, std::string why) { return {Reject{.code = code, .why = std::move(why)}}; }
inline Fail<Reject> reject_input(RejectCode code, std::size_t input, std::string why) {
    return {Reject{.code = code, .why = std::move(why), .input = static_cast<std::uint16_t>(input)}};
}

/// A malformed encoding as a refusal.
Reject to_reject(DecodeFault fault);

/// `NotAuthorised: input 0: …` as people read it.
std::string to_text(const Reject& reject);
Error to_error(const Reject& reject);

}  // namespace rhizome::ledger
