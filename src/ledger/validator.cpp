// SPDX-License-Identifier: Apache-2.0
#include "ledger/validator.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/core.h>

#include "base/ensure.h"
#include "base/safety_rule.h"
#include "ledger/chain_records.h"
#include "ledger/limits.h"
#include "ledger/special_kinds.h"
#include "ledger/tx_host.h"
#include "script/interpreter.h"
#include "script/locks.h"

namespace rhizome::ledger {
namespace {

using state::Entry;
using state::Path;

/// What an input names to take a resource's authority: the output that last changed its lock, so that edits end
/// nobody's transactions. (Without that rule: its latest output.)
const Outpoint& lock_point_of(const Entry& entry) {
    return holds(SafetyRule::LockPoints) ? entry.origin().lock.output : entry.origin().latest.output;
}

/// DUP HASH160 <address> EQUALVERIFY CHECKSIG: the lock of a report, whatever its Node's own lock says.
Bytes lock_of_member(const MemberKey& key) {
    const auto address = crypto::hash160(key);
    script::ScriptBuilder lock;
    lock.op(script::OP_DUP)
        .op(script::OP_HASH160)
        .data(address.view())
        .op(script::OP_EQUALVERIFY)
        .op(script::OP_CHECKSIG);
    return std::move(lock).take();
}

std::string shown(const Path& path) { return path.text(); }

/// Works out what one transaction does. Reads the state, changes nothing but the cache.
class Decision {
public:
    Decision(const SharedTx& tx, const WorkingState& state, const Place& place, const Rules& rules,
             SignatureCache& cache, std::size_t checks_left)
        : tx_(*tx),
          state_(state),
          place_(place),
          rules_(rules),
          cache_(cache),
          checks_left_(std::min(checks_left, checks_allowed(tx->bytes))) {
        effects_.tx = tx;
        seats_.resize(tx_.tx.inputs.size());
        for (std::size_t i = 0; i < seats_.size(); ++i) {
            seats_[i].latest = state.find_latest(tx_.tx.inputs[i].previous);
            if (seats_.size() > kFewInputs) by_outpoint_.emplace(tx_.tx.inputs[i].previous, i);
        }
    }

    Result<Effects, Reject> run() {
        TRY(check_time());
        std::vector<std::size_t> stores, deletes;
        std::size_t nulls = 0;
        for (std::size_t i = 0; i < tx_.outputs.size(); ++i) {
            switch (tx_.outputs[i].wish) {
                case Wish::Store: stores.push_back(i); break;
                case Wish::Delete: deletes.push_back(i); break;
                case Wish::Nothing: ++nulls; break;
            }
        }
        // Parents first, so that a transaction may create a namespace and what is in it.
        if (stores.size() > 1)
            std::stable_sort(stores.begin(), stores.end(), [&](std::size_t a, std::size_t b) {
                return depth_of(tx_.outputs[a].resource.scope) < depth_of(tx_.outputs[b].resource.scope);
            });
        for (const std::size_t output : stores) TRY(store(output));
        for (const std::size_t output : deletes) TRY(remove_by_name(tx_.outputs[output].resource));
        TRY(const std::size_t removed, remove_by_input());
        TRY(check_all_used());
        if (nulls > removed)
            return reject(RejectCode::UnusedInput, "there are more null outputs than inputs to delete");
        TRY(check_no_orphans());
        TRY(check_tokens());
        TRY(check_relative_locks());
        TRY(check_replay());
        for (const auto& key : found_) cache_.insert(key);
        return std::move(effects_);
    }

private:
    /// Up to here looking at each is faster than a map.
    static constexpr std::size_t kFewInputs = 8;

    enum class Role : unsigned char { Unused, Consumed, Authority };
    struct Seat {
        const Entry* latest = nullptr;  ///< the resource whose latest output the input names
        const Entry* used_for =
            nullptr;  ///< the resource it was used for: its own, or the ancestor whose lock it named
        Role role = Role::Unused;
        bool judged = false;  ///< its script has said yes
    };

