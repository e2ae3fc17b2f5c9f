// SPDX-License-Identifier: Apache-2.0
#include "cli/output_stream.h"

#include <unistd.h>

#include <cerrno>

namespace rhizome::cli {

OutputStream::Buffer::int_type OutputStream::Buffer::overflow(int_type letter) {
    if (!write_out()) return traits_type::eof();
    if (traits_type::eq_int_type(letter, traits_type::eof())) return traits_type::not_eof(letter);
    *pptr() = traits_type::to_char_type(letter);
    pbump(1);
    return letter;
}

bool OutputStream::Buffer::write_out() {
    const char* from = pbase();
    while (problem == 0 && from < pptr()) {
        const auto wrote = ::write(descriptor, from, static_cast<std::size_t>(pptr() - from));
        if (wrote >= 0) {
            from += wrote;
        } else if (errno != EINTR) {
            problem = errno;
        }
    }
    setp(bytes.data(), bytes.data() + bytes.size());
    return problem == 0;
}

}  // namespace rhizome::cli
