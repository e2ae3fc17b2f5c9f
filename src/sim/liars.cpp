// SPDX-License-Identifier: Apache-2.0
#include "sim/liars.h"

#include <algorithm>

#include "consensus/judge.h"

namespace rhizome::sim {
namespace {

using consensus::Vote;
using core::SharedBlock;
using core::SharedMessage;

SharedMessage as_message(core::Message message) { return std::make_shared<const core::Message>(std::move(message)); }

SharedBlock own_block(const SharedMessage& message, const consensus::MemberKey& key) {
    const auto* block = std::get_if<core::NewBlock>(message.get());
    if (block == nullptr) return nullptr;
    const auto proposer = consensus::proposer_in(block->block->seal);
    return proposer && *proposer == key ? block->block : nullptr;
}

/// The block with something changed, signed again.
SharedMessage forged(const SharedBlock& block, const consensus::Signer& signer,
                     const std::function<void(ledger::Block&)>& change) {
    ledger::Block copy = *block;
    change(copy);
    consensus::sign(copy, signer);
    return as_message(core::NewBlock{std::make_shared<const ledger::Block>(std::move(copy))});
}

class Equivocator final : public Byzantine {
public:
    SharedMessage outgoing(Sim& sim, std::size_t self, std::size_t to, SharedMessage message) override {
        if (to % 2 == 0) return message;
        const auto& signer = sim.signer(self);
        if (const auto block = own_block(message, signer.key())) {
            // Without its transactions the state root is wrong, so only an empty block has a good twin: a later one.
            return forged(block, signer, [](ledger::Block& twin) { twin.header.time += milliseconds{1}; });
        }
        if (const auto* votes = std::get_if<core::Votes>(message.get())) {
            auto changed = consensus::ungrouped(votes->groups);
            for (Vote& vote : changed) {
                if (vote.voter != signer.key() || vote.ballot.source.block == vote.ballot.target.block) continue;
                vote.ballot.target.block = vote.ballot.source.block;
                vote.signature = signer.sign(digest_of(vote.ballot, sim.chain()));
            }
            return as_message(core::Votes{consensus::grouped(changed)});
        }
        return message;
    }
    [[nodiscard]] std::string describe() const override { return "equivocates"; }
};

class Withholder final : public Byzantine {
public:
    SharedMessage outgoing(Sim& sim, std::size_t self, std::size_t to, SharedMessage message) override {
        if (!own_block(message, sim.signer(self).key())) return message;
        sim.after(std::chrono::seconds{3}, [&sim, self, to, message] { sim.send_as(self, to, message); });
        return nullptr;
    }
    [[nodiscard]] std::string describe() const override { return "keeps its blocks back for three seconds"; }
};

class Forger final : public Byzantine {
public:
    explicit Forger(Lie lie) : lie_(lie) {}
    SharedMessage outgoing(Sim& sim, std::size_t self, std::size_t, SharedMessage message) override {
        const auto& signer = sim.signer(self);
        const auto block = own_block(message, signer.key());
        if (!block) return message;
        return forged(block, signer, [&](ledger::Block& copy) {
            switch (lie_) {
                case Lie::WrongSeal:
                    copy.seal.attestations.clear();
                    copy.header.seal_root = seal_root_of(copy.seal);
                    break;
                case Lie::WrongOrder: copy.header.time = copy.header.time - milliseconds{400}; break;
                case Lie::BadRoot: copy.header.state_root = crypto::sha256(copy.header.state_root.view()); break;
                default: copy.header.time += std::chrono::minutes{1}; break;
            }
        });
    }
    [[nodiscard]] std::string describe() const override {
        switch (lie_) {
            case Lie::WrongSeal: return "strips attestations from its blocks";
            case Lie::WrongOrder: return "claims earlier turns";
            case Lie::BadRoot: return "names states that are not";
            default: return "stamps its blocks a minute ahead";
        }
    }

private:
    Lie lie_;
};

class Tamperer final : public Byzantine {
public:
    SharedMessage outgoing(Sim& sim, std::size_t self, std::size_t, SharedMessage message) override {
        if (const auto* compact = std::get_if<core::CompactBlock>(message.get())) {
            core::CompactBlock changed = *compact;
            if (!changed.given.empty() && changed.given.back().place + 1 == changed.short_ids.size())
                changed.given.pop_back();
            changed.short_ids.pop_back();
            return as_message(std::move(changed));
        }
        const auto* news = std::get_if<core::NewBlock>(message.get());
        if (news == nullptr || own_block(message, sim.signer(self).key())) return message;
        ledger::Block changed = *news->block;
        if (!changed.txs.empty()) {
            changed.txs.pop_back();
        } else if (!changed.seal.attestations.empty()) {
            changed.seal.attestations.clear();
        } else {
            return message;
        }
        return as_message(core::NewBlock{std::make_shared<const ledger::Block>(std::move(changed))});
    }
    [[nodiscard]] std::string describe() const override { return "takes things out of others' blocks"; }
};

/// Far ahead of everybody, by its own word.
class Boaster final : public Byzantine {
public:
    explicit Boaster(std::uint64_t seed) : random_(seed) {}
    SharedMessage outgoing(Sim& sim, std::size_t self, std::size_t, SharedMessage message) override {
        if (const auto* status = std::get_if<core::Status>(message.get())) {
            core::Status boast = *status;
            random_.fill(boast.tip.writable());
            boast.height = boast.height + 1'000;
            return as_message(boast);
        }
        if (std::holds_alternative<core::Headers>(*message)) {
            core::Headers invented{.more = true};
            const auto& signer = sim.signer(self);
            ledger::Header parent = sim.node(self).tip();
            for (int i = 0; i < 100; ++i) {
                ledger::Block next;
                next.header.previous = hash_of(parent);
                next.header.height = parent.height + 1;
                next.header.time = parent.time + milliseconds{2};
                next.header.consensus = parent.consensus;
                random_.fill(next.header.merkle_root.writable());
                next.seal.proof = to_bytes(signer.key());
                next.header.seal_root = seal_root_of(next.seal);
                consensus::sign(next, signer);
                invented.headers.push_back({next.header, next.signature, next.seal});
                parent = next.header;
            }
            return as_message(std::move(invented));
        }
        if (const auto* bodies = std::get_if<core::Bodies>(message.get())) {
            core::Bodies changed = *bodies;
            for (core::Body& body : changed.bodies) {
                std::vector<ledger::Tx> txs = *body.txs;
                txs.emplace_back();
                body.txs = std::make_shared<const std::vector<ledger::Tx>>(std::move(txs));
            }
            return as_message(std::move(changed));
        }
        return message;
    }
    [[nodiscard]] std::string describe() const override { return "says that it is far ahead"; }

private:
    Random random_;
};

class Flooder final : public Byzantine {
public:
    Flooder(Lie lie, std::uint64_t seed) : lie_(lie), random_(seed) {}
    SharedMessage outgoing(Sim&, std::size_t, std::size_t, SharedMessage message) override { return message; }