    const Input& input(std::size_t i) const { return tx_.tx.inputs[i]; }

    std::optional<std::size_t> find_input(const Outpoint& outpoint) const {
        if (seats_.size() > kFewInputs) {
            const auto at = by_outpoint_.find(outpoint);
            if (at == by_outpoint_.end()) return std::nullopt;
            return at->second;
        }
        for (std::size_t i = 0; i < seats_.size(); ++i)
            if (input(i).previous == outpoint) return i;
        return std::nullopt;
    }

    // ---- time ------------------------------------------------------------------------------------------------------

    Result<void, Reject> check_time() const {
        const Tx& tx = tx_.tx;
        const auto now = place_.time.unix_seconds();
        const auto reached =
            tx.lock_time < kLockTimeThreshold ? static_cast<std::int64_t>(place_.height.number()) : now;
        if (tx.lock_time != 0 && tx.lock_time >= reached)
            return reject(RejectCode::NonFinal,
                          tx.lock_time < kLockTimeThreshold
                              ? fmt::format("it waits for a height above {}", tx.lock_time)
                              : fmt::format("it waits until {}", to_rfc3339(Time::from_unix_seconds(tx.lock_time))));
        if (tx.expiry != 0 && now >= tx.expiry)
            return reject(RejectCode::Expired,
                          fmt::format("it expired at {}", to_rfc3339(Time::from_unix_seconds(tx.expiry))));
        if (tx.expiry != 0 && state_.find(records::replay(tx.expiry, tx_.id)) != nullptr)
            return reject(RejectCode::Replay, "this transaction is in the chain already");
        return {};
    }

    /// What consumes nothing could be played again, so its id is kept until it expires; hence it must expire, and soon.
    Result<void, Reject> check_replay() const {
        if (!effects_.consumed.empty()) return {};
        if (tx_.tx.expiry == 0)
            return reject(RejectCode::Expired, "a transaction that consumes no output needs an expiry");
        if (tx_.tx.expiry > place_.time.unix_seconds() + kExpirySecondsMax)
            return reject(RejectCode::Expired, "its expiry is more than 30 days ahead");
        return {};
    }

    /// A relative lock (BIP 68) counts from the lock point: an edit that keeps the lock does not start it again.
    Result<void, Reject> check_relative_locks() const {
        for (std::size_t i = 0; i < seats_.size(); ++i) {
            const std::uint32_t sequence = input(i).sequence;
            if ((sequence & script::kSequenceDisabled) != 0) continue;
            const state::Mark& since = seats_[i].used_for->origin().lock;
            const std::uint32_t count = sequence & script::kSequenceMask;
            if ((sequence & script::kSequenceCountsTime) != 0) {
                const Time ready = since.time + seconds{count * script::kSequenceUnitSeconds};
                if (place_.time < ready)
                    return reject_input(RejectCode::NonFinal, i,
                                        fmt::format("its lock opens at {}", to_rfc3339(ready)));
            } else if (place_.height < since.height + count) {
                return reject_input(RejectCode::NonFinal, i,
                                    fmt::format("its lock opens at height {}", since.height + count));
            }
        }
        return {};
    }

    // ---- authority
    // ---------------------------------------------------------------------------------------------------

    /// Runs the script of input `i` against `lock`.
    Result<void, Reject> judge(std::size_t i, ByteView lock, const SpentValue& spent, const Entry& of) {
        if (seats_[i].judged) return {};
        if (lock.empty())
            return reject_input(
                RejectCode::NotAuthorised, i,
                fmt::format("{} has no lock of its own: name the lock of an ancestor", shown(of.path())));
        const std::size_t left = checks_left_ - effects_.checks;
        const TxHost host{tx_, i, spent, place_, state_.base(), cache_, found_, &cache_.keys()};
        const script::Verdict verdict = script::verify(input(i).unlocking, lock, host, script::kChainRules,
                                                       {.signature_checks = static_cast<std::uint32_t>(left)});
        effects_.checks += verdict.signature_checks;
        effects_.depends_on_block |= verdict.depends_on_block;
        if (verdict.ok()) {
            seats_[i].judged = true;
            return {};
        }
        const bool bomb = verdict.error == script::ScriptError::SigChecks;
        return Fail{Reject{
            .code = bomb ? RejectCode::TooManyChecks : RejectCode::NotAuthorised,
            .why = fmt::format("the lock of {} was not opened: {}", shown(of.path()), script::explain(verdict.error)),
            .input = static_cast<std::uint16_t>(i),
            .script_error = std::string{script::name(verdict.error)},
            .position = verdict.offset}};
    }

