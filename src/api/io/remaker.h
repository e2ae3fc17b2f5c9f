// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/io/front.h"
#include "ledger/tx.h"
#include "stream/strand.h"

namespace rhizome::api {

/// Makes changes again that a heal took back (`api/again.h`), one after the other, as their users would: with the keys
/// at hand, through admission, on whatever stands now.
class Remaker {
public:
    Remaker(SharedService service, const stream::Strand& strand);
    /// Returns when it has ended. Not from a task.
    ~Remaker();
    Remaker(const Remaker&) = delete;
    Remaker& operator=(const Remaker&) = delete;

    /// Told with the transaction that made it again (or with that which had the same in mind), or with nothing.
    using Told = std::function<void(std::optional<std::string> txid)>;
    /// False when this one is not to be made again; then nobody is told. Any thread.
    bool make_again(const ledger::TxId& lost, Told told);

private:
    struct Inside;
    std::shared_ptr<Inside> inside_;
};

}  // namespace rhizome::api
