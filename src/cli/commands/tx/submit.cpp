// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/core.h>

#include "cli/commands/key/passphrase.h"
#include "cli/commands/node/change.h"
#include "cli/commands/tx/shared.h"
#include "cli/commands/tx/verbs.h"
#include "cli/data_option.h"
#include "cli/node_option.h"
#include "cli/offline_chain.h"
#include "cli/print.h"
#include "cli/text.h"
#include "consensus/own_votes.h"
#include "ledger/block_factory.h"
#include "ledger/check.h"
#include "ledger/limits.h"
#include "node/hand_sealing.h"
#include "node/identity.h"

/// `tx submit`.
namespace rhizome::cli::tx {
namespace {

struct Submitted {
    std::string file;
    ledger::SharedTx tx{};
    std::optional<ledger::Header> block{};    ///< where it went
    std::optional<ledger::Reject> refused{};  ///< or why not
};

Result<std::vector<Submitted>> read_all(Invocation& call) {
    std::vector<Submitted> all;
    for (const std::string& file : call.arguments("FILE")) {
        TRY(auto tx, read_tx(call.console, file));
        Submitted each{.file = file == "-" ? "stdin" : printable(file)};
        auto checked = ledger::check_tx(std::move(tx));
        if (checked) {
            each.tx = *std::move(checked);
        } else {
            each.refused = std::move(checked).error();
        }
        const auto same = std::find_if(all.begin(), all.end(), [&](const Submitted& other) {
            return other.tx && each.tx && other.tx->id == each.tx->id;
        });
        if (same != all.end())
            return fail(ErrorKind::Usage,
                        fmt::format("{} and {} are the same transaction: {}", same->file, each.file, each.tx->id));
        all.push_back(std::move(each));
    }
    return all;
}

Result<node::Identity> identity_of(const OfflineChain& at) {
    auto identity = node::load_identity(at.folder);
    if (identity || identity.error().kind != ErrorKind::NotFound) return identity;
    Error error = std::move(identity).error();
    error.kind = ErrorKind::Denied;
    error.message +=
        ": it cannot seal blocks\na chain that was imported can be read, but not extended, by this machine";
    return Fail{std::move(error)};
}

/// What of `waiting` is valid one after the other, in the order the person named them: of two that contradict each
/// other the first stays.
std::vector<ledger::SharedTx> in_order_named(const OfflineChain& at, const ledger::NextBlock& next,
                                             std::vector<ledger::SharedTx> waiting) {
    store::Chain& chain = *at.chain;
    const ledger::Place place = ledger::place_of(chain.state(), next);
    ledger::WorkingState working{chain.state().view(), chain.state().index()};
    std::vector<ledger::SharedTx> chosen;
    for (bool progress = true; progress;) {  // again, since one may wait for another that is named after it
        progress = false;
        std::vector<ledger::SharedTx> left;
        for (const ledger::SharedTx& tx : waiting) {
            const auto effects = ledger::decide(tx, working, place, at.rules, chain.cache(), ledger::kBlockChecksMax);
            if (!effects) {
                left.push_back(tx);
                continue;
            }
            ledger::perform(*effects, working, place);
            chosen.push_back(tx);
            progress = true;
        }
        waiting = std::move(left);
    }
    return chosen;
}

/// What this machine signs must not contradict what it signed before, so that is on the disk before the block is.
class SealRecord {
public:
    static Result<SealRecord> open(OfflineChain& at, const consensus::Signer& signer, Time now) {
        const store::VoteMemory memory = at.store().votes();
        TRY(auto own, consensus::OwnVotes::decode(memory.record, memory.complete));
        const ledger::Parameters& parameters = at.chain->state().parameters();
        const auto electorate = consensus::Electorate::of(at.chain->state().view(), parameters);
        if (!own.is_complete()) {
            // Where nobody else votes there is nobody to contradict it before.
            if (!electorate.is_only_voter(signer.key()))
                return fail(ErrorKind::Denied,
                            "this directory is a copy or was restored: what this machine signed since is not known "
                            "here, and a second block in the same place would be held against it\n"
                            "start a node on it: it finds out from the others when it may sign again");
            own.regain(electorate.generation, consensus::epoch_of(now, parameters.epoch));
        }
        return SealRecord{at, std::move(own), memory.complete};
    }

