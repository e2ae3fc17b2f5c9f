// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/call.h"
#include "base/json.h"
#include "ledger/tx.h"

/// Changes that a heal took back and that can be made again on what stands now: a patch or an apply says what is to be
/// changed, not what it was changed from. It lost because the object had another version, and nobody else need have
/// touched the same fields.
namespace rhizome::api {

/// A field that a change touched: what it was before and after; nothing: it was not there.
struct TouchedField {
    std::vector<std::string> path{};
    std::optional<json::Value> before{};
    std::optional<json::Value> after{};
};

/// The fields in which two versions differ, without those that only follow from writes (`managedFields`, `generation`).
/// A list is one field, whatever of it differs.
std::vector<TouchedField> touched_fields(const json::Value& before, const json::Value& after);

/// The first of them, as in `data.colour`, that stands otherwise now than before the change and than after it: somebody
/// else has changed it. Nothing: the change can be made again.
std::optional<std::string> contested_field(const std::vector<TouchedField>& touched, const json::Value& now);

/// Whether what it would do on another version is nothing that it did not do at first.
bool does_the_same(const std::vector<TouchedField>& first, const std::vector<TouchedField>& again);

/// Whether a request may be made again at all: a PATCH that names no version and asks for nothing to be tested.
bool may_be_made_again(const Call& call);

/// Requests by their transactions, for as long as they may come back: the newest, as far as they fit. Confined by its
/// owner.
class Remembered {
public:
    struct Request {
        Call call{};
        std::vector<TouchedField> touched{};
        std::size_t bytes = 0;  ///< about
    };
    void put(const ledger::TxId& id, Request request);
    std::optional<Request> take(const ledger::TxId& id);
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

    static constexpr std::size_t kRequestsMax = 4'096;
    static constexpr std::size_t kBytesMax = 16u << 20;

private:
    void forget_oldest();
    std::map<ledger::TxId, Request> requests_;
    std::deque<ledger::TxId> order_;  ///< oldest first; some are taken already
    std::size_t bytes_ = 0;
};

}  // namespace rhizome::api
