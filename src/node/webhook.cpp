// SPDX-License-Identifier: Apache-2.0
#include "node/webhook.h"

#include <algorithm>
#include <deque>
#include <mutex>

#include <fmt/core.h>

#include "http/client.h"
#include "stream/timers.h"

namespace rhizome::node {
namespace {

using stream::Task;

/// Whether asking again could end otherwise.
bool may_change(unsigned status) { return status >= 500 || status == 408 || status == 429 || status < 400; }

}  // namespace

struct Webhook::Inside {
    Inside(const stream::Strand& strand_in, WebhookOptions options_in)
        : options(std::move(options_in)), strand(strand_in), came(strand_in), stopping(strand_in) {}

    const WebhookOptions options;
    const stream::Strand strand;
    http::Origin origin{};
    std::string path = "/";
    http::Client client{};
    stream::Event came;
    stream::Event stopping;  ///< ends waits between attempts
    std::string last_trouble{};

    mutable std::mutex mutex{};
    std::deque<std::string> waiting{};
    Counts counts{};

    std::optional<std::string> next() {
        const std::lock_guard hold{mutex};
        if (waiting.empty()) {
            came.reset();
            return std::nullopt;
        }
        return waiting.front();
    }
    void done(std::uint64_t Counts::*with, const std::string& body) {
        const std::lock_guard hold{mutex};
        ++(counts.*with);
        // A crowd may have pushed it out meanwhile.
        if (!waiting.empty() && waiting.front() == body) waiting.pop_front();
    }
    void failed() {
        const std::lock_guard hold{mutex};
        ++counts.failed;
    }

    /// The status of the answer; an error when there was none.
    Task<Result<unsigned>> attempt(std::string body) {
        http::Request request{.method = "POST", .target = path, .body = std::move(body)};
        request.headers.set("Content-Type", "application/json");
        request.headers.set("User-Agent", "rhizome");
        CO_TRY(const auto answer, co_await client.send(origin, std::move(request), stream::after(options.timeout)));
        // Read, within bounds, so that the connection serves the next one; what it says does not matter.
        CO_TRY(const auto ignored, co_await answer->read_body(options.answer_bytes_max));
        (void)ignored;
        co_return answer->status();
    }

    /// Said once for each new trouble, not at every attempt.
    void complain(const std::string& why) {
        if (why == last_trouble) return;
        last_trouble = why;
        options.log.warn("the webhook does not take what is posted; it is tried again",
                         {{"url", options.url}, {"why", why}});
    }

    static Task<void> run(std::shared_ptr<Inside> self) {
        milliseconds pause = self->options.again_first;
        while (!self->stopping.is_set()) {
            const auto body = self->next();
            if (!body) {
                co_await self->came.wait();
                continue;
            }
            const auto status = co_await self->attempt(*body);
            if (status && *status >= 200 && *status < 300) {
                self->done(&Counts::delivered, *body);
                self->last_trouble.clear();
                pause = self->options.again_first;
                continue;
            }
            self->failed();
            const std::string why =
                status ? fmt::format("it answered with status {}", *status) : status.error().message;
            if (status && !may_change(*status)) {
                self->options.log.warn("the webhook refuses what was posted; it is lost",
                                       {{"url", self->options.url}, {"why", why}});
                self->done(&Counts::refused, *body);
                continue;
            }
            self->complain(why);
            const auto until = stream::after(pause);
            (void)co_await self->stopping.wait_until(until);
            pause = std::min(2 * pause, self->options.again_most);
        }
    }
};

Webhook::Webhook(std::shared_ptr<Inside> inside) : inside_(std::move(inside)) {}

Result<std::unique_ptr<Webhook>> Webhook::start(stream::IoContext& io, WebhookOptions options) {
    auto inside = std::make_shared<Inside>(io.make_strand(), std::move(options));
    auto origin = http::Origin::parse(inside->options.url, &inside->path);
    if (!origin)
        return fail(ErrorKind::Invalid,
                    fmt::format("the webhook {} is no address: {}", inside->options.url, origin.error().message));
    inside->origin = *std::move(origin);
    if (inside->path.empty()) inside->path.push_back('/');
    if (inside->origin.wants_tls) {
        stream::TlsClientOptions tls;
        tls.version_min = stream::TlsVersion::Tls12;  // others' servers, not ours
        tls.trust.system_authorities = true;
        TRY(inside->origin.tls, stream::TlsContext::client(std::move(tls)));
    }
    stream::spawn(inside->strand, Inside::run(inside));
    return std::unique_ptr<Webhook>{new Webhook{std::move(inside)}};
}

Webhook::~Webhook() {
    inside_->strand.post([in = inside_] {
        in->stopping.set();
        in->came.set();
    });
}

void Webhook::post(const json::Object& body) {
    {
        const std::lock_guard hold{inside_->mutex};
        if (inside_->waiting.size() >= inside_->options.waiting_max) {
            inside_->waiting.pop_front();
            ++inside_->counts.given_up;
        }
        inside_->waiting.push_back(json::print(body));
    }
    inside_->strand.post([in = inside_] { in->came.set(); });
}

Webhook::Counts Webhook::counts() const {
    const std::lock_guard hold{inside_->mutex};
    Counts counts = inside_->counts;
    counts.waiting = inside_->waiting.size();
    return counts;
}

}  // namespace rhizome::node
