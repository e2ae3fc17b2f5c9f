// SPDX-License-Identifier: Apache-2.0
#include "node/identity.h"

#include <algorithm>

#include <fmt/core.h>

#include "runtime/entropy.h"
#include "runtime/files.h"

namespace rhizome::node {
namespace {

namespace fs = std::filesystem;

}  // namespace

fs::path seed_file(const fs::path& data) { return data / "node" / "seed"; }

Result<Identity> load_identity(const fs::path& data) {
    const fs::path file = seed_file(data);
    const auto bytes = runtime::read_secret_file(file, crypto::NodeSeed::size() + 1);
    if (!bytes) {
        if (bytes.error().kind == ErrorKind::NotFound)
            return fail(ErrorKind::NotFound, fmt::format("this machine has no keys in {}", data.native()));
        if (bytes.error().kind != ErrorKind::Exhausted) return Fail{bytes.error()};
    }
    crypto::NodeSeed seed;
    if (!bytes || bytes->size() != seed.size())
        return fail(ErrorKind::Corrupt, fmt::format("{} is not a seed of {} bytes", file.native(), seed.size()));
    std::copy(bytes->view().begin(), bytes->view().end(), seed.writable().begin());
    return Identity{crypto::derive(seed), runtime::is_too_open(file)};
}

Result<Identity> make_identity(const fs::path& data) {
    crypto::NodeSeed seed;
    runtime::fill_with_entropy(seed.writable());
    const fs::path file = seed_file(data);
    TRY(runtime::make_folder(file.parent_path(), 0700));
    if (const auto written = runtime::write_new_file(file, as_text(seed.view()), 0600); !written) {
        if (written.error().kind != ErrorKind::Conflict) return Fail{written.error()};
        return fail(ErrorKind::Conflict, fmt::format("this machine has keys already: {}", file.native()));
    }
    return Identity{crypto::derive(seed), false};
}

}  // namespace rhizome::node
