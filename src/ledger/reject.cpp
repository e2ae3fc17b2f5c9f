// SPDX-License-Identifier: Apache-2.0
#include "ledger/reject.h"

#include <array>

#include <fmt/core.h>

namespace rhizome::ledger {
namespace {

constexpr std::array<std::string_view, kRejectCodes> kNames{
    "BadEncoding",   "TooLarge",  "UnknownKind", "MissingInput", "StaleInput",    "AlreadyExists",   "NotFound",
    "NotAuthorised", "Replay",    "NonFinal",    "Expired",      "QuotaExceeded", "DuplicateOutput", "UnusedInput",
    "OrphanParent",  "BadOrder",  "BadMerkle",   "BadStateRoot", "TooManyChecks", "TooManyPending",  "SchemaInvalid",
    "PolicyDenied",  "Throttled", "BadSeal",     "NotYourTurn",  "FutureBlock",   "BadVote"};

ErrorKind kind_of(RejectCode code) {
    switch (code) {
        case RejectCode::MissingInput:
        case RejectCode::NotFound:
        case RejectCode::OrphanParent: return ErrorKind::NotFound;
        case RejectCode::StaleInput:
        case RejectCode::AlreadyExists:
        case RejectCode::Replay: return ErrorKind::Conflict;
        case RejectCode::NotAuthorised:
        case RejectCode::PolicyDenied: return ErrorKind::Denied;
        case RejectCode::QuotaExceeded: return ErrorKind::Exhausted;
        case RejectCode::NonFinal:
        case RejectCode::TooManyPending:
        case RejectCode::Throttled:
        case RejectCode::FutureBlock: return ErrorKind::Unavailable;
        default: return ErrorKind::Invalid;
    }
}

}  // namespace

std::string_view name(RejectCode code) { return kNames[static_cast<std::size_t>(code)]; }

std::optional<RejectCode> reject_code_from_name(std::string_view name) {
    for (std::size_t i = 0; i < kNames.size(); ++i)
        if (kNames[i] == name) return static_cast<RejectCode>(i);
    return std::nullopt;
}

Reject to_reject(DecodeFault fault) {
    const auto code = fault == DecodeFault::TooLong ? RejectCode::TooLarge : RejectCode::BadEncoding;
    return {.code = code, .why = to_error(fault).message};
}

std::string to_text(const Reject& reject) {
    std::string text{name(reject.code)};
    text += ": ";
    if (reject.input) text += fmt::format("input {}: ", *reject.input);
    text += reject.why;
    if (!reject.script_error.empty()) {
        text += fmt::format(" (script: {}", reject.script_error);
        if (reject.position) text += fmt::format(" at byte {}", *reject.position);
        text += ')';
    }
    return text;
}

Error to_error(const Reject& reject) { return {kind_of(reject.code), to_text(reject)}; }

}  // namespace rhizome::ledger
