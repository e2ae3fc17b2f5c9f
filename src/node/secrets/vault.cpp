// SPDX-License-Identifier: Apache-2.0
#include "node/secrets/vault.h"

#include <fmt/core.h>

#include "ledger/could_open.h"
#include "ledger/sealed_secret.h"
#include "ledger/special_kinds.h"
#include "node/rpc/mailbox.h"
#include "runtime/clock.h"
#include "runtime/entropy.h"

namespace rhizome::node {
namespace {

using api::Withheld;

/// For a new generation to come into the chain.
constexpr seconds kKeyTime{60};

Fail<Withheld> damaged(const Error& why) { return Fail{Withheld{Withheld::Why::Damaged, why.message}}; }

}  // namespace

SecretOpener::SecretOpener(KeyKeeper& keeper, std::vector<crypto::PublicKey::Array> keys, std::string who)
    : keeper_(keeper), view_(keeper.host().view()), keys_(std::move(keys)), who_(std::move(who)) {
    height_ = view_->tip.height + 1;
    time_ = std::max(view_->tip.time, runtime::now());
}

SecretOpener SecretOpener::for_machine(KeyKeeper& keeper) {
    SecretOpener opener{keeper, {}, "this machine"};
    opener.all_ = true;
    return opener;
}

bool SecretOpener::opens(const state::Path& ancestor) {
    const auto [at, fresh] = asked_.try_emplace(ancestor, false);
    if (!fresh) return at->second;
    const state::Entry* entry = view_->state.get(ancestor);
    at->second = entry != nullptr && !entry->script().empty() &&
                 ledger::could_open(entry->script(), entry->origin().lock, keys_, {height_, time_}, view_->state);
    return at->second;
}

bool SecretOpener::may_read(const state::Entry& secret) {
    if (all_) return true;
    if (keys_.empty()) return false;
    if (!secret.script().empty() &&
        ledger::could_open(secret.script(), secret.origin().lock, keys_, {height_, time_}, view_->state))
        return true;
    for (auto up = secret.path().parent(); up; up = up->parent())
        if (opens(*up)) return true;
    return false;
}

Result<json::Value, Withheld> SecretOpener::open(const state::Entry& secret) {
    if (!may_read(secret))
        return Fail{Withheld{
            Withheld::Why::Denied,
            fmt::format("{} could open neither its lock nor that of namespace \"{}\" or of the cluster, and whoever "
                        "cannot change a Secret does not read it",
                        who_, secret.path().namespace_name())}};
    json::Value document = ledger::parse_checked(secret.document());
    const auto key = ledger::key_of_secret(document);
    if (!key) return damaged(ledger::to_error(key.error()));
    if (!*key) return document;
    const auto half = keeper_.secret_of(**key);
    if (!half && half.error().kind == ErrorKind::Unavailable)
        return Fail{Withheld{Withheld::Why::Unavailable, half.error().message}};
    if (!half) return damaged(half.error());
    auto opened = ledger::open_secret(std::move(document), **half, view_->chain);
    if (!opened) return damaged(ledger::to_error(opened.error()));
    return *std::move(opened);
}

stream::Task<Result<json::Value>> seal_with(KeyKeeper& keeper, json::Value secret) {
    if (secret.find("sealed") != nullptr && secret.find("data") == nullptr) co_return secret;
    stream::Strand strand = co_await stream::this_strand();
    const auto told = std::make_shared<rpc::Mailbox<Result<crypto::X25519Public>>>(strand);
    keeper.key_for_writing([told](Result<crypto::X25519Public> key) { rpc::put(told, std::move(key), 1); });
    const bool in_time = co_await told->came.wait_until(stream::after(kKeyTime));
    if (!in_time) co_return fail(ErrorKind::Unavailable, "no cluster key came into the chain in time: try again");
    const auto key = told->waiting.front();
    if (!key) co_return Fail{key.error()};
    std::array<std::uint8_t, crypto::kSealEntropyBytes> entropy{};
    runtime::fill_with_entropy(entropy);
    auto sealed = ledger::seal_secret(std::move(secret), *key, keeper.host().view()->chain, entropy);
    if (!sealed) co_return Fail{ledger::to_error(sealed.error())};
    co_return *std::move(sealed);
}

bool is_secret(const cluster::Kind& kind) { return kind.group.empty() && kind.kind == "Secret"; }

Result<api::Standing, Withheld> with_document(const api::Standing& standing, const json::Value& document) {
    const state::Entry& sealed = *standing.document;
    auto entry = state::Entry::written(sealed.path(), sealed.origin(), sealed.script(), json::print(document));
    if (!entry) return damaged(state::to_error(entry.error()));
    api::Standing clear = standing;
    clear.document = *std::move(entry);
    return clear;
}

bool HostVault::keeps(const cluster::Kind& kind) const { return is_secret(kind); }

stream::Task<std::vector<Result<api::Standing, Withheld>>> HostVault::open(std::vector<api::Standing> all,
                                                                           api::User user) {
    SecretOpener opener{keeper_, keys_of_(user), fmt::format("User \"{}\" with the keys of this machine", user.name)};
    std::vector<Result<api::Standing, Withheld>> opened;
    for (const api::Standing& one : all) {
        const auto document = opener.open(*one.document);
        if (document) {
            opened.push_back(with_document(one, *document));
        } else {
            opened.emplace_back(Fail{document.error()});
        }
    }
    co_return opened;
}

stream::Task<Result<json::Value>> HostVault::seal(json::Value object) {
    auto sealed = co_await seal_with(keeper_, std::move(object));
    co_return sealed;
}

}  // namespace rhizome::node
