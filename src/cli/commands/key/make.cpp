// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/core.h>

#include "cli/commands/key/passphrase.h"
#include "cli/commands/key/shared.h"
#include "cli/commands/key/verbs.h"
#include "cli/print.h"
#include "cli/text.h"
#include "runtime/files.h"

/// `key new` and `key import`: how keys come into the folder.
namespace rhizome::cli::key {
namespace {

using crypto::KeyFileInfo;
using node::Keystore;

std::optional<ByteView> view_of(const std::optional<SecretBytes>& secret) {
    return secret ? std::optional{secret->view()} : std::nullopt;
}

void show(Invocation& call, const Keystore& store, const KeyFileInfo& info) {
    print_data(call, key_data(store, info), [&] { return key_text(call.console, store, info); });
    call.console.out.flush();  // what is said on stderr comes after it
    warn_if_open(call, store);
}

Result<void> run_new(Invocation& call) {
    TRY(const auto store, keystore_of(call));
    const auto name = call.argument("NAME");
    TRY(check_is_free(call, store, name));
    TRY(const auto passphrase, new_passphrase(call, name));
    TRY(const auto info, store.create(name, view_of(passphrase), call.console.now()));
    show(call, store, info);
    if (call.console.err_is_terminal && passphrase) {
        call.console.err << fmt::format(
            "\nKeep a copy where you keep precious things; a lost key cannot be had back:\n"
            "  {} key export {} {}.key.json\n",
            call.program, name, name);
    }
    return ok();
}

Result<SecretBytes> read_source(Invocation& call, const std::string& file, std::size_t max_bytes) {
    if (file == "-") return read_stdin(call.console, max_bytes);
    return runtime::read_secret_file(file, max_bytes);
}

std::string source_name(const std::string& file) { return file == "-" ? "stdin" : file; }

Result<crypto::SecretKey> read_secret_hex(Invocation& call, const std::string& file) {
    constexpr std::size_t kBytesMax = 256;  // 64 digits, and blanks around them
    const bool typed = file == "-" && call.console.in_is_terminal && call.console.ask_passphrase;
    TRY(const auto text, typed ? call.console.ask_passphrase("Secret key, 64 hexadecimal digits: ")
                               : read_source(call, file, kBytesMax));
    auto digits = as_text(text.view());
    constexpr std::string_view kBlanks = " \t\r\n";
    digits.remove_prefix(std::min(digits.find_first_not_of(kBlanks), digits.size()));
    digits = digits.substr(0, digits.find_last_not_of(kBlanks) + 1);
    SecretArray<crypto::SecretKey::kSize> bytes;
    if (!from_hex_into(digits, bytes.writable())) {
        return fail(ErrorKind::Invalid, fmt::format("{} is not a secret key in hexadecimal: it must have exactly 64 "
                                                    "digits, nothing else",
                                                    source_name(file)));
    }
    auto secret = crypto::SecretKey::from_bytes(bytes.view());
    if (!secret) return Fail{with_context(source_name(file), crypto::to_error(secret.error()))};
    return *std::move(secret);
}

Result<KeyFileInfo> import_secret(Invocation& call, const Keystore& store, const std::string& file) {
    const auto name = call.if_text("name");
    if (!name) return fail(ErrorKind::Usage, "a bare secret has no name: give one with --name NAME");
    TRY(check_is_free(call, store, *name));
    TRY(const auto secret, read_secret_hex(call, file));
    TRY(const auto passphrase, new_passphrase(call, *name));
    return store.add(*name, secret, view_of(passphrase), call.console.now());
}

Result<KeyFileInfo> import_key_file(Invocation& call, const Keystore& store, const std::string& file) {
    if (call.flag("no-passphrase") || call.if_text("passphrase-file")) {
        return fail(ErrorKind::Usage,
                    "a key file stays encrypted as it is: --passphrase-file and --no-passphrase go with --secret-hex\n"
                    "leave them out");
    }
    TRY(const auto text, read_source(call, file, crypto::kKeyFileBytesMax));
    const auto content = as_text(text.view());
    const auto info = crypto::read_key_file_public(content);
    if (!info) {
        auto error = with_context(source_name(file), crypto::to_error(info.error()));
        const bool is_hex =
            content.size() < 80 && content.find_first_not_of("0123456789abcdefABCDEF\r\n \t") == std::string_view::npos;
        if (is_hex && !content.empty()) error.message += "\na bare secret in hexadecimal needs --secret-hex";
        return Fail{std::move(error)};
    }
    const auto name = call.if_text("name").value_or(info->name);
    TRY(check_is_free(call, store, name));
    TRY(auto imported, store.import_file(content, name));
    imported.name = name;
    if (!imported.cost) {
        print_warning(call.console,
                      fmt::format("this key is not encrypted: whoever can read its file can sign as {}", name));
    }
    return imported;
}

Result<void> run_import(Invocation& call) {
    TRY(const auto store, keystore_of(call));
    const auto file = call.argument("FILE");
    TRY(const auto info,
        call.flag("secret-hex") ? import_secret(call, store, file) : import_key_file(call, store, file));
    show(call, store, info);
    return ok();
}

}  // namespace

Command new_command() {
    return {
        .name = "new",
        .summary = "Make a new key",
        .details =
            "Makes a key from the kernel's randomness, encrypts it with a passphrase and keeps it under a name. The "
            "name is for you and this machine; others know the key by its public key or address.\n"
            "\n"
            "The passphrase is asked for twice. It cannot be recovered or reset: several unrelated words are easy to "
            "keep and hard to guess.",
        .examples = {{"make a key", "rhizome key new alice"},
                     {"in a script", "rhizome key new builder --passphrase-file /run/secrets/builder"},
                     {"for trying things out, not encrypted", "rhizome key new test --no-passphrase"}},
        .arguments = {{.name = "NAME",
                       .help = "what to call it: lower-case letters and digits, inside also '-', '_' and '.'"}},
        .options = {passphrase_file_option(), no_passphrase_option(), keys_option(), output_option()},
        .variables = {passphrase_variable()},
        .run = run_new,
    };
}

Command import_command() {
    return {
        .name = "import",
        .summary = "Add a key from a file",
        .details =
            "Takes a file that 'rhizome key export' wrote and keeps a copy of it. It stays encrypted with the "
            "passphrase it has, which is not needed here. A damaged file is refused.\n"
            "\n"
            "With --secret-hex the file holds a bare secret instead: 64 hexadecimal digits, as other programs for "
            "secp256k1 keys print them. It is then encrypted with a new passphrase.",
        .examples = {{"bring a key back from a copy", "rhizome key import /media/stick/alice.key.json"},
                     {"under another name", "rhizome key import alice.key.json --name alice-old"},
                     {"over the network", "ssh laptop rhizome key export alice | rhizome key import -"},
                     {"a bare secret, typed in", "rhizome key import - --secret-hex --name bob"}},
        .arguments = {{.name = "FILE", .help = "the file, or - for stdin", .completion = Completion::files()}},
        .options = {{.name = "name", .value_name = "NAME", .help = "what to call it; default: the name in the file"},
                    {.name = "secret-hex", .help = "the file holds 64 hexadecimal digits, not a key file"},
                    passphrase_file_option(),
                    no_passphrase_option(),
                    keys_option(),
                    output_option()},
        .variables = {passphrase_variable()},
        .run = run_import,
    };
}

}  // namespace rhizome::cli::key
