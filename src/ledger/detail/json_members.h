// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <concepts>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "base/bytes.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"

namespace rhizome::ledger::detail {

/// `vin[1].sequence: is missing`.
inline Fail<Error> bad_member(std::string_view place, std::string_view what) {
    return fail(ErrorKind::Invalid, fmt::format("{}: {}", place, what));
}

/// The members of one JSON object, each taken once by name; what is missing, of another kind or left over is named with
/// its place. Members keep their bytes. Borrows the text.
class JsonMembers {
public:
    /// `place` says where the object stands; empty for the whole text.
    static Result<JsonMembers> of(std::string_view text, std::string place, json::Limits limits);

    /// The bytes of a member, which is taken then; null when there is none.
    const std::string_view* find(std::string_view key);
    /// A member that may be there and is not looked at.
    void skip(std::string_view key) { (void)find(key); }

    Result<std::string> text(std::string_view key);
    /// Bytes in hexadecimal, at most `max` of them.
    Result<Bytes> hex(std::string_view key, std::size_t max);
    /// RFC 3339, whole milliseconds, from 1970 to 9999.
    Result<Time> time(std::string_view key);
    /// The elements of an array, at most `max` of them.
    Result<std::vector<json::Slice>> elements(std::string_view key, std::size_t max);
    /// The members of an object.
    Result<JsonMembers> object(std::string_view key);

    template <class SomeId>
    Result<SomeId> id(std::string_view key) {
        TRY(const std::string digits, text(key));
        const auto read = SomeId::from_hex(digits);
        if (!read) return bad_member(place(key), fmt::format("is not {} hexadecimal digits", 2 * SomeId::kSize));
        return *read;
    }

    template <std::unsigned_integral Number>
    Result<Number> number(std::string_view key) {
        const std::string_view* digits = find(key);
        if (digits == nullptr) return bad_member(place(key), "is missing");
        Number read{};
        const auto [end, error] = std::from_chars(digits->data(), digits->data() + digits->size(), read);
        if (error != std::errc{} || end != digits->data() + digits->size())
            return bad_member(place(key),
                              fmt::format("is not a whole number from 0 to {}", std::numeric_limits<Number>::max()));
        return read;
    }

    /// Fails when a member was not taken.
    Result<void> finish() const;

    /// `vin[1].txid`: where a member of this object stands.
    [[nodiscard]] std::string place(std::string_view key) const;

private:
    std::string place_;
    json::Limits limits_;
    std::vector<json::Slice> members_;
    std::vector<bool> taken_;
};

}  // namespace rhizome::ledger::detail
