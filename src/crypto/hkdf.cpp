// SPDX-License-Identifier: Apache-2.0
#include "crypto/hkdf.h"

#include <algorithm>
#include <initializer_list>

#include "base/ensure.h"
#include "crypto/hash.h"

namespace rhizome::crypto {
namespace {

void hmac(ByteView key, std::initializer_list<ByteView> parts, std::span<std::uint8_t, 32> out) {
    Hash256 hash = hmac_sha256(key, parts);
    std::copy(hash.view().begin(), hash.view().end(), out.begin());
    wipe(hash.writable());
}

}  // namespace

HkdfKey hkdf_extract(ByteView salt, ByteView material) {
    HkdfKey key;
    hmac(salt, {material}, key.writable());  // HMAC pads an empty key with zeros, as the RFC wants an absent salt
    return key;
}

void hkdf_expand(const HkdfKey& key, ByteView info, std::span<std::uint8_t> out) {
    ensure(out.size() <= kHkdfBytesMax, "HKDF gives at most 255 blocks");
    SecretArray<32> block;
    std::uint8_t counter = 0;
    for (std::size_t done = 0; done < out.size();) {
        ++counter;
        const ByteView previous = done == 0 ? ByteView{} : ByteView{block.view()};
        SecretArray<32> next;
        hmac(key.view(), {previous, info, {&counter, 1}}, next.writable());
        block = std::move(next);
        const std::size_t size = std::min<std::size_t>(32, out.size() - done);
        std::copy_n(block.view().begin(), size, out.begin() + static_cast<std::ptrdiff_t>(done));
        done += size;
    }
}

SecretArray<32> hkdf_expand(const HkdfKey& key, std::string_view info) {
    SecretArray<32> out;
    hkdf_expand(key, as_bytes(info), out.writable());
    return out;
}

void hkdf(ByteView salt, ByteView material, ByteView info, std::span<std::uint8_t> out) {
    hkdf_expand(hkdf_extract(salt, material), info, out);
}

}  // namespace rhizome::crypto
