// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/call.h"

/// From what a client sends to what is stored: identity, defaults, rules. What a write must pass, whichever verb it
/// comes by.
namespace rhizome::api {

/// Fills in and checks a new object: identity against the path, namespace, uid, generation; status is not the client's.
/// Gives warnings.
Result<std::vector<std::string>, Status> admit_new(const Call& call, json::Value& object, const std::string& name);

/// Makes `object` the next version of `before` (as it is shown): what a client may not change is put back or refused.
/// `status`: only that part is taken from the client; else that part is kept.
Result<std::vector<std::string>, Status> admit_change(const Call& call, json::Value& object, const json::Value& before,
                                                      bool status);

/// Brings an admitted object, as webhooks left it, into form again and validates it. `before`: the version it replaces,
/// as it is shown; null: it is new. `status` as above.
Result<void, Status> readmit(const Call& call, json::Value& object, const json::Value* before, bool status);

/// Whether the object has only been waiting for its last finalizer; of a Namespace, that nothing in it waits either.
bool is_ready_to_go(const Call& call, const Present& present, const json::Value& object);
/// The object with its end in sight: it goes when its last finalizer does.
void begin_to_end(json::Value& object, Time now, std::int64_t grace_seconds);

}  // namespace rhizome::api