    /// The resource's own lock, by the input that consumes it.
    Result<void, Reject> judge_own(std::size_t i, const Entry& entry) {
        const auto spent = SpentValue::of_document(entry.document_hash());
        if (entry.path().shape() == Path::Shape::NodeReport) {
            const auto key = member_key_of(entry.path().name(), state_);
            if (!key) return reject_input(RejectCode::NotAuthorised, i, "only a member reports");
            return judge(i, lock_of_member(*key), spent, entry);
        }
        return judge(i, entry.script(), spent, entry);
    }

    /// The nearest ancestor whose lock point is among the inputs decides.
    Result<void, Reject> judge_ancestor(const Path& path) {
        for (auto up = path.parent(); up; up = up->parent()) {
            const Path& above = *up;
            const Entry* ancestor = state_.find(above);
            if (ancestor == nullptr) continue;
            const auto i = find_input(lock_point_of(*ancestor));
            if (!i) continue;
            if (seats_[*i].role == Role::Consumed) {
                // The ancestor is changed in the same transaction: whoever opened its lock for that has its authority.
                if (seats_[*i].judged && seats_[*i].used_for == ancestor) return {};
                continue;
            }
            seats_[*i].role = Role::Authority;
            seats_[*i].used_for = ancestor;
            effects_.locks_used.push_back(input(*i).previous);
            if (path.shape() == Path::Shape::NodeReport && above.shape() == Path::Shape::Node) {
                const auto key = member_key_of(path.name(), state_);
                if (!key) return reject_input(RejectCode::NotAuthorised, *i, "only a member reports");
                return judge(*i, lock_of_member(*key), SpentValue::of_authority(), *ancestor);
            }
            return judge(*i, ancestor->script(), SpentValue::of_authority(), *ancestor);
        }
        if (const auto i = input_that_names_nothing())
            return reject_input(
                RejectCode::MissingInput, *i,
                "it names an output that is not, or no longer, the latest of a resource or a lock in force");
        return reject(RejectCode::NotAuthorised,
                      fmt::format("no input names the lock of {} or of an ancestor", shown(path)));
    }

    /// An input that is neither the latest output of anything nor the lock point of an ancestor of what this is about.
    std::optional<std::size_t> input_that_names_nothing() const {
        for (std::size_t i = 0; i < seats_.size(); ++i)
            if (seats_[i].latest == nullptr && seats_[i].role == Role::Unused &&
                !is_lock_of_ancestor(input(i).previous))
                return i;
        return std::nullopt;
    }

    bool is_lock_of_ancestor(const Outpoint& outpoint) const {
        const auto holds = [&](const Path& path) {
            const auto above = path.ancestors();
            return std::any_of(above.begin(), above.end(), [&](const Path& each) {
                const Entry* entry = state_.find(each);
                return entry != nullptr && lock_point_of(*entry) == outpoint;
            });
        };
        for (const NamedOutput& output : tx_.outputs)
            if (output.wish != Wish::Nothing && holds(output.resource.path)) return true;
        for (const Seat& seat : seats_)
            if (seat.latest != nullptr && holds(seat.latest->path())) return true;
        return false;
    }

    void consume(std::size_t i, const Entry& entry) {
        seats_[i].role = Role::Consumed;
        seats_[i].used_for = &entry;
        effects_.consumed.push_back(input(i).previous);
    }

    // ---- writing
    // -----------------------------------------------------------------------------------------------------

