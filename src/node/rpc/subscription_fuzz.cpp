// SPDX-License-Identifier: Apache-2.0
// A subscriber's message: whatever bytes come, a subscription or a refusal that says why.
#include "base/ensure.h"
#include "node/rpc/subscription.h"
#include "support/fuzz_target.h"

using namespace rhizome;

FUZZ_TARGET(subscription_fuzz) {
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const auto wanted = node::rpc::parse_subscription(text);
    if (!wanted) {
        ensure(!wanted.error().message.empty(), "a refusal says why");
        return 0;
    }
    ensure(size <= node::rpc::kSubscribeBytesMax, "a subscription is small");
    ensure(state::Prefix::from_key(as_bytes(wanted->prefix.key())).has_value(), "a prefix is one of whole components");
    return 0;
}