    void act(Sim& sim, std::size_t self) override {
        const auto& signer = sim.signer(self);
        const auto& node = sim.node(self);
        for (const std::size_t to : sim.neighbours(self)) {
            if (lie_ == Lie::BadScripts) {
                ledger::Tx tx = create_map(node.state(), "forged", "x", sim.now())->tx;
                tx.outputs[0].value += std::string(random_.below(20), ' ');
                tx.inputs[0].unlocking = {0x01, 0x07};
                if (auto checked = ledger::check_tx(std::move(tx)))
                    sim.send_as(self, to, as_message(core::Transactions{{*std::move(checked)}}));
                continue;
            }
            std::vector<Vote> votes;
            const auto epoch = consensus::epoch_of(sim.now(), node.state().parameters().epoch);
            for (std::uint64_t i = 0; i < 200; ++i) {
                Vote vote{.voter = signer.key()};
                vote.ballot.source = {consensus::Epoch{0}, node.final_block()};
                vote.ballot.target.epoch = consensus::Epoch{epoch.number() - random_.below(400)};
                random_.fill(vote.ballot.target.block.writable());
                vote.signature = signer.sign(digest_of(vote.ballot, sim.chain()));
                votes.push_back(vote);
            }
            sim.send_as(self, to, as_message(core::Votes{consensus::grouped(votes)}));
            for (int i = 0; i < 20; ++i) {
                ledger::Block orphan;
                random_.fill(orphan.header.previous.writable());
                orphan.header.time = sim.now();
                orphan.header.height = node.tip().height + 2;
                orphan.seal.proof = to_bytes(signer.key());
                orphan.header.seal_root = seal_root_of(orphan.seal);
                consensus::sign(orphan, signer);
                sim.send_as(self, to,
                            as_message(core::NewBlock{std::make_shared<const ledger::Block>(std::move(orphan))}));
            }
        }
    }
    [[nodiscard]] std::string describe() const override {
        return lie_ == Lie::BadScripts ? "spreads transactions that unlock nothing" : "floods its neighbours";
    }

private:
    Lie lie_;
    Random random_;
};

/// Final is what it says, and nobody else knows of it.
class FalseWitness final : public Byzantine {
public:
    explicit FalseWitness(std::uint64_t seed) : random_(seed) {}

