// SPDX-License-Identifier: Apache-2.0
#include "api/refused.h"

namespace rhizome::api {

Status status_of(const ledger::Reject& reject, const Kind& kind, std::string_view name) {
    using ledger::RejectCode;
    switch (reject.code) {
        case RejectCode::AlreadyExists: return already_exists(kind, name);
        case RejectCode::NotFound: return not_found(kind, name);
        case RejectCode::StaleInput:
        case RejectCode::MissingInput: return conflict(kind, name);
        case RejectCode::NotAuthorised:
        case RejectCode::PolicyDenied:
        case RejectCode::QuotaExceeded: return forbidden(kind, name, reject.why);
        case RejectCode::OrphanParent: return from_error({ErrorKind::NotFound, reject.why});
        case RejectCode::TooManyPending:
        case RejectCode::Throttled: return too_many_requests(reject.why, 1);
        case RejectCode::BadEncoding:
        case RejectCode::TooLarge:
        case RejectCode::UnknownKind:
        case RejectCode::SchemaInvalid: return bad_request(reject.why);
        default: return conflict(kind, name, ledger::to_text(reject));
    }
}

bool may_try_again(const ledger::Reject& reject) {
    using ledger::RejectCode;
    return reject.code == RejectCode::StaleInput || reject.code == RejectCode::MissingInput ||
           reject.code == RejectCode::AlreadyExists || reject.code == RejectCode::NotFound ||
           reject.code == RejectCode::Replay;
}

}  // namespace rhizome::api
