// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "base/time.h"
#include "crypto/keys.h"

/// Users' key files: one secp256k1 key, encrypted with a passphrase or, for development, not at all. Text in, text out;
/// `node/keystore.h` keeps them on disk.
///
///     {
///       "kind": "rhizome-key", "version": 1,
///       "name": "alice", "public": 66 digits, "address": 40 digits, "created": "2026-11-15T21:27:31Z",
///       "encryption": {"kdf": "argon2id", "memoryKiB": 65536, "passes": 3, "salt": 32 digits},
///       "cipher": "xchacha20-poly1305", "nonce": 48 digits, "sealed": 96 digits,
///       "checksum": 64 digits
///     }
///
/// or with `"encryption": "none", "secret": 64 digits` in place of encryption, cipher, nonce and sealed. Digits are
/// lower-case hexadecimal. Members and blanks may stand in any order; other members are refused.
///
///  - checksum = tagged hash (HashTag::KeyFile) of the canonical JSON without the checksum. It is no protection against
///    anybody: it tells a file that rotted (`Damaged`) from a passphrase mistyped (`WrongPassphrase`).
///  - sealed = the 32 secret bytes under Argon2id(passphrase, salt), associated data "rhizome/keyfile/1" ‖ public key ‖
///    address, so that a sealed secret cannot be shown under another public key. The name is not bound: a file can be
///    renamed without its passphrase.
///  - passphrases are bytes; nobody normalises Unicode.
///
/// The secret of an unencrypted file passes through ordinary strings that nobody wipes.
namespace rhizome::crypto {

enum class KeyFileFault : unsigned char {
    NotAKeyFile,       ///< not JSON, or another document; also a key file damaged beyond recognition
    TooLarge,          ///< above `kKeyFileBytesMax`
    NewerVersion,      ///< made by a newer program
    Damaged,           ///< the checksum is missing or differs
    BadMember,         ///< the checksum is right, but a member is missing, unknown, malformed or out of bounds
    Mismatch,          ///< public key, address and secret do not belong together
    PassphraseNeeded,  ///< encrypted, and no passphrase given
    WrongPassphrase,
    BadPassphrase,  ///< for a new file: empty or above `kPassphraseBytesMax`
    BadName,        ///< for a new file: see `is_key_name`
    TooCostly,      ///< asks for more memory or passes than the caller's limits allow
    NoMemory,       ///< the host could not give the memory that Argon2id needs
};
std::string_view name(KeyFileFault fault);
Error to_error(KeyFileFault fault);

inline constexpr std::size_t kKeyFileBytesMax = 16u << 10;
inline constexpr std::size_t kPassphraseBytesMax = 1024;
inline constexpr std::size_t kKeyFileSaltBytes = 16;
inline constexpr std::size_t kKeyFileNonceBytes = 24;
inline constexpr std::size_t kKeyFileEntropyBytes = kKeyFileSaltBytes + kKeyFileNonceBytes;

/// How much work one guess of the passphrase is. The default takes about 150 ms on a small machine and is
/// between libsodium's "interactive" (64 MiB, 2 passes) and "moderate" (256 MiB, 3 passes).
struct KdfCost {
    static constexpr std::uint32_t kMemoryKibMin = 8u << 10;
    static constexpr std::uint32_t kMemoryKibMax = 1u << 20;
    static constexpr std::uint32_t kPassesMin = 1;
    static constexpr std::uint32_t kPassesMax = 16;

    std::uint32_t memory_kib = 64u << 10;
    std::uint32_t passes = 3;

    friend bool operator==(const KdfCost&, const KdfCost&) = default;
};
inline constexpr KdfCost kKdfCostMin{KdfCost::kMemoryKibMin, KdfCost::kPassesMin};
inline constexpr KdfCost kKdfCostMax{KdfCost::kMemoryKibMax, KdfCost::kPassesMax};

/// Lower-case letters, digits and inside also `-_.`, 1 to 63 of them: [a-z0-9]([-a-z0-9_.]{0,61}[a-z0-9])?
bool is_key_name(std::string_view name);

/// What a key file tells without its passphrase.
struct KeyFileInfo {
    std::string name;
    PublicKey public_key;
    Time created;                 ///< whole seconds
    std::optional<KdfCost> cost;  ///< nothing when the file is not encrypted
};

/// The text of a new key file. Without a passphrase it is not encrypted. `cost` is within KdfCost's bounds (ours, not a
/// stranger's).
///
/// `entropy`: fresh bytes from the kernel for the salt and the nonce, never used again: two files with the same entropy
/// and passphrase give away the difference of their secrets.
Result<std::string, KeyFileFault> make_key_file(std::string_view name, const SecretKey& secret,
                                                std::optional<ByteView> passphrase,
                                                std::span<const std::uint8_t, kKeyFileEntropyBytes> entropy,
                                                Time created, KdfCost cost = {});

/// The public part, after checking all that can be checked without the passphrase.
Result<KeyFileInfo, KeyFileFault> read_key_file_public(std::string_view text);

/// The secret. A passphrase for a file without encryption is not looked at. `limit` bounds what a stranger's file may
/// make this machine spend.
Result<SecretKey, KeyFileFault> open_key_file(std::string_view text, std::optional<ByteView> passphrase,
                                              KdfCost limit = kKdfCostMax);

/// The same file under another name.
Result<std::string, KeyFileFault> rename_key_file(std::string_view text, std::string_view name);

}  // namespace rhizome::crypto
