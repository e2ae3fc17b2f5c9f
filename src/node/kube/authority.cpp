// SPDX-License-Identifier: Apache-2.0
#include "node/kube/authority.h"

#include <algorithm>

#include <fmt/core.h>

#include "runtime/files.h"
#include "stream/address.h"

namespace rhizome::node {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPemBytesMax = 64u << 10;
constexpr seconds kYears10{10LL * 365 * 24 * 3600};
/// Clocks of clients may be a little behind ours.
constexpr seconds kBefore{3600};

bool is_number(const std::string& name) {
    const auto is_in = [](std::string_view all) {
        return [all](char c) { return all.find(c) != std::string_view::npos; };
    };
    if (name.find(':') != std::string::npos) return true;
    return std::all_of(name.begin(), name.end(), is_in("0123456789."));
}

Result<stream::Identity> make_authority(const fs::path& folder, Time now) {
    TRY(auto key, stream::PrivateKey::generate(stream::KeyKind::P256));
    stream::CertificateSpec spec;
    spec.common_name = "rhizome-api";
    spec.not_before = now - kBefore;
    spec.not_after = now + kYears10;
    spec.authority = true;
    TRY(auto certificate, stream::make_self_signed(spec, key));
    TRY(runtime::make_folder(folder, 0700));
    // The key first: a certificate without one would be read as damage.
    TRY(runtime::replace_file(folder / "ca.key", as_text(key.to_pem().view()), 0600));
    TRY(runtime::write_new_file(folder / "ca.crt", certificate.to_pem(), 0644));
    return stream::Identity{.chain = {std::move(certificate)}, .key = std::move(key)};
}

Result<stream::Identity> issue(const stream::Identity& authority, const stream::CertificateSpec& spec) {
    TRY(auto key, stream::PrivateKey::generate(stream::KeyKind::P256));
    TRY(auto certificate, stream::make_certificate(spec, key, authority));
    return stream::Identity{.chain = {std::move(certificate)}, .key = std::move(key)};
}

stream::CertificateSpec client_spec(const ClientWish& wish, Time now) {
    stream::CertificateSpec spec;
    spec.common_name = wish.user;
    spec.organizations = wish.groups;
    spec.not_before = now - kBefore;
    spec.not_after = now + wish.lasts;
    spec.server_auth = false;
    return spec;
}

}  // namespace

fs::path authority_folder(const fs::path& data) { return data / "node" / "api"; }

Result<stream::Identity> open_authority(const fs::path& data, Time now) {
    const fs::path folder = authority_folder(data);
    const auto certificate = runtime::read_file(folder / "ca.crt", kPemBytesMax);
    if (!certificate) {
        if (certificate.error().kind == ErrorKind::NotFound) return make_authority(folder, now);
        return Fail{certificate.error()};
    }
    TRY(const auto key, runtime::read_secret_file(folder / "ca.key", kPemBytesMax));
    auto identity = stream::Identity::from_pem(*certificate, as_text(key.view()));
    if (!identity)
        return fail(ErrorKind::Corrupt,
                    fmt::format("{}: {}\nmove ca.crt and ca.key away and start again: new ones are made, and every "
                                "kubeconfig of this node has to be made anew",
                                folder.native(), identity.error().message));
    return identity;
}

Result<stream::Identity> server_identity(const stream::Identity& authority, const std::vector<std::string>& names,
                                         Time now) {
    stream::CertificateSpec spec;
    spec.common_name = "rhizome";
    spec.not_before = now - kBefore;
    spec.not_after = now + kYears10;
    spec.client_auth = false;
    for (const std::string& name : names) (is_number(name) ? spec.addresses : spec.dns_names).push_back(name);
    return issue(authority, spec);
}

Result<stream::Identity> client_identity(const stream::Identity& authority, const ClientWish& wish, Time now) {
    return issue(authority, client_spec(wish, now));
}

Result<stream::Certificate> client_certificate(const stream::Identity& authority,
                                               const stream::CertificateRequest& request, const ClientWish& wish,
                                               Time now) {
    return stream::make_certificate(client_spec(wish, now), request, authority);
}

}  // namespace rhizome::node
