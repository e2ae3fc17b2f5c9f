// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "ledger/check.h"
#include "ledger/reject.h"

namespace rhizome::node {

/// What was refused of orders that this node was asked for, by the resources they were about: so that `why` can say
/// what was tried in vain. In memory; the newest 4,096. From any thread.
class RefusalJournal {
public:
    struct Row {
        Time time{};
        ledger::TxId tx{};
        ledger::Reject why{};
    };
    void note(const ledger::CheckedTx& tx, const ledger::Reject& why, Time now);
    /// The newest first, at most `most`.
    [[nodiscard]] std::vector<Row> about(const state::Path& path, std::size_t most) const;

    static constexpr std::size_t kRowsMax = 4'096;

private:
    struct Kept {
        Row row{};
        std::set<std::string> keys{};  ///< of the paths it named
    };
    mutable std::mutex mutex_;
    std::deque<Kept> rows_;  ///< oldest first
};

}  // namespace rhizome::node
