// SPDX-License-Identifier: Apache-2.0
// Parses a stranger's text. What is accepted must be accepted by `check` and `slices` too, print to a text of the same
// value, and have one canonical text; what is refused must be refused by all of them with the same words.
#include "base/bytes.h"
#include "base/json.h"
#include "support/fuzz_target.h"

using namespace rhizome;

FUZZ_TARGET(json_fuzz) {
    const std::string_view text = as_text({data, size});
    const auto value = json::parse(text);
    const auto checked = json::check(text);
    const auto cut = json::slices(text);
    ensure(checked.has_value() == value.has_value(), "check and parse agree");
    if (!value) {
        ensure(checked.error() == value.error() && cut.error() == value.error(), "the readers name the same fault");
        ensure(value.error().offset <= size, "a fault lies inside the text");
        return 0;
    }
    const auto again = json::parse(json::print(*value));
    ensure(again.has_value() && *again == *value, "what is printed is read back");
    const std::string canonical = json::print_canonical(*value);
    const auto from_canonical = json::parse(canonical);
    ensure(from_canonical.has_value() && *from_canonical == *value, "canonical text means the same value");
    ensure(json::print_canonical(*from_canonical) == canonical, "there is one canonical text");
    const auto pretty = json::parse(json::print_pretty(*value), {.bytes = SIZE_MAX, .depth = 64});
    ensure(pretty.has_value() && *pretty == *value, "pretty text means the same value");

    const json::Object* object = value->if_object();
    const json::Array* array = value->if_array();
    ensure(cut.has_value() == (object != nullptr || array != nullptr), "containers have slices");
    if (!cut) return 0;
    ensure(cut->size() == (object != nullptr ? object->size() : array->size()), "one slice a member");
    for (std::size_t i = 0; i < cut->size(); ++i) {
        const json::Slice& slice = (*cut)[i];
        const json::Value* part = object != nullptr ? object->find(slice.key) : &(*array)[i];
        const auto parsed = json::parse(slice.text);
        ensure(part != nullptr && parsed.has_value() && *parsed == *part, "a slice is its member");
    }
    return 0;
}
