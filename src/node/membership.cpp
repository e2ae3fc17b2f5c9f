// SPDX-License-Identifier: Apache-2.0
#include "node/membership.h"

#include <fmt/core.h>

#include "base/codec.h"
#include "consensus/records.h"
#include "stream/strand.h"

namespace rhizome::node {
namespace {

constexpr std::string_view kMembershipNotes = "node";
constexpr std::string_view kMembershipNote = "membership";
constexpr std::size_t kNodeNameMax = 253;

/// What is kept: as which it was a member last, and the height of the tip after which it was none; 0 while it is one.
struct Kept {
    std::string node{};
    std::uint64_t since = 0;
};

Bytes encode(const Kept& kept) {
    Writer out;
    out.u64(kept.since).blob(as_bytes(kept.node));
    return std::move(out).take();
}

std::optional<Kept> kept_at(const Host& host) {
    const auto bytes = host.store().note(kMembershipNotes, kMembershipNote);
    if (!bytes) return std::nullopt;
    const auto read = [&]() -> Result<Kept, DecodeFault> {
        Reader in{*bytes};
        Kept kept;
        TRY(kept.since, in.u64());
        TRY(const ByteView node, in.blob(kNodeNameMax));
        TRY(in.finish());
        kept.node = std::string{as_text(node)};
        return kept;
    };
    auto kept = read();
    return kept ? std::optional{*std::move(kept)} : std::nullopt;
}

/// Whether this chain has had a member of this key: what consensus wrote of its votes and turns stays when its Node
/// goes.
bool was_member(const consensus::MemberKey& key, const NodeView& view) {
    return view.state.get(consensus::records::slot(key)) != nullptr ||
           view.state.get(consensus::records::absent(key)) != nullptr;
}

}  // namespace

std::shared_ptr<void> remember_membership(Host& host, Log log) {
    const auto known = std::make_shared<std::optional<Kept>>(kept_at(host));
    const auto look = [&host, log, known](const NodeView& view) {
        const std::string node = node_name_of(host.key(), view);
        const bool was = *known && (*known)->since == 0;
        if (node.empty() ? !was : was && (*known)->node == node) return;
        if (!node.empty()) {
            if (*known && (*known)->since > 0)
                log.info("this machine is a member again", {{"node", node}, {"height", view.tip.height}});
            *known = Kept{.node = node};
        } else {
            (*known)->since = view.tip.height.number();
            log.warn("this machine is no member any more",
                     {{"node", (*known)->node},
                      {"height", view.tip.height},
                      {"why", was_member(host.key(), view) ? "removed" : "its join was undone by another branch"}});
        }
        (void)host.put_note(kMembershipNotes, kMembershipNote, encode(**known));
    };
    stream::run_on(host.strand(), [&] { look(*host.view()); });
    return host.watch([look](const core::Notice& notice, const NodeView& view) {
        if (std::holds_alternative<core::TipMoved>(notice)) look(view);
    });
}

std::optional<MembershipLost> membership_lost(const Host& host) {
    const auto view = host.view();
    if (!node_name_of(host.key(), *view).empty()) return std::nullopt;
    const auto kept = kept_at(host);
    if (!kept || kept->since == 0 || view->final_height.number() < kept->since) return std::nullopt;
    return MembershipLost{
        .node = kept->node, .since = ledger::Height{kept->since}, .undone = !was_member(host.key(), *view)};
}

Warning warning_of(const MembershipLost& lost) {
    const std::string_view again =
        "to be a member again: 'rhizome token new' on a member, 'rhizome down' here, and then here 'rhizome join "
        "ADDRESS --token TOKEN --again', which makes new keys and fetches the chain anew";
    if (!lost.undone)
        return {fmt::format("this machine was removed from the cluster (as {}, block {}): it follows, and neither "
                            "seals nor votes",
                            lost.node, lost.since),
                fmt::format("if it is to go, 'rhizome down' is all; {}", again)};
    return {fmt::format("the join of this machine (as {}) was undone: it joined on a side of a cut that lost against "
                        "the other, where its token or its name was used by another or revoked (block {})",
                        lost.node, lost.since),
            std::string{again}};
}

}  // namespace rhizome::node
