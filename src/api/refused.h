// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "api/status.h"
#include "ledger/reject.h"

namespace rhizome::api {

/// What the ledger says of a transaction, in the API's words.
Status status_of(const ledger::Reject& reject, const Kind& kind, std::string_view name);

/// Whether the same wish, computed anew on what is there now, may succeed: somebody else was faster, or the lock that
/// was signed for is another one by now.
bool may_try_again(const ledger::Reject& reject);

}  // namespace rhizome::api