    Result<void, Reject> store(std::size_t output) {
        const Resource& resource = tx_.outputs[output].resource;
        const std::string& document = tx_.tx.outputs[output].value;
        const Entry* before = state_.find(resource.path);
        TRY(check_kind(resource));
        if (before != nullptr) {
            const auto i = find_input(before->origin().latest.output);
            if (!i) {
                if (const auto stale = input_that_names_nothing())
                    return reject_input(RejectCode::StaleInput, *stale,
                                        fmt::format("{} has changed since", resource.label()));
                return reject(RejectCode::AlreadyExists, fmt::format("{} exists already", resource.label()));
            }
            consume(*i, *before);
            const bool own = !input(*i).unlocking.empty();
            if (own) {
                TRY(judge_own(*i, *before));
                TRY(check_cooldown(*i, *before));
            } else if (resource.scope == Scope::NodeReport) {
                return reject_input(RejectCode::NotAuthorised, *i, "a report is signed with its member's chain key");
            } else {
                TRY(judge_ancestor(resource.path));
            }
            if (resource.scope == Scope::JoinToken && own) spent_tokens_.emplace(*i, output);
            if (!std::equal(before->script().begin(), before->script().end(), tx_.tx.outputs[output].locking.begin(),
                            tx_.tx.outputs[output].locking.end()) ||
                !holds(SafetyRule::LockPoints))
                effects_.locks_ended.push_back(lock_point_of(*before));
        } else {
            if (resource.scope == Scope::Cluster)
                return reject(RejectCode::NotFound, "a chain has one Cluster, made by its genesis");
            const auto parent = resource.path.parent();
            ensure(parent.has_value(), "all but the Cluster have a parent");
            if (state_.find(*parent) == nullptr && !creates(*parent))
                return reject(RejectCode::OrphanParent, fmt::format("{} does not exist", shown(*parent)));
            TRY(const bool open, take_open_input(resource, output));
            if (!open && !(resource.scope == Scope::Node && take_token())) TRY(judge_ancestor(resource.path));
            effects_.creates.push_back(resource.path);
        }
        TRY(check_special(resource, document, before, state_, place_));
        TRY(count_proof(resource, document));
        if (rules_.wants(resource.type)) TRY(rules_.admit_store(resource, parse_checked(document), before, state_));
        TRY(check_quota(resource, output, before));
        effects_.stores.push_back(output);
        return {};
    }

    bool creates(const Path& path) const {
        return std::find(effects_.creates.begin(), effects_.creates.end(), path) != effects_.creates.end();
    }

    /// Whether a new document needs no authority because it proves itself: the Cluster's lock point is named with an
    /// empty script, and its lock is not run. So the input lends no authority: what else the transaction does needs its
    /// own, and asks this very lock if it names no other.
    Result<bool, Reject> take_open_input(const Resource& resource, std::size_t output) {
        if (!rules_.proves_itself(resource.type)) return false;
        const Entry* cluster = state_.find(Path::cluster());
        if (cluster == nullptr) return false;
        const auto i = find_input(lock_point_of(*cluster));
        if (!i || seats_[*i].role == Role::Consumed || !input(*i).unlocking.empty()) return false;
        // With a lock of its own the document would be in the hands of whoever came first: the accused itself, say.
        if (!tx_.tx.outputs[output].locking.empty())
            return reject(RejectCode::NotAuthorised,
                          fmt::format("{} is created by nobody's authority, so it has no lock", resource.label()));
        seats_[*i].role = Role::Authority;
        seats_[*i].used_for = cluster;
        effects_.locks_used.push_back(input(*i).previous);
        return true;
    }

    /// The checks of a proof are counted before they are made, like a script's.
    Result<void, Reject> count_proof(const Resource& resource, std::string_view document) {
        const auto proof = rules_.proves_itself(resource.type);
        if (!proof) return {};
        if (document.size() > proof->bytes_max)
            return reject(RejectCode::TooLarge,
                          fmt::format("{} is larger than {} bytes", resource.label(), proof->bytes_max));
        if (proof->checks > checks_left_ - effects_.checks)
            return reject(RejectCode::TooManyChecks,
                          fmt::format("there is no room for the {} checks of {}", proof->checks, resource.label()));
        effects_.checks += proof->checks;
        return {};
    }

