// SPDX-License-Identifier: Apache-2.0
// A stranger's patch on a stranger's document: an array of the two. What comes out is JSON that can be printed and
// read, and owners can be found for what changed.
#include "api/field_set.h"
#include "api/patch.h"
#include "base/bytes.h"
#include "base/ensure.h"
#include "support/fuzz_target.h"

using namespace rhizome;

namespace {

void check(const json::Value& before, const json::Value& after) {
    const json::Limits wide{.bytes = SIZE_MAX, .depth = 200};
    const auto read = json::parse(json::print(after), wide);
    ensure(read.has_value() && *read == after, "a patched document is a document");
    const cluster::Schema& pod = *cluster::find_schema("", "v1", "Pod");
    const auto changes = api::compare_fields(before, after, &pod);
    ensure(api::FieldSet::from_json(changes.written.to_json()).has_value(), "sets of fields print themselves");
}

}  // namespace

FUZZ_TARGET(patch_fuzz) {
    const auto input = json::parse(as_text({data, size}));
    const json::Array* pair = input ? input->if_array() : nullptr;
    if (pair == nullptr || pair->size() != 2) return 0;
    const json::Value& document = (*pair)[0];
    const json::Value& patch = (*pair)[1];
    if (const auto patched = api::apply_json_patch(document, patch)) check(document, *patched);
    check(document, api::apply_merge_patch(document, patch));
    if (const auto patched = api::apply_strategic_merge_patch(document, patch, *cluster::find_schema("", "v1", "Pod")))
        check(document, *patched);
    return 0;
}
