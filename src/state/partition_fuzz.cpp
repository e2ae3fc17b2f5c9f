// SPDX-License-Identifier: Apache-2.0
// A partition from a stranger, with entries behind it: what is decoded is written back to the same bytes and can be
// asked for its root; entries taken for its first part are really those that its hash names.
#include "state/partition.h"
#include "state/tree.h"
#include "support/fuzz_target.h"

using namespace rhizome;
using namespace rhizome::state;

FUZZ_TARGET(partition_fuzz) {
    Reader in{{data, size}};
    auto partition = decode_partition(in);
    if (!partition) return 0;
    Writer again;
    encode(again, *partition);
    ensure(std::equal(again.view().begin(), again.view().end(), data, data + in.position()),
           "there is one form of a partition");
    (void)root_of(*partition);
    if (partition->parts.empty()) return 0;
    std::vector<EntryPtr> entries;
    while (!in.empty() && entries.size() < partition->parts[0].entries) {
        auto entry = decode_entry(in);
        if (!entry) return 0;
        entries.push_back(*std::move(entry));
    }
    // No fuzzer finds a hash, so the right one is put in place of what stands there.
    OrderedBuilder builder;
    for (const EntryPtr& entry : entries)
        if (!builder.add(entry)) return 0;
    partition->parts[0].hash = std::move(builder).finish().root();
    const auto built = build_part(*partition, 0, entries);
    if (!built) {
        ensure(built.error() != PartFault::WrongHash, "the hash is that of the entries");
        return 0;
    }
    ensure(built->size() == partition->parts[0].entries, "a part that was taken has its entries");
    Assembly assembly{*partition};
    ensure(assembly.add(0, *built).has_value(), "a part that was taken can be placed");
    if (assembly.missing() == 0)
        ensure(std::move(assembly).finish()->root() == root_of(*partition), "one part is the whole state");
    return 0;
}
