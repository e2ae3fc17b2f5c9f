// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/node/log_lines.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <optional>
#include <vector>

#include "base/json.h"
#include "runtime/descriptor.h"
#include "runtime/log_file.h"

namespace rhizome::cli {
namespace {

/// Longer than any line we write: kLogValueBytesMax for each of a handful of fields.
constexpr std::size_t kLineBytesMax = 64u << 10;

std::string value_text(const json::Value& value) {
    if (const std::string* text = value.if_string()) return *text;
    return json::print(value);
}

std::optional<LogLine> from_json(std::string_view line) {
    const auto read = json::parse(line, {.bytes = kLineBytesMax, .depth = 8});
    if (!read || !read->is_object()) return std::nullopt;
    const auto time = from_rfc3339(read->text_at({"time"}));
    const auto level = log_level_from(read->text_at({"level"}));
    if (!time || !level) return std::nullopt;
    std::vector<std::pair<std::string, std::string>> kept;
    if (const json::Value* fields = read->find("fields"); fields != nullptr && fields->is_object())
        for (const auto& [key, value] : *fields->if_object()) kept.emplace_back(key, value_text(value));
    std::vector<LogField> fields;
    for (const auto& [key, value] : kept) fields.emplace_back(key, value);
    const LogRecord record{*level, read->text_at({"area"}), read->text_at({"event"}), fields};
    return LogLine{time, level, to_text_line(record, *time), std::string{line}};
}

}  // namespace

LogLine read_log_line(std::string_view line) {
    if (auto read = from_json(line)) return *std::move(read);
    LogLine plain{.text = std::string{line}, .json = std::string{line}};
    // `2026-11-15T21:27:31.000Z info  p2p: …`
    const std::size_t blank = line.find(' ');
    plain.time = from_rfc3339(line.substr(0, blank));
    if (!plain.time || blank == std::string_view::npos) return plain;
    const std::string_view rest = line.substr(blank + 1);
    plain.level = log_level_from(rest.substr(0, rest.find(' ')));
    return plain;
}

bool LogLineFilter::takes(const LogLine& line) {
    if (!line.time || !line.level) return took_last_;
    took_last_ = *line.level <= wish_.level && (!wish_.since || *line.time >= *wish_.since);
    return took_last_;
}

struct LogFollower::Inside {
    /// A file whatever it is called. The number of one that is open is not given to another.
    using Which = std::pair<dev_t, ino_t>;

    std::filesystem::path file{};
    runtime::Descriptor open{};
    Which which{};
    std::string rest{};  ///< of a line that has not ended

    static std::optional<Which> which_is(const std::filesystem::path& path) {
        struct stat found {};
        if (::stat(path.c_str(), &found) != 0) return std::nullopt;
        return Which{found.st_dev, found.st_ino};
    }
    /// Goes on with this file; false when another has taken its name meanwhile.
    bool begin(const std::filesystem::path& path, const Which& expected) {
        runtime::Descriptor next{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
        struct stat found {};
        if (!next || ::fstat(next.get(), &found) != 0 || Which{found.st_dev, found.st_ino} != expected) return false;
        open = std::move(next);
        which = expected;
        rest.clear();
        return true;
    }

    /// What was appended since; false when nobody wants more.
    bool drain(const std::function<bool(std::string_view line)>& line) {
        std::array<char, 64u << 10> buffer{};
        for (;;) {
            const ssize_t size = ::read(open.get(), buffer.data(), buffer.size());
            if (size <= 0) return true;
            rest.append(buffer.data(), static_cast<std::size_t>(size));
            std::size_t begin_at = 0;
            for (std::size_t end = rest.find('\n'); end != std::string::npos; end = rest.find('\n', begin_at)) {
                if (!line(std::string_view{rest}.substr(begin_at, end - begin_at))) return false;
                begin_at = end + 1;
            }
            rest.erase(0, begin_at);
            if (rest.size() > kLineBytesMax) rest.clear();
        }
    }
};

LogFollower::LogFollower(std::filesystem::path file) : inside_(std::make_unique<Inside>()) {
    inside_->file = std::move(file);
}
LogFollower::~LogFollower() = default;

bool LogFollower::read_new(const std::function<bool(std::string_view line)>& line) {
    Inside& in = *inside_;
    if (in.open && !in.drain(line)) return false;
    // The one that is open may have been put aside, and others after it: those that are newer, oldest first.
    std::vector<std::pair<std::filesystem::path, Inside::Which>> newer;
    for (const auto& path : runtime::log_files(in.file)) {
        const auto which = Inside::which_is(path);
        if (!which) continue;
        if (in.open && *which == in.which) {
            newer.clear();
        } else {
            newer.emplace_back(path, *which);
        }
    }
    for (const auto& [path, which] : newer) {
        // Files are being renamed this very moment: the next look finds them in order.
        if (!in.begin(path, which)) return true;
        if (!in.drain(line)) return false;
    }
    return true;
}

}  // namespace rhizome::cli
