// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include "base/result.h"
#include "base/time.h"

/// Logs are an event and fields: `log.info("peer dropped", {{"peer", id}, {"why", reason}})`. Whoever decides is handed
/// a `Log` and neither knows the time nor what becomes of the record; the host's sink stamps and formats it.
///
/// Events and keys are words of ours; only values may come from strangers. Keys, tokens and payloads stay out.
namespace rhizome {

enum class LogLevel : unsigned char {
    Error,  ///< someone must act
    Warn,   ///< someone may have to
    Info,   ///< rare milestones
    Debug,  ///< by area, and the only level a stranger can trigger at will
};
std::string_view name(LogLevel level);  ///< `error`, `warn`, `info`, `debug`
std::optional<LogLevel> log_level_from(std::string_view name);

/// What a field says, on its own.
using LogValue = std::variant<std::string, std::int64_t, std::uint64_t, bool, microseconds>;

/// A key and a view of a value, good until the end of the statement that logs. Making one copies and formats nothing,
/// so a record of a level that is off costs a comparison.
///
/// Values: texts, integers, booleans, durations, `Error`, enums with a `name(…)`, and whatever fmt prints (ids, times).
class LogField {
public:
    template <class T>
    requires(!std::integral<T>) LogField(std::string_view key, const T& value)
        : key_(key), held_(&value), read_(&read<T>) {}
    /// Numbers are small enough to be held.
    template <std::integral T>
    LogField(std::string_view key, T value)
        : key_(key), bits_(static_cast<std::uint64_t>(value)), read_(&read_number<T>) {}
    /// Texts are viewed, not referred to: a literal is an array, a `char*` a pointer.
    LogField(std::string_view key, std::string_view value) : key_(key), text_(value) {}
    LogField(std::string_view key, const char* value) : key_(key), text_(value) {}
    LogField(std::string_view key, const std::string& value) : key_(key), text_(value) {}

    [[nodiscard]] std::string_view key() const { return key_; }
    [[nodiscard]] LogValue value() const { return read_ != nullptr ? read_(*this) : LogValue(std::string(text_)); }

private:
    template <std::integral T>
    static LogValue read_number(const LogField& field) {
        if constexpr (std::same_as<T, bool>)
            return field.bits_ != 0;
        else if constexpr (std::signed_integral<T>)
            return static_cast<std::int64_t>(field.bits_);
        else
            return field.bits_;
    }

    template <class T>
    static LogValue read(const LogField& field) {
        const T& value = *static_cast<const T*>(field.held_);
        if constexpr (std::convertible_to<const T&, std::string_view>) {
            return std::string(std::string_view(value));
        } else if constexpr (requires { std::chrono::duration_cast<microseconds>(value); }) {
            return std::chrono::duration_cast<microseconds>(value);
        } else if constexpr (std::same_as<T, Error>) {
            return value.message;
        } else if constexpr (requires {
                                 { name(value) } -> std::convertible_to<std::string_view>;
                             }) {
            return std::string(std::string_view(name(value)));
        } else {
            static_assert(!std::floating_point<T>, "deciding code has no floating point numbers to log");
            return fmt::format("{}", value);
        }
    }

    std::string_view key_;
    std::string_view text_;
    const void* held_ = nullptr;
    std::uint64_t bits_ = 0;
    LogValue (*read_)(const LogField&) = nullptr;
};

/// One event as it happens; views that are good during `LogSink::write`.
struct LogRecord {
    LogLevel level;
    std::string_view area;  ///< empty for the program as a whole
    std::string_view event;
    std::span<const LogField> fields;
};

/// Where records go. The sink decides about time, format, place and, if several threads write, about locking.
class LogSink {
public:
    virtual ~LogSink() = default;
    virtual void write(const LogRecord& record) = 0;
};

/// What is let through: everything up to `level`, and Debug of the areas named (with those below: `p2p` lets
/// `p2p.relay` through).
struct LogFilter {
    LogLevel level = LogLevel::Info;
    std::vector<std::string> debug_areas;

    [[nodiscard]] LogLevel level_for(std::string_view area) const;
};

/// The handle that code writes to. A small value, copied freely; borrows the sink, which outlives it.
class Log {
public:
    /// Goes nowhere.
    Log() = default;
    explicit Log(LogSink& sink, LogFilter filter = {});

    /// The same log for one part of the program: `log.area("p2p")`.
    [[nodiscard]] Log area(std::string_view name) const;

    /// Whether a record would be written: for the rare field that is dear to compute.
    [[nodiscard]] bool on(LogLevel level) const { return sink_ != nullptr && level <= level_; }

    using Fields = std::initializer_list<LogField>;
    void error(std::string_view event, Fields fields = {}) const { write(LogLevel::Error, event, fields); }
    void warn(std::string_view event, Fields fields = {}) const { write(LogLevel::Warn, event, fields); }
    void info(std::string_view event, Fields fields = {}) const { write(LogLevel::Info, event, fields); }
    void debug(std::string_view event, Fields fields = {}) const { write(LogLevel::Debug, event, fields); }

private:
    void write(LogLevel level, std::string_view event, Fields fields) const {
        if (on(level)) sink_->write({level, area_, event, {fields.begin(), fields.size()}});
    }

    LogSink* sink_ = nullptr;
    LogLevel level_ = LogLevel::Error;
    std::string area_;
    std::shared_ptr<const LogFilter> filter_;
};

/// Keeps records for tests.
class MemorySink final : public LogSink {
public:
    struct Entry {
        LogLevel level;
        std::string area;
        std::string event;
        std::vector<std::pair<std::string, LogValue>> fields;
    };

    void write(const LogRecord& record) override;

    [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
    [[nodiscard]] std::size_t count(std::string_view event) const;
    void clear() { entries_.clear(); }

private:
    std::vector<Entry> entries_;
};

/// Longer values are cut and end in `…`: a stranger's text does not fill a disk line by line.
constexpr std::size_t kLogValueBytesMax = 1024;

/// One line for a terminal or a journal, without a newline: `2026-11-15T21:27:31.000Z info p2p: peer dropped peer=ab12
/// why="too slow"`. Values with blanks, quotes, `=` or nothing in them are quoted; controls, terminal escapes,
/// characters that turn the direction of writing and bytes that are no UTF-8 are shown as escapes. So nobody forges a
/// line or a field.
std::string to_text_line(const LogRecord& record, Time time);

/// One JSON object without a newline: `{"time":…,"level":…,"area":…,"event":…,"fields":{…}}`. Integers and booleans
/// stay what they are, durations are texts as in `base/time.h`.
std::string to_json_line(const LogRecord& record, Time time);

}  // namespace rhizome
