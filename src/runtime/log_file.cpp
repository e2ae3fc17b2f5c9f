// SPDX-License-Identifier: Apache-2.0
#include "runtime/log_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "runtime/clock.h"
#include "runtime/os_error.h"

namespace rhizome::runtime {
namespace {

std::filesystem::path aside(const std::filesystem::path& file, unsigned number) {
    return file.native() + "." + std::to_string(number);
}

}  // namespace

Result<std::unique_ptr<LogFile>> LogFile::open(LogFileOptions options) {
    std::unique_ptr<LogFile> log{new LogFile{std::move(options)}};
    TRY(log->begin());
    return log;
}

Result<void> LogFile::begin() {
    file_ = Descriptor{::open(options_.file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)};
    struct stat found {};
    if (!file_ || ::fstat(file_.get(), &found) != 0)
        return Fail{os_error("open the log " + options_.file.native(), errno)};
    size_ = static_cast<std::uint64_t>(found.st_size);
    return ok();
}

void LogFile::put_aside() {
    std::error_code ignored;
    if (options_.files_max <= 1) {
        std::filesystem::remove(options_.file, ignored);
    } else {
        for (unsigned number = options_.files_max - 1; number > 1; --number)
            std::filesystem::rename(aside(options_.file, number - 1), aside(options_.file, number), ignored);
        std::filesystem::rename(options_.file, aside(options_.file, 1), ignored);
    }
    if (!begin()) file_.close();
}

void LogFile::append(const std::string& line) {
    if (size_ > 0 && size_ + line.size() > options_.bytes_max) put_aside();
    if (!file_ && !begin()) {
        ++lost_;
        return;
    }
    // One call, so that lines of two processes do not mix. Half a line is written when the disk is full: its end is
    // the next line's beginning then, and readers skip what they cannot read.
    const ssize_t written = ::write(file_.get(), line.data(), line.size());
    if (written != static_cast<ssize_t>(line.size())) {
        ++lost_;
        file_.close();  // the next line tries anew: another disk may have been mounted there
        return;
    }
    size_ += line.size();
}

void LogFile::write(const LogRecord& record) {
    const Time time = now();
    const auto line_of = [&](const LogRecord& one) {
        return (options_.form == LogForm::Json ? to_json_line(one, time) : to_text_line(one, time)) + "\n";
    };
    const std::string line = line_of(record);
    const std::lock_guard hold{mutex_};
    const std::uint64_t before = lost_;
    if (before > 0) {
        const LogField field{"lines", before};
        lost_ = 0;
        append(line_of({LogLevel::Warn, "", "lines of the log were lost", {&field, 1}}));
        if (lost_ > 0) {
            lost_ += before;
            return;
        }
    }
    append(line);
}

bool LogFile::write_line(const std::string& line) {
    const std::lock_guard hold{mutex_};
    const std::uint64_t before = lost_;
    append(line);
    return lost_ == before;
}

std::vector<std::filesystem::path> log_files(const std::filesystem::path& file, unsigned files_max) {
    std::vector<std::filesystem::path> found;
    std::error_code ignored;
    for (unsigned number = files_max; number >= 1; --number)
        if (std::filesystem::exists(aside(file, number), ignored)) found.push_back(aside(file, number));
    if (std::filesystem::exists(file, ignored)) found.push_back(file);
    return found;
}

}  // namespace rhizome::runtime
