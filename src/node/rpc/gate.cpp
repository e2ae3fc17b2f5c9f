// SPDX-License-Identifier: Apache-2.0
#include "node/rpc/gate.h"

#include <fmt/core.h>

#include "ledger/chain_records.h"
#include "ledger/signing.h"
#include "runtime/clock.h"

namespace rhizome::node::rpc {
namespace {

constexpr std::uint64_t kRequest = 1'000;  ///< tokens
/// Namespaces whose locks are looked at; a key that only a later one names asks on another machine's socket.
constexpr std::size_t kNamespacesMax = 10'000;

http::Response denied(std::string_view code, std::string_view message) {
    http::Response response = refusal(401, code, message);
    response.headers.set("WWW-Authenticate", "Rhizome");
    return response;
}

http::Response too_many(std::string_view whose) {
    http::Response response =
        refusal(429, "RateLimited", fmt::format("too many requests from this {}; wait a second and go on", whose));
    response.headers.set("Retry-After", "1");
    return response;
}

}  // namespace

template <class Key>
bool Gate::takes(LruCache<Key, Rate>& rates, const Key& key, unsigned per_second) {
    if (per_second == 0) return true;
    const auto now = stream::Clock::now();
    const std::uint64_t most = 2 * kRequest * per_second;  // two seconds' worth at once
    Rate rate{.tokens = most, .filled = now};
    if (const Rate* known = rates.get(key)) {
        rate = *known;
        const auto passed = std::chrono::duration_cast<milliseconds>(now - rate.filled);
        if (passed > milliseconds{0}) {
            rate.tokens = std::min(most, rate.tokens + static_cast<std::uint64_t>(passed.count()) * per_second);
            rate.filled += passed;
        }
    }
    const bool enough = rate.tokens >= kRequest;
    if (enough) rate.tokens -= kRequest;
    rates.put(key, rate);
    return enough;
}

Gate::Use Gate::use(const crypto::Digest& digest, Time until, Time now) {
    for (auto oldest = used_until_.begin(); oldest != used_until_.end() && oldest->first < now;
         oldest = used_until_.erase(oldest))
        used_.erase(oldest->second);
    if (used_.contains(digest)) return Use::Again;
    if (used_.size() >= limits_.nonces_max) return Use::NoRoom;
    used_.insert(digest);
    used_until_.emplace(until, digest);
    return Use::First;
}

bool Gate::is_known(const crypto::PublicKey::Array& key, const state::StateView& view) {
    if (view.contains(ledger::records::member(key))) return true;
    const auto point = crypto::PublicKey::parse(key);
    if (!point) return false;
    const auto opens = [&](const state::Entry* entry) {
        return entry != nullptr && ledger::can_help(*point, entry->script(), view);
    };
    if (opens(view.get(state::Path::cluster()))) return true;
    const auto spaces = view.list_children(state::Prefix::namespaces(), std::nullopt, kNamespacesMax);
    return std::any_of(spaces.entries.begin(), spaces.entries.end(), opens);
}

Result<std::optional<crypto::Hash256>, http::Response> Gate::admit(const http::Request& request,
                                                                   const stream::Address& peer, Access access) {
    {
        const std::lock_guard hold{mutex_};
        if (!takes(by_address_, peer.host, limits_.address_requests_per_second)) return Fail{too_many("address")};
    }
    if (access == Access::Anyone) return std::optional<crypto::Hash256>{};
    if (access == Access::Local)
        return Fail{refusal(403, "LocalOnly",
                            "this is asked on the machine itself, over the socket in its data "
                            "directory")};
    const auto field = request.headers.find("Authorization");
    if (!field)
        return Fail{denied("NotSigned",
                           "who asks is not known: sign the request with a key of the cluster's "
                           "(docs/spec/rpc.md); 'rhizome --node' does")};
    const auto auth = parse_request_auth(*field);
    if (!auth) return Fail{denied("NotSigned", auth.error().message)};
    const auto view = host_.view();
    if (!is_known(auth->key, view->state))
        return Fail{denied("UnknownKey", fmt::format("the key {} is no member's and opens neither the Cluster's nor a "
                                                     "Namespace's lock; the owner of the cluster can let it in",
                                                     to_hex(auth->key)))};
    const Time now = runtime::now();
    const Time then = Time::from_unix_millis(static_cast<std::int64_t>(auth->time));
    if (then > now + limits_.clock_window || then < now - limits_.clock_window)
        return Fail{denied("ClockSkew", fmt::format("the request says it is {}, this node has {}: they may differ by "
                                                    "{} s; set the clock that is wrong",
                                                    to_rfc3339(then, Precision::Millis),
                                                    to_rfc3339(now, Precision::Millis), limits_.clock_window.count()))};
    if (!is_signed(*auth, host_.key(), request.method, request.target))
        return Fail{denied("BadSignature",
                           fmt::format("the signature is not of this request to the node {}: another method, target, "
                                       "body, time or node was signed",
                                       to_hex(host_.key())))};
    const std::lock_guard hold{mutex_};
    switch (use(request_digest(*auth, host_.key(), request.method, request.target), then + limits_.clock_window, now)) {
        case Use::First: break;
        case Use::Again: return Fail{denied("Replayed", "this very request was made before; sign it anew")};
        case Use::NoRoom: return Fail{too_many("node")};
    }
    if (!takes(by_key_, auth->key, limits_.key_requests_per_second)) return Fail{too_many("key")};
    return std::optional{auth->body};
}

}  // namespace rhizome::node::rpc
