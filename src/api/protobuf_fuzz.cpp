// SPDX-License-Identifier: Apache-2.0
// A stranger's protobuf body, with its envelope, and as a bare Pod. What is accepted is a document within bounds.
#include "api/protobuf.h"
#include "base/ensure.h"
#include "support/fuzz_target.h"

using namespace rhizome;

FUZZ_TARGET(protobuf_fuzz) {
    const ByteView body{data, size};
    for (const auto& read :
         {api::decode_protobuf(body), api::transcode(body, *cluster::find_schema("", "v1", "Pod"))}) {
        if (!read) continue;
        const auto again = json::parse(json::print(*read), {.bytes = SIZE_MAX, .depth = 200});
        ensure(again.has_value() && *again == *read, "what is read can be printed and read again");
    }
    return 0;
}