    Result<void> note(const ledger::BlockHash& parent) {
        if (own_.has_sealed_on(parent))
            return fail(ErrorKind::Denied,
                        fmt::format("this machine has sealed another block on {} before, and two would be held against "
                                    "it\nstart a node: it goes on from whichever of them the others took",
                                    parent));
        own_.note_sealed(parent);
        store::Store& store = at_->chain->store();
        if (complete_) {
            TRY(store.record_vote(own_.encode()));
        } else {
            TRY(store.complete_votes(own_.encode()));
        }
        complete_ = true;
        TRY(store.sync());
        return ok();
    }

private:
    SealRecord(OfflineChain& at, consensus::OwnVotes own, bool complete)
        : at_(&at), own_(std::move(own)), complete_(complete) {}
    OfflineChain* at_;
    consensus::OwnVotes own_;
    bool complete_;  ///< on the disk
};

/// Puts what fits together into one block after the other, until nothing more goes in.
Result<void> seal_all(OfflineChain& at, const consensus::Signer& signer, Time now, std::vector<Submitted>& all) {
    store::Chain& chain = *at.chain;
    std::optional<SealRecord> record;
    for (;;) {
        std::vector<ledger::SharedTx> waiting;
        for (const Submitted& each : all)
            if (each.tx && !each.block) waiting.push_back(each.tx);
        if (waiting.empty()) return ok();
        const auto hand = node::prepare_by_hand(chain.state(), chain.tip(), now, at.judge, signer);
        if (!hand)
            return fail(ErrorKind::Denied, fmt::format("this machine may not seal blocks of this chain: {}\n"
                                                       "its Node has to be a member first",
                                                       to_text(hand.error())));
        const auto build = [&](const std::vector<ledger::SharedTx>& txs) {
            return ledger::build_block(chain.state(), hand->next, txs, hand->sealing.part, hand->seal_bytes(), at.rules,
                                       chain.cache(), chain.parallel());
        };
        auto draft = build(waiting);
        if (draft.txs.size() < waiting.size()) {
            // Not all go in together. Which do is the person's choice, not that of their ids.
            auto named = build(in_order_named(at, hand->next, waiting));
            if (named.txs.size() >= draft.txs.size()) draft = std::move(named);
        }
        if (draft.txs.empty()) break;
        const ledger::Applied applied = draft.applied;
        if (!record) {
            TRY(record, SealRecord::open(at, signer, now));
        }
        TRY(record->note(hand->next.parent));
        const ledger::Block block = node::seal_by_hand(std::move(draft), *hand, signer);
        TRY(chain.add_made(block, applied));
        for (const ledger::Tx& tx : block.txs)
            for (Submitted& each : all)
                if (each.tx && each.tx->id == ledger::id_of(tx)) each.block = block.header;
    }
    // What is left over is refused; each is told why by itself.
    const auto next = chain.next(now);
    const ledger::WorkingState working{chain.state().view(), chain.state().index()};
    for (Submitted& each : all) {
        if (each.block || !each.tx) continue;
        const auto effects = ledger::decide(each.tx, working, ledger::place_of(chain.state(), next), at.rules,
                                            chain.cache(), ledger::kBlockChecksMax);
        each.refused = effects ? ledger::Reject{.code = ledger::RejectCode::TooLarge,
                                                .why = "it does not fit into a block of this chain"}
                               : effects.error();
    }
    return ok();
}

/// Everything on the disk; and final, where this machine's voice is the only one (docs/spec/chain.md section 5).
Result<void> finish(OfflineChain& at, const consensus::Signer& signer) {
    store::Store& store = at.chain->store();
    TRY(store.sync());
    const ledger::LedgerState& state = at.chain->state();
    if (consensus::Electorate::of(state.view(), state.parameters()).is_only_voter(signer.key())) {
        TRY(store.mark_final(hash_of(at.chain->tip())));
        TRY(store.sync());
    }
    return at.close();
}

json::Value data_of(const std::vector<Submitted>& all) {
    json::Array rows;
    for (const Submitted& each : all) {
        json::Object row{{"file", each.file}, {"ok", each.block.has_value()}};
        if (each.tx) row.set("txid", each.tx->id.hex());
        if (each.block) {
            row.set("height", each.block->height.number());
            row.set("block", hash_of(*each.block).hex());
            row.set("time", to_rfc3339(each.block->time, Precision::Millis));
        }
        if (each.refused) {
            row.set("code", name(each.refused->code));
            row.set("why", each.refused->why);
        }
        rows.push_back(std::move(row));
    }
    return json::Object{{"transactions", std::move(rows)}};
}

std::string text_of(const Style& style, const std::vector<Submitted>& all) {
    Table table{{"FILE", "RESULT", "HEIGHT", "BLOCK", "TXID"}};
    for (const Submitted& each : all) {
        const std::string id = each.tx ? each.tx->id.hex() : "-";
        if (each.block) {
            table.add({each.file, Cell{"accepted", Tone::Good}, fmt::format("{}", each.block->height),
                       hash_of(*each.block).hex(), id});
        } else {
            table.add({each.file, Cell{std::string{name(each.refused->code)}, Tone::Bad}, "-", "-", id});
        }
    }
    return table.render(style);
}

/// One after the other, through the node that runs here. The first refusal ends it.
Result<void> submit_to_node(Invocation& call) {
    TRY(auto all, read_all(call));
    auto found = asked_node(call);
    if (!found) {
        Error error = std::move(found).error();
        error.message += "\n--offline puts it into a block of this machine's own chain, without a node";
        return Fail{std::move(error)};
    }
    const auto client = *std::move(found);
    json::Array rows;
    Table table{{"FILE", "STAGE", "HEIGHT", "BLOCK", "TXID"}};
    std::optional<Error> refused;
    for (const Submitted& each : all) {
        if (!each.tx) {
            refused = with_context(each.file, error_of(*each.refused));
            break;
        }
        auto answer = submit_tx(*client, each.tx->tx, call.text("wait"));
        if (!answer) {
            refused = with_context(each.file, std::move(answer).error());
            break;
        }
        const json::Value* height = answer->find("height");
        table.add({each.file, Cell{std::string{answer->text_at({"stage"})}, Tone::Good},
                   height == nullptr ? "-" : fmt::format("{}", height->if_int64().value_or(0)),
                   answer->find("block") == nullptr ? "-" : std::string{answer->text_at({"block"})},
                   each.tx->id.hex()});
        (*answer)["file"] = json::Value{each.file};
        rows.push_back(*std::move(answer));
    }
    if (!rows.empty())
        print_data(call, json::Object{{"transactions", std::move(rows)}},
                   [&] { return table.render(call.console.out_style); });
    if (refused) return Fail{*std::move(refused)};
    return ok();
}

Result<void> run_submit(Invocation& call) {
    if (!call.flag("offline")) return submit_to_node(call);
    TRY(auto all, read_all(call));
    TRY(const auto at, open_chain(call));
    TRY(const auto identity, identity_of(*at));
    const Time now = Time::from_unix_millis(call.console.now().unix_millis());
    const consensus::KeySigner signer{identity.keys};
    TRY(seal_all(*at, signer, now, all));
    const bool any = std::any_of(all.begin(), all.end(), [](const Submitted& each) { return each.block.has_value(); });
    if (any) {
        TRY(finish(*at, signer));
    }
    print_data(call, data_of(all), [&] { return text_of(call.console.out_style, all); });
    std::optional<Error> error;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!all[i].refused) continue;
        const Error reason = with_context(all[i].file, error_of(*all[i].refused));
        const std::string hint = fmt::format("'{} tx check {}{} --trace' shows why, step by step", call.program,
                                             shell_word(call.arguments("FILE")[i]), data_words(call));
        if (!error) {
            error = reason;
            error->message += "\n" + hint;
        } else {
            error->message += "\nalso refused: " + reason.message + "\n" + hint;
        }
    }
    if (error) return Fail{*std::move(error)};
    return ok();
}

}  // namespace

