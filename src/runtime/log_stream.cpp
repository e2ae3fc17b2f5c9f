// SPDX-License-Identifier: Apache-2.0
#include "runtime/log_stream.h"

#include "runtime/clock.h"

namespace rhizome::runtime {

void StreamSink::write(const LogRecord& record) {
    const Time time = now();
    const std::string line = form_ == LogForm::Json ? to_json_line(record, time) : to_text_line(record, time);
    const std::lock_guard hold{mutex_};
    out_ << line << '\n' << std::flush;
}

}  // namespace rhizome::runtime
