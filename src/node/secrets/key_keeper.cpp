// SPDX-License-Identifier: Apache-2.0
#include "node/secrets/key_keeper.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include <fmt/core.h>

#include "crypto/derive.h"
#include "crypto/seal.h"
#include "ledger/chain_records.h"
#include "ledger/check.h"
#include "node/status.h"
#include "runtime/clock.h"
#include "runtime/entropy.h"
#include "runtime/files.h"
#include "stream/timers.h"

namespace rhizome::node {
namespace {

using crypto::X25519Public;
using SharedSecret = KeyKeeper::SharedSecret;

constexpr std::string_view kFolder = "cluster-keys";
/// An envelope for one holder has 180 bytes.
constexpr std::size_t kFileBytesMax = 4'096;
/// A key that was in the state and is not: its transaction may only be on the way into the next block.
constexpr milliseconds kMissedFor{5'000};
/// What the key of a Secret's path has in it, and no other kind's.
constexpr std::string_view kSecretPart{"\0core\0Secret\0", 13};
/// After a refusal, before trying again.
constexpr seconds kAfterRefusal{5};

std::optional<SharedSecret> opened(ByteView envelope, const crypto::X25519Secret& mine, const X25519Public& id,
                                   const ledger::ChainId& chain) {
    const auto content = crypto::open(envelope, mine, ledger::key_ring_associated(id, chain));
    if (!content || content->view().size() != 32) return std::nullopt;
    auto secret = std::make_shared<const crypto::X25519Secret>(SecretArray<32>{content->view().first<32>()});
    if (secret->public_key() != id) return std::nullopt;
    return secret;
}

}  // namespace

struct KeyKeeper::Inside : std::enable_shared_from_this<Inside> {
    using Told = std::function<void(Result<X25519Public>)>;

    Inside(stream::IoContext& io, Host& host_in, const crypto::NodeKeys& keys_in, Options options_in)
        : host(host_in),
          keys(keys_in),
          options(std::move(options_in)),
          folder(options.data / "node" / kFolder),
          strand(io.make_strand()) {}

    Host& host;
    const crypto::NodeKeys& keys;
    const Options options;
    const std::filesystem::path folder;
    const stream::Strand strand;
    std::shared_ptr<void> watching{};

    // Any thread.
    ClusterKeysCache cache{};
    std::mutex mutex{};
    std::map<X25519Public, SharedSecret> known{};

    // On the strand.
    std::unique_ptr<stream::Timer> timer{};
    bool stopped = false;
    std::set<core::ClientId> submitted{};
    std::vector<Told> waiting{};                       ///< for a key to write with
    bool making = false;                               ///< a new generation is on its way
    std::map<X25519Public, stream::Deadline> turns{};  ///< keys that lack something, and when it is this machine's turn
    std::set<X25519Public> complained{};
    std::atomic<bool> has_lost = false;  ///< it knows a key that no KeyRing of the state knows

    // ---- what is known ---------------------------------------------------------------------------------------------

    SharedSecret find(const X25519Public& id) {
        const std::lock_guard hold{mutex};
        const auto at = known.find(id);
        return at == known.end() ? nullptr : at->second;
    }

    void read_files() {
        std::error_code ignored;
        for (const auto& file : std::filesystem::directory_iterator{folder, ignored}) {
            const auto id = X25519Public::from_hex(file.path().filename().native());
            const auto bytes = id ? runtime::read_file(file.path(), kFileBytesMax) : Result<std::string>{std::string{}};
            if (!id || !bytes) continue;
            if (auto secret = opened(as_bytes(*bytes), keys.wireguard, *id, host.view()->chain)) {
                const std::lock_guard hold{mutex};
                known.emplace(*id, *std::move(secret));
            }
        }
    }

    /// On the disk before anybody seals to it.
    Result<void> keep(const SharedSecret& secret) {
        const X25519Public id = secret->public_key();
        std::array<std::uint8_t, crypto::kSealEntropyBytes> entropy{};
        runtime::fill_with_entropy(entropy);
        const auto mine = keys.wireguard.public_key();
        const auto envelope = crypto::seal(secret->view(), std::span{&mine, 1},
                                           ledger::key_ring_associated(id, host.view()->chain), entropy);
        if (!envelope) return Fail{crypto::to_error(envelope.error())};
        TRY(runtime::make_folder(folder, 0700));
        TRY(runtime::replace_file(folder / id.hex(), as_text(*envelope), 0600));
        const std::lock_guard hold{mutex};
        known.insert_or_assign(id, secret);
        return {};
    }

