// SPDX-License-Identifier: Apache-2.0
// On libsodium's HMAC, whose state we can wipe: every state here has taken in a secret.
#include "crypto/hkdf.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include <sodium.h>

#include "base/ensure.h"

namespace rhizome::crypto {
namespace {

void hmac(ByteView key, std::initializer_list<ByteView> parts, std::span<std::uint8_t, 32> out) {
    crypto_auth_hmacsha256_state state;
    crypto_auth_hmacsha256_init(&state, key.data(), key.size());
    for (const ByteView part : parts) crypto_auth_hmacsha256_update(&state, part.data(), part.size());
    crypto_auth_hmacsha256_final(&state, out.data());
    wipe({reinterpret_cast<std::uint8_t*>(&state), sizeof state});
}

}  // namespace

HkdfKey hkdf_extract(ByteView salt, ByteView material) {
    // What the RFC puts in the place of an absent salt. HMAC pads keys with zeros, so it is the same as an empty one,
    // which libsodium does not take from a null pointer.
    static constexpr std::array<std::uint8_t, 32> kNoSalt{};
    HkdfKey key;
    hmac(salt.empty() ? ByteView{kNoSalt} : salt, {material}, key.writable());
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

void hkdf(ByteView salt, ByteView material, ByteView info, std::span<std::uint8_t> out) {
    hkdf_expand(hkdf_extract(salt, material), info, out);
}

}  // namespace rhizome::crypto
