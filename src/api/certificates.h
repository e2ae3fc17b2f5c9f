// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/call.h"

/// CertificateSigningRequests: who asks, what may be approved, what may be signed. They live off the chain: anybody who
/// is known may ask for a certificate, and it is believed only where it was given.
namespace rhizome::api {

inline constexpr std::string_view kClientSigner = "kubernetes.io/kube-apiserver-client";

[[nodiscard]] bool is_signing_request(const Kind& kind);

/// Writes down who asks, in a new request: nobody speaks for others.
void note_requester(json::Value& object, const User& user);

/// The object with the conditions of an approval (or denial), or why they may not stand.
Result<json::Value, Status> approved(const Call& call, const json::Value& before, const json::Value& wanted);

/// Whether the conditions say it is to be signed, and nobody has yet.
bool waits_for_certificate(const json::Value& object);
/// What the signer of clients' certificates finds wrong with a request; empty: nothing.
std::string client_signer_refusal(const json::Value& object);
/// The same for the groups that the request itself names. Asked again when it is signed: requests come from other
/// machines too, and whoever sends them there has checked nothing.
std::string client_groups_refusal(const std::vector<std::string>& groups);
void set_certificate(json::Value& object, std::string_view pem);
void set_failed(json::Value& object, std::string_view why, Time now);

/// How long a certificate is good for.
seconds certificate_duration(const json::Value& object);

/// How long a request is kept: a day while nobody has decided, an hour after, as Kubernetes has it.
seconds request_kept(const json::Value& object);

}  // namespace rhizome::api
