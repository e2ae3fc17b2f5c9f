// SPDX-License-Identifier: Apache-2.0
#include "node/cosigning.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include <fmt/core.h>

#include "ledger/json_form.h"
#include "ledger/signing.h"
#include "node/host.h"
#include "node/judging.h"
#include "node/status.h"
#include "runtime/clock.h"
#include "runtime/process.h"

namespace rhizome::node {
namespace {

/// Asked at the same time; each may wait for commands of a minute.
constexpr std::size_t kWaitingMax = 64;
/// Of what a command says: enough for a reason.
constexpr std::size_t kOutputMax = 4'096;

/// The first line of what a command said, without surprises for a terminal.
std::string first_line(const std::string& text) {
    std::string line = text.substr(0, std::min<std::size_t>(text.find('\n'), 200));
    for (char& letter : line)
        if (letter < ' ' || letter > '~') letter = '?';
    return line;
}

std::vector<follow::WantedChange> changes_in(const json::Value& judged) {
    std::vector<follow::WantedChange> changes;
    const std::pair<std::string_view, follow::Verb> groups[] = {
        {"creates", follow::Verb::Create}, {"updates", follow::Verb::Update}, {"deletes", follow::Verb::Delete}};
    for (const auto& [member, verb] : groups)
        for (const json::Value& path : *judged.find(member)->if_array())
            changes.push_back({verb, state::Path::parse(*path.if_string()).value()});
    return changes;
}

}  // namespace

struct Cosigning::Inside : std::enable_shared_from_this<Inside> {
    Inside(Host& host_in, const crypto::NodeKeys& keys_in, std::vector<follow::CosignRule> rules, Log log_in)
        : host(host_in), keys(keys_in), log(std::move(log_in)), cosigner(std::move(rules)) {}

    Host& host;
    const crypto::NodeKeys& keys;
    const Log log;
    follow::Cosigner cosigner;  ///< on the host's strand

    struct Job {
        ledger::Tx tx{};
        std::vector<const follow::CosignRule*> rules{};
        Told told{};
    };
    std::mutex mutex{};
    std::condition_variable changed{};
    std::deque<Job> jobs{};
    std::size_t asked = 0;  ///< not answered yet
    bool stopping = false;
    std::thread worker{};

    /// The transaction with this node's signature wherever that helps.
    [[nodiscard]] Result<ledger::Tx> signed_copy(const ledger::Tx& tx, const core::Node& node) const {
        auto checked = ledger::check_tx(tx);
        if (!checked) return Fail{to_error(checked.error())};
        ledger::Tx copy = tx;
        const ledger::Signer signer{keys.chain, keys.chain.public_key()};
        const auto uses = ledger::uses_of_inputs(**checked, node.state());
        bool helped = false;
        for (std::size_t i = 0; i < uses.size(); ++i) {
            if (uses[i].lock.empty() || !ledger::can_help(signer.key, uses[i].lock, node.state())) continue;
            auto progress = ledger::advance(**checked, i, uses[i], host.view()->chain, node.state(), &signer);
            helped |= progress.signed_now;
            copy.inputs[i].unlocking = std::move(progress.unlocking);
        }
        if (!helped) return fail(ErrorKind::Denied, "this node's signature is not wanted by any lock of it");
        return copy;
    }

    Result<Job> decide(const ledger::Tx& tx, const core::Node& node) {
        if (!node_name_of(keys.chain.public_key().bytes(), *host.view()).empty())
            return fail(ErrorKind::Denied,
                        "this node is a member: a member's key signs blocks and votes, nothing else");
        TRY(auto copy, signed_copy(tx, node));
        const ledger::Header& tip = node.tip();
        const Time now = std::max(Time::from_unix_millis(runtime::now().unix_millis()), tip.time + milliseconds{1});
        const json::Value judged = judge_tx(
            copy, node.state(),
            {.parent = node.tip_hash(), .height = tip.height + 1, .time = now, .parent_time = tip.time}, false);
        if (const auto refused = refusal_in(judged)) {
            Error error = to_error(*refused);
            error.message += "\na co-signer signs last: all others must have";
            return Fail{std::move(error)};
        }
        TRY(auto rules, cosigner.admit(changes_in(judged), now));
        return Job{.tx = std::move(copy), .rules = std::move(rules)};
    }

    /// Whether the rule's command agrees.
    static Result<void> ask_command(const follow::CosignRule& rule, const std::string& transaction) {
        if (rule.command.empty()) return ok();
        const auto end = runtime::run_process({.program = rule.command.front(),
                                               .arguments = {rule.command.begin() + 1, rule.command.end()},
                                               .input = transaction,
                                               .deadline = rule.timeout,
                                               .output_max = kOutputMax});
        if (!end)
            return fail(ErrorKind::Unavailable, fmt::format("the command of rule {} could not be asked: {}",
                                                            json::quote(rule.name), end.error().message));
        if (end->succeeded()) return ok();
        return fail(ErrorKind::Denied, fmt::format("the command of rule {} says no: {}", json::quote(rule.name),
                                                   first_line(end->out.empty() ? end->err : end->out)));
    }

    Result<json::Object> finish(const Job& job) const {
        const json::Object transaction = ledger::to_json(job.tx);
        const std::string text = json::print(transaction);
        json::Array names;
        for (const follow::CosignRule* rule : job.rules) {
            TRY(ask_command(*rule, text));
            names.emplace_back(rule->name);
        }
        log.info("co-signed", {{"transaction", id_of(job.tx)}, {"rules", json::print(names)}});
        return json::Object{{"transaction", transaction}, {"rules", std::move(names)}};
    }

    void answer(const Told& told, Result<json::Object> result) {
        {
            const std::lock_guard hold{mutex};
            --asked;
        }
        if (!result) log.info("not co-signed", {{"why", result.error()}});
        told(std::move(result));
    }

    void work() {
        std::unique_lock hold{mutex};
        for (;;) {
            changed.wait(hold, [&] { return stopping || !jobs.empty(); });
            if (stopping) return;
            const Job job = std::move(jobs.front());
            jobs.pop_front();
            hold.unlock();
            answer(job.told, finish(job));
            hold.lock();
        }
    }
};

Cosigning::Cosigning(Host& host, const crypto::NodeKeys& keys, std::vector<follow::CosignRule> rules, Log log)
    : inside_(std::make_shared<Inside>(host, keys, std::move(rules), std::move(log))) {
    inside_->worker = std::thread{[in = inside_.get()] { in->work(); }};
}

Cosigning::~Cosigning() {
    {
        const std::lock_guard hold{inside_->mutex};
        inside_->stopping = true;
        inside_->changed.notify_all();
    }
    inside_->worker.join();
}

void Cosigning::cosign(ledger::Tx tx, Told told) {
    {
        const std::lock_guard hold{inside_->mutex};
        if (inside_->asked >= kWaitingMax)
            return told(fail(ErrorKind::Exhausted, "too many are waiting for this co-signer: try again in a moment"));
        ++inside_->asked;
    }
    inside_->host.inspect(
        [weak = std::weak_ptr{inside_}, tx = std::move(tx), told = std::move(told)](const core::Node* node) {
            const auto in = weak.lock();
            if (!in || node == nullptr) return told(fail(ErrorKind::Unavailable, "the node is stopping"));
            auto job = in->decide(tx, *node);
            if (!job) return in->answer(told, Fail{std::move(job).error()});
            job->told = told;
            const std::lock_guard hold{in->mutex};
            in->jobs.push_back(*std::move(job));
            in->changed.notify_all();
        });
}

}  // namespace rhizome::node
