// SPDX-License-Identifier: Apache-2.0
#include "cluster/base64.h"

#include <algorithm>

#include "base/base64.h"

namespace rhizome::cluster {

std::string base64(ByteView bytes) { return to_base64(bytes); }
std::optional<Bytes> from_base64(std::string_view text) { return rhizome::from_base64(text); }

std::string base64url(ByteView bytes) {
    std::string out = base64(bytes);
    std::replace(out.begin(), out.end(), '+', '-');
    std::replace(out.begin(), out.end(), '/', '_');
    while (out.ends_with('=')) out.pop_back();
    return out;
}

std::optional<Bytes> from_base64url(std::string_view text) {
    if (text.find_first_of("+/=") != std::string_view::npos) return std::nullopt;
    std::string padded{text};
    std::replace(padded.begin(), padded.end(), '-', '+');
    std::replace(padded.begin(), padded.end(), '_', '/');
    while (padded.size() % 4 != 0) padded.push_back('=');
    if (padded.ends_with("===")) return std::nullopt;
    return from_base64(padded);
}

}  // namespace rhizome::cluster
