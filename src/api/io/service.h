// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "api/again.h"
#include "api/call.h"
#include "api/io/front.h"
#include "api/io/observed.h"
#include "api/registry.h"
#include "api/watch.h"
#include "stream/timers.h"

/// Inside of the front: what its files share.
namespace rhizome::api {

struct Service {
    Service(Backend& backend_in, FrontOptions options_in);
    Backend& backend;
    FrontOptions options;
    Observer observer;
    std::atomic<std::size_t> writing = 0;
    /// Changes that may be made again, should a heal take them back.
    void remember(const ledger::TxId& id, Remembered::Request request);
    std::optional<Remembered::Request> take_remembered(const ledger::TxId& id);
    std::atomic<std::size_t> proxying = 0;

    /// The kinds that the state has now, definitions included. Any thread; a request keeps the one it began with.
    [[nodiscard]] SharedRegistry registry() const;

private:
    mutable std::mutex mutex_{};
    mutable state::StateView seen_{};  ///< what `newest_` was made of
    mutable SharedRegistry newest_{};
    std::mutex remembered_mutex_{};
    Remembered remembered_{};
};

/// A request of a kind that only so many may be of at once, counted as long as it is under way.
class UnderWay {
public:
    explicit UnderWay(std::atomic<std::size_t>& now) : now_(now), count_(now.fetch_add(1) + 1) {}
    ~UnderWay() { now_.fetch_sub(1); }
    UnderWay(const UnderWay&) = delete;
    UnderWay& operator=(const UnderWay&) = delete;
    /// With this one, when it began.
    [[nodiscard]] std::size_t count() const { return count_; }

private:
    std::atomic<std::size_t>& now_;
    std::size_t count_;
};

http::Response http_response(Reply reply);
/// The answer indented, where the request comes from a person (`?pretty`, curl, a browser).
http::Response prettied(const http::Request& request, http::Response response);

/// Answers what is no resource: health, version, discovery, OpenAPI; nothing when the path is none of these. Of the
/// first two anybody may ask.
std::optional<http::Response> answer_open(const Service& service, const http::Request& request);
std::optional<http::Response> answer_discovery(const Service& service, const http::Request& request);

/// Plans what is no plain verb on an object: reviews, and subresources with a meaning of their own. Nothing for the
/// rest.
std::optional<Planned> plan_special(const Service& service, const Call& call, const Present& present);
/// The answer to GET of a subresource that needs a running pod or machine; nothing for the rest.
std::optional<Reply> answer_unreachable(const Call& call, const Standing& object);

/// Whether anybody wants to be asked about writes of this kind.
bool has_webhooks(const Call& call, const state::StateView& chain);
/// Asks those who want to know of this write, lets mutating ones change the draft, and validates what they leave. What
/// is passed by reference outlives the task.
stream::Task<Result<void, Status>> ask_webhooks(SharedService service, const Call& call, Draft& draft,
                                                const Present& present, const state::StateView& chain,
                                                stream::Strand strand, stream::Deadline deadline);

/// That whoever waits has gone, or is told to. On its strand; one waits at a time.
class Leave {
public:
    void tell() {
        told_ = true;
        if (wake_) wake_();
    }
    [[nodiscard]] bool is_told() const { return told_; }
    /// Called when it is told, in place of what was given before; empty: nothing is.
    void when_told(std::function<void()> wake) { wake_ = std::move(wake); }

private:
    bool told_ = false;
    std::function<void()> wake_{};
};

/// How long somebody waits for writes: until one moment, however many they are, and no longer than he is there.
struct Patience {
    stream::Deadline deadline = stream::kNever;
    std::shared_ptr<Leave> leave{};  ///< null: he stays
    [[nodiscard]] bool has_left() const { return leave && leave->is_told(); }
    [[nodiscard]] bool is_over() const { return has_left() || stream::passed(deadline); }
};

/// A write, from its plan to its stage. What it brings with it (the objects of a definition) has the time that it has
/// itself.
stream::Task<Reply> write(SharedService service, Call call, stream::Strand strand, std::string wait_header,
                          Patience patience = {});
/// A change that a heal took back, on what stands now: its transaction, or that which had the same in mind already.
/// Nothing when somebody else has changed the same fields, or it would do something else now, or it is refused.
stream::Task<std::optional<std::string>> write_again(SharedService service, Remembered::Request request,
                                                     stream::Strand strand, Patience patience);
/// Deletes what the selectors name, one after the other, all in the time of one write; stops at the first that is
/// refused.
stream::Task<Reply> delete_collection(SharedService service, Call call, stream::Strand strand, std::string wait_header,
                                      Patience patience);
/// A watch, until one of the two has enough.
stream::Task<void> stream_watch(SharedService service, http::Exchange& exchange, Call call);

/// A request to the subresource `proxy`: passed on, and the answer back.
stream::Task<void> serve_proxied(SharedService service, http::Exchange& exchange, Call call);
/// Why a body could not be read.
Status body_refusal(const Service& service, const Error& error);

// ---- documents of which a part is sealed (opening.cpp)

bool is_kept_sealed(const Service& service, const Kind& kind);
Status status_of(const Withheld& withheld, const Kind& kind, std::string_view name);
/// `object` in clear, where `user` may see it; as it is where nothing of its kind is sealed.
stream::Task<Result<Standing, Withheld>> open_one(SharedService service, const Kind* kind, Standing object, User user);
/// What the user may see of a list, in clear; warnings name what nobody can open.
stream::Task<Result<void, Status>> open_listing(SharedService service, const Kind* kind, Listing* listing, User user,
                                                std::vector<std::string>* warnings);
/// What a watcher has been shown of such documents, so that one which is another's from now on ends for him, and one
/// that becomes his begins.
class SealedWatch {
public:
    stream::Task<void> begin(SharedService service, Selection selection, User user);
    stream::Task<Result<std::vector<WatchEvent>, Status>> open(SharedService service, const Kind* kind,
                                                               std::vector<WatchEvent> events, User user);

private:
    bool tell(WatchEvent& event, Result<Standing, Withheld> opened);
    std::set<std::string> shown_;
};

/// What the chain knows of a version: `Rhizome-Txid`, `Rhizome-Height`, `Rhizome-Finality`.
void add_origin(Reply& reply, const Standing& object, state::Height final_height);

}  // namespace rhizome::api
