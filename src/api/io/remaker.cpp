// SPDX-License-Identifier: Apache-2.0
#include "api/io/remaker.h"

#include <deque>
#include <future>

#include "api/io/service.h"

namespace rhizome::api {
namespace {

/// Of one change, the signature and the block with it. Then it counts as lost.
constexpr milliseconds kAgainTime{20'000};

}  // namespace

struct Remaker::Inside {
    Inside(SharedService service_in, const stream::Strand& strand_in)
        : service(std::move(service_in)), strand(strand_in), woken(strand_in) {}

    struct Wanted {
        Remembered::Request request{};
        Told told{};
    };
    const SharedService service;
    const stream::Strand strand;
    stream::Event woken;
    bool stopping = false;
    const std::shared_ptr<Leave> leave = std::make_shared<Leave>();
    std::promise<void> ended{};
    std::deque<Wanted> wanted{};

    static stream::Task<void> run(std::shared_ptr<Inside> self) {
        while (!self->stopping) {
            if (self->wanted.empty()) {
                self->woken.reset();
                co_await self->woken.wait();
                continue;
            }
            Wanted next = std::move(self->wanted.front());
            self->wanted.pop_front();
            Patience patience{.deadline = stream::after(kAgainTime), .leave = self->leave};
            auto txid = co_await write_again(self->service, std::move(next.request), self->strand, patience);
            next.told(std::move(txid));
        }
        for (const Wanted& left : self->wanted) left.told(std::nullopt);
    }
};

Remaker::Remaker(SharedService service, const stream::Strand& strand)
    : inside_(std::make_shared<Inside>(std::move(service), strand)) {
    stream::spawn(strand, Inside::run(inside_), [in = inside_] { in->ended.set_value(); });
}

Remaker::~Remaker() {
    auto ended = inside_->ended.get_future();
    inside_->strand.post([in = inside_] {
        in->stopping = true;
        in->leave->tell();
        in->woken.set();
    });
    ended.wait();
}

bool Remaker::make_again(const ledger::TxId& lost, Told told) {
    auto request = inside_->service->take_remembered(lost);
    if (!request) return false;
    inside_->strand.post([in = inside_, request = *std::move(request), told = std::move(told)]() mutable {
        if (in->stopping) return told(std::nullopt);
        in->wanted.push_back({std::move(request), std::move(told)});
        in->woken.set();
    });
    return true;
}

}  // namespace rhizome::api
