// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/key/passphrase.h"

#include <algorithm>
#include <filesystem>

#include <fmt/core.h>

#include "cli/text.h"
#include "crypto/key_file.h"
#include "runtime/files.h"

namespace rhizome::cli::key {
namespace {

namespace fs = std::filesystem;

/// The longest passphrase and room for lines behind it that are not looked at.
constexpr std::size_t kPassphraseFileBytesMax = 4 * crypto::kPassphraseBytesMax;

void warn_if_open(Invocation& call, const std::string& file) {
    std::error_code failed;
    const auto status = fs::status(file, failed);
    if (failed || !fs::is_regular_file(status)) return;  // a pipe belongs to whoever made it
    if ((status.permissions() & (fs::perms::group_all | fs::perms::others_all)) == fs::perms::none) return;
    print_warning(call.console,
                  fmt::format("others can read the passphrase file {}\nchmod 600 {}", file, shell_word(file)));
}

Result<SecretBytes> from_file(Invocation& call, const std::string& file) {
    TRY(const auto content, runtime::read_secret_file(file, kPassphraseFileBytesMax));
    warn_if_open(call, file);
    auto line = content.view();
    line = line.first(static_cast<std::size_t>(std::find(line.begin(), line.end(), '\n') - line.begin()));
    if (!line.empty() && line.back() == '\r') line = line.first(line.size() - 1);
    if (line.empty()) return fail(ErrorKind::Usage, fmt::format("the first line of {} is empty", file));
    return SecretBytes{line};
}

/// From the options or the environment; nothing when they say nothing.
Result<std::optional<SecretBytes>> given(Invocation& call) {
    if (const auto file = call.if_text("passphrase-file")) {
        TRY(auto passphrase, from_file(call, *file));
        return std::optional{std::move(passphrase)};
    }
    if (const auto text = call.console.environment.find_filled(kPassphraseVariable))
        return std::optional{SecretBytes{as_bytes(*text)}};
    return std::optional<SecretBytes>{};
}

Result<void> check_length(const SecretBytes& passphrase) {
    if (passphrase.size() <= crypto::kPassphraseBytesMax) return ok();
    return fail(ErrorKind::Usage, fmt::format("the passphrase has {} bytes; {} are allowed, no key was made",
                                              passphrase.size(), crypto::kPassphraseBytesMax));
}

Result<SecretBytes> ask(Invocation& call, const std::string& prompt, const std::string& nobody) {
    if (!call.console.ask_passphrase) return fail(ErrorKind::Usage, nobody);
    auto answer = call.console.ask_passphrase(prompt);
    if (!answer && answer.error().kind == ErrorKind::Usage) return fail(ErrorKind::Usage, nobody);
    return answer;
}

}  // namespace

Option passphrase_file_option() {
    return {.name = "passphrase-file",
            .value_name = "FILE",
            .help = "take the passphrase from the first line of this file instead of asking",
            .completion = Completion::files()};
}

Option no_passphrase_option() {
    return {.name = "no-passphrase", .help = "do not encrypt the key: for development only"};
}

Variable passphrase_variable() {
    return {std::string{kPassphraseVariable},
            "the passphrase, when --passphrase-file is not given; other programs of yours can read it"};
}

Result<SecretBytes> passphrase_of(Invocation& call, std::string_view name) {
    TRY(auto held, given(call));
    if (held) return *std::move(held);
    return ask(call, fmt::format("Passphrase for {}: ", name),
               fmt::format("the key \"{}\" is encrypted, and there is no terminal to ask for its passphrase\n"
                           "give --passphrase-file FILE, or set {}",
                           name, kPassphraseVariable));
}

Result<std::optional<SecretBytes>> given_passphrase(Invocation& call) {
    TRY(auto held, given(call));
    if (held) TRY(check_length(*held));
    return held;
}

Result<std::optional<SecretBytes>> new_passphrase(Invocation& call, std::string_view name) {
    if (call.flag("no-passphrase")) {
        if (call.if_text("passphrase-file"))
            return fail(ErrorKind::Usage, "--no-passphrase and --passphrase-file contradict each other: give one");
        print_warning(
            call.console,
            fmt::format("for development only: the key is not encrypted, whoever can read its file can sign as {}",
                        name));
        return std::optional<SecretBytes>{};
    }
    TRY(auto held, given(call));
    if (!held) {
        const auto nobody = fmt::format(
            "a new key needs a passphrase, and there is no terminal to ask for one\n"
            "give --passphrase-file FILE, or set {}\n"
            "--no-passphrase makes a key that is not encrypted, for development",
            kPassphraseVariable);
        TRY(auto first, ask(call, fmt::format("New passphrase for {}: ", name), nobody));
        // Before asking again: nobody likes to type twice what will be refused.
        if (first.empty())
            return fail(ErrorKind::Usage,
                        "an empty passphrase protects nothing; no key was made\n"
                        "--no-passphrase makes a key that is not encrypted, for development");
        TRY(const auto second, ask(call, "The same again: ", nobody));
        if (first != second) return fail(ErrorKind::Invalid, "the two passphrases differ; no key was made\ntry again");
        held = std::move(first);
    }
    TRY(check_length(*held));
    return held;
}

}  // namespace rhizome::cli::key
