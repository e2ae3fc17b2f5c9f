// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/io/service.h"

/// What custom kinds need besides the verbs: their versions, and the end of their definitions.
namespace rhizome::api {

/// Replaces documents that are stored in another version than the call's by what the definition's webhook makes of
/// them. Nothing to do, and nothing waited for, without a webhook. Says what went wrong.
stream::Task<std::optional<Status>> convert_shown(SharedService service, const Call& call,
                                                  std::vector<Standing*> objects);
/// The object as it is stored: in the storage version of its definition.
stream::Task<Result<json::Value, Status>> convert_for_storage(SharedService service, const Call& call,
                                                              json::Value object);

/// DELETE of a definition. Its objects go with it (the ledger sees to that) unless one of them waits for a finalizer:
/// then it stays, terminating, until the last of them is gone.
Planned delete_definition(const Service& service, const Call& call, const Present& present, const HeardOf& heard_of);
/// Deletes the objects of a definition that terminates, as far as there is time.
stream::Task<void> delete_instances(SharedService service, Call call, stream::Strand strand, std::string wait_header,
                                    Patience patience);
/// After an object of a custom kind is gone: deletes its definition when that has only waited for this.
stream::Task<void> finish_definition(SharedService service, Call call, stream::Strand strand, std::string wait_header,
                                     Patience patience);

}  // namespace rhizome::api
