// SPDX-License-Identifier: Apache-2.0
#include "stream/pipe.h"

#include <gtest/gtest.h>

namespace rhizome::stream {
namespace {

Task<Result<std::string>> read_to_end(Stream* from) {
    std::string out;
    std::array<std::uint8_t, 7> buffer{};
    for (;;) {
        CO_TRY(const std::size_t got, co_await from->read_some(buffer));
        if (got == 0) co_return out;
        out.append(as_text(ByteView{buffer.data(), got}));
    }
}

Task<void> send_and_mark(Stream* to, std::string text, Result<void>* result) {
    const ByteView parts[] = {as_bytes(text), {}, as_bytes("!")};
    *result = co_await to->write(parts);
    auto ignored = co_await to->shutdown();
}

TEST(Pipe, CarriesMoreThanItHoldsInOrderAndEnds) {
    IoContext context{{.threads = 0}};
    const Strand strand = context.make_strand();
    auto [left, right] = make_pipe(strand, 16);
    std::string text;
    for (int i = 0; i < 1000; ++i) text += std::to_string(i);
    Result<void> written;
    spawn(strand, send_and_mark(left.get(), text, &written));
    const auto got = block_on(context, strand, read_to_end(right.get()));
    ASSERT_TRUE(got);
    EXPECT_EQ(*got, text + "!");
    EXPECT_TRUE(written);
}

TEST(Pipe, DeadlinesFailAndCanBeMoved) {
    IoContext context{{.threads = 0}};
    const Strand strand = context.make_strand();
    auto [left, right] = make_pipe(strand, 4);
    right->set_read_deadline(after(milliseconds{2}));
    const auto late = block_on(context, strand, read_to_end(right.get()));
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().kind, ErrorKind::Unavailable);
    right->set_read_deadline(kNever);
    Result<void> written;
    spawn(strand, send_and_mark(left.get(), "abc", &written));
    EXPECT_EQ(block_on(context, strand, read_to_end(right.get())).value(), "abc!");
}

TEST(Pipe, ClosingWakesWhoWaits) {
    IoContext context{{.threads = 0}};
    const Strand strand = context.make_strand();
    auto [left, right] = make_pipe(strand, 4);
    Result<void> written;
    spawn(strand, send_and_mark(left.get(), "more than fits", &written));
    context.run_ready();
    right->close();
    context.run_ready();
    EXPECT_FALSE(written);
}

}  // namespace
}  // namespace rhizome::stream
