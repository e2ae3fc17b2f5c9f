// SPDX-License-Identifier: Apache-2.0
// A stranger's definition and a stranger's document: `[schema, document]`. Reading the schema ends, and what is cut and
// filled in once stays as it is.
#include "base/bytes.h"
#include "base/ensure.h"
#include "cluster/structural_values.h"
#include "support/fuzz_target.h"

using namespace rhizome;

FUZZ_TARGET(structural_fuzz) {
    auto pair = json::parse(as_text({data, size}));
    if (!pair || !pair->is_array() || pair->if_array()->empty()) return 0;
    cluster::FieldErrors errors;
    const auto schema = cluster::read_structural(pair->if_array()->front(), cluster::Where{"schema"}, errors);
    ensure((schema == nullptr) == !errors.empty(), "a schema is refused with reasons");
    (void)cluster::text(errors);
    if (!schema) return 0;
    (void)cluster::schema_nodes(*schema);
    json::Value document = pair->if_array()->back();
    std::vector<std::string> unknown;
    cluster::prune(document, *schema, &unknown);
    cluster::fill_structural(document, *schema);
    json::Value again = document;
    cluster::prune(again, *schema);
    cluster::fill_structural(again, *schema);
    constexpr std::size_t kStoredMax = 1u << 20;  // what is larger may not have all its defaults
    ensure(again == document || json::print(document).size() > kStoredMax, "cutting and filling in is done once");
    (void)cluster::validate_structural(document, *schema);
    return 0;
}