    Result<void, Reject> check_kind(const Resource& resource) const {
        if (resource.builtin) return {};  // `name_output` knows where those live
        const auto scope = rules_.scope_of(resource.type, state_);
        if (!scope)
            return reject(RejectCode::UnknownKind,
                          fmt::format("there is no kind {} in group \"{}\": create its CustomResourceDefinition first",
                                      resource.type.kind, resource.type.group));
        if (*scope != resource.scope)
            return reject(RejectCode::UnknownKind, fmt::format("a {} {}", resource.type.kind,
                                                               *scope == Scope::Namespaced ? "needs metadata.namespace"
                                                                                           : "lives in no namespace"));
        return {};
    }

    Result<void, Reject> check_cooldown(std::size_t i, const Entry& before) const {
        const Time ready = before.origin().latest.time + place_.parameters->cooldown;
        if (before.path().shape() != Path::Shape::NodeReport && place_.time < ready)
            return reject_input(RejectCode::Throttled, i,
                                fmt::format("it was changed a moment ago; wait until {}", to_rfc3339(ready)));
        return {};
    }

    Result<void, Reject> check_quota(const Resource& resource, std::size_t output, const Entry* before) {
        const Quota quota = place_.parameters->quota_of(resource.type.group, resource.type.kind);
        if (quota == Quota{}) return {};
        const auto prefix =
            resource.scope == Scope::Namespaced
                ? state::Prefix::kind_in_namespace(resource.name_space, resource.type.group, resource.type.kind)
                : state::Prefix::cluster_scoped_kind(resource.type.group, resource.type.kind);
        if (!prefix)
            return {};  // nodes, namespaces and tokens have places of their own; their number is the cluster's size
        auto [at, fresh] = usage_.try_emplace(*prefix, state_.totals(*prefix));
        state::Totals& used = at->second;
        const Output& written = tx_.tx.outputs[output];
        used.count += before == nullptr ? 1 : 0;
        used.bytes += written.value.size() + written.locking.size();
        used.bytes -= before == nullptr ? 0 : std::min(used.bytes, before->weight());
        if (used.count > quota.count_max)
            return reject(
                RejectCode::QuotaExceeded,
                fmt::format("{} allows {} of {}", resource.name_space.empty() ? "the cluster" : resource.name_space,
                            quota.count_max, resource.type.kind));
        if (used.bytes > quota.bytes_max)
            return reject(RejectCode::QuotaExceeded,
                          fmt::format("{} allows {} bytes of {}",
                                      resource.name_space.empty() ? "the cluster" : resource.name_space,
                                      quota.bytes_max, resource.type.kind));
        return {};
    }

    // ---- deleting
    // ----------------------------------------------------------------------------------------------------

    Result<void, Reject> remove(const Entry& entry) {
        TRY(rules_.admit_delete(entry, state_));
        effects_.removes.push_back(entry.path());
        effects_.locks_ended.push_back(lock_point_of(entry));
        return {};
    }

    Result<void, Reject> remove_by_name(const Resource& resource) {
        if (resource.scope == Scope::Cluster)
            return reject(RejectCode::NotAuthorised, "the cluster is updated, never deleted");
        const Entry* entry = state_.find(resource.path);
        if (entry == nullptr) return reject(RejectCode::NotFound, fmt::format("there is no {}", resource.label()));
        const auto i = find_input(entry->origin().latest.output);
        if (i && seats_[*i].role == Role::Unused) {
            consume(*i, *entry);
            if (!input(*i).unlocking.empty()) {
                TRY(judge_own(*i, *entry));
                return remove(*entry);
            }
        }
        TRY(judge_ancestor(resource.path));
        return remove(*entry);
    }

