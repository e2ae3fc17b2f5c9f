// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stream/certificate.h"

struct X509_req_st;

namespace rhizome::stream {

/// What somebody asks an authority to sign (PKCS #10): a subject, and a key whose secret half it holds.
class CertificateRequest {
public:
    /// The one request of a PEM text, at most 64 KiB. Invalid when it cannot be read, when something stands beside it,
    /// or when it is not signed by its own key.
    static Result<CertificateRequest> from_pem(std::string_view pem);
    /// For the owner of `key`: subject and alternative names of `spec`; the rest is the authority's to say.
    static Result<CertificateRequest> make(const CertificateSpec& spec, const PrivateKey& key);

    [[nodiscard]] std::string to_pem() const;
    [[nodiscard]] std::string common_name() const;  ///< empty when there is none
    [[nodiscard]] std::vector<std::string> organizations() const;
    /// Whether it asks for names beside its subject (DNS, addresses, mail).
    [[nodiscard]] bool has_alternative_names() const;

    [[nodiscard]] X509_req_st* native() const { return request_.get(); }  ///< for this module

private:
    explicit CertificateRequest(std::shared_ptr<X509_req_st> request) : request_(std::move(request)) {}
    std::shared_ptr<X509_req_st> request_;  ///< never null
};

/// A certificate for the key of a request, signed by `issuer`; what the request says beside its key is for whoever
/// makes `spec` to judge.
Result<Certificate> make_certificate(const CertificateSpec& spec, const CertificateRequest& request,
                                     const Identity& issuer);

}  // namespace rhizome::stream
