// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <vector>

#include "api/revisions.h"
#include "state/tree.h"

namespace rhizome::api {

/// The documents of this node, read by many threads while one brings news, and a bell for those who watch.
class Live {
public:
    explicit Live(Revisions revisions) : revisions_(std::move(revisions)) {}
    Live(const Live&) = delete;
    Live& operator=(const Live&) = delete;

    /// `look` sees one moment; short, since news waits meanwhile.
    template <class Look>
    auto read(const Look& look) const {
        const std::shared_lock hold{mutex_};
        return look(revisions_);
    }

    /// The chain's state is now this, and what `final` and the blocks before it wrote stays. From one thread at a time
    /// (the host's strand), in the order they came.
    ///
    /// `returning`: what transactions touch whose block was undone and that wait for another. It is shown as it stood:
    /// else each document that a heal does not take would be deleted and created again before everybody's eyes.
    void follow(const state::StateView& chain, state::Height final,
                const std::set<std::string, std::less<>>& returning = {});

    /// Writes a document that lives off the chain, or takes it away (null), provided that it still has the revision
    /// that the writer knew (0: none). Says whether. `until`: when it goes by itself.
    struct Passing {
        state::Path path;
        state::EntryPtr entry{};
        Revision known = 0;
        std::optional<Time> until{};
    };
    bool write(const Passing& what, Time now);
    /// Told of every such write before the next one, for those who tell other nodes; short. Set once, before the first.
    /// Each is followed by one `settle`.
    void on_write(std::function<void(const Passing& what)> told) { written_ = std::move(told); }
    /// What stands at a path off the chain among all nodes, whatever stood there (`known` does not matter). While a
    /// write of this node's is on its way to them, that write: it will be the later one.
    void show(const Passing& what);
    /// A write has got as far as that. `stands`: what stands there among all nodes, where that is known.
    void settle(const state::Path& path, const std::optional<Passing>& stands);

    /// Rings from now on, on any thread, after every change; until the handle is gone. Short.
    [[nodiscard]] std::shared_ptr<void> on_change(std::function<void()> ring);

    /// Documents off the chain at most; the ones that end first make room.
    static constexpr std::size_t kPassingMax = 10'000;

private:
    void ring();
    void put(const Passing& what, Time now);

    mutable std::shared_mutex mutex_;
    Revisions revisions_;
    std::set<std::pair<Time, std::string>> ends_;  ///< of documents off the chain, by key
    std::map<std::string, Time, std::less<>> until_;
    std::map<std::string, std::size_t, std::less<>> unsettled_;  ///< writes of this node's, by key
    std::function<void(const Passing& what)> written_{};
    std::mutex bells_mutex_;
    std::vector<std::weak_ptr<std::function<void()>>> bells_;
};

}  // namespace rhizome::api
