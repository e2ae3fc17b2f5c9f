// SPDX-License-Identifier: Apache-2.0
#include "node/state_fetching.h"

#include <condition_variable>
#include <mutex>
#include <set>

#include <fmt/core.h>

#include "node/caller.h"
#include "node/peers.h"
#include "runtime/clock.h"
#include "stream/timers.h"

namespace rhizome::node {
namespace {

constexpr std::size_t kOthersMax = 8;
constexpr milliseconds kLook{100};
/// When all who were met have nothing: others that were named may still come.
constexpr milliseconds kOthersWait{2'000};

class StateCaller final : public Caller {
public:
    StateCaller(const StateWish& wish, Parallel& parallel)
        : Caller(wish.trusted.chain), wish_(wish), fetch_(wish.core, wish.trusted, signatures_, parallel) {}

    void begin(const stream::Strand& strand, net::Links& with) {
        Caller::begin(with);
        wake_ = std::make_unique<stream::Timer>(strand, [this] { step(core::Tick{}); });
        look_at(wish_.address);
    }
    /// On the strand, before the links end: from then on it asks nothing of them.
    void end() {
        hang_up();
        wake_.reset();
    }

    /// What whoever waits looks at; any thread.
    struct Seen {
        core::StateFetch::Progress progress{};
        bool done = false;
        bool nobody_has_it = false;
        std::size_t dials_open = 0;
        std::optional<Error> lost{};  ///< why the newest link came to nothing
    };
    Seen wait(milliseconds most) {
        std::unique_lock hold{mutex_};
        changed_.wait_for(hold, most, [&] { return seen_.done; });
        return seen_;
    }
    Result<core::StateFetch::Fetched, ledger::SnapshotFault> take() { return fetch_.take(); }

private:
    void look_at(const stream::Address& address) {
        if (has_hung_up() || dialled_.size() >= kOthersMax || !dialled_.insert(address).second) return;
        ++dials_open_;
        dial(address);
    }
    void met(net::LinkNumber link) override {
        if (has_hung_up()) return;
        --dials_open_;
        met_.insert(link);
        ask_for_peers(link);
        step(core::PeerUp{.peer = core::PeerId{link}});
    }
    void told(net::LinkNumber link, core::Message message) override {
        step(core::Heard{core::PeerId{link}, std::make_shared<const core::Message>(std::move(message))});
    }
    void told_of(net::LinkNumber, const std::vector<stream::Address>& addresses) override {
        for (const stream::Address& address : addresses) look_at(address);
    }
    void lost(std::optional<net::LinkNumber> link, const Error& why) override {
        {
            const std::lock_guard hold{mutex_};
            seen_.lost = why;
        }
        if (link && met_.erase(*link) > 0) return step(core::PeerDown{core::PeerId{*link}});
        --dials_open_;
        show();
    }
    void step(core::EventKind event) {
        if (has_hung_up()) return;
        for (const core::Effect& effect : fetch_.step({runtime::now(), std::move(event)})) {
            if (const auto* sent = std::get_if<core::Send>(&effect)) {
                send(sent->to.number(), *sent->message);
            } else if (const auto* blame = std::get_if<core::Blame>(&effect)) {
                wish_.log.warn("a node sent what is not the state", {{"why", to_text(blame->why)}});
                close(blame->peer.number(), blame->why.why);
            } else if (const auto* wanted = std::get_if<core::Wake>(&effect)) {
                if (wake_) wake_->set(stream::after(wanted->at - runtime::now()));
            }
        }
        show();
    }
    void show() {
        const std::lock_guard hold{mutex_};
        seen_.progress = fetch_.progress();
        seen_.done = fetch_.is_done();
        seen_.nobody_has_it = fetch_.nobody_has_it();
        seen_.dials_open = dials_open_;
        if (seen_.done) changed_.notify_all();
    }

    const StateWish& wish_;
    consensus::CurveSignatures signatures_;
    core::StateFetch fetch_;
    std::unique_ptr<stream::Timer> wake_;
    std::set<stream::Address> dialled_;
    std::set<net::LinkNumber> met_;
    std::size_t dials_open_ = 0;
    std::mutex mutex_;
    std::condition_variable changed_;
    Seen seen_;
};

/// Until it is done, or there is no sense in waiting any longer.
Result<void> wait_until_done(const StateWish& wish, StateCaller& caller) {
    auto newest = runtime::instant_now();
    auto nobody_since = std::optional<runtime::Instant>{};
    std::size_t here = 0;
    for (;;) {
        const auto seen = caller.wait(kLook);
        if (wish.progress) wish.progress(seen.progress);
        if (seen.done) return ok();
        if (wish.is_cancelled && wish.is_cancelled()) return fail(ErrorKind::Unavailable, "interrupted");
        const auto now = runtime::instant_now();
        if (seen.progress.here > here) newest = now;
        here = seen.progress.here;
        if (seen.progress.peers == 0 && seen.dials_open == 0 && seen.lost) return Fail{*seen.lost};
        if (!seen.nobody_has_it) nobody_since.reset();
        if (seen.nobody_has_it && !nobody_since) nobody_since = now;
        if (nobody_since && seen.dials_open == 0 && now > *nobody_since + kOthersWait)
            return fail(ErrorKind::NotFound,
                        fmt::format("none of the {} nodes that were asked has the state after block {}",
                                    seen.progress.peers, wish.trusted.block));
        if (now > newest + wish.silence_max)
            return fail(ErrorKind::Unavailable,
                        fmt::format("nothing new came for {} s ({} of {} parts are here)",
                                    wish.silence_max.count() / 1'000, here, seen.progress.parts));
    }
}

}  // namespace

Result<core::StateFetch::Fetched> fetch_state(stream::IoContext& io, const StateWish& wish,
                                              const crypto::NodeKeys& keys, Parallel& parallel) {
    StateCaller caller{wish, parallel};
    const stream::Strand strand = io.make_strand();
    TRY(const auto links, net::Links::start(io, strand, {.log = wish.log}, keys, frame_bytes_max, caller));
    stream::run_on(strand, [&] { caller.begin(strand, *links); });
    const auto waited = wait_until_done(wish, caller);
    stream::run_on(strand, [&] { caller.end(); });
    links->stop();
    TRY(waited);
    auto fetched = caller.take();
    if (!fetched) return Fail{to_error(fetched.error())};
    return *std::move(fetched);
}

}  // namespace rhizome::node