    /// Opens what is sealed to this machine.
    SharedSecret learn(const X25519Public& id, const ClusterKey& key) {
        if (auto secret = find(id)) return secret;
        const X25519Public mine = keys.wireguard.public_key();
        bool for_me = false;
        for (const ClusterKey::Envelope& one : key.envelopes) {
            if (std::find(one.holders.begin(), one.holders.end(), mine) == one.holders.end()) continue;
            for_me = true;
            auto secret = opened(one.sealed, keys.wireguard, id, host.view()->chain);
            if (!secret) continue;
            if (const auto kept = keep(*secret); !kept)
                options.log.warn("a cluster key could not be kept on the disk", {{"why", kept.error()}});
            const std::lock_guard hold{mutex};
            known.insert_or_assign(id, *secret);
            return *secret;
        }
        if (for_me && complained.insert(id).second)
            options.log.warn("a KeyRing says that a cluster key is sealed to this machine, and it does not open",
                             {{"key", id.hex()}});
        return nullptr;
    }

    // ---- writing ---------------------------------------------------------------------------------------------------

    /// KeyRings that seal `secret` to `holders`, signed.
    Result<std::vector<ledger::SharedTx>> rings_for(const SharedSecret& secret, std::uint64_t generation,
                                                    const std::map<X25519Public, std::string>& holders) {
        const auto view = host.view();
        const Time now = Time::from_unix_millis(std::max(view->tip.time, runtime::now()).unix_millis());
        std::vector<ledger::SharedTx> all;
        auto at = holders.begin();
        while (at != holders.end()) {
            ledger::KeyRing ring{.key = secret->public_key(), .generation = generation, .by = host.key()};
            std::vector<X25519Public> recipients;
            for (; at != holders.end() && recipients.size() < ledger::kKeyRingHoldersMax; ++at) {
                ring.holders.push_back({.node = at->second, .key = at->first});
                recipients.push_back(at->first);
            }
            std::array<std::uint8_t, crypto::kSealEntropyBytes> entropy{};
            runtime::fill_with_entropy(entropy);
            auto sealed =
                crypto::seal(secret->view(), recipients, ledger::key_ring_associated(ring.key, view->chain), entropy);
            if (!sealed) return Fail{crypto::to_error(sealed.error())};
            ring.sealed = *std::move(sealed);
            ring.signature = crypto::sign(keys.chain, digest_of(ring, view->chain)).to_compact();
            TRY(auto tx, ledger::check_tx(ledger::key_ring_tx(ring, view->chain, view->state, now)));
            all.push_back(std::move(tx));
        }
        return all;
    }

    /// Submits them one after the other; `done` is called on the strand with the first refusal, or none.
    void submit(std::vector<ledger::SharedTx> txs, std::function<void(std::optional<Error>)> done) {
        if (stopped || txs.empty()) return done(stopped ? std::optional{stopping()} : std::nullopt);
        ledger::SharedTx tx = txs.back();
        txs.pop_back();
        struct Once {
            bool told = false;
            std::optional<core::ClientId> client{};
        };
        const auto once = std::make_shared<Once>();
        const auto told = [weak = weak_from_this(), once, txs, done](const core::Answer& answer) {
            const auto self = weak.lock();
            if (!self || answer.stage == core::Stage::Accepted) return;
            std::optional<Error> refused;
            if (answer.refused) refused = to_error(*answer.refused);
            self->strand.post([self, once, txs, done, refused] {
                if (once->told) return;
                once->told = true;
                if (once->client) {
                    self->host.forget(*once->client);
                    self->submitted.erase(*once->client);
                }
                if (refused) return done(refused);
                self->submit(txs, done);
            });
        };
        // Any member makes those that are missing, and of two that did one is refused.
        once->client = host.submit(std::move(tx), told, core::Remember::WhileAsked);
        submitted.insert(*once->client);
    }

    static Error stopping() { return {ErrorKind::Unavailable, "the node is stopping"}; }