    /// Inputs that nothing took and that are the latest output of something: it is deleted. The deepest first, because
    /// an input may be meant as authority for what is below it.
    Result<std::size_t, Reject> remove_by_input() {
        std::vector<std::size_t> left;
        for (std::size_t i = 0; i < seats_.size(); ++i)
            if (seats_[i].role == Role::Unused && seats_[i].latest != nullptr) left.push_back(i);
        std::stable_sort(left.begin(), left.end(), [&](std::size_t a, std::size_t b) {
            return seats_[a].latest->path().depth() > seats_[b].latest->path().depth();
        });
        std::size_t removed = 0;
        for (const std::size_t i : left) {
            if (seats_[i].role != Role::Unused) continue;
            const Entry& entry = *seats_[i].latest;
            if (entry.path().shape() == Path::Shape::Cluster) continue;  // left over: named, but nothing needs it
            consume(i, entry);
            if (!input(i).unlocking.empty()) {
                TRY(judge_own(i, entry));
            } else {
                TRY(judge_ancestor(entry.path()));
            }
            TRY(remove(entry));
            ++removed;
        }
        return removed;
    }

    Result<void, Reject> check_all_used() const {
        for (std::size_t i = 0; i < seats_.size(); ++i) {
            if (seats_[i].role != Role::Unused) continue;
            if (seats_[i].latest == nullptr && !is_lock_of_ancestor(input(i).previous))
                return reject_input(
                    RejectCode::MissingInput, i,
                    "it names an output that is not, or no longer, the latest of a resource or a lock in force");
            return reject_input(RejectCode::UnusedInput, i, "nothing in the transaction needs it");
        }
        return {};
    }

    Result<void, Reject> check_no_orphans() const {
        for (const Path& removed : effects_.removes)
            for (const std::size_t output : effects_.stores) {
                const Path& stored = tx_.outputs[output].resource.path;
                if (stored == removed || removed.is_ancestor_of(stored))
                    return reject(RejectCode::OrphanParent,
                                  fmt::format("{} is deleted by the same transaction", shown(removed)));
            }
        for (const Path& removed : effects_.removes) {
            const Entry* entry = state_.find(removed);
            const auto type = entry == nullptr ? std::nullopt : defined_by(*entry);
            for (const std::size_t output : effects_.stores)
                if (type && tx_.outputs[output].resource.type == *type)
                    return reject(RejectCode::OrphanParent,
                                  fmt::format("the kind {} is taken away by the same transaction", type->kind));
        }
        return {};
    }

    // ---- join tokens
    // -------------------------------------------------------------------------------------------------

    /// Whether a token among the inputs covers one more Node. Whether the token is then spent rightly is checked at the
    /// end.
    bool take_token() {
        for (std::size_t i = 0; i < seats_.size(); ++i) {
            const Entry* token = seats_[i].latest;
            if (token == nullptr || token->path().shape() != Path::Shape::JoinToken || input(i).unlocking.empty())
                continue;
            if (nodes_by_token_.contains(i)) continue;
            nodes_by_token_.emplace(i, token);
            return true;
        }
        return false;
    }

    /// A stolen token must not turn the cluster's machines into a minority within seconds: of the Nodes there are after
    /// it, no more than `joinRate` may be younger than a minute. Those that the owner made count too, but do not wait.
    Result<void, Reject> check_join_rate() const {
        const std::uint32_t most = place_.parameters->join_rate;
        if (most == 0 || nodes_by_token_.empty()) return {};
        std::size_t young = nodes_by_token_.size();
        state::Cursor cursor = state_.walk(state::Prefix::nodes());
        while (const Entry* entry = cursor.next())
            if (entry->path().shape() == Path::Shape::Node && entry->origin().born.time + seconds{60} > place_.time)
                ++young;
        if (young <= most) return {};
        return reject_input(RejectCode::Throttled, nodes_by_token_.begin()->first,
                            fmt::format("{} machines joined within a minute and the cluster takes {} (its joinRate): "
                                        "try again in a moment",
                                        young - nodes_by_token_.size(), most));
    }

