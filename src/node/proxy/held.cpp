// SPDX-License-Identifier: Apache-2.0
#include "node/proxy/held.h"

#include <sys/stat.h>

#include <algorithm>

#include "ledger/json_form.h"
#include "runtime/files.h"

namespace rhizome::node {

namespace fs = std::filesystem;

fs::path held_folder(const fs::path& config) { return config / "held"; }

Result<fs::path> hold_tx(const fs::path& folder, const ledger::Tx& tx) {
    TRY(runtime::make_folder(folder, 0700));
    const fs::path file = folder / (id_of(tx).hex() + ".json");
    TRY(runtime::replace_file(file, json::print(ledger::to_json(tx)) + "\n", 0600));
    return file;
}

Result<std::vector<HeldTx>> held_txs(const fs::path& folder) {
    std::vector<HeldTx> all;
    std::error_code missing;
    for (const auto& file : fs::directory_iterator{folder, missing}) {
        if (file.path().extension() != ".json") continue;
        const auto text = runtime::read_file(file.path(), ledger::kTxJsonBytesMax);
        auto tx = text ? ledger::tx_from_json(*text) : Result<ledger::Tx>{Fail{text.error()}};
        if (!tx) continue;
        struct ::stat facts {};
        const bool known = ::stat(file.path().c_str(), &facts) == 0;
        all.push_back({.id = id_of(*tx).hex(),
                       .file = file.path(),
                       .since = Time::from_unix_seconds(known ? facts.st_mtime : 0),
                       .tx = *std::move(tx)});
    }
    std::sort(all.begin(), all.end(), [](const HeldTx& left, const HeldTx& right) {
        return left.since != right.since ? left.since < right.since : left.id < right.id;
    });
    return all;
}

}  // namespace rhizome::node