    void make_generation(const ClusterKeys& now) {
        const auto fail_all = [this](const Error& why) {
            making = false;
            for (const Told& told : std::exchange(waiting, {})) told(Fail{why});
        };
        if (!options.writes || node_name_of(host.key(), *host.view()).empty())
            return fail_all({ErrorKind::Unavailable,
                             "there is no cluster key that only members hold, and this machine is no member that could "
                             "make one: ask a member"});
        making = true;
        SecretArray<32> bytes;
        runtime::fill_with_entropy(bytes.writable());
        const auto secret = std::make_shared<const crypto::X25519Secret>(std::move(bytes));
        const std::uint64_t generation = std::min(now.newest_generation() + 1, ledger::kGenerationMax);
        if (const auto kept = keep(secret); !kept) return fail_all(kept.error());
        auto txs = rings_for(secret, generation, now.members);
        if (!txs) return fail_all(txs.error());
        options.log.info("a new cluster key", {{"generation", generation}, {"holders", now.members.size()}});
        submit(*std::move(txs), [self = shared_from_this(), fail_all](std::optional<Error> refused) {
            if (refused) return fail_all(*refused);
            self->making = false;
            const auto chosen = self->cache.of(self->host.view()->state)->for_writing();
            for (const Told& told : std::exchange(self->waiting, {})) {
                if (chosen) {
                    told(*chosen);
                } else {
                    told(Fail{
                        Error{ErrorKind::Unavailable, "a member left while a new cluster key was made: try again"}});
                }
            }
        });
    }

    void wanted(Told told) {
        if (stopped) return told(Fail{stopping()});
        const auto now = cache.of(host.view()->state);
        if (const auto key = now->for_writing()) return told(*key);
        waiting.push_back(std::move(told));
        if (!making) make_generation(*now);
    }

    // ---- looking after what is there -------------------------------------------------------------------------------

    /// How many members that hold the key, and were heard of, do this before this machine.
    std::size_t rank(const X25519Public& id, const ClusterKey& key) const {
        const auto order = [&](const X25519Public& holder) { return crypto::sha256(id.view(), holder.view()); };
        const auto mine = order(keys.wireguard.public_key());
        std::set<std::string> in_lease;
        for (const MemberStatus& one : members_of(*host.view()))
            if (one.in_lease) in_lease.insert(one.node);
        return static_cast<std::size_t>(std::count_if(key.holders.begin(), key.holders.end(), [&](const auto& one) {
            return in_lease.contains(one.second) && order(one.first) < mine;
        }));
    }

    /// Whether it is this machine's turn to mend something about a key; else the timer is set for then.
    bool is_my_turn(const X25519Public& id, const ClusterKey& key, milliseconds grace, stream::Deadline& next) {
        const auto at =
            turns.try_emplace(id, stream::after(grace + options.turn * static_cast<int>(rank(id, key)))).first;
        if (stream::passed(at->second)) return true;
        next = std::min(next, at->second);
        return false;
    }

    void write(const X25519Public& id, const SharedSecret& secret, std::uint64_t generation,
               const std::map<X25519Public, std::string>& holders) {
        auto txs = rings_for(secret, generation, holders);
        if (!txs) {
            options.log.warn("a cluster key could not be sealed to members", {{"why", txs.error()}});
            return;
        }
        turns[id] = stream::after(kAfterRefusal);  // not again while it is on its way
        submit(*std::move(txs), [self = shared_from_this(), id](std::optional<Error> refused) {
            if (refused) {
                self->options.log.warn("a KeyRing was refused", {{"why", *refused}});
            } else {
                self->turns.erase(id);
            }
            self->look();
        });
    }

    void look() {
        if (stopped) return;
        const auto view = host.view();
        const auto now = cache.of(view->state);
        stream::Deadline next = stream::kNever;
        for (const auto& [id, key] : now->keys) (void)learn(id, key);
        if (options.writes && !node_name_of(host.key(), *view).empty()) {
            for (const auto& [id, key] : now->keys) give_to_newcomers(id, key, *now, next);
            bring_back(*view, *now, next);
        }
        if (next != stream::kNever) timer->set(next);
    }

    void give_to_newcomers(const X25519Public& id, const ClusterKey& key, const ClusterKeys& now,
                           stream::Deadline& next) {
        const SharedSecret secret = find(id);
        if (!secret) return;
        std::map<X25519Public, std::string> missing;
        for (const auto& [member, node] : now.members)
            if (!key.holders.contains(member)) missing.emplace(member, node);
        if (missing.empty()) {
            turns.erase(id);
        } else if (is_my_turn(id, key, milliseconds{0}, next)) {
            write(id, secret, key.generation, missing);
            next = std::min(next, turns[id]);
        }
    }

