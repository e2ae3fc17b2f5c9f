// SPDX-License-Identifier: Apache-2.0
#include "node/watching.h"

#include <deque>
#include <mutex>

#include <fmt/core.h>

#include "consensus/evidence.h"
#include "consensus/judge.h"
#include "ledger/codec.h"
#include "node/host.h"
#include "node/status.h"
#include "node/webhook.h"
#include "runtime/clock.h"
#include "stream/timers.h"

namespace rhizome::node {
namespace {

/// How often the pool is looked at: a tenth of the bound, so that what is due is known to be.
constexpr milliseconds kLookLeast{10};
constexpr std::size_t kAlertsKept = 64;

json::Object to_json(const follow::Alert& alert, const NodeView& view) {
    json::Object row{{"kind", follow::name(alert.kind)},
                     {"cluster", cluster_name_of(view)},
                     {"chainId", view.chain.hex()},
                     {"node", node_name_of(alert.who, view)},
                     {"key", to_hex(alert.who)},
                     {"at", to_rfc3339(alert.at, Precision::Millis)},
                     {"what", alert.what}};
    if (alert.kind == follow::AlertKind::Censorship) {
        row.set("block", alert.block.hex());
        row.set("transaction", alert.tx.hex());
    }
    return row;
}

}  // namespace

struct Watching::Inside : std::enable_shared_from_this<Inside> {
    Inside(Host& host_in, WatchOptions options_in)
        : host(host_in),
          options(std::move(options_in)),
          log(options.log),
          every(std::max(kLookLeast, options.rules.bound / 10)),
          tower(options.rules) {}

    Host& host;
    const WatchOptions options;
    const Log log;
    const milliseconds every;
    // On the host's strand.
    follow::Watchtower tower;
    std::unique_ptr<stream::Timer> timer{};
    std::shared_ptr<void> watching{};
    bool stopped = false;

    std::unique_ptr<Webhook> webhook{};
    mutable std::mutex mutex{};
    follow::Watchtower::Counts counts{};
    std::deque<json::Object> alerts{};  ///< newest first

    void step(decltype(follow::WatchEvent::kind) kind) {
        const auto told = tower.step({runtime::now(), std::move(kind)});
        const auto view = host.view();
        for (const follow::Alert& alert : told) {
            const json::Object row = to_json(alert, *view);
            log.error("a member is to be looked at", {{"kind", follow::name(alert.kind)},
                                                      {"node", row.find("node")->if_string()->c_str()},
                                                      {"key", to_hex(alert.who)},
                                                      {"what", alert.what}});
            if (webhook) webhook->post(row);
            const std::lock_guard hold{mutex};
            alerts.push_front(row);
            if (alerts.size() > kAlertsKept) alerts.pop_back();
        }
        const std::lock_guard hold{mutex};
        counts = tower.counts();
    }

    static std::vector<ledger::TxId> pending_of(const core::Node& node) {
        std::vector<ledger::TxId> ids;
        for (const ledger::SharedTx& tx : node.pending_txs()) ids.push_back(tx->id);
        return ids;
    }

    void look() {
        host.inspect([weak = weak_from_this()](const core::Node* node) {
            const auto self = weak.lock();
            if (!self || self->stopped || node == nullptr) return;
            self->step(follow::PendingSeen{pending_of(*node)});
            self->timer->set(stream::after(self->every));
        });
    }

    void moved(const core::TipMoved& moved) {
        // The pool as it is on top of the new tip: what fell out of it could not have been included.
        host.inspect([weak = weak_from_this(), applied = moved.applied](const core::Node* node) {
            const auto self = weak.lock();
            if (!self || self->stopped || node == nullptr) return;
            const auto pending = pending_of(*node);
            for (const ledger::BlockHash& hash : applied) self->see(hash, pending, *node);
        });
        const auto evidence = consensus::all_evidence();
        for (const state::Change& change : moved.change.changes()) {
            if (!evidence.covers(change.key()) || !change.after || change.before) continue;
            const auto digits = from_hex(state::Path::from_checked_key(change.key()).name());
            follow::AccusedSeen seen;
            if (!digits || digits->size() != seen.who.size()) continue;
            std::copy(digits->begin(), digits->end(), seen.who.begin());
            step(seen);
        }
    }

    void see(const ledger::BlockHash& hash, const std::vector<ledger::TxId>& pending, const core::Node& node) {
        const auto block = host.store().block(hash);
        if (!block) return;
        const auto proposer = consensus::proposer_in(block->seal);
        if (!proposer) return;
        follow::BlockSeen seen{.hash = hash,
                               .header = block->header,
                               .proposer = *proposer,
                               .pending = pending,
                               .bytes = ledger::encoded_size(*block),
                               .bytes_max = node.state().parameters().block_bytes};
        for (const ledger::Tx& tx : block->txs) seen.txs.push_back(id_of(tx));
        step(std::move(seen));
    }
};

Watching::Watching(std::shared_ptr<Inside> inside) : inside_(std::move(inside)) {}

Result<std::unique_ptr<Watching>> Watching::start(stream::IoContext& io, Host& host, WatchOptions options) {
    auto inside = std::make_shared<Inside>(host, std::move(options));
    if (inside->options.webhook) {
        TRY(inside->webhook, Webhook::start(io, {.url = *inside->options.webhook, .log = inside->log}));
    }
    inside->watching = host.watch([weak = std::weak_ptr{inside}](const core::Notice& notice, const NodeView&) {
        const auto self = weak.lock();
        if (const auto* moved = std::get_if<core::TipMoved>(&notice); self && moved != nullptr) self->moved(*moved);
    });
    host.strand().post([inside] {
        if (inside->stopped) return;
        inside->timer = std::make_unique<stream::Timer>(inside->host.strand(), [weak = std::weak_ptr{inside}] {
            if (const auto self = weak.lock()) self->look();
        });
        inside->look();
    });
    return std::unique_ptr<Watching>{new Watching{std::move(inside)}};
}

Watching::~Watching() {
    stream::run_on(inside_->host.strand(), [this] {
        inside_->stopped = true;
        inside_->timer.reset();
        inside_->watching.reset();
    });
    inside_->webhook.reset();
}

json::Object Watching::shown() const {
    const std::lock_guard hold{inside_->mutex};
    json::Array alerts;
    for (const json::Object& one : inside_->alerts) alerts.emplace_back(one);
    json::Object all{{"blocks", inside_->counts.blocks},      {"shortBlocks", inside_->counts.short_blocks},
                     {"leftOut", inside_->counts.left_out},   {"watched", inside_->counts.watched},
                     {"alertsTotal", inside_->counts.alerts}, {"alerts", std::move(alerts)}};
    if (inside_->webhook) {
        const auto posted = inside_->webhook->counts();
        all.set("webhook", json::Object{{"delivered", posted.delivered},
                                        {"refused", posted.refused},
                                        {"givenUp", posted.given_up},
                                        {"failedAttempts", posted.failed},
                                        {"waiting", posted.waiting}});
    }
    return all;
}

}  // namespace rhizome::node
