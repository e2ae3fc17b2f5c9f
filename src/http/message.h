// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Requests and responses as values, the same for every version of HTTP.
namespace rhizome::http {

/// Header fields in the order they came or were added. Names are found in any case, as HTTP has it.
class Headers {
public:
    using Field = std::pair<std::string, std::string>;

    Headers() = default;
    Headers(std::initializer_list<Field> fields) : fields_(fields) {}

    /// The first field of that name.
    [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const;
    [[nodiscard]] bool contains(std::string_view name) const { return find(name).has_value(); }
    /// Every field of that name, in order.
    [[nodiscard]] std::vector<std::string_view> all(std::string_view name) const;
    /// Whether one of the comma-separated words of any field of that name is `word`, in any case.
    [[nodiscard]] bool has_word(std::string_view name, std::string_view word) const;

    void add(std::string_view name, std::string_view value);
    /// One field of that name, in the place of the first.
    void set(std::string_view name, std::string_view value);
    void remove(std::string_view name);

    [[nodiscard]] auto begin() const { return fields_.begin(); }
    [[nodiscard]] auto end() const { return fields_.end(); }
    [[nodiscard]] std::size_t size() const { return fields_.size(); }
    [[nodiscard]] bool empty() const { return fields_.empty(); }
    friend bool operator==(const Headers&, const Headers&) = default;

private:
    std::vector<Field> fields_;
};

struct Request {
    std::string method = "GET";
    std::string target = "/";  ///< as sent: path and query, percent signs and all
    Headers headers{};
    std::string body{};     ///< what a client sends; a server reads it from the `Exchange`
    int minor_version = 1;  ///< HTTP/1.x

    [[nodiscard]] std::string_view path() const;   ///< before `?`; never empty
    [[nodiscard]] std::string_view query() const;  ///< behind `?`
};

struct Response {
    unsigned status = 200;
    Headers headers{};
    std::string body{};
};

/// `Not Found` for 404; `Unknown` for numbers nobody has named.
std::string_view reason(unsigned status);

/// Text with its percent escapes undone; nothing when one is broken or gives a zero byte.
std::optional<std::string> percent_decode(std::string_view text);
/// Everything but letters, digits and `-._~` escaped.
std::string percent_encode(std::string_view text);
/// Names and values of a query in order; `+` is a blank. Nothing when an escape is broken or there are more than
/// `kQueryPairsMax`.
constexpr std::size_t kQueryPairsMax = 256;
std::optional<std::vector<std::pair<std::string, std::string>>> parse_query(std::string_view query);

/// A refusal that says what happened: JSON when the asker prefers it, else plain text.
/// `{"status":404,"reason":"Not Found","message":…}`
Response error_response(unsigned status, std::string_view message, const Headers* asked = nullptr);

/// Case does not count among ASCII letters.
bool equals_ignoring_case(std::string_view left, std::string_view right);
/// A name that a header may have (RFC 9110 token), and a value: no line breaks, no zero bytes.
bool is_token(std::string_view text);
bool is_header_value(std::string_view text);
/// Whether a field like `Accept-Encoding: gzip;q=0.5, *` lets `word` in.
bool accepts(const Headers& headers, std::string_view name, std::string_view word);

}  // namespace rhizome::http
