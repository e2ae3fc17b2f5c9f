// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <istream>
#include <streambuf>

namespace rhizome::cli {

/// A stream from a file descriptor that tells a failed read (`bad()`) from the end: half a message must not be taken
/// for a whole one, which is what std::cin does. Wipes what it held when it goes, since secrets may come this way.
/// Borrows the descriptor.
class InputStream final : public std::istream {
public:
    explicit InputStream(int descriptor) : std::istream(nullptr), buffer_(descriptor, *this) { rdbuf(&buffer_); }
    InputStream(const InputStream&) = delete;
    InputStream& operator=(const InputStream&) = delete;

private:
    struct Buffer final : std::streambuf {
        Buffer(int descriptor_in, std::istream& owner_in) : descriptor(descriptor_in), owner(owner_in) {}
        ~Buffer() override;
        int_type underflow() override;

        int descriptor;
        std::istream& owner;
        std::array<char, 16u << 10> bytes{};
    };
    Buffer buffer_;
};

}  // namespace rhizome::cli
