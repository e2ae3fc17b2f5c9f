// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>

#include "base/log.h"
#include "base/result.h"
#include "runtime/descriptor.h"
#include "runtime/log_stream.h"

namespace rhizome::runtime {

struct LogFileOptions {
    std::filesystem::path file{};
    LogForm form = LogForm::Json;
    std::uint64_t bytes_max = 16u << 20;  ///< then it is put aside as `file.1`, the one before as `file.2` …
    unsigned files_max = 4;               ///< kept, the present one included
};

/// Stamps records and appends them to a file as whole lines, from any thread; never more than `files_max` files of
/// `bytes_max` (and one line) stay. A disk that is full costs lines, never the node: what could not be written is
/// counted, and told once writing works again.
class LogFile final : public LogSink {
public:
    static Result<std::unique_ptr<LogFile>> open(LogFileOptions options);
    void write(const LogRecord& record) override;
    /// A line in a form of the caller's own, with its end. False when it could not be written.
    bool write_line(const std::string& line);

private:
    explicit LogFile(LogFileOptions options) : options_(std::move(options)) {}
    Result<void> begin();
    void put_aside();
    void append(const std::string& line);

    LogFileOptions options_;
    std::mutex mutex_;
    Descriptor file_;
    std::uint64_t size_ = 0;
    std::uint64_t lost_ = 0;  ///< lines
};

/// The files of a log that are there, the oldest first.
std::vector<std::filesystem::path> log_files(const std::filesystem::path& file, unsigned files_max = 100);

}  // namespace rhizome::runtime
