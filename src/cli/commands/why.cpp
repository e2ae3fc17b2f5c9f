// SPDX-License-Identifier: Apache-2.0
// `rhizome why KIND/NAME`: which transaction made it so, whose key, by which lock, how final, and what was refused.
#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "cli/commands/commands.h"
#include "cli/commands/key/shared.h"
#include "cli/commands/tx/shared.h"
#include "cli/data_option.h"
#include "cli/node_option.h"
#include "cli/print.h"
#include "cli/resource_names.h"
#include "cli/text.h"
#include "http/message.h"
#include "ledger/json_form.h"
#include "script/explain.h"
#include "script/policy.h"
#include "script/script.h"

namespace rhizome::cli {
namespace {

using node::RpcClient;

/// A lock that an input of a transaction named, as it is now.
struct Lock {
    std::string path{};
    Bytes script{};
    bool is_authority = false;  ///< an ancestor's; else the resource's own
};

std::optional<json::Value> entry_at(RpcClient& client, const std::string& path) {
    auto entry = client.get("/rhizome/v1/state?path=" + http::percent_encode(path));
    if (!entry) return std::nullopt;
    return *std::move(entry);
}

/// Whose lock an input named, as far as locks that are still in force tell.
std::optional<Lock> lock_of(RpcClient& client, const json::Value& entry, const ledger::Outpoint& named) {
    const auto path = state::Path::parse(entry.text_at({"path"}));
    if (!path) return std::nullopt;
    for (const state::Path& above : path->ancestors()) {
        const auto ancestor = entry_at(client, above.text());
        if (!ancestor || ancestor->text_at({"locked", "txid"}) != named.change.hex()) continue;
        const auto script = from_hex(ancestor->text_at({"script"}));
        return Lock{.path = above.text(), .script = script.value_or(Bytes{}), .is_authority = true};
    }
    return std::nullopt;
}

/// The names of those whose signatures stand in an unlocking script.
std::vector<std::string> signers_of(const ledger::CheckedTx& tx, std::size_t index, const ledger::ChainId& chain,
                                    const std::optional<Lock>& lock, const KnownKeys& keys) {
    const auto shown = [&](ByteView key) {
        const std::string name = keys.name_of(key);
        return name.empty() ? to_hex(key).substr(0, 16) + ".." : name;
    };
    std::vector<std::string> names;
    std::vector<Bytes> signatures;
    script::InstructionReader reader{tx.tx.inputs[index].unlocking};
    while (const auto item = reader.next()) {
        if (item->broken) break;
        if (item->data.size() == crypto::PublicKey::kSize) {
            names.push_back(shown(item->data));
        } else if (item->data.size() > 8) {
            signatures.push_back(to_bytes(item->data));
        }
    }
    if (!names.empty() || signatures.empty()) return names;
    // Signatures without their keys: those of the lock are tried.
    const auto policy = lock && lock->is_authority ? script::recognise(lock->script) : std::nullopt;
    if (policy) {
        const auto digest =
            ledger::signature_digest(tx, chain, index, lock->script, ledger::SpentValue::of_authority());
        std::vector<const script::Policy*> parts{&*policy};
        for (std::size_t i = 0; i < parts.size(); ++i) {
            for (const auto& key : parts[i]->keys)
                for (const Bytes& one : signatures)
                    if (crypto::verify_der(key, digest, ByteView{one}.first(one.size() - 1)))
                        names.push_back(shown(key));
            for (const script::Policy& inner : parts[i]->inner) parts.push_back(&inner);
        }
    }
    if (names.empty()) names.push_back(fmt::format("{} of the lock's keys", signatures.size()));
    return names;
}

struct Story {
    json::Object data{};
    Fields fields{};
};

Result<void> tell_write(Story& story, RpcClient& client, const json::Value& entry, const KnownKeys& keys,
                        const ledger::ChainId& chain) {
    const std::string id{entry.text_at({"written", "txid"})};
    story.data.set("txid", id);
    const json::Value* height = entry.find_path({"written", "height"});
    story.fields.add("written by", fmt::format("transaction {} in block {}, {}", id,
                                               height == nullptr ? 0 : height->if_int64().value_or(0),
                                               entry.text_at({"written", "time"})));
    const auto status = client.text("GET", "/rhizome/v1/txs/" + id, "", ledger::kTxJsonBytesMax);
    if (!status) {
        story.fields.add("signed by", "the block's body is not kept here any more");
        return ok();
    }
    const auto members = json::slices(*status, {.bytes = ledger::kTxJsonBytesMax, .depth = 200});
    std::string text;
    std::string stage;
    if (members)
        for (const json::Slice& one : *members) {
            if (one.key == "transaction") text = one.text;
            if (one.key == "status") stage = std::string{one.text.substr(1, one.text.size() - 2)};
        }
    story.data.set("finality", stage);
    story.fields.add("finality",
                     stage == "final" ? Cell{"final"} : Cell{stage + ": may still be undone", Tone::Warning});
    TRY(auto tx, ledger::tx_from_json(text));
    TRY(const auto checked, ledger::check_tx(std::move(tx)));
    json::Array signers;
    for (std::size_t i = 0; i < checked->tx.inputs.size(); ++i) {
        const auto lock = lock_of(client, entry, checked->tx.inputs[i].previous);
        const auto names = signers_of(*checked, i, chain, lock, keys);
        if (names.empty()) continue;
        for (const std::string& one : names) signers.emplace_back(one);
        story.fields.add("signed by", join(names, ", "));
        const std::string by = lock ? fmt::format("the lock of {}", lock->path)
                                    : std::string{"its own lock, or one that is no longer in force"};
        story.fields.add("opened", by);
        story.data.set("opened", lock ? lock->path : "");
    }
    if (signers.empty()) story.fields.add("signed by", "nobody: it proves itself, or stands in the first block");
    story.data.set("signers", std::move(signers));
    return ok();
}

/// What was refused, or taken back, in a line.
std::string refusal_line(const json::Value& row) {
    const std::string why = fmt::format("{}: {}", row.text_at({"code"}), row.text_at({"why"}));
    if (row.find("accepted") == nullptr) return fmt::format("{} {}", row.text_at({"time"}), why);
    const std::string again = row.find("madeAgain") == nullptr
                                  ? std::string{}
                                  : fmt::format("; it was made again by transaction {}", row.text_at({"madeAgain"}));
    return fmt::format("{} {}; it was accepted at {}, and a heal took it back (transaction {}){}",
                       row.text_at({"time"}), why, row.text_at({"accepted"}), row.text_at({"txid"}), again);
}

/// Whether a path is what KIND/NAME means in a namespace, as far as its text tells: nothing stands there to be asked.
bool is_meant(std::string_view path, std::string_view given, std::string_view name_space) {
    if (given.starts_with('/')) return path == given;
    const auto slash = given.find('/');
    if (slash == std::string_view::npos) return false;
    std::string kind{given.substr(0, std::min(slash, given.find('.')))};
    const std::string_view name = given.substr(slash + 1);
    const auto parsed = state::Path::parse(path);
    if (!parsed || parsed->name() != name) return false;
    if (parsed->shape() == state::Path::Shape::Namespaced && parsed->namespace_name() != name_space) return false;
    const std::string text{path};
    const std::string_view above = std::string_view{text}.substr(0, text.rfind('/'));
    std::string stands{above.substr(above.rfind('/') + 1)};
    std::transform(stands.begin(), stands.end(), stands.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return kind == stands || kind == stands + "s" || stands == kind + "s";
}

/// Of something that does not stand: what of it was accepted and taken back, which may be why. Else `missing`.
Result<void> tell_lost(Invocation& call, RpcClient& client, const std::string& given, const Error& missing) {
    const auto lost = client.get("/rhizome/v1/lost");
    const json::Value* rows = lost ? lost->find("lost") : nullptr;
    std::set<std::string> paths;
    if (rows != nullptr && rows->is_array())
        for (const json::Value& row : *rows->if_array())
            if (const json::Value* changes = row.find("changes"); changes != nullptr && changes->is_array())
                for (const json::Value& one : *changes->if_array())
                    if (is_meant(one.text_at({"path"}), given, call.text("namespace")))
                        paths.emplace(one.text_at({"path"}));
    if (paths.size() != 1) return Fail{missing};
    TRY(const auto refused, client.get("/rhizome/v1/refusals?path=" + http::percent_encode(*paths.begin())));
    const json::Value* told = refused.find("refusals");
    Story story{.data = {{"path", *paths.begin()}, {"exists", false}}};
    story.fields.add("path", *paths.begin());
    story.fields.add("exists", Cell{"no", Tone::Warning});
    for (const json::Value& one : *told->if_array()) story.fields.add("refused", refusal_line(one));
    story.data.set("refusals", *told);
    print_data(call, story.data, [&] { return story.fields.render(call.console.out_style); });
    return ok();
}

Result<void> run_why(Invocation& call) {
    TRY(const auto client, asked_node(call));
    const std::string given = call.argument("RESOURCE");
    const std::string target = given.starts_with('/')
                                   ? "path=" + http::percent_encode(given)
                                   : fmt::format("resource={}&namespace={}", http::percent_encode(given),
                                                 http::percent_encode(call.text("namespace")));
    const auto found = client->get("/rhizome/v1/state?" + target);
    if (!found && found.error().kind == ErrorKind::NotFound) return tell_lost(call, *client, given, found.error());
    if (!found) return Fail{found.error()};
    const json::Value& entry = *found;
    TRY(const auto status, client->get("/rhizome/v1/status"));
    const auto chain = ledger::ChainId::from_hex(status.text_at({"chainId"}));
    if (!chain) return fail(ErrorKind::Failed, "the node's status cannot be read");
    const KnownKeys keys = tx::keys_of(call);
    const std::string path{entry.text_at({"path"})};
    Story story{.data = {{"path", path}}};
    story.fields.add("path", path);
    TRY(tell_write(story, *client, entry, keys, *chain));
    story.fields.add("created",
                     fmt::format("{} by {}", entry.text_at({"born", "time"}), entry.text_at({"born", "txid"})));
    const auto script = from_hex(entry.text_at({"script"}));
    const bool own = script && !script->empty();
    const std::string decides{own ? path : std::string{entry.text_at({"decidedBy"})}};
    Bytes lock = own ? *script : Bytes{};
    if (!own && !decides.empty())
        if (const auto ancestor = entry_at(*client, decides))
            lock = from_hex(ancestor->text_at({"script"})).value_or(Bytes{});
    const std::string sentence = lock.empty() ? "nobody" : tx::with_names(script::explain(lock).sentence, keys);
    story.data.set("decidedBy", decides);
    story.data.set("lock", sentence);
    story.fields.add("decides now", own ? sentence : fmt::format("{} (the lock of {})", sentence, decides));
    TRY(const auto refused, client->get("/rhizome/v1/refusals?path=" + http::percent_encode(path)));
    const json::Value* rows = refused.find("refusals");
    json::Array kept = rows != nullptr && rows->is_array() ? *rows->if_array() : json::Array{};
    if (kept.empty()) story.fields.add("refused", "nothing that this node was asked for since it started");
    for (const json::Value& one : kept) story.fields.add("refused", refusal_line(one));
    story.data.set("refusals", std::move(kept));
    print_data(call, story.data, [&] { return story.fields.render(call.console.out_style); });
    return ok();
}

}  // namespace

Command why_command() {
    std::vector<Option> options{data_option(),
                                {.name = "namespace",
                                 .letter = 'n',
                                 .value_name = "NAME",
                                 .help = "where KIND/NAME looks",
                                 .fallback = "default"},
                                output_option()};
    return {.name = "why",
            .summary = "Say why a resource is as it is",
            .details =
                "Which transaction wrote it, whose key signed, which lock that opened, whether it is final, who "
                "decides now, and what this node refused about it since it started, or had accepted and a heal took "
                "back.",
            .examples = {{"who changed this", "rhizome why deployment.apps/shop -n web"}},
            .arguments = {{.name = "RESOURCE",
                           .help = "KIND/NAME, or a path as in /namespaces/web/core/Pod/db",
                           .completion = Completion::of(resource_names)}},
            .options = with_node_options(std::move(options)),
            .run = run_why,
            .group = std::string{kGroupChain}};
}

}  // namespace rhizome::cli
