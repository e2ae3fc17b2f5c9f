// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/time.h"
#include "crypto/keys.h"
#include "ledger/member.h"

/// How a request over the network says who asks (docs/spec/rpc.md): one header field, made with a key of the person's
/// or of a node's.
///
///     Authorization: Rhizome key=<66 digits>, time=<Unix milliseconds>, nonce=<32 digits>, body=<64>, signature=<128>
///
/// `body` is the SHA-256 of the request's body, so that the signature is checked before a byte of it is read. Signed is
/// the tagged hash `rhizome/request` of these lines, each with a line feed behind it:
///
///     rhizome-request-1, the node's chain key, key, method, target as sent, time, nonce, body
///
/// The node's key keeps a request from being taken elsewhere, time and nonce from being used twice. Plain functions.
namespace rhizome::node {

struct RequestAuth {
    crypto::PublicKey::Array key{};
    std::uint64_t time = 0;  ///< Unix milliseconds
    std::array<std::uint8_t, 16> nonce{};
    crypto::Hash256 body{};
    crypto::Signature::Compact signature{};
    friend bool operator==(const RequestAuth&, const RequestAuth&) = default;
};

/// The field's value.
std::string to_text(const RequestAuth& auth);
/// What `to_text` was given: one spelling only. Invalid for anything else, and says which word is wrong.
Result<RequestAuth> parse_request_auth(std::string_view field);

/// What is signed.
crypto::Digest request_digest(const RequestAuth& auth, const ledger::MemberKey& node, std::string_view method,
                              std::string_view target);

/// The field for a request to `node`.
std::string sign_request(const crypto::SecretKey& secret, const crypto::PublicKey& key, const ledger::MemberKey& node,
                         std::string_view method, std::string_view target, std::string_view body, Time now,
                         const std::array<std::uint8_t, 16>& nonce);

/// Whether its key made its signature for this request.
bool is_signed(const RequestAuth& auth, const ledger::MemberKey& node, std::string_view method,
               std::string_view target);

}  // namespace rhizome::node