    /// A token's own lock lets its holder do one thing: create one Node and count the token down by one (or delete it).
    Result<void, Reject> check_tokens() const {
        TRY(check_join_rate());
        for (const auto& [i, token] : nodes_by_token_) {
            const auto read = read_join_token(parse_checked(token->document()));
            ensure(read.has_value(), "a JoinToken in the state was checked");
            if (place_.time >= read->expires) return reject_input(RejectCode::Expired, i, "the join token has expired");
            const bool last = read->count == 1;
            const auto spent = spent_tokens_.find(i);
            if (last != (spent == spent_tokens_.end()))
                return reject_input(
                    RejectCode::NotAuthorised, i,
                    last ? "the join token's last use deletes it" : "the join token must be counted down");
        }
        for (const auto& [i, output] : spent_tokens_) {
            const Entry& before = *seats_[i].used_for;
            json::Value wanted = parse_checked(before.document());
            const auto read = read_join_token(wanted);
            ensure(read.has_value(), "a JoinToken in the state was checked");
            const ByteView lock = before.script();
            wanted["spec"]["count"] = json::Value{read->count - 1};
            const bool counted = nodes_by_token_.contains(i) && parse_checked(tx_.tx.outputs[output].value) == wanted &&
                                 std::equal(lock.begin(), lock.end(), tx_.tx.outputs[output].locking.begin(),
                                            tx_.tx.outputs[output].locking.end());
            if (!counted)
                return reject_input(
                    RejectCode::NotAuthorised, i,
                    "by its own lock a join token is only counted down, by one for the Node it creates");
        }
        return {};
    }

    const CheckedTx& tx_;
    const WorkingState& state_;
    const Place& place_;
    const Rules& rules_;
    SignatureCache& cache_;
    std::size_t checks_left_;
    std::vector<Seat> seats_;
    std::map<Outpoint, std::size_t> by_outpoint_;  ///< where there are more than a few inputs
    std::map<state::Prefix, state::Totals> usage_;
    std::map<std::size_t, const Entry*> nodes_by_token_;  ///< input → the token that created a Node
    std::map<std::size_t, std::size_t> spent_tokens_;     ///< input → output with the token written again
    std::vector<SignatureCache::Key> found_;
    Effects effects_;
};

}  // namespace

Result<Effects, Reject> decide(const SharedTx& tx, const WorkingState& state, const Place& place, const Rules& rules,
                               SignatureCache& cache, std::size_t checks_left) {
    ensure(place.parameters != nullptr, "a place has parameters in force");
    return Decision{tx, state, place, rules, cache, checks_left}.run();
}

void perform(const Effects& effects, WorkingState& state, const Place& place) {
    const CheckedTx& tx = *effects.tx;
    for (const Path& path : effects.removes) {
        const Entry* entry = state.find(path);
        if (entry == nullptr) continue;  // went with an ancestor
        const auto named = name_output(entry->document());
        ensure(named.has_value(), "a document in the state has an identity");
        const std::string before{entry->document()};
        state.erase_subtree(path);
        follow_special(named->resource, before, {}, state, place);
    }
    for (const std::size_t output : effects.stores) {
        const Resource& resource = tx.outputs[output].resource;
        const Output& written = tx.tx.outputs[output];
        const Entry* before = state.find(resource.path);
        const state::Mark mark{
            .output = {tx.id, static_cast<std::uint16_t>(output)}, .height = place.height, .time = place.time};
        state::Origin origin{.born = mark, .latest = mark, .lock = mark};
        std::string old;
        if (before != nullptr) {
            origin.born = before->origin().born;
            const ByteView lock = before->script();
            if (std::equal(lock.begin(), lock.end(), written.locking.begin(), written.locking.end()))
                origin.lock = before->origin().lock;
            if (resource.scope != Scope::Namespaced) old = before->document();
        }
        auto entry = Entry::written(resource.path, origin, written.locking, written.value);
        ensure(entry.has_value(), "a checked document fits the tree");
        state.put(*std::move(entry));
        follow_special(resource, old, written.value, state, place);
    }
    if (effects.consumed.empty()) state.put_record(records::replay(tx.tx.expiry, tx.id), {});
}

}  // namespace rhizome::ledger
