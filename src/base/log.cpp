// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <algorithm>

#include "base/detail/json_text.h"
#include "base/json.h"

namespace rhizome {
namespace {

struct Character {
    std::string_view bytes;
    unsigned code = 0;
    bool valid = false;
};

Character next_character(std::string_view text) {
    const int length = json::detail::utf8_length(text.data(), text.data() + text.size());
    if (length <= 0) return {text.substr(0, 1), static_cast<unsigned char>(text[0]), false};
    const std::string_view bytes = text.substr(0, static_cast<std::size_t>(length));
    unsigned code = static_cast<unsigned char>(bytes[0]);
    if (length > 1) code &= 0x7fu >> length;
    for (const char c : bytes.substr(1)) code = code << 6 | (static_cast<unsigned char>(c) & 0x3fu);
    return {bytes, code, true};
}

/// Can hide or move what a reader sees: controls (C1 too: a terminal takes U+009B for an escape), characters of no
/// width, separators of lines, marks and overrides of direction.
bool is_tricky(unsigned code) {
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0xad || code == 0x61c || code == 0x180e ||
           (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2060 && code <= 0x206f) || code == 0xfeff || (code >= 0xfff9 && code <= 0xfffb) ||
           (code >= 0xe0000 && code <= 0xe007f);
}

/// Appends a word or, when it must, a quoted text. Without `quotes`, blanks stand for themselves (the event).
void safe_to(std::string& out, std::string_view text, bool quotes) {
    std::string shown;
    bool plain = !text.empty();
    const bool cut = text.size() > kLogValueBytesMax;
    for (std::string_view rest = text; !rest.empty();) {
        const Character next = next_character(rest);
        rest.remove_prefix(next.bytes.size());
        if (cut && text.size() - rest.size() > kLogValueBytesMax) break;
        if (!next.valid) {
            shown += fmt::format("\\x{:02x}", next.code);
            plain = false;
        } else if (is_tricky(next.code)) {
            shown += next.code == '\n'     ? "\\n"
                     : next.code == '\t'   ? "\\t"
                     : next.code == '\r'   ? "\\r"
                     : next.code <= 0xffff ? fmt::format("\\u{:04x}", next.code)
                                           : fmt::format("\\U{:08x}", next.code);
            plain = false;
        } else if (quotes && (next.code == '"' || next.code == '\\')) {
            shown += '\\';
            shown += next.bytes;
            plain = false;
        } else {
            plain = plain && next.code != ' ' && next.code != '=' && next.code != 0xa0 && next.code != 0x3000;
            shown += next.bytes;
        }
    }
    if (cut) shown += "…";
    if (!quotes || plain)
        out += shown;
    else
        out.append("\"").append(shown).append("\"");
}

struct ToText {
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(bool boolean) const { return boolean ? "true" : "false"; }
    std::string operator()(microseconds duration) const { return to_text(duration); }
    template <std::integral Integer>
    std::string operator()(Integer number) const {
        return fmt::format("{}", number);
    }
};

struct ToJson {
    json::Value operator()(const std::string& text) const {
        if (text.size() <= kLogValueBytesMax) return text;
        std::size_t end = kLogValueBytesMax;  // a cut character would be printed as U+FFFD: step back to its start
        while (end > kLogValueBytesMax - 4 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
        return text.substr(0, end) + "…";
    }
    json::Value operator()(microseconds duration) const { return to_text(duration); }
    template <std::integral Integer>
    json::Value operator()(Integer number) const {
        return number;
    }
};

}  // namespace

std::string_view name(LogLevel level) {
    switch (level) {
        case LogLevel::Error: return "error";
        case LogLevel::Warn: return "warn";
        case LogLevel::Info: return "info";
        case LogLevel::Debug: return "debug";
    }
    unreachable("a LogLevel has a name");
}

std::optional<LogLevel> log_level_from(std::string_view text) {
    for (const auto level : {LogLevel::Error, LogLevel::Warn, LogLevel::Info, LogLevel::Debug}) {
        if (name(level) == text) return level;
    }
    return std::nullopt;
}

LogLevel LogFilter::level_for(std::string_view area) const {
    const bool debug = std::any_of(debug_areas.begin(), debug_areas.end(), [area](const std::string& wanted) {
        return area == wanted || (area.starts_with(wanted) && area.substr(wanted.size()).starts_with('.'));
    });
    return debug ? LogLevel::Debug : level;
}

Log::Log(LogSink& sink, LogFilter filter)
    : sink_(&sink), level_(filter.level), filter_(std::make_shared<const LogFilter>(std::move(filter))) {}

Log Log::area(std::string_view name) const {
    Log log = *this;
    log.area_ = name;
    if (filter_) log.level_ = filter_->level_for(name);
    return log;
}

void MemorySink::write(const LogRecord& record) {
    Entry entry{record.level, std::string(record.area), std::string(record.event), {}};
    for (const LogField& field : record.fields) entry.fields.emplace_back(field.key(), field.value());
    entries_.push_back(std::move(entry));
}

std::size_t MemorySink::count(std::string_view event) const {
    const auto matches = [event](const Entry& entry) { return entry.event == event; };
    return static_cast<std::size_t>(std::count_if(entries_.begin(), entries_.end(), matches));
}

std::string to_text_line(const LogRecord& record, Time time) {
    std::string out = fmt::format("{} {:<5} ", to_rfc3339(time, Precision::Millis), name(record.level));
    if (!record.area.empty()) {
        safe_to(out, record.area, false);
        out += ": ";
    }
    safe_to(out, record.event, false);
    for (const LogField& field : record.fields) {
        out += ' ';
        safe_to(out, field.key(), true);
        out += '=';
        safe_to(out, std::visit(ToText{}, field.value()), true);
    }
    return out;
}

std::string to_json_line(const LogRecord& record, Time time) {
    json::Object line{{"time", to_rfc3339(time, Precision::Millis)}, {"level", name(record.level)}};
    if (!record.area.empty()) line.set("area", record.area);
    line.set("event", record.event);
    if (!record.fields.empty()) {
        json::Object fields;
        for (const LogField& field : record.fields) fields.set(field.key(), std::visit(ToJson{}, field.value()));
        line.set("fields", std::move(fields));
    }
    return json::print(line);
}

}  // namespace rhizome
