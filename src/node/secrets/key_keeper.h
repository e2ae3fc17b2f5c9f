// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "base/log.h"
#include "node/host.h"
#include "node/secrets/cluster_keys.h"

namespace rhizome::node {

/// The cluster keys of this machine (docs/spec/secrets.md): learns those that are sealed to it, seals those it knows to
/// members that do not have them yet, and starts a new generation when the newest is known to somebody who left and
/// something is to be written.
///
/// What it knows it keeps in `node/cluster-keys/` of the data directory, sealed to the machine's own key: a key whose
/// KeyRing was lost with a branch of the chain is written again as long as a Secret needs it.
class KeyKeeper {
public:
    struct Options {
        std::filesystem::path data{};
        /// Whether it writes KeyRings when it is a member: an observer only reads.
        bool writes = true;
        /// Members that could do the same thing do it one after the other, this far apart.
        milliseconds turn{2'000};
        Log log{};
    };
    /// `host` and `keys` outlive it.
    KeyKeeper(stream::IoContext& io, Host& host, const crypto::NodeKeys& keys, Options options);
    /// Writes nothing any more, and tells those who wait. Not from a task.
    void stop();
    ~KeyKeeper();
    KeyKeeper(const KeyKeeper&) = delete;
    KeyKeeper& operator=(const KeyKeeper&) = delete;

    // ---- any thread ------------------------------------------------------------------------------------------------

    using SharedSecret = std::shared_ptr<const crypto::X25519Secret>;
    /// The secret half of a cluster key. NotFound when no KeyRing knows the key; Unavailable when it is not sealed to
    /// this machine (yet).
    Result<SharedSecret> secret_of(const crypto::X25519Public& key);
    /// Tells the key to seal to, on any thread, now or once a new one is in the chain.
    void key_for_writing(std::function<void(Result<crypto::X25519Public>)> told);
    [[nodiscard]] std::shared_ptr<const ClusterKeys> keys_of(const state::StateView& state) const;
    [[nodiscard]] Host& host() const;

private:
    struct Inside;
    std::shared_ptr<Inside> inside_;
};

}  // namespace rhizome::node
