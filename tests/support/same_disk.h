// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <filesystem>
#include <span>
#include <string>

#include "base/codec.h"
#include "base/ensure.h"
#include "runtime/files.h"
#include "store/chain_index.h"
#include "store/place.h"
#include "store/record.h"

namespace rhizome::test {

/// Makes a copy of a data directory stand for the original: a store takes it for the disk it was on before. For images
/// of a disk after a power failure, where no file would have become another one. What cannot be believed for another
/// reason stays as it is.
inline void take_for_the_same_disk(const std::filesystem::path& folder) {
    const auto index = store::examine_index(folder / "index");
    if (index && index->another_file) {
        Result<void> marked;
        if (index->trust == store::IndexTrust::Foreign) marked = store::mark_index_in_use(folder / "index");
        if (index->trust == store::IndexTrust::Sealed) marked = store::seal_index(folder / "index");
        ensure(marked.has_value(), marked ? "" : marked.error().message);
    }
    const auto place = store::examine_place(folder);
    if (place && place->trust == store::PlaceTrust::Elsewhere) {
        const auto marked = store::mark_place(folder);
        ensure(marked.has_value(), marked ? "" : marked.error().message);
    }
}

/// What the file `place` says of a directory that was made elsewhere: as it is now but for the byte at `offset`, which
/// by default is one of the machine's.
inline std::string place_of_another(const std::filesystem::path& folder, std::size_t offset = 36) {
    std::string bytes = runtime::read_file(store::place_of(folder), 4096).value();
    bytes.at(offset) = static_cast<char>(bytes.at(offset) ^ 1);
    const ByteView content = as_bytes(bytes).first(bytes.size() - 8);
    Writer checksum;
    checksum.u64(store::checksum_of(std::span{&content, 1}));
    std::copy(checksum.view().begin(), checksum.view().end(), bytes.end() - 8);
    return bytes;
}

}  // namespace rhizome::test
