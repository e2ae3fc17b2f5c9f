// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/key/shared.h"

#include <fmt/core.h>

#include "base/similar.h"
#include "cli/commands/key/passphrase.h"
#include "cli/print.h"
#include "cli/text.h"

namespace rhizome::cli::key {
namespace {

using crypto::KeyFileInfo;
using node::Keystore;

constexpr std::string_view kFolderVariable = "RHIZOME_KEYS";

Result<std::filesystem::path> default_folder(const Console& console) {
    TRY(const auto data, console.environment.data_folder());
    return data / "keys";
}

std::vector<std::string> names_near(const Keystore& store, std::string_view name) {
    std::vector<std::string> names;
    if (const auto entries = store.list()) {
        for (const auto& entry : *entries) names.push_back(entry.name);
    }
    return nearest(name, names);
}

Error not_found(const Invocation& call, const Keystore& store, const std::string& name, Error error) {
    if (const auto meant = did_you_mean(names_near(store, name)); !meant.empty()) error.message += "\n" + meant;
    error.message += fmt::format("\n'{} key list' shows the keys there are", call.program);
    return error;
}

}  // namespace

Option keys_option() {
    return {.name = "keys",
            .value_name = "FOLDER",
            .help = "where the keys are; default: rhizome/keys in your data folder",
            .variable = std::string{kFolderVariable},
            .completion = Completion::folders()};
}

Result<Keystore> keystore_of(const Invocation& call) {
    if (const auto given = call.if_text("keys")) {
        if (given->empty()) return fail(ErrorKind::Usage, "--keys needs the name of a folder");
        return Keystore{*given};
    }
    TRY(auto folder, default_folder(call.console));
    return Keystore{std::move(folder)};
}

Argument name_argument(std::string help) {
    return {.name = "NAME", .help = std::move(help), .completion = Completion::of(key_names)};
}

std::vector<Candidate> key_names(const Console& console) {
    Result<std::filesystem::path> folder = default_folder(console);
    if (auto set = console.environment.find_filled(kFolderVariable)) folder = std::filesystem::path{*std::move(set)};
    if (!folder) return {};
    const auto entries = Keystore{*folder}.list();
    if (!entries) return {};
    std::vector<Candidate> names;
    for (const auto& entry : *entries) {
        if (entry.info) names.push_back({entry.name, entry.info->public_key.address().hex()});
    }
    return names;
}

void warn_if_open(Invocation& call, const Keystore& store) {
    if (!store.folder_too_open()) return;
    const auto& folder = store.folder().native();
    print_warning(call.console,
                  fmt::format("others can look into the key folder {}\nchmod 700 {}", folder, shell_word(folder)));
}

void warn_if_open(Invocation& call, const Keystore& store, const Keystore::Entry& entry) {
    if (!entry.too_open) return;
    const auto path = (store.folder() / (entry.name + std::string{Keystore::kSuffix})).native();
    print_warning(call.console,
                  fmt::format("others can read or change the key file {}\nchmod 600 {}", path, shell_word(path)));
}

Error with_hints_about_file(const Invocation& call, Error error, std::string_view name) {
    if (error.kind != ErrorKind::Corrupt && error.kind != ErrorKind::Invalid) return error;
    error.message += fmt::format(
        "\nnothing was changed; with a copy (backup, export) at hand, move this file away\n"
        "then run '{0} key import COPY --name {1}'",
        call.program, name);
    return error;
}

Result<KeyFileInfo> find_key(Invocation& call, const Keystore& store, const std::string& name) {
    auto entry = store.find(name);
    if (!entry) {
        if (entry.error().kind == ErrorKind::NotFound)
            return Fail{not_found(call, store, name, std::move(entry).error())};
        return Fail{with_hints_about_file(call, std::move(entry).error(), name)};
    }
    warn_if_open(call, store);
    warn_if_open(call, store, *entry);
    if (!entry->info) return Fail{with_hints_about_file(call, entry->info.error(), name)};
    auto info = *entry->info;
    info.name = name;
    return info;
}

Result<void> check_is_free(Invocation& call, const Keystore& store, const std::string& name) {
    const auto entry = store.find(name);
    if (!entry && entry.error().kind == ErrorKind::NotFound) return ok();
    if (!entry && entry.error().kind != ErrorKind::Invalid) return Fail{entry.error()};
    return fail(ErrorKind::Conflict, fmt::format("there is a key named \"{}\" in {} already; keys are never replaced\n"
                                                 "choose another name, or look at that key with '{} key show {}'",
                                                 name, store.folder().native(), call.program, name));
}

Result<crypto::SecretKey> open_key(Invocation& call, const Keystore& store, const crypto::KeyFileInfo& info) {
    std::optional<SecretBytes> passphrase;
    if (info.cost) {
        TRY(passphrase, passphrase_of(call, info.name));
    }
    auto loaded = store.load(info.name, passphrase ? std::optional{passphrase->view()} : std::nullopt);
    if (loaded) return std::move(loaded->secret);
    auto error = std::move(loaded).error();
    if (error.kind == ErrorKind::Denied) error.message += "; the file is unchanged";
    return Fail{with_hints_about_file(call, std::move(error), info.name)};
}

Result<SecretBytes> read_stdin(Console& console, std::size_t max_bytes) {
    SecretBytes buffer{max_bytes + 1};
    console.in.read(reinterpret_cast<char*>(buffer.writable().data()), static_cast<std::streamsize>(buffer.size()));
    if (console.in.bad()) return fail(ErrorKind::Failed, "cannot read stdin");
    const auto got = static_cast<std::size_t>(console.in.gcount());
    if (got > max_bytes)
        return fail(ErrorKind::Exhausted, fmt::format("stdin has more than the {} bytes allowed", max_bytes));
    return SecretBytes{buffer.view().first(got)};
}

json::Value key_data(const Keystore& store, const KeyFileInfo& info) {
    json::Object data{
        {"name", info.name},
        {"address", info.public_key.address().hex()},
        {"publicKey", info.public_key.hex()},
        {"created", to_rfc3339(info.created)},
        {"encrypted", info.cost.has_value()},
    };
    if (info.cost) {
        data.set("kdf", json::Object{
                            {"name", "argon2id"}, {"memoryKiB", info.cost->memory_kib}, {"passes", info.cost->passes}});
    }
    data.set("path", store.path_of(info.name).native());
    return data;
}

std::string key_text(const Console& console, const Keystore& store, const KeyFileInfo& info) {
    std::string text;
    const auto line = [&](std::string_view what, std::string_view value, Tone tone = Tone::Plain) {
        text += console.out_style.paint(Tone::Heading, fmt::format("{:<13}", what));
        text += console.out_style.paint(tone, printable(value)) + "\n";
    };
    line("name", info.name);
    line("address", info.public_key.address().hex());
    line("public key", info.public_key.hex());
    line("created", fmt::format("{} ({} ago)", to_rfc3339(info.created), age_text(console.now() - info.created)));
    if (info.cost) {
        line("encrypted", fmt::format("yes (argon2id, {} MiB, {} pass{})", info.cost->memory_kib >> 10,
                                      info.cost->passes, info.cost->passes == 1 ? "" : "es"));
    } else {
        line("encrypted", "no", Tone::Warning);
    }
    line("file", store.path_of(info.name).native());
    return text;
}

}  // namespace rhizome::cli::key
