// SPDX-License-Identifier: Apache-2.0
#include "node/lost_events.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/json.h"
#include "cluster/names.h"
#include "ledger/reject.h"
#include "node/status.h"
#include "runtime/clock.h"
#include "state/document.h"

namespace rhizome::node {
namespace {

/// As long as other events.
constexpr seconds kLostEventKept{3'600};
/// Of one transaction: it may touch thousands.
constexpr std::size_t kEventsOfOneMax = 16;
/// Of an event's name, with the dot and the digits that tell it from others.
constexpr std::size_t kNameMax = 200;

std::string message_of(const store::LostTx& lost, const ledger::NamedOutput& output) {
    const std::string_view verb = output.wish == ledger::Wish::Delete ? "delete" : "write";
    const std::string front = fmt::format("what was accepted at {} in transaction {} to {} this",
                                          to_rfc3339(lost.accepted), lost.tx->id.hex(), verb);
    if (lost.made_again)
        return fmt::format(
            "{} was taken back when the network was linked again, and is made again on what stands now: "
            "transaction {}",
            front, lost.made_again->hex());
    return fmt::format(
        "{} is lost: after the network was linked again another write stands. {}. Do it again if it is "
        "still wanted.",
        front, to_text(lost.why));
}

void tell(Host& host, Gossip& gossip, const store::LostTx& lost) {
    const auto view = host.view();
    const std::string node = node_name_of(host.key(), *view);
    std::size_t told = 0;
    for (std::size_t i = 0; i < lost.tx->outputs.size() && told < kEventsOfOneMax; ++i) {
        auto event = lost_event(lost, lost.tx->outputs[i], i, view->state, node);
        if (!event) continue;
        ++told;
        gossip.write(event->path, std::move(event->entry), event->until, [](const auto&) {});
    }
}

}  // namespace

std::optional<LostEvent> lost_event(const store::LostTx& lost, const ledger::NamedOutput& output, std::size_t index,
                                    const state::StateView& present, std::string_view node) {
    if (output.wish == ledger::Wish::Nothing) return std::nullopt;
    const ledger::Resource& resource = output.resource;
    const std::string space = resource.name_space.empty() ? "default" : resource.name_space;
    const std::string id = lost.tx->id.hex();
    const auto written = json::parse(lost.tx->tx.outputs[index].value, {.bytes = state::kDocumentBytesMax});
    if (!written) return std::nullopt;
    std::string uid{written->text_at({"metadata", "uid"})};
    if (const state::Entry* stands = present.get(resource.path); stands != nullptr && stands->is_written())
        if (const auto document = json::parse(stands->document(), {.bytes = state::kDocumentBytesMax}))
            uid = document->text_at({"metadata", "uid"});
    json::Object object{{"apiVersion", written->text_at({"apiVersion"})}, {"kind", resource.type.kind}};
    if (!resource.name_space.empty()) object.set("namespace", resource.name_space);
    object.set("name", resource.name);
    if (!uid.empty()) object.set("uid", uid);
    const std::string name = fmt::format("{}.{}{}", resource.name.substr(0, kNameMax), id.substr(0, 16),
                                         index == 0 ? std::string{} : fmt::format("-{}", index));
    const auto path = state::Path::namespaced(space, "", "Event", name);
    if (!path) return std::nullopt;
    crypto::Hash256 seed{lost.tx->id.view()};
    seed.writable()[0] = static_cast<std::uint8_t>(seed.view()[0] ^ index);
    const std::string when = to_rfc3339(lost.lost);
    const json::Object document{
        {"apiVersion", "v1"},
        {"kind", "Event"},
        {"metadata", json::Object{{"name", name}, {"namespace", space}, {"uid", cluster::uid_from(seed.view())}}},
        {"involvedObject", std::move(object)},
        {"reason", lost.made_again ? "WriteMadeAgain" : "WriteLost"},
        {"message", message_of(lost, output)},
        {"type", lost.made_again ? "Normal" : "Warning"},
        {"source", json::Object{{"component", "rhizome"}, {"host", node}}},
        {"firstTimestamp", when},
        {"lastTimestamp", when},
        {"count", 1},
        {"reportingComponent", "rhizome"},
        {"reportingInstance", node}};
    const Time told = Time::from_unix_millis(lost.lost.unix_millis());
    state::Mark mark{.output = {}, .height = {}, .time = told};
    const auto bytes = lost.tx->id.view();
    std::copy(bytes.begin(), bytes.end(), mark.output.change.writable().begin());
    mark.output.index = static_cast<std::uint16_t>(index);
    auto entry = state::Entry::written(*path, {.born = mark, .latest = mark, .lock = mark}, {}, json::print(document));
    if (!entry) return std::nullopt;
    return LostEvent{*path, *std::move(entry), told + kLostEventKept};
}

LostEvents::LostEvents(Host& host, Gossip& gossip)
    : watching_(host.watch_lost([&host, &gossip](const store::LostTx& lost) { tell(host, gossip, lost); })) {
    const Time now = runtime::now();
    auto before = host.lost();
    std::reverse(before.begin(), before.end());
    for (const store::LostTx& lost : before)
        if (now < lost.lost + kLostEventKept) tell(host, gossip, lost);
}

}  // namespace rhizome::node
