// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/limits.h"
#include "http/message.h"

namespace rhizome::http::detail {

/// What is wrong with a message, as a status and a sentence.
struct Fault {
    unsigned status = 400;
    std::string message;
};
Error to_error(const Fault& fault);

/// Reads one message of HTTP/1: Beast's parser behind checks of our own.
///
/// Two readers of one message must never see different ends of it (request smuggling), so everything that some reader
/// takes for something else is refused: folded lines, bare CR or LF, zero bytes, both lengths at once, a length twice,
/// encodings other than `chunked`. Only whole heads are parsed.
class Parser {
public:
    enum class Of : unsigned char { Request, Response };
    /// `bodyless`: the response to HEAD, which has a length and no body.
    Parser(Of of, const Limits& limits, bool bodyless = false);
    ~Parser();
    Parser(Parser&&) noexcept;
    Parser& operator=(Parser&&) noexcept;

    /// Takes the head when all of it is in `bytes`: how many bytes it had, or 0 when there must be more.
    Result<std::size_t, Fault> head(std::string_view bytes);
    /// After the head: takes what it can of `bytes`, appending to `out`. 0 when there must be more.
    Result<std::size_t, Fault> body(std::string_view bytes, std::string& out);
    /// The peer has ended its side.
    Result<void, Fault> end();

    [[nodiscard]] bool done() const;  ///< the whole message has been read
    /// How many bytes of body are still to come, when that is known.
    [[nodiscard]] std::optional<std::uint64_t> body_left() const;
    [[nodiscard]] bool keep_alive() const;
    [[nodiscard]] bool ends_with_connection() const;  ///< a response without any length

    Request& request();
    Response& response();

private:
    struct Inside;
    std::unique_ptr<Inside> inside_;
};

}  // namespace rhizome::http::detail
