// SPDX-License-Identifier: Apache-2.0
#include "stream/tcp.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/core.h>

#include "stream/detail/socket_address.h"
#include "stream/detail/socket_stream.h"

namespace rhizome::stream {

namespace asio = boost::asio;
using detail::socket_error;

namespace {

/// Numbers tried for one name.
constexpr std::size_t kNumbersMax = 8;

Task<Result<std::unique_ptr<Stream>>> connect_number(Address address, Deadline deadline) {
    CO_TRY(const auto at, detail::to_socket_address(address));
    const Strand strand = co_await this_strand();
    const int number = ::socket(at.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (number < 0) co_return Fail{socket_error("open a socket", errno)};
    auto made = detail::make_socket_stream(strand, number, address, nullptr);
    made->set_write_deadline(deadline);
    if (::connect(number, at.get(), at.size) != 0) {
        if (errno != EINPROGRESS && errno != EAGAIN)
            co_return Fail{socket_error("connect to " + address.text(), errno)};
        CO_TRY(co_await detail::wait_writable(*made));
        int failed = 0;
        socklen_t size = sizeof failed;
        ::getsockopt(number, SOL_SOCKET, SO_ERROR, &failed, &size);
        if (failed != 0) co_return Fail{socket_error("connect to " + address.text(), failed)};
    }
    made->set_write_deadline(kNever);
    co_return made;
}

}  // namespace

Task<Result<std::vector<Address>>> resolve(Address address, Deadline deadline) {
    std::vector<Address> found;
    if (address.is_local || detail::to_socket_address(address)) {
        found.push_back(std::move(address));
        co_return found;
    }
    const Strand strand = co_await this_strand();
    asio::ip::tcp::resolver resolver{strand.executor()};
    bool late = false;
    Timer timer{strand, [&] {
                    late = true;
                    resolver.cancel();
                }};
    timer.set(deadline);
    const auto [failed, answers] = co_await resolver.async_resolve(address.host, std::to_string(address.port),
                                                                   asio::as_tuple(asio::use_awaitable));
    if (late)
        co_return fail(ErrorKind::Unavailable,
                       fmt::format("the name server did not answer for \"{}\" in time", address.host));
    if (failed)
        co_return fail(ErrorKind::NotFound,
                       fmt::format("the name \"{}\" stands for no address ({}); check the spelling "
                                   "and the name server",
                                   address.host, failed.message()));
    for (const auto& answer : answers) {
        if (found.size() == kNumbersMax) break;
        found.push_back({answer.endpoint().address().to_string(), address.port, false});
    }
    co_return found;
}

Task<Result<std::unique_ptr<Stream>>> connect(Address address, Deadline deadline) {
    CO_TRY(const std::vector<Address> numbers, co_await resolve(address, deadline));
    Error last{ErrorKind::NotFound, fmt::format("the name \"{}\" stands for no address", address.host)};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        Deadline share = deadline;
        if (deadline != kNever) share = Clock::now() + (deadline - Clock::now()) / static_cast<int>(numbers.size() - i);
        auto made = co_await connect_number(numbers[i], share);
        if (made) co_return std::move(made);
        last = std::move(made).error();
    }
    co_return Fail{with_context("connecting to " + address.text(), std::move(last))};
}

Task<Result<void>> read_exactly(Stream& stream, std::span<std::uint8_t> into) {
    while (!into.empty()) {
        CO_TRY(const std::size_t got, co_await stream.read_some(into));
        if (got == 0) co_return fail(ErrorKind::Unavailable, "the peer ended the connection too early");
        into = into.subspan(got);
    }
    co_return ok();
}

}  // namespace rhizome::stream
