// SPDX-License-Identifier: Apache-2.0
#include "stream/pipe.h"

#include <algorithm>
#include <deque>

namespace rhizome::stream {
namespace {

/// One way.
struct Way {
    Way(const Strand& strand, std::size_t capacity_in) : capacity(capacity_in), moved(strand) {}

    void wake() {
        moved.set();
        moved.reset();  // whoever waited has been woken; the next one waits again
    }

    std::size_t capacity;
    std::deque<std::uint8_t> held;
    bool ended = false;        ///< the writer will send no more
    bool reader_gone = false;  ///< nobody will read
    Event moved;               ///< something of the above changed
};

class PipeEnd final : public Stream {
public:
    PipeEnd(const Strand& strand, std::shared_ptr<Way> in, std::shared_ptr<Way> out)
        : strand_(strand), in_(std::move(in)), out_(std::move(out)) {}
    ~PipeEnd() override { PipeEnd::close(); }

    Task<Result<void>> readable() override {
        const auto in = in_;
        for (;;) {
            if (closed_) co_return fail(ErrorKind::Unavailable, "the pipe was closed on this side");
            if (passed(read_deadline_)) co_return fail(ErrorKind::Unavailable, "nothing came in the time given");
            if (!in->held.empty() || in->ended) co_return ok();
            co_await in->moved.wait_until(read_deadline_);
        }
    }

    Task<Result<std::size_t>> read_some(std::span<std::uint8_t> into) override {
        CO_TRY(co_await readable());
        const std::size_t size = std::min(into.size(), in_->held.size());
        const auto end = in_->held.begin() + static_cast<std::ptrdiff_t>(size);
        std::copy(in_->held.begin(), end, into.begin());
        in_->held.erase(in_->held.begin(), end);
        in_->wake();
        co_return size;
    }

    Task<Result<void>> write(std::span<const ByteView> parts) override {
        const auto out = out_;
        for (ByteView part : parts) {
            while (!part.empty()) {
                if (closed_ || out->ended) co_return fail(ErrorKind::Unavailable, "the pipe was ended on this side");
                if (out->reader_gone) co_return fail(ErrorKind::Unavailable, "nobody reads the pipe any more");
                if (passed(write_deadline_)) co_return fail(ErrorKind::Unavailable, "no room came in the time given");
                const std::size_t room = std::min(part.size(), out->capacity - out->held.size());
                if (room == 0) {
                    co_await out->moved.wait_until(write_deadline_);
                    continue;
                }
                out->held.insert(out->held.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(room));
                part = part.subspan(room);
                out->wake();
            }
        }
        co_return ok();
    }

    Task<Result<void>> shutdown() override {
        out_->ended = true;
        out_->wake();
        co_return ok();
    }

    void close() override {
        if (closed_) return;
        closed_ = true;
        out_->ended = true;
        in_->reader_gone = true;
        out_->wake();
        in_->wake();
    }

    void set_read_deadline(Deadline deadline) override {
        read_deadline_ = deadline;
        in_->wake();
    }
    void set_write_deadline(Deadline deadline) override {
        write_deadline_ = deadline;
        out_->wake();
    }
    [[nodiscard]] const Address& peer() const override { return peer_; }
    [[nodiscard]] const Strand& strand() const override { return strand_; }

private:
    Strand strand_;
    std::shared_ptr<Way> in_;
    std::shared_ptr<Way> out_;
    Deadline read_deadline_ = kNever;
    Deadline write_deadline_ = kNever;
    bool closed_ = false;
    Address peer_{"pipe", 0, true};
};

}  // namespace

std::pair<std::unique_ptr<Stream>, std::unique_ptr<Stream>> make_pipe(const Strand& strand, std::size_t capacity) {
    auto there = std::make_shared<Way>(strand, capacity);
    auto back = std::make_shared<Way>(strand, capacity);
    return {std::make_unique<PipeEnd>(strand, back, there), std::make_unique<PipeEnd>(strand, there, back)};
}

}  // namespace rhizome::stream
