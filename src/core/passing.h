// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <variant>
#include <vector>

#include "core/detail/passing_set.h"
#include "core/effects.h"
#include "core/passing_messages.h"

/// Documents that live off the chain: many, short-lived, and needed on every node (Kubernetes' events and leases).
/// Members tell each other what they were asked to write; of two versions of one document the later stands everywhere,
/// and all go by themselves at a time that they carry.
namespace rhizome::core {

struct PassingConfig {
    PassingRoom room{};
    /// New versions of one member's that are taken, in a second; as many at once as it may have in all. What is more
    /// is taken later, if it still stands then.
    std::uint64_t writer_per_second = 50;
    /// Records given to one peer that lacks them, in a second; as many at once as there may be.
    std::uint64_t served_per_second = 200;
    milliseconds gather{20};             ///< news wait so long for others: of two versions one goes
    milliseconds compare_every{10'000};  ///< with each peer
    milliseconds compare_again{1'000};   ///< where there was a difference
    milliseconds ask_again{2'000};       ///< what was promised and did not come
    seconds ahead_max{120};              ///< of this node's clock: no stamp is later
    seconds flood_again{60};             ///< so often the same member is named
    seconds deleted_kept{3'600};         ///< at least; a document does not come back
    std::size_t asked_max = kPassingListMax;
};

// ---- events --------------------------------------------------------------------------------------------------------

struct PassingHeard {
    PeerId from{};
    SharedPassing message{};
};
/// A client of this node has written it, or deleted it (null).
struct PassingWritten {
    state::Path path;
    state::EntryPtr entry{};
    Time until{};
};
/// The members of the cluster are these now: nobody else's word counts.
struct PassingMembers {
    std::set<consensus::MemberKey> members{};
};
/// As this state has them.
PassingMembers members_in(const state::StateView& view);
using PassingEventKind = std::variant<Tick, PeerUp, PeerDown, PassingHeard, PassingWritten, PassingMembers>;
struct PassingEvent {
    Time now{};
    PassingEventKind kind{};
};

// ---- effects -------------------------------------------------------------------------------------------------------

struct PassingSend {
    PeerId to{};
    SharedPassing message{};
};
/// From now on this stands at the path, whatever stood there; null: nothing.
struct PassingStands {
    state::Path path;
    state::EntryPtr entry{};
    Time until{};
};
/// A member writes more than is taken of one: for the operator. Said of each at most once in
/// `PassingConfig::flood_again`.
struct PassingFlood {
    consensus::MemberKey writer{};
    std::uint64_t left_out = 0;  ///< since it was last named
};
using PassingEffect = std::variant<PassingSend, PassingStands, PassingFlood, Blame, Wake>;

// --------------------------------------------------------------------------------------------------------------------

struct PassingPorts {
    const consensus::Signatures& signatures;
    const consensus::Signer* signer = nullptr;  ///< null: this node only listens, and passes on
    /// Whether a document may stand at all: of a kind that lives off the chain, and well-formed as such.
    std::function<bool(const state::Entry& entry)> may_stand{};
};

/// Event in, effects out, like `Node`, over the same links. Same events in the same order, same effects on every
/// machine. Nodes that are linked, directly or over others, and hear the same members have the same documents once
/// nothing is on its way; that is so whatever was lost, doubled or came in another order, and after any cut.
///
/// What a peer sends costs nothing that its sender has not signed: one false signature and it is blamed. Records are
/// charged to the member that wrote them, not to whoever passes them on.
class Passing {
public:
    Passing(const ledger::ChainId& chain, const PassingConfig& config, PassingPorts ports);
    ~Passing();
    Passing(const Passing&) = delete;
    Passing& operator=(const Passing&) = delete;

    std::vector<PassingEffect> step(const PassingEvent& event);

    /// All that stands, for a host that begins to show it.
    [[nodiscard]] std::vector<PassingStands> standing() const;
    /// What stands at a path; its entry is null where that is a deletion. Nothing where nothing is known.
    [[nodiscard]] std::optional<PassingStands> standing_at(const state::Path& path) const;
    struct Usage {
        std::size_t records = 0;  ///< deletions that are remembered included
        std::size_t bytes = 0;
        std::uint64_t taken = 0;     ///< of others', so far
        std::uint64_t left_out = 0;  ///< because their members wrote too much
    };
    [[nodiscard]] Usage usage() const;
    /// Two nodes with the same sum have the same.
    [[nodiscard]] PassingSum sum() const;

private:
    struct Inside;
    std::unique_ptr<Inside> inside_;
};

}  // namespace rhizome::core