Command submit_command() {
    return {
        .name = "submit",
        .summary = "Put signed transactions into a block",
        .details =
            "The node that runs on this machine takes them and passes them on. With --offline this machine seals them "
            "into a block of its own chain, in the data directory, while no "
            "node uses it. Several files go into one block where that is possible, else into one after the other; one "
            "may need what another makes, whatever order they are named in, and of two that contradict each other the "
            "first stays. A refused one does not keep the others out.\n"
            "\n"
            "Works for a machine that is a member of the cluster (as after 'rhizome init'). On a cluster of several "
            "machines a block made offline competes with what the others made meanwhile: use it to set up, to rescue, "
            "and to try things out.\n"
            "\n"
            "Exits with 4 when somebody's permission is missing, 5 when something changed since or exists already, 3 "
            "when something it needs is not there, and 1 for every other refusal.",
        .examples = {{"through the node that runs here", "rhizome tx submit tx.json --wait final"},
                     {"a change of your own cluster", "rhizome tx submit tx.json --offline"},
                     {"several at once", "rhizome tx submit namespace.json pod.json --offline -o json"}},
        .arguments = {{.name = "FILE",
                       .help = "signed transactions; - for stdin",
                       .repeatable = true,
                       .completion = Completion::files()}},
        .options = with_node_options({{.name = "offline", .help = "seal a block here instead of sending to a node"},
                                      {.name = "wait",
                                       .value_name = "STAGE",
                                       .help = "how far to wait, where a node takes it",
                                       .fallback = "included",
                                       .choices = {{"accepted", "the node has taken it"},
                                                   {"included", "it is in a block"},
                                                   {"final", "nothing undoes it any more"}}},
                                      data_option(),
                                      output_option()}),
        .variables = {key::passphrase_variable()},
        .run = run_submit,
    };
}

}  // namespace rhizome::cli::tx
