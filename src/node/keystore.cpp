// SPDX-License-Identifier: Apache-2.0
#include "node/keystore.h"

#include <array>

#include <fmt/core.h>

#include "runtime/entropy.h"
#include "runtime/files.h"

namespace rhizome::node {
namespace {

namespace fs = std::filesystem;
using crypto::KeyFileFault;
using crypto::KeyFileInfo;

constexpr mode_t kFileMode = 0600;
constexpr mode_t kFolderMode = 0700;

Result<void> check_name(std::string_view name) {
    if (crypto::is_key_name(name)) return ok();
    return Fail{
        with_context(fmt::format("key name \"{}\"", name.substr(0, 80)), crypto::to_error(KeyFileFault::BadName))};
}

Fail<Error> failed_on(const fs::path& path, KeyFileFault fault) {
    return {with_context(path.native(), crypto::to_error(fault))};
}

}  // namespace

struct Keystore::File {
    fs::path path;
    std::string text;
    bool too_open = false;
};

fs::path Keystore::path_of(std::string_view name) const {
    ensure(crypto::is_key_name(name), "a key name was checked before it became a path");
    return folder_ / (std::string{name} + std::string{kSuffix});
}

Result<Keystore::File> Keystore::read(std::string_view name) const {
    TRY(check_name(name));
    File file{path_of(name), {}, false};
    // Reading a pipe or a device that somebody put there could wait for ever.
    std::error_code failed;
    const auto status = fs::status(file.path, failed);
    if (fs::exists(status) && !fs::is_regular_file(status))
        return fail(ErrorKind::Invalid, fmt::format("{} is not a file", file.path.native()));
    auto text = runtime::read_file(file.path, crypto::kKeyFileBytesMax);
    if (!text) {
        if (text.error().kind == ErrorKind::NotFound)
            return fail(ErrorKind::NotFound, fmt::format("no key named \"{}\" in {}", name, folder_.native()));
        if (text.error().kind == ErrorKind::Exhausted) return failed_on(file.path, KeyFileFault::TooLarge);
        return Fail{std::move(text).error()};
    }
    file.text = *std::move(text);
    file.too_open = runtime::is_too_open(file.path);
    return file;
}

Result<KeyFileInfo> Keystore::write(std::string_view name, std::string_view text) const {
    const auto info = crypto::read_key_file_public(text);
    ensure(info.has_value(), "what is written can be read");
    TRY(runtime::make_folder(folder_, kFolderMode));
    const auto written = runtime::write_new_file(path_of(name), text, kFileMode);
    if (written) return *info;
    if (written.error().kind == ErrorKind::Conflict)
        return fail(
            ErrorKind::Conflict,
            fmt::format("there is a key named \"{}\" in {} already; keys are never replaced", name, folder_.native()));
    return Fail{written.error()};
}

Result<std::vector<Keystore::Entry>> Keystore::list() const {
    // Others' files may lie in the folder too: the bound is on all names.
    auto names = runtime::list_folder(folder_, kKeysMax);
    if (!names) {
        if (names.error().kind == ErrorKind::NotFound) return std::vector<Entry>{};
        return Fail{std::move(names).error()};
    }
    std::vector<Entry> entries;
    for (const std::string& file_name : *names) {
        std::string_view stem{file_name};
        if (!stem.ends_with(kSuffix)) continue;
        stem.remove_suffix(kSuffix.size());
        auto entry = find(stem);
        // It may have gone away while we looked; a link to nothing is still there.
        std::error_code failed;
        if (!entry && entry.error().kind == ErrorKind::NotFound &&
            !fs::exists(fs::symlink_status(folder_ / file_name, failed)))
            continue;
        if (entry)
            entries.push_back(*std::move(entry));
        else
            entries.push_back(
                {std::string{stem}, Fail{std::move(entry).error()}, runtime::is_too_open(folder_ / file_name)});
    }
    return entries;
}

Result<Keystore::Entry> Keystore::find(std::string_view name) const {
    TRY(const File file, read(name));
    const auto info = crypto::read_key_file_public(file.text);
    if (!info) return Entry{std::string{name}, failed_on(file.path, info.error()), file.too_open};
    return Entry{std::string{name}, *info, file.too_open};
}

Result<Keystore::Loaded> Keystore::load(std::string_view name, std::optional<ByteView> passphrase) const {
    TRY(const File file, read(name));
    auto info = crypto::read_key_file_public(file.text);
    if (!info) return failed_on(file.path, info.error());
    auto secret = crypto::open_key_file(file.text, passphrase);
    if (!secret) return failed_on(file.path, secret.error());
    return Loaded{*std::move(secret), *std::move(info), file.too_open};
}

Result<KeyFileInfo> Keystore::create(std::string_view name, std::optional<ByteView> passphrase, Time now,
                                     crypto::KdfCost cost) const {
    for (;;) {
        SecretArray<crypto::SecretKey::kSize> bytes;
        runtime::fill_with_entropy(bytes.writable());
        const auto secret = crypto::SecretKey::from_bytes(bytes.view());
        if (secret) return add(name, *secret, passphrase, now, cost);  // else one in 2^128: draw again
    }
}

Result<KeyFileInfo> Keystore::add(std::string_view name, const crypto::SecretKey& secret,
                                  std::optional<ByteView> passphrase, Time now, crypto::KdfCost cost) const {
    TRY(check_name(name));
    std::array<std::uint8_t, crypto::kKeyFileEntropyBytes> entropy;
    runtime::fill_with_entropy(entropy);
    TRY(const std::string text, crypto::make_key_file(name, secret, passphrase, entropy, now, cost));
    return write(name, text);
}

Result<KeyFileInfo> Keystore::import_file(std::string_view text, std::optional<std::string_view> name) const {
    TRY(const KeyFileInfo info, crypto::read_key_file_public(text));
    if (!name || *name == info.name) return write(info.name, text);
    TRY(check_name(*name));
    TRY(const std::string renamed, crypto::rename_key_file(text, *name));
    return write(*name, renamed);
}

Result<std::string> Keystore::export_file(std::string_view name) const {
    TRY(File file, read(name));
    const auto info = crypto::read_key_file_public(file.text);
    if (!info) return failed_on(file.path, info.error());
    return std::move(file.text);
}

bool Keystore::folder_too_open() const { return runtime::is_too_open(folder_); }

}  // namespace rhizome::node
