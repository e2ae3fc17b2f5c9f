// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ledger/key_ring.h"
#include "state/view.h"

/// Which cluster keys a state has, who holds them, and which one is to be written with (docs/spec/secrets.md). Plain
/// functions of the state.
namespace rhizome::node {

struct ClusterKey {
    std::uint64_t generation = 0;
    /// Whoever knows it, by X25519 key: those it was sealed to, and the members that wrote about it. The name is the
    /// one that the holder had.
    std::map<crypto::X25519Public, std::string> holders{};
    struct Envelope {
        std::vector<crypto::X25519Public> holders{};
        Bytes sealed{};
    };
    std::vector<Envelope> envelopes{};
};

struct ClusterKeys {
    std::map<crypto::X25519Public, ClusterKey> keys{};
    std::map<crypto::X25519Public, std::string> members{};  ///< name of each by its X25519 key

    /// Holders of a key that are no members (any more).
    [[nodiscard]] std::map<crypto::X25519Public, std::string> strangers(const ClusterKey& key) const;
    /// The key that later writes use: all who hold it are members; of those the highest generation, of these the
    /// lowest key. Nothing when every key is known to somebody who left: then a new generation is due.
    [[nodiscard]] std::optional<crypto::X25519Public> for_writing() const;
    [[nodiscard]] std::uint64_t newest_generation() const;
};
ClusterKeys cluster_keys_of(const state::StateView& state);

/// The same, read again only when a KeyRing or a member has changed. From any thread.
class ClusterKeysCache {
public:
    std::shared_ptr<const ClusterKeys> of(const state::StateView& state);

private:
    std::mutex mutex_;
    std::vector<state::EntryPtr> seen_;
    std::shared_ptr<const ClusterKeys> read_;
};

/// A Secret and the key that it is sealed to.
struct SealedAt {
    state::Path path;
    crypto::X25519Public key{};
};
/// All Secrets of the state of which something is sealed. Looks at every namespace: not for every block.
std::vector<SealedAt> sealed_secrets_of(const state::StateView& state);

/// What somebody who is no member any more knew: the Secrets that are still sealed to keys he holds. Their values have
/// to be replaced where they are used, then sealed anew.
struct Exposure {
    std::string node{};
    std::vector<std::string> secrets{};  ///< `namespace/name`
};
std::vector<Exposure> exposures_of(const state::StateView& state, const ClusterKeys& keys);

}  // namespace rhizome::node
