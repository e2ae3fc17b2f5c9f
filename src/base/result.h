// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/ensure.h"

namespace rhizome {

/// What kind of failure, for programs: decides an exit code, an HTTP status, whether to try again.
enum class ErrorKind : unsigned char {
    Invalid,      ///< the input is malformed or breaks a rule
    Usage,        ///< the command was called wrongly
    NotFound,     ///< the thing named does not exist
    Denied,       ///< no permission, wrong passphrase, missing authority
    Conflict,     ///< exists already, or changed in the meantime
    Unavailable,  ///< timed out or cannot be reached; trying later may help
    Corrupt,      ///< stored data does not match its checksum
    Exhausted,    ///< a stated bound (memory, disk, count) is reached
    Unsupported,  ///< this build, host or format version cannot do it
    Failed,       ///< the outside world failed in another way (I/O error)
};

std::string_view name(ErrorKind kind);

/// A failure on its way to a person: a kind for programs, a sentence for people (what happened, why, what to try).
struct Error {
    ErrorKind kind = ErrorKind::Failed;
    std::string message;

    Error() = default;
    Error(ErrorKind kind_in, std::string message_in) : kind(kind_in), message(std::move(message_in)) {}

    /// A module's own fault enum becomes an `Error` when its header declares `Error to_error(Fault)`.
    template <class Fault>
    requires(!std::same_as<std::remove_cvref_t<Fault>, Error> &&
             requires(const Fault& fault) {
                 { to_error(fault) } -> std::same_as<Error>;
             }) Error(const Fault& fault)
        : Error(to_error(fault)) {}

    friend bool operator==(const Error&, const Error&) = default;
};

/// The same error, with what was being done in front: `error in config.yaml: unknown key "foo"`.
Error with_context(std::string_view context, Error error);

/// Wraps a failure so that `return Fail{…}` cannot be mistaken for a value.
template <class E>
struct [[nodiscard]] Fail {
    E error;
};
template <class E>
Fail(E) -> Fail<E>;

/// Builds a failing `Error` in one go: `return fail(ErrorKind::NotFound, "no key named \"alice\"")`.
inline Fail<Error> fail(ErrorKind kind, std::string message) { return {Error{kind, std::move(message)}}; }

struct Nothing {
    friend bool operator==(Nothing, Nothing) = default;
};

/// A value, or the reason there is none: the only error channel in this code. Strangers can cause failures at will and
/// a refusal is part of an agreed result, so it stands in the signature instead of being thrown.
///
/// `Result<void, E>` carries no value; return `{}` or `ok()` for success.
template <class T, class E = Error>
class [[nodiscard]] Result {
    using Stored = std::conditional_t<std::is_void_v<T>, Nothing, T>;

public:
    using Value = T;
    using Failure = E;

    Result() requires std::is_void_v<T> : held_(std::in_place_index<0>) {}

    template <class U = Stored>
    requires(!std::is_void_v<T> && std::convertible_to<U, Stored> && !std::same_as<std::remove_cvref_t<U>, Result>)
        Result(U&& value)
        : held_(std::in_place_index<0>, std::forward<U>(value)) {}

    template <class F>
    requires std::convertible_to<F, E> Result(Fail<F> failed)
        : held_(std::in_place_index<1>, static_cast<E>(std::move(failed.error))) {}

    [[nodiscard]] bool has_value() const noexcept { return held_.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }

    /// The value; the caller has checked that there is one.
    Stored& value() & { return *checked(std::get_if<0>(&held_)); }
    const Stored& value() const& { return *checked(std::get_if<0>(&held_)); }
    Stored&& value() && { return std::move(*checked(std::get_if<0>(&held_))); }

    Stored& operator*() & { return value(); }
    const Stored& operator*() const& { return value(); }
    Stored&& operator*() && { return std::move(*this).value(); }
    Stored* operator->() { return &value(); }
    const Stored* operator->() const { return &value(); }

    /// The reason; the caller has checked that there is no value.
    E& error() & { return *checked(std::get_if<1>(&held_)); }
    const E& error() const& { return *checked(std::get_if<1>(&held_)); }
    E&& error() && { return std::move(*checked(std::get_if<1>(&held_))); }

    template <class U>
    Stored value_or(U&& fallback) const& {
        return has_value() ? value() : static_cast<Stored>(std::forward<U>(fallback));
    }

    friend bool operator==(const Result&, const Result&) = default;

private:
    template <class P>
    static P* checked(P* held) {
        ensure(held != nullptr, "a Result was read on the side it does not hold");
        return held;
    }

    std::variant<Stored, E> held_;
};

/// Success of a `Result<void>`.
inline Result<void> ok() { return {}; }

}  // namespace rhizome

// TRY(auto x, expression)  – x is the value, or the enclosing function returns the failure
// TRY(x, expression)       – the same, into an existing variable
// TRY(expression)          – for the failure only
// An expression may contain commas when there is a variable in front of it.
#define RHIZOME_TRY_JOIN_(a, b) a##b
#define RHIZOME_TRY_JOIN(a, b) RHIZOME_TRY_JOIN_(a, b)
#define RHIZOME_TRY_VALUE(leave, tmp, declaration, ...)                  \
    auto&& tmp = (__VA_ARGS__);                                          \
    if (!tmp) [[unlikely]]                                               \
        leave ::rhizome::Fail{std::forward<decltype(tmp)>(tmp).error()}; \
    declaration = *std::forward<decltype(tmp)>(tmp)
#define RHIZOME_TRY_ONLY(leave, expression)                                                      \
    do {                                                                                         \
        auto&& rhizome_tried = (expression);                                                     \
        if (!rhizome_tried) [[unlikely]]                                                         \
            leave ::rhizome::Fail{std::forward<decltype(rhizome_tried)>(rhizome_tried).error()}; \
    } while (false)
#define RHIZOME_TRY_DISPATCH(leave, ...) \
    RHIZOME_TRY_JOIN(RHIZOME_TRY_WITH_, RHIZOME_TRY_COUNT(__VA_ARGS__))(leave, __VA_ARGS__)
#define RHIZOME_TRY_COUNT(...) RHIZOME_TRY_COUNT_(__VA_ARGS__, N, N, N, N, N, N, N, 1, 0)
#define RHIZOME_TRY_COUNT_(a1, a2, a3, a4, a5, a6, a7, a8, count, ...) count
#define RHIZOME_TRY_WITH_1(leave, expression) RHIZOME_TRY_ONLY(leave, expression)
#define RHIZOME_TRY_WITH_N(leave, declaration, ...) \
    RHIZOME_TRY_VALUE(leave, RHIZOME_TRY_JOIN(rhizome_tried_, __COUNTER__), declaration, __VA_ARGS__)

#define TRY(...) RHIZOME_TRY_DISPATCH(return, __VA_ARGS__)
#define CO_TRY(...) RHIZOME_TRY_DISPATCH(co_return, __VA_ARGS__)