    /// Keys that no KeyRing of this branch has, while a Secret needs them: what was written on the other side of a cut,
    /// by a member that this side has removed.
    void bring_back(const NodeView& view, const ClusterKeys& now, stream::Deadline& next) {
        std::vector<X25519Public> lost;
        {
            const std::lock_guard hold{mutex};
            for (const auto& [id, secret] : known)
                if (!now.keys.contains(id)) lost.push_back(id);
        }
        has_lost = !lost.empty();
        if (lost.empty()) return;
        std::set<X25519Public> needed;
        for (const SealedAt& one : sealed_secrets_of(view.state)) needed.insert(one.key);
        // Nobody can be asked who else knows it: all members take their turns.
        const ClusterKey by_anybody{.holders = now.members};
        for (const X25519Public& id : lost) {
            if (!needed.contains(id)) continue;
            if (!is_my_turn(id, by_anybody, kMissedFor, next)) continue;
            write(id, find(id), 1, now.members);
            next = std::min(next, turns[id]);
        }
    }

    void moved(const core::TipMoved& moved) {
        const auto rings = ledger::all_key_rings();
        const auto members = ledger::records::all_members();
        const bool ours = std::any_of(
            moved.change.changes().begin(), moved.change.changes().end(),
            [&](const state::Change& change) { return rings.covers(change.key()) || members.covers(change.key()); });
        // A Secret that comes from the other side of a cut may need a key that this branch does not have.
        const bool back = has_lost && std::any_of(moved.change.changes().begin(), moved.change.changes().end(),
                                                  [](const state::Change& change) {
                                                      return change.key().find(kSecretPart) != std::string_view::npos;
                                                  });
        if (ours || back || !moved.undone.empty()) strand.post([self = shared_from_this()] { self->look(); });
    }
};

KeyKeeper::KeyKeeper(stream::IoContext& io, Host& host, const crypto::NodeKeys& keys, Options options)
    : inside_(std::make_shared<Inside>(io, host, keys, std::move(options))) {
    const auto in = inside_;
    in->read_files();
    in->watching = host.watch([weak = std::weak_ptr{in}](const core::Notice& notice, const NodeView&) {
        const auto self = weak.lock();
        if (const auto* moved = std::get_if<core::TipMoved>(&notice); self && moved != nullptr) self->moved(*moved);
    });
    in->strand.post([in] {
        if (in->stopped) return;
        in->timer = std::make_unique<stream::Timer>(in->strand, [weak = std::weak_ptr{in}] {
            if (const auto self = weak.lock()) self->look();
        });
        in->look();
    });
}

KeyKeeper::~KeyKeeper() { stop(); }

void KeyKeeper::stop() {
    const auto in = inside_;
    stream::run_on(in->strand, [&] {
        if (in->stopped) return;
        in->stopped = true;
        in->timer.reset();
        in->watching.reset();
        for (const core::ClientId client : in->submitted) in->host.forget(client);
        for (const auto& told : std::exchange(in->waiting, {})) told(Fail{Inside::stopping()});
    });
}

Result<SharedSecret> KeyKeeper::secret_of(const X25519Public& key) {
    if (auto known = inside_->find(key)) return known;
    const auto now = inside_->cache.of(inside_->host.view()->state);
    const auto at = now->keys.find(key);
    if (at == now->keys.end())
        return fail(ErrorKind::NotFound, fmt::format("no KeyRing knows the cluster key {}", key.hex()));
    const X25519Public mine = inside_->keys.wireguard.public_key();
    for (const ClusterKey::Envelope& one : at->second.envelopes)
        if (std::find(one.holders.begin(), one.holders.end(), mine) != one.holders.end())
            if (auto secret = opened(one.sealed, inside_->keys.wireguard, key, inside_->host.view()->chain))
                return *std::move(secret);
    return fail(ErrorKind::Unavailable,
                fmt::format("the cluster key of generation {} is not sealed to this machine yet: a member that has it "
                            "does so within seconds of a join",
                            at->second.generation));
}

void KeyKeeper::key_for_writing(std::function<void(Result<X25519Public>)> told) {
    // Nearly always there is one.
    if (const auto key = inside_->cache.of(inside_->host.view()->state)->for_writing()) return told(*key);
    inside_->strand.post([in = inside_, told = std::move(told)]() mutable { in->wanted(std::move(told)); });
}

std::shared_ptr<const ClusterKeys> KeyKeeper::keys_of(const state::StateView& state) const {
    return inside_->cache.of(state);
}

Host& KeyKeeper::host() const { return inside_->host; }

}  // namespace rhizome::node
