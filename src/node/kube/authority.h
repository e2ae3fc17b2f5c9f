// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/time.h"
#include "stream/certificate_request.h"

/// Who vouches for whom at a node's Kubernetes API.
///
/// Every node has an authority of its own, made at its first start: `node/api/ca.crt` and `ca.key` in its data
/// directory. It signs the certificate that the node shows, and those of the users it knows. Its key stays on the
/// machine. Other members believe what it says of who somebody is (`kube/member_authorities.h`), and nothing more:
/// otherwise any machine of the cluster could speak for the owner at the node that has the owner's key. A kubeconfig
/// for several nodes holds one context for each.
namespace rhizome::node {

std::filesystem::path authority_folder(const std::filesystem::path& data);

/// Reads it; made when there is none. Corrupt when certificate and key do not belong together.
Result<stream::Identity> open_authority(const std::filesystem::path& data, Time now);

/// What the node shows: a new key each time, valid for `names` (DNS names and addresses in numbers).
Result<stream::Identity> server_identity(const stream::Identity& authority, const std::vector<std::string>& names,
                                         Time now);

/// A certificate for a person or program: common name and organizations are user and groups.
struct ClientWish {
    std::string user{};
    std::vector<std::string> groups{};
    seconds lasts{365LL * 24 * 3600};
};
Result<stream::Identity> client_identity(const stream::Identity& authority, const ClientWish& wish, Time now);
/// The same for somebody who has a key and asks for a certificate.
Result<stream::Certificate> client_certificate(const stream::Identity& authority,
                                               const stream::CertificateRequest& request, const ClientWish& wish,
                                               Time now);

}  // namespace rhizome::node
