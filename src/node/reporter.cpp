// SPDX-License-Identifier: Apache-2.0
#include "node/reporter.h"

#include "ledger/draft.h"
#include "ledger/signing.h"
#include "ledger/special_kinds.h"
#include "node/status.h"
#include "runtime/clock.h"
#include "stream/timers.h"

namespace rhizome::node {
namespace {

/// A machine that is about to become a member looks this often whether it is.
constexpr seconds kLookForMembership{1};
/// After a refusal, and at least between two reports: an address that flaps does not fill the chain.
constexpr seconds kBetweenReports{10};

/// The draft of these changes, signed by the machine's chain key wherever a signature is wanted.
Result<ledger::SharedTx> signed_tx(std::vector<ledger::Change> changes, const NodeView& view,
                                   const crypto::NodeKeys& keys, Time now) {
    const ledger::LedgerState state{view.state};
    ledger::DraftWish wish{.changes = std::move(changes)};
    wish.now = Time::from_unix_millis(std::max(view.tip.time, now).unix_millis());
    TRY(ledger::Tx tx, ledger::make_draft(wish, state.view()));
    TRY(const auto draft, ledger::check_tx(tx));
    const ledger::Signer signer{keys.chain, keys.chain.public_key()};
    const auto uses = ledger::uses_of_inputs(*draft, state);
    for (std::size_t i = 0; i < uses.size(); ++i) {
        auto progress = ledger::advance(*draft, i, uses[i], view.chain, state, &signer);
        if (!progress.complete)
            return fail(ErrorKind::Denied, "this machine's key does not open the lock: " + progress.missing);
        tx.inputs[i].unlocking = std::move(progress.unlocking);
    }
    TRY(auto checked, ledger::check_tx(std::move(tx)));
    return checked;
}

}  // namespace

Result<std::optional<ledger::SharedTx>> make_report_tx(const NodeView& view, const ReportWish& wish,
                                                       const Machine& machine, const crypto::NodeKeys& keys, Time now) {
    std::optional<ledger::SharedTx> made;
    // Each in a transaction of its own: a Node that the owner has locked keeps no report from being written.
    const auto report_path = state::Path::node_report(wish.name);
    const json::Value report = report_document(wish, machine);
    const state::Entry* known = report_path ? view.state.get(*report_path) : nullptr;
    if (known == nullptr || ledger::parse_checked(known->document()) != report) {
        TRY(made, signed_tx({{.document = json::print(report)}}, view, keys, now));
        return made;
    }
    const auto node_path = state::Path::node(wish.name);
    const state::Entry* node = node_path ? view.state.get(*node_path) : nullptr;
    if (node == nullptr) return made;
    json::Value document = ledger::parse_checked(node->document());
    if (!apply_traits(document, wish.name, wish.traits)) return made;
    TRY(made, signed_tx({{.document = json::print(document)}}, view, keys, now));
    return made;
}

struct Reporter::Inside : std::enable_shared_from_this<Inside> {
    Inside(stream::IoContext& io, Host& host_in, const crypto::NodeKeys& keys_in, ReporterOptions options_in)
        : host(host_in), keys(keys_in), options(std::move(options_in)), strand(io.make_strand()) {}

    Host& host;
    const crypto::NodeKeys& keys;
    const ReporterOptions options;
    const stream::Strand strand;
    std::unique_ptr<stream::Timer> timer{};
    std::optional<core::ClientId> waiting{};
    bool stopped = false;
    std::string last_trouble{};

    /// Said once, not every ten seconds.
    void complain(const std::string& why) {
        if (why == last_trouble) return;
        last_trouble = why;
        options.log.warn("what this machine is cannot be told to the cluster", {{"why", why}});
    }

    void look() {
        if (stopped || waiting) return;
        const auto view = host.view();
        const std::string name = node_name_of(host.key(), *view);
        if (name.empty()) return timer->set(stream::after(kLookForMembership));
        const Machine machine = look_at_machine(options.data);
        ReportWish wish{.name = name,
                        .traits = options.traits,
                        .capacity = options.capacity,
                        .allocatable = options.allocatable,
                        .links = options.advertise,
                        .version = options.version,
                        .api_authority = options.api_authority};
        if (wish.links.empty()) wish.links = reachable_addresses(options.listens, machine.addresses);
        auto made = make_report_tx(*view, wish, machine, keys, runtime::now());
        if (!made) {
            complain(made.error().message);
            return timer->set(stream::after(options.look_every));
        }
        if (!*made) return timer->set(stream::after(options.look_every));
        waiting = host.submit(
            **made,
            [weak = weak_from_this()](const core::Answer& answer) {
                const auto self = weak.lock();
                if (!self) return;
                const bool is_done = answer.stage == core::Stage::Included || answer.stage == core::Stage::Final ||
                                     answer.stage == core::Stage::Refused;
                if (!is_done) return;
                const std::string refused = answer.refused ? to_text(*answer.refused) : "";
                self->strand.post([self, refused] { self->told(refused); });
            },
            core::Remember::WhileAsked);  // what is missing is reported anew
    }

    void told(const std::string& refused) {
        if (stopped || !waiting) return;
        host.forget(*waiting);
        waiting.reset();
        if (refused.empty()) {
            last_trouble.clear();
            options.log.debug("the cluster knows what this machine is");
            return timer->set(stream::after(seconds{0}));  // there may be more to say
        }
        complain(refused);
        timer->set(stream::after(kBetweenReports));
    }
};

Reporter::Reporter(stream::IoContext& io, Host& host, const crypto::NodeKeys& keys, ReporterOptions options)
    : inside_(std::make_shared<Inside>(io, host, keys, std::move(options))) {
    const auto in = inside_;
    in->strand.post([in] {
        if (in->stopped) return;
        in->timer = std::make_unique<stream::Timer>(in->strand, [weak = std::weak_ptr{in}] {
            if (const auto self = weak.lock()) self->look();
        });
        in->look();
    });
}

Reporter::~Reporter() { stop(); }

void Reporter::stop() {
    if (!inside_) return;
    const auto in = std::move(inside_);
    stream::run_on(in->strand, [&] {
        in->stopped = true;
        in->timer.reset();
        if (in->waiting) in->host.forget(*in->waiting);
    });
}

}  // namespace rhizome::node
