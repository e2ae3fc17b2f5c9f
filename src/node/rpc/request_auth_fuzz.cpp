// SPDX-License-Identifier: Apache-2.0
// The field by which a stranger says who he is: read in one way or refused, and never believed by accident.
#include "base/ensure.h"
#include "node/rpc/request_auth.h"
#include "support/fuzz_target.h"

using namespace rhizome;

FUZZ_TARGET(request_auth_fuzz) {
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const auto auth = node::parse_request_auth(text);
    if (!auth) {
        ensure(auth.error().kind == ErrorKind::Invalid, "what is malformed is invalid");
        return 0;
    }
    ensure(node::to_text(*auth) == text, "there is one spelling of a field");
    ensure(!node::is_signed(*auth, ledger::MemberKey{}, "GET", "/"), "nobody signed for a node without a key");
    return 0;
}
