// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <ostream>

#include "base/log.h"

namespace rhizome::runtime {

enum class LogForm : unsigned char {
    Text,  ///< `key=value`, for people
    Json,  ///< one object a line, for programs
};

/// Stamps records and writes them as lines, whole ones, from any thread. Borrows the stream.
class StreamSink final : public LogSink {
public:
    StreamSink(std::ostream& out, LogForm form) : out_(out), form_(form) {}
    void write(const LogRecord& record) override;

private:
    std::mutex mutex_;
    std::ostream& out_;
    LogForm form_;
};

}  // namespace rhizome::runtime
