// SPDX-License-Identifier: Apache-2.0
#include "cli/input_stream.h"

#include <unistd.h>

#include <cerrno>

#include "base/bytes.h"

namespace rhizome::cli {

InputStream::Buffer::~Buffer() { wipe({reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()}); }

InputStream::Buffer::int_type InputStream::Buffer::underflow() {
    for (;;) {
        const auto got = ::read(descriptor, bytes.data(), bytes.size());
        if (got > 0) {
            setg(bytes.data(), bytes.data(), bytes.data() + got);
            return traits_type::to_int_type(bytes.front());
        }
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) owner.setstate(std::ios_base::badbit);
        return traits_type::eof();
    }
}

}  // namespace rhizome::cli
