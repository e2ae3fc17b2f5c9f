// SPDX-License-Identifier: Apache-2.0
#include "api/io/live.h"

namespace rhizome::api {

namespace {

/// `chain` with what is held as it stands in `before`; gives which keys those are.
state::StateView with_held(const state::StateView& before, const state::StateView& chain,
                           const std::set<std::string, std::less<>>& returning,
                           std::set<std::string, std::less<>>& held) {
    state::Batch batch{chain};
    for (const std::string& key : returning) {
        const state::Path path = state::Path::from_checked_key(key);
        const state::Entry* stood = before.get(path);
        const state::Entry* stands = chain.get(path);
        if (stood == nullptr && stands == nullptr) continue;
        if (stood != nullptr && stands != nullptr && *stood == *stands) continue;
        if (stood != nullptr) {
            batch.put(state::EntryPtr{stood});
        } else {
            (void)batch.erase(path);
        }
        held.insert(key);
    }
    return std::move(batch).finish().view;
}

}  // namespace

void Live::follow(const state::StateView& chain, state::Height final,
                  const std::set<std::string, std::less<>>& returning) {
    {
        const std::unique_lock hold{mutex_};
        revisions_.set_final(final);
        const state::StateView before = revisions_.view(Layer::Chain);
        std::set<std::string, std::less<>> held;
        const state::StateView now = returning.empty() ? chain : with_held(before, chain, returning, held);
        revisions_.set_held(std::move(held));
        if (before.is_same(now)) return;
        revisions_.feed(Layer::Chain, diff(before, now), now);
    }
    ring();
}

void Live::put(const Passing& what, Time now) {
    state::Batch batch{revisions_.view(Layer::Passing)};
    const auto forget = [&](const std::string& key) {
        const auto at = until_.find(key);
        if (at == until_.end()) return;
        ends_.erase({at->second, key});
        until_.erase(at);
        (void)batch.erase(state::Path::from_checked_key(key));
    };
    forget(what.path.key());
    while (!ends_.empty() && (ends_.begin()->first <= now || (what.entry && ends_.size() >= kPassingMax)))
        forget(std::string{ends_.begin()->second});
    if (what.entry) {
        batch.put(what.entry);
        const Time until = what.until.value_or(Time::from_unix_seconds(253'402'300'799));
        ends_.emplace(until, what.path.key());
        until_.emplace(what.path.key(), until);
    }
    state::Commit commit = std::move(batch).finish();
    revisions_.feed(Layer::Passing, commit.delta, std::move(commit.view));
}

bool Live::write(const Passing& what, Time now) {
    {
        const std::unique_lock hold{mutex_};
        const Standing present = revisions_.find(Layer::Passing, what.path);
        if ((present ? present.revision : 0) != what.known) return false;
        put(what, now);
        if (written_) {
            ++unsettled_[what.path.key()];
            written_(what);
        }
    }
    ring();
    return true;
}

void Live::show(const Passing& what) {
    {
        const std::unique_lock hold{mutex_};
        if (unsettled_.contains(what.path.key())) return;
        // Mostly this node's own write, which stands already.
        if (revisions_.find(Layer::Passing, what.path).document == what.entry) return;
        put(what, Time{});
    }
    ring();
}

void Live::settle(const state::Path& path, const std::optional<Passing>& stands) {
    {
        const std::unique_lock hold{mutex_};
        const auto at = unsettled_.find(path.key());
        if (at == unsettled_.end() || --at->second > 0) return;
        unsettled_.erase(at);
    }
    if (stands) show(*stands);
}

std::shared_ptr<void> Live::on_change(std::function<void()> ring) {
    auto held = std::make_shared<std::function<void()>>(std::move(ring));
    const std::lock_guard hold{bells_mutex_};
    std::erase_if(bells_, [](const auto& one) { return one.expired(); });
    bells_.push_back(held);
    return held;
}

void Live::ring() {
    std::vector<std::shared_ptr<std::function<void()>>> all;
    {
        const std::lock_guard hold{bells_mutex_};
        for (const auto& one : bells_)
            if (auto bell = one.lock()) all.push_back(std::move(bell));
    }
    for (const auto& bell : all) (*bell)();
}

}  // namespace rhizome::api
