// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "state/view.h"
#include "stream/certificate.h"

namespace rhizome::node {

/// Whose certificates are believed at this node's Kubernetes API: those of its own authority (`kube/authority.h`), and
/// those of every other member, which its NodeReport tells (`status.apiAuthority`). A member that is removed, or
/// accused, vouches for nobody from then on; the state is asked each time. Any thread.
class MemberAuthorities {
public:
    explicit MemberAuthorities(stream::Certificate own) : own_(std::move(own)) {}

    /// Who vouches for the client that shows this: an empty name for this node itself, else the member's. Nothing:
    /// nobody does.
    std::optional<std::string> voucher_of(const stream::Certificate& shown, const state::StateView& state, Time now);

private:
    struct Vouching {
        std::string node{};
        stream::Certificate authority;
    };
    /// What has been found out about certificates, by fingerprint: the authority that signed it, and until when that
    /// holds. Signatures are not checked again for each request.
    struct Found {
        Bytes authority{};
        Time until{};
    };
    void read(const state::StateView& state);
    [[nodiscard]] const Vouching* find(ByteView fingerprint) const;
    void keep(const Bytes& shown, Found found);

    std::mutex mutex_;
    stream::Certificate own_;
    Bytes own_print_ = own_.fingerprint();
    state::StateView seen_{};  ///< what `others_` was read from
    std::vector<Vouching> others_{};
    std::map<Bytes, Found> found_{};
};

}  // namespace rhizome::node
