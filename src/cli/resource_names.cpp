// SPDX-License-Identifier: Apache-2.0
#include "cli/resource_names.h"

#include <algorithm>

#include "cli/data_option.h"
#include "node/rpc_client.h"

namespace rhizome::cli {
namespace {

constexpr std::size_t kNamesMax = 500;

std::string lower(std::string_view text) {
    std::string out{text};
    std::transform(out.begin(), out.end(), out.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return out;
}

}  // namespace

std::vector<Candidate> resource_names(const Console& console) {
    const auto data = default_data_folder(console);
    auto client = data ? node::RpcClient::connect(*data) : Result<std::unique_ptr<node::RpcClient>>{Fail{data.error()}};
    if (!client) return {};
    const auto listed = (*client)->get("/rhizome/v1/state/list?prefix=/&limit=" + std::to_string(kNamesMax));
    const json::Value* items = listed ? listed->find("items") : nullptr;
    std::vector<Candidate> names;
    for (const json::Value& item : items != nullptr && items->is_array() ? *items->if_array() : json::Array{}) {
        const std::string_view kind = item.text_at({"kind"});
        const std::string_view name = item.text_at({"name"});
        if (kind.empty() || name.empty()) continue;
        const std::string_view group = item.text_at({"group"});
        std::string value = lower(kind) + (group.empty() ? "" : "." + std::string{group}) + "/" + std::string{name};
        names.push_back({.value = std::move(value), .description = std::string{item.text_at({"namespace"})}});
    }
    return names;
}

}  // namespace rhizome::cli
