// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "ledger/draft.h"
#include "ledger/limits.h"

/// What somebody wants changed, as JSON: the body of `POST drafts`.
///
///     {"changes":[{"document":{…},"lock":<hexadecimal>},{"delete":"pod/db","namespace":"web"}],
///      "by":<path>,"lockTime":…,"sequence":…,"expiry":…}
///
/// Of each change either a document or what to delete (KIND/NAME or a path). A document is stored as its compact form.
/// Without a lock it keeps the one it has; `""` takes it away. All but `changes` may be left out.
namespace rhizome::node {

/// Escapes at most double a document's bytes where they matter (`\n` in a string), and there is room for frames.
inline constexpr std::size_t kDraftWishBytesMax = 2 * ledger::kTxBytesMax + (1u << 20);

/// Errors name the member. What is deleted is looked up in `view`.
Result<ledger::DraftWish> draft_wish_from_json(std::string_view text, const state::StateView& view);

/// What a client sends.
struct WishedChange {
    std::string document{};       ///< JSON; or
    std::string deletes{};        ///< KIND/NAME or a path
    std::string name_space{};     ///< of KIND/NAME; empty: default
    std::optional<Bytes> lock{};  ///< of the document
};
struct WishForm {
    std::vector<WishedChange> changes{};
    std::optional<state::Path> by{};
    std::uint32_t lock_time = 0;
    std::uint32_t sequence = ledger::kSequenceFinal;
    std::optional<std::uint32_t> expiry{};
};
json::Object to_json(const WishForm& form);

}  // namespace rhizome::node
