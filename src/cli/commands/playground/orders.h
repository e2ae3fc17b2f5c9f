// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/time.h"
#include "crypto/keys.h"
#include "node/rpc_client.h"

/// Orders to a playground's nodes, with the key of whoever founded it.
namespace rhizome::cli::playground {

/// An order, signed: `text` is what `POST txs` takes.
struct Order {
    std::string name{};  ///< of the Namespace that it makes
    std::string id{};
    std::string text{};
};

/// Signs with the owner's key. May be used from several threads.
class Orders {
public:
    /// `keys`: `Playground::keys`.
    static Result<Orders> open(const std::filesystem::path& keys);
    /// That a Namespace of this name is made, with `padding` bytes in an annotation.
    [[nodiscard]] Result<Order> make(node::RpcClient& client, const std::string& name, std::size_t padding = 0) const;

private:
    Orders(crypto::SecretKey secret, crypto::PublicKey key) : secret_(std::move(secret)), key_(key) {}
    crypto::SecretKey secret_;
    crypto::PublicKey key_;
};

/// How far an order came, and after how long from its sending.
struct OrderEnd {
    std::string stage{};  ///< `accepted`, `included`, `final` or `refused`
    std::string why{};    ///< of a refusal
    std::int64_t height = -1;
    std::optional<microseconds> accepted{};
    std::optional<microseconds> included{};
    std::optional<microseconds> final{};
};
/// Sends it and looks until it is as far as `wanted`, refused, or the time is over.
Result<OrderEnd> send_order(node::RpcClient& client, const Order& order, std::string_view wanted, microseconds most);

}  // namespace rhizome::cli::playground
