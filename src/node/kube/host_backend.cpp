// SPDX-License-Identifier: Apache-2.0
#include "node/kube/host_backend.h"

#include <algorithm>

#include <fmt/core.h>

#include "ledger/chain_records.h"
#include "node/kube/authority.h"
#include "node/metrics.h"
#include "node/status.h"
#include "runtime/clock.h"
#include "runtime/entropy.h"

namespace rhizome::node {
namespace {

/// Tells nodes apart that start in the same moment.
std::uint32_t tag_of(const consensus::MemberKey& key) {
    const auto bytes = ByteView{key};
    std::uint32_t tag = 0;
    for (const std::uint8_t byte : bytes.last(4)) tag = tag << 8 | byte;
    return tag;
}

api::Stage stage_of(core::Stage stage) {
    switch (stage) {
        case core::Stage::Accepted: return api::Stage::Accepted;
        case core::Stage::Included: return api::Stage::Included;
        case core::Stage::Final: return api::Stage::Final;
        case core::Stage::Refused: return api::Stage::Refused;
    }
    unreachable("a Stage is one of four");
}

const std::set<std::string, std::less<>>& returning_in(const NodeView& view) {
    static const std::set<std::string, std::less<>> kNone;
    return view.returning ? *view.returning : kNone;
}

api::Live::Passing passing_of(const core::PassingStands& stands) {
    return {.path = stands.path, .entry = stands.entry, .until = stands.until};
}

}  // namespace

HostBackend::HostBackend(Host& host, Gossip& gossip, KeyKeeper& keeper, RefusalJournal* refusals, Keystore keys,
                         Own own, api::Revision first, api::Revisions::Limits window)
    : host_(host),
      gossip_(gossip),
      live_(std::make_shared<api::Live>(api::Revisions{first, host.view()->state, window})),
      signer_(std::move(keys), host.view()->chain,
              [&host] {
                  const auto view = host.view();
                  return ledger::Moment{.height = view->tip.height + 1,
                                        .time = std::max(runtime::now(), view->tip.time)};
              }),
      vault_(keeper, [this](const api::User& user) { return signer_.keys_of(user); }),
      refusals_(refusals),
      own_(std::move(own)),
      vouching_(own_.authority.chain.front()) {
    watching_ = host.watch([live = live_](const core::Notice&, const NodeView& view) {
        live->follow(view.state, view.final_height, returning_in(view));
    });
    // The host's strand may still hold a write when this one is gone.
    live_->on_write([&gossip, weak = std::weak_ptr{live_}](const api::Live::Passing& what) {
        gossip.write(what.path, what.entry, what.until.value_or(Time{}),
                     [weak, path = what.path](const std::optional<core::PassingStands>& stands) {
                         if (const auto live = weak.lock())
                             live->settle(path, stands ? std::optional{passing_of(*stands)} : std::nullopt);
                     });
    });
    shown_ = gossip.show_to([live = live_](const core::PassingStands& stands) { live->show(passing_of(stands)); });
}

api::Revision HostBackend::first_by_clock(const Host& host, Time started) {
    return api::first_revision(started, tag_of(host.key()));
}

api::HeardOf HostBackend::heard_of() {
    // Asked for a whole list at once: the members are read when the first one is.
    return [view = host_.view(),
            members = std::make_shared<std::optional<std::vector<MemberStatus>>>()](std::string_view node) {
        if (!*members) *members = members_of(*view);
        for (const MemberStatus& one : **members)
            if (one.node == node)
                return api::Heard{
                    .is_member = true, .in_lease = one.in_lease, .silent_seconds = one.silent_for.count() / 1'000'000};
        return api::Heard{};
    };
}

std::uint64_t HostBackend::submit(ledger::SharedTx tx, std::function<void(const api::Progress&)> told) {
    const auto tell = [live = live_, &host = host_, tx, refusals = refusals_,
                       told = std::move(told)](const core::Answer& answer) {
        if (answer.refused && refusals != nullptr) refusals->note(*tx, *answer.refused, runtime::now());
        // On the strand: whoever is told sees its own write.
        const auto view = host.view();
        live->follow(view->state, view->final_height, returning_in(*view));
        std::string caution;
        if (answer.stage == core::Stage::Included) caution = caution_of(host.reach());
        told({.stage = stage_of(answer.stage), .refused = answer.refused, .caution = std::move(caution)});
    };
    return host_.submit(std::move(tx), tell).number();
}

void HostBackend::forget(std::uint64_t client) { host_.forget(core::ClientId{client}); }

std::vector<api::HealthCheck> HostBackend::health() {
    std::vector<api::HealthCheck> checks{{.name = "ping"}};
    const auto view = host_.view();
    for (const core::Condition condition :
         {core::Condition::ClockOff, core::Condition::ConflictingFinals, core::Condition::DiskFull,
          core::Condition::Accused, core::Condition::Starting, core::Condition::CopyRuns}) {
        const bool holds = view->conditions.contains(condition);
        checks.push_back({.name = std::string{node::name(condition)}, .good = !holds, .why = "see 'rhizome status'"});
    }
    // It does its part all the same.
    checks.push_back({.name = std::string{node::name(core::Condition::ChainAhead)}});
    if (view->conditions.contains(core::Condition::ChainAhead))
        checks.back().why = fmt::format("chain time is {} ahead of this machine's clock: see 'rhizome status'",
                                        to_text(std::chrono::round<seconds>(view->chain_ahead)));
    return checks;
}

api::Backend::Machines HostBackend::machines() {
    const auto view = host_.view();
    Machines all{.me = node_name_of(host_.key(), *view)};
    for (MemberStatus& one : members_of(*view))
        if (one.in_lease) all.live.push_back(std::move(one.node));
    return all;
}

Result<std::string> HostBackend::token_key_id() {
    std::string name = node_name_of(host_.key(), *host_.view());
    if (name.empty())
        return fail(ErrorKind::Unavailable, "this machine is no member of the cluster: ask one that is for a token");
    return name;
}

Bytes HostBackend::sign_token(ByteView text) { return to_bytes(own_.transport.sign(text).view()); }

std::optional<std::array<std::uint8_t, 32>> HostBackend::token_key(std::string_view key_id) {
    const auto view = host_.view();
    for (const MemberStatus& one : members_of(*view)) {
        if (one.node != key_id || one.is_accused) continue;
        const state::Entry* record = view->state.get(ledger::records::member(one.key));
        if (record == nullptr) continue;
        if (const auto member = ledger::decode_member(record->bytes())) return member->transport;
    }
    return std::nullopt;
}

std::optional<std::string> HostBackend::voucher_of(const stream::Certificate& shown) {
    return vouching_.voucher_of(shown, host_.view()->state, runtime::now());
}

Result<std::string> HostBackend::issue_certificate(const stream::CertificateRequest& request,
                                                   const CertificateWish& wish) {
    // Whoever asks: that group is given by whoever has the authority's key at hand (`rhizome kubeconfig`).
    if (std::find(wish.groups.begin(), wish.groups.end(), api::kMasters) != wish.groups.end())
        return fail(ErrorKind::Denied, fmt::format("no request is answered with the group {}", api::kMasters));
    TRY(const auto certificate,
        client_certificate(own_.authority, request, {.user = wish.user, .groups = wish.groups, .lasts = wish.lasts},
                           runtime::now()));
    return certificate.to_pem();
}

std::string HostBackend::metrics() {
    return metrics_text(*host_.view(), host_.store(), runtime::now()) + gossip_metrics(gossip_.usage());
}
Time HostBackend::now() { return runtime::now(); }
void HostBackend::fill_with_entropy(std::span<std::uint8_t> out) { runtime::fill_with_entropy(out); }

}  // namespace rhizome::node