    SharedMessage outgoing(Sim& sim, std::size_t self, std::size_t to, SharedMessage message) override {
        const auto* status = std::get_if<core::Status>(message.get());
        if (status == nullptr) return message;
        core::Status lie = *status;
        if (random_.chance(1, 4) || claimed_.block.is_zero()) {
            // Mostly an epoch that is decided: a later one might stand on what is final.
            const std::uint64_t now =
                consensus::epoch_of(sim.now(), sim.node(self).state().parameters().epoch).number();
            claimed_.epoch = consensus::Epoch{now - random_.below(40)};
            random_.fill(claimed_.block.writable());
        }
        lie.final_checkpoint = claimed_;
        testify(sim, self, to);
        return as_message(lie);
    }
    [[nodiscard]] std::string describe() const override { return "says that something else is final"; }

private:
    /// Votes for it and from it: its own, and now and then others' that they never signed.
    void testify(Sim& sim, std::size_t self, std::size_t to) {
        const auto& signer = sim.signer(self);
        std::vector<Vote> votes;
        const auto vote = [&](const consensus::MemberKey& voter, const consensus::Checkpoint& source,
                              const consensus::Checkpoint& target) {
            Vote one{.voter = voter, .ballot = {.source = source, .target = target}};
            one.ballot.generation = sim.node(self).final_generation();
            one.signature = signer.sign(digest_of(one.ballot, sim.chain()));
            votes.push_back(one);
        };
        const consensus::Checkpoint source{consensus::Epoch{0}, ledger::BlockHash{sim.chain().view()}};
        const consensus::Checkpoint next{claimed_.epoch + 1, claimed_.block};
        vote(signer.key(), source, claimed_);
        vote(signer.key(), claimed_, next);
        if (random_.chance(1, 8))
            for (std::size_t other = 0; other < sim.size(); ++other) {
                vote(sim.key(other), source, claimed_);
                vote(sim.key(other), claimed_, next);
            }
        sim.send_as(self, to, as_message(core::Votes{consensus::grouped(votes)}));
    }

    Random random_;
    consensus::Checkpoint claimed_{};
};

/// Not so far that nobody would believe it, nor always the same.
class ClockLiar final : public Byzantine {
public:
    explicit ClockLiar(std::uint64_t seed) : random_(seed) {}
    SharedMessage outgoing(Sim&, std::size_t, std::size_t, SharedMessage message) override {
        const auto* status = std::get_if<core::Status>(message.get());
        if (status == nullptr) return message;
        core::Status changed = *status;
        changed.clock += microseconds{random_.between(-7'200'000'000, 7'200'000'000)};
        return as_message(changed);
    }
    [[nodiscard]] std::string describe() const override { return "says that its clock is hours off"; }

private:
    Random random_;
};

}  // namespace

std::unique_ptr<Byzantine> make_liar(Lie lie, std::uint64_t seed) {
    switch (lie) {
        case Lie::Equivocate: return std::make_unique<Equivocator>();
        case Lie::Withhold: return std::make_unique<Withholder>();
        case Lie::Tamper: return std::make_unique<Tamperer>();
        case Lie::FalseTip: return std::make_unique<Boaster>(seed);
        case Lie::WrongClock: return std::make_unique<ClockLiar>(seed);
        case Lie::BadScripts:
        case Lie::Flood: return std::make_unique<Flooder>(lie, seed);
        case Lie::FalseFinal: return std::make_unique<FalseWitness>(seed);
        default: return std::make_unique<Forger>(lie);
    }
}

}  // namespace rhizome::sim
