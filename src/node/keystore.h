// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "base/time.h"
#include "crypto/key_file.h"

namespace rhizome::node {

/// A folder of users' key files, `<name>.key.json`, each with mode 0600; the folder is made with mode 0700.
///
/// Nothing here ever replaces or deletes a key: a key that is gone is a user who is gone. A file is whole or absent,
/// also after a power failure. Several processes may use one folder at once; of two that make the same name one gets
/// `Conflict`.
///
/// Reads and writes block, and encrypting or opening takes a fraction of a second: not for the core strand. Holds
/// nothing but the path; may be used from any thread.
class Keystore {
public:
    static constexpr std::size_t kKeysMax = 10'000;
    static constexpr std::string_view kSuffix = ".key.json";

    /// The folder need not exist; the first key makes it. Which folder is the caller's business.
    explicit Keystore(std::filesystem::path folder) : folder_(std::move(folder)) {}

    /// One file of the folder.
    struct Entry {
        std::string name;                  ///< of the file, without the suffix; this one counts, not the document's own
        Result<crypto::KeyFileInfo> info;  ///< or why it cannot be used
        bool too_open = false;             ///< others than the owner may read or write the file: warn
    };
    struct Loaded {
        crypto::SecretKey secret;
        crypto::KeyFileInfo info;
        bool too_open = false;
    };

    /// Every file that ends in `.key.json`, sorted by name; damaged ones too, with their error: a key that silently
    /// disappears from a list looks like a key that was never there. None when there is no folder.
    [[nodiscard]] Result<std::vector<Entry>> list() const;

    /// The public part of one key. NotFound when there is none of that name.
    [[nodiscard]] Result<Entry> find(std::string_view name) const;

    /// The secret of one key. Denied on a wrong or missing passphrase, Corrupt for a damaged file, NotFound.
    [[nodiscard]] Result<Loaded> load(std::string_view name, std::optional<ByteView> passphrase) const;

    /// Makes a new key from the kernel's entropy and keeps it; without a passphrase unencrypted. Conflict when the name
    /// is taken.
    Result<crypto::KeyFileInfo> create(std::string_view name, std::optional<ByteView> passphrase, Time now,
                                       crypto::KdfCost cost = {}) const;

    /// Keeps a secret that came from elsewhere, like `create`.
    Result<crypto::KeyFileInfo> add(std::string_view name, const crypto::SecretKey& secret,
                                    std::optional<ByteView> passphrase, Time now, crypto::KdfCost cost = {}) const;

    /// Keeps a whole key file that came from elsewhere, under its own name or another. It stays encrypted as it is and
    /// is checked as far as that goes without its passphrase. Conflict when the name is taken.
    Result<crypto::KeyFileInfo> import_file(std::string_view text, std::optional<std::string_view> name = {}) const;

    /// The text of a key file, to be kept or carried elsewhere; still encrypted when it was. Damaged files are refused.
    [[nodiscard]] Result<std::string> export_file(std::string_view name) const;

    /// Whether others may list, read or change the folder. False when there is none.
    [[nodiscard]] bool folder_too_open() const;

    [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
    /// Where a key of that name is or would be. The name follows `crypto::is_key_name`.
    [[nodiscard]] std::filesystem::path path_of(std::string_view name) const;

private:
    struct File;
    [[nodiscard]] Result<File> read(std::string_view name) const;
    Result<crypto::KeyFileInfo> write(std::string_view name, std::string_view text) const;

    std::filesystem::path folder_;
};

}  // namespace rhizome::node
