// SPDX-License-Identifier: Apache-2.0
// Certificates that are asked for: `kubectl certificate approve` has this node's authority sign them at once.
#include "api/certificates.h"

#include "api/admission.h"
#include "api/io/access.h"
#include "api/io/service.h"
#include "api/shown.h"
#include "cluster/base64.h"
#include "cluster/decode.h"

namespace rhizome::api {
namespace {

Result<stream::CertificateRequest> request_in(const json::Value& object) {
    const auto pem = cluster::from_base64(object.text_at({"spec", "request"}));
    if (!pem) return fail(ErrorKind::Invalid, "it is no base64");
    return stream::CertificateRequest::from_pem(as_text(*pem));
}

/// Signs what was approved, or writes down why not.
void sign_client(const Service& service, json::Value& object, Time now) {
    const auto request = request_in(object);
    std::string why = request ? client_signer_refusal(object) : request.error().message;
    if (why.empty()) why = client_groups_refusal(request->organizations());
    if (why.empty() && request->common_name().empty()) why = "the request names no user (its common name)";
    if (why.empty()) {
        const auto certificate = service.backend.issue_certificate(*request, {.user = request->common_name(),
                                                                              .groups = request->organizations(),
                                                                              .lasts = certificate_duration(object)});
        if (certificate) {
            set_certificate(object, *certificate);
            return;
        }
        why = certificate.error().message;
    }
    set_failed(object, why, now);
}

}  // namespace

Result<void, Status> check_signing_request(const Call& call, const json::Value& object) {
    if (object.text_at({"spec", "request"}).empty()) return {};  // validation says so
    const auto request = request_in(object);
    if (!request) {
        cluster::FieldErrors errors;
        errors.push_back(cluster::invalid(cluster::Where{"spec.request"}, object.text_at({"spec", "request"}),
                                          request.error().message));
        return Fail{invalid(*call.kind, call.path.name, errors)};
    }
    if (object.text_at({"spec", "signerName"}) != kClientSigner) return {};
    const std::string refused = client_groups_refusal(request->organizations());
    if (!refused.empty()) return Fail{forbidden(*call.kind, call.path.name, refused)};
    return {};
}

Planned approval_verb(const Service& service, const Call& call, const Present& present) {
    if (call.verb != Verb::Update && call.verb != Verb::Patch) return Fail{method_not_allowed()};
    if (!present.object) return Fail{not_found(*call.kind, call.path.name)};
    TRY(require_access(service, call, "approve"));
    const HeardOf heard_of = service.backend.heard_of();
    TRY(const json::Value before, standing_value(call, present, heard_of));
    json::Value wanted;
    if (call.verb == Verb::Patch) {
        TRY(wanted, patched_value(call, before));
    } else {
        TRY(wanted, read_object(call));
    }
    std::vector<std::string> warnings;
    TRY(decode_object(call, wanted, warnings));
    const std::string_view version = wanted.text_at({"metadata", "resourceVersion"});
    if (!version.empty() && version != before.text_at({"metadata", "resourceVersion"}))
        return Fail{conflict(*call.kind, call.path.name)};
    TRY(json::Value object, approved(call, before, wanted));
    if (waits_for_certificate(object) && object.text_at({"spec", "signerName"}) == kClientSigner && !call.is_dry())
        sign_client(service, object, call.now);
    return change_to(call, present, before, std::move(object), std::move(warnings), heard_of);
}

}  // namespace rhizome::api
