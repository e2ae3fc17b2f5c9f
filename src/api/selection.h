// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/revisions.h"
#include "api/shown.h"
#include "api/status.h"
#include "cluster/kinds.h"

/// Which documents a LIST, a WATCH or a deletion of a collection is about, and taking them from the state in pages.
namespace rhizome::api {

struct Selection {
    const cluster::Kind* kind = nullptr;
    std::string name_space{};  ///< empty: of all
    std::string name{};        ///< the only one of this name; empty: any
    /// Labels and fields; null: all of them.
    std::function<bool(const json::Value& object)> matches{};

    [[nodiscard]] Layer layer() const {
        return kind->keeping == cluster::Keeping::Gossip ? Layer::Passing : Layer::Chain;
    }
    /// All keys that are selected begin with it; not all that begin with it are.
    [[nodiscard]] state::Prefix prefix() const;
    /// Whether the document at this key is of the kind, namespace and name.
    [[nodiscard]] bool covers(std::string_view key) const;
};

/// Where a document of this kind stands; the fault as an answer.
Result<state::Path, Status> path_of(const cluster::Kind& kind, std::string_view name_space, std::string_view name);

/// A page of a list.
struct Listing {
    std::vector<Standing> items{};
    Revision revision = 0;        ///< of the list: what a watch goes on from
    std::string next{};           ///< the key of the last one looked at; empty when there are no more
    std::uint64_t remaining = 0;  ///< how many follow; only without `matches`
};
/// Those of `listing`, which was made without `matches` and without a limit, that match; at most `limit`. For long
/// lists: looking into documents needs no lock.
void narrow(Listing& listing, const Selection& selection, std::size_t limit, const HeardOf& heard_of);
/// At most `limit` (0: all) whose keys come after `after`. Looks into no document when nothing is to match.
Listing list(const Revisions& revisions, const Selection& selection, std::size_t limit, std::string_view after,
             const HeardOf& heard_of);

/// `continue` of a list: from where, and with which number the first page was made. The pages after the first show the
/// state of their own moment; the list's number stays that of the first, so a watch from there tells what was missed.
struct Continue {
    Revision revision = 0;
    std::string after{};
};
std::string to_text(const Continue& token);
std::optional<Continue> parse_continue(std::string_view text);

}  // namespace rhizome::api
