// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "crypto/x25519.h"

/// Sealing secrets so that only the holders of some keys can read them: what the chain carries instead of Secret data.
///
/// An envelope (integers little-endian, one encoding of each):
///
///     "RHZE"  version 1 (1 byte)
///     ephemeral X25519 key (32)       one for all recipients
///     commitment (32)                 to the content key
///     count (varint, 1 … 4096)
///     count × [hint (8)  content key, sealed to one recipient (48)]     sorted by bytes, all different
///     length (4)  content, sealed with the content key (plaintext + 16)
///
///     content key, ephemeral secret = from the entropy, see `seal`
///     wrap key ‖ wrap nonce ‖ hint  = HKDF(salt: ephemeral ‖ recipient, X25519 shared secret, "rhizome seal 1 wrap")
///     key ‖ nonce ‖ commitment      = HKDF(salt: none, content key, "rhizome seal 1 content")
///     associated data of the content = all bytes before its length ‖ the caller's associated data
///
/// Sealing is XChaCha20-Poly1305; a wrapped key has the commitment as its associated data. What it promises: without
/// one of the recipients' secrets the content stays secret, and so does who the recipients are (not how many, nor the
/// size); any changed bit makes opening fail; all who can open an envelope read the same content, even when the sender
/// cheats (that is what the commitment is for: Poly1305 alone lets a sender make one ciphertext that opens differently
/// under two keys). What it does not: it says nothing about who sealed (the transaction's signature does), and whoever
/// later learns a recipient's secret can read old envelopes.
namespace rhizome::crypto {

enum class SealFault : unsigned char {
    BadEncoding,        ///< no envelope, or not in its one form
    BadVersion,         ///< an envelope of a version that we do not know
    NotForMe,           ///< none of the recipients is this key
    WrongKeyOrDamaged,  ///< for this key, but changed since, or the associated data differ
    TooLarge,           ///< content, associated data or number of recipients above the bound
    BadRecipient,       ///< no recipients, or a key that is no honest X25519 key
};
std::string_view name(SealFault fault);
Error to_error(SealFault fault);

/// A document's bound (`json::Limits`), which is also a block's default size.
inline constexpr std::size_t kSealPlaintextBytesMax = 4u << 20;
inline constexpr std::size_t kSealAssociatedBytesMax = 64u << 10;
/// Every member of a cluster of 300 nodes, with an order of magnitude to spare; 224 KiB of wrapped keys.
inline constexpr std::size_t kSealRecipientsMax = 4096;
inline constexpr std::size_t kSealEntropyBytes = 32;
/// magic, version, ephemeral, commitment, count, wrapped keys, length, content.
inline constexpr std::size_t kSealEnvelopeBytesMax =
    4 + 1 + 32 + 32 + 2 + kSealRecipientsMax * 56 + 4 + kSealPlaintextBytesMax + 16;

/// The envelope with `plaintext` for `recipients`. Their order and repetitions do not count. `associated` is not in the
/// envelope; whoever opens it must know the same bytes (say, the path of the document, so that a sealed password cannot
/// be moved to another Secret). Same arguments, same envelope.
///
/// `entropy`: fresh bytes from the kernel, used for this call and never again, kept by nobody. Treat reuse as fatal:
/// who learns the entropy opens the envelope. The keys come from the entropy and all other arguments together, so that
/// a machine that wakes up from a copied image and repeats its entropy does not also repeat a key stream.
Result<Bytes, SealFault> seal(ByteView plaintext, std::span<const X25519Public> recipients, ByteView associated,
                              std::span<const std::uint8_t, kSealEntropyBytes> entropy);

/// The content, for one of the recipients.
Result<SecretBytes, SealFault> open(ByteView envelope, const X25519Secret& mine, ByteView associated);

}  // namespace rhizome::crypto
