// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <ostream>
#include <streambuf>

namespace rhizome::cli {

/// A stream onto a file descriptor that remembers why writing failed: a reader that went away (`| head -1`) is no error
/// to talk about, a full disk is. Borrows the descriptor. SIGPIPE must be ignored.
class OutputStream final : public std::ostream {
public:
    explicit OutputStream(int descriptor) : std::ostream(nullptr), buffer_(descriptor) { rdbuf(&buffer_); }
    OutputStream(const OutputStream&) = delete;
    OutputStream& operator=(const OutputStream&) = delete;
    ~OutputStream() override { flush(); }

    /// The errno of the first write that failed; 0 for none.
    [[nodiscard]] int problem() const { return buffer_.problem; }

private:
    struct Buffer final : std::streambuf {
        explicit Buffer(int descriptor_in) : descriptor(descriptor_in) {
            setp(bytes.data(), bytes.data() + bytes.size());
        }
        int_type overflow(int_type letter) override;
        int sync() override { return write_out() ? 0 : -1; }
        bool write_out();

        int descriptor;
        int problem = 0;
        std::array<char, 16u << 10> bytes{};
    };
    Buffer buffer_;
};

}  // namespace rhizome::cli
