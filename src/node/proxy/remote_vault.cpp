// SPDX-License-Identifier: Apache-2.0
#include "node/proxy/remote_vault.h"

#include <algorithm>

#include "ledger/sealed_secret.h"
#include "ledger/special_kinds.h"
#include "node/rpc/mailbox.h"
#include "node/secrets/vault.h"
#include "runtime/entropy.h"

namespace rhizome::node {
namespace {

using api::Standing;
using api::Withheld;
using Opened = std::vector<Result<Standing, Withheld>>;

/// As many as the node takes at once.
constexpr std::size_t kAtOnce = 256;

constexpr std::string_view kLate = "the node does not answer: try again";

Fail<Withheld> unavailable(std::string why) { return Fail{Withheld{Withheld::Why::Unavailable, std::move(why)}}; }

/// Annotations that begin so were never sealed (ledger/sealed_secret.h).
constexpr std::string_view kOurs = "rhizome.dev/";

/// The document that is known here, with what was sealed of it as the node says. Nothing else is taken from the node:
/// labels, type and owners stand in the state, which may be proven. When there is a newer version at the node its
/// content comes with the older frame until that version is known here too; who writes on top of it names the older one
/// and is refused.
json::Value with_content(json::Value known, const json::Value& opened) {
    known.make_object().erase("sealed");
    if (const json::Value* data = opened.find("data")) known["data"] = *data;
    if (const json::Value* fields = opened.find_path({"metadata", "managedFields"}))
        known["metadata"]["managedFields"] = *fields;
    const json::Value* annotations = opened.find_path({"metadata", "annotations"});
    if (annotations == nullptr || !annotations->is_object()) return known;
    for (const auto& [key, value] : *annotations->if_object()) {
        if (std::string_view{key}.starts_with(kOurs)) continue;
        json::Value& into = known["metadata"]["annotations"];
        if (!into.is_object()) into = json::Object{};
        into[key] = value;
    }
    return known;
}

/// One row of the node's answer, about this Secret: another may have taken its name meanwhile.
Result<Standing, Withheld> read_row(const Standing& asked, const json::Value& row) {
    const json::Value* opened = row.find("document");
    if (opened == nullptr) {
        const std::string_view why = row.text_at({"why"});
        std::string message{row.text_at({"message"})};
        // What is missing there is deleted, which shows here soon. Were it unavailable, every deletion would end the
        // watches of all Secrets.
        if (why == "denied" || why == "missing") return Fail{Withheld{Withheld::Why::Denied, std::move(message)}};
        if (why == "damaged") return Fail{Withheld{Withheld::Why::Damaged, std::move(message)}};
        return unavailable(std::move(message));
    }
    json::Value known = ledger::parse_checked(asked.document->document());
    if (known.find("sealed") == nullptr) return asked;
    if (known.text_at({"metadata", "uid"}) != opened->text_at({"metadata", "uid"}))
        return Fail{Withheld{Withheld::Why::Denied, "it is deleted; another Secret has its name now"}};
    return with_document(asked, with_content(std::move(known), *opened));
}

/// What the node says of all of them, in order.
Opened ask_all(RpcClient& client, const std::vector<Standing>& all) {
    Opened opened;
    while (opened.size() < all.size()) {
        json::Array paths;
        for (std::size_t i = opened.size(); i < std::min(all.size(), opened.size() + kAtOnce); ++i)
            paths.emplace_back(all[i].document->path().text());
        const auto answer =
            client.post("/rhizome/v1/secrets/open", json::print(json::Object{{"paths", std::move(paths)}}));
        const json::Value* rows = answer ? answer->find("secrets") : nullptr;
        if (rows == nullptr || !rows->is_array() || rows->if_array()->empty()) {
            const std::string why = answer ? "the node's answer cannot be read" : answer.error().message;
            while (opened.size() < all.size()) opened.emplace_back(unavailable(why));
            break;
        }
        for (const json::Value& row : *rows->if_array())
            if (opened.size() < all.size()) opened.push_back(read_row(all[opened.size()], row));
    }
    return opened;
}

}  // namespace

bool RemoteVault::keeps(const cluster::Kind& kind) const { return is_secret(kind); }

stream::Task<Opened> RemoteVault::open(std::vector<Standing> all, api::User /*user*/) {
    if (all.empty()) co_return Opened{};
    stream::Strand strand = co_await stream::this_strand();
    const auto told = std::make_shared<rpc::Mailbox<Opened>>(strand);
    const std::size_t count = all.size();
    calls_.post([told, all = std::move(all)](RpcClient* client) {
        Opened opened;
        if (client != nullptr) {
            opened = ask_all(*client, all);
        } else {
            for (std::size_t i = 0; i < all.size(); ++i) opened.emplace_back(unavailable("the node cannot be asked"));
        }
        rpc::put(told, std::move(opened), 1);
    });
    const bool in_time = co_await told->came.wait_until(stream::after(answer_time_));
    if (in_time) co_return std::move(told->waiting.front());
    Opened late;
    for (std::size_t i = 0; i < count; ++i) late.emplace_back(unavailable(std::string{kLate}));
    co_return late;
}

stream::Task<Result<json::Value>> RemoteVault::seal(json::Value object) {
    if (object.find("sealed") != nullptr && object.find("data") == nullptr) co_return object;
    stream::Strand strand = co_await stream::this_strand();
    const auto told = std::make_shared<rpc::Mailbox<Result<json::Value>>>(strand);
    calls_.post([told](RpcClient* client) {
        rpc::put(told,
                 client != nullptr ? client->post("/rhizome/v1/secrets/key", "")
                                   : Result<json::Value>{fail(ErrorKind::Unavailable, "the node cannot be asked")},
                 1);
    });
    const bool in_time = co_await told->came.wait_until(stream::after(answer_time_));
    if (!in_time) co_return fail(ErrorKind::Unavailable, std::string{kLate});
    const auto& answer = told->waiting.front();
    if (!answer) co_return Fail{answer.error()};
    const auto key = crypto::X25519Public::from_hex(answer->text_at({"key"}));
    if (!key) co_return fail(ErrorKind::Failed, "the node's answer cannot be read");
    std::array<std::uint8_t, crypto::kSealEntropyBytes> entropy{};
    runtime::fill_with_entropy(entropy);
    auto sealed = ledger::seal_secret(std::move(object), *key, chain_, entropy);
    if (!sealed) co_return Fail{ledger::to_error(sealed.error())};
    co_return *std::move(sealed);
}

}  // namespace rhizome::node
