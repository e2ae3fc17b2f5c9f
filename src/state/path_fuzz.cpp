// SPDX-License-Identifier: Apache-2.0
// A stranger's key and a person's text: what is accepted prints to a text that means the same path.
#include "state/path.h"
#include "support/fuzz_target.h"

using namespace rhizome;
using namespace rhizome::state;

namespace {

void check(const Path& path) {
    const auto again = Path::parse(path.text());
    ensure(again.has_value() && *again == path, "a printed path is read back");
    const auto from_key = Path::from_key(as_bytes(path.key()));
    ensure(from_key.has_value() && *from_key == path, "a key is read back");
    ensure(path.key().size() <= kPathBytesMax && path.depth() <= 2, "paths are bounded");
    if (path.shape() != Path::Shape::Chain) {
        const auto of = Path::of(path.group(), path.kind(), path.namespace_name(), path.name());
        ensure(of.has_value() && *of == path, "an identity has one path");
    }
    std::string_view key = path.key();
    for (const Path& ancestor : path.ancestors()) {
        ensure(ancestor.is_ancestor_of(path) && key.starts_with(ancestor.key()), "an ancestor's key is a prefix");
        key = ancestor.key();
    }
}

}  // namespace

FUZZ_TARGET(path_fuzz) {
    const ByteView bytes{data, size};
    if (const auto path = Path::from_key(bytes)) check(*path);
    if (const auto path = Path::parse(as_text(bytes))) check(*path);
    if (const auto prefix = Prefix::from_key(bytes)) ensure(prefix->key().size() == size, "a prefix is its bytes");
    return 0;
}
