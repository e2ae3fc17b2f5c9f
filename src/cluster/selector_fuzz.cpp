// SPDX-License-Identifier: Apache-2.0
// Parses a stranger's selectors and quantities. What is accepted prints to a text that means the same.
#include "base/bytes.h"
#include "base/ensure.h"
#include "cluster/quantity.h"
#include "cluster/selector.h"
#include "support/fuzz_target.h"

using namespace rhizome;

FUZZ_TARGET(selector_fuzz) {
    const std::string_view text = as_text({data, size});
    if (const auto selector = cluster::LabelSelector::parse(text)) {
        const auto again = cluster::LabelSelector::parse(selector->text());
        ensure(again.has_value() && *again == *selector, "a label selector prints what it means");
        ensure(selector->matches(nullptr) == again->matches(nullptr), "and matches alike");
    }
    if (const auto selector = cluster::FieldSelector::parse(text)) {
        const auto again = cluster::FieldSelector::parse(selector->text());
        ensure(again.has_value() && *again == *selector, "a field selector prints what it means");
    }
    if (const auto quantity = cluster::Quantity::parse(text)) {
        const auto again = cluster::Quantity::parse(quantity->text());
        ensure(again.has_value(), "a quantity prints a quantity");
        // Binary amounts are printed in whole bytes, everything else exactly.
        ensure(quantity->family() == cluster::Quantity::Family::BinarySi || *again == *quantity, "of the same amount");
        ensure(again->text() == quantity->text(), "there is one text");
    }
    return 0;
}
