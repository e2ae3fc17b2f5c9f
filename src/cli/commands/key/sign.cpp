// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include <fmt/core.h>

#include "base/yaml.h"
#include "cli/commands/key/passphrase.h"
#include "cli/commands/key/shared.h"
#include "cli/commands/key/verbs.h"
#include "cli/print.h"
#include "cli/text.h"
#include "runtime/descriptor.h"
#include "runtime/files.h"
#include "runtime/os_error.h"

/// `key sign` and `key verify`.
namespace rhizome::cli::key {
namespace {

constexpr std::size_t kPieceBytes = 64u << 10;
/// A signature has at most 144 digits; as JSON or YAML with key, address and digest a few hundred bytes.
constexpr std::size_t kSignatureFileBytesMax = 4u << 10;
constexpr std::string_view kBlanks = " \t\r\n";

bool is_stdin(const std::string& file) { return file.empty() || file == "-"; }
std::string message_name(const std::string& file) { return is_stdin(file) ? "the message" : file; }

Result<crypto::Digest> digest_of_stream(Console& console) {
    if (console.in_is_terminal) console.err << "type the message; Ctrl-D on an empty line ends it\n";
    auto hasher = crypto::tagged_hasher(crypto::HashTag::Message);
    std::array<char, kPieceBytes> piece;  // NOLINT: never read before it is written
    do {
        console.in.read(piece.data(), piece.size());
        if (console.in.bad()) return fail(ErrorKind::Failed, "cannot read the message from stdin");
        hasher.update(as_bytes({piece.data(), static_cast<std::size_t>(console.in.gcount())}));
    } while (console.in);
    return hasher.finish();
}

/// In pieces: what is signed may be larger than the memory.
Result<crypto::Digest> digest_of_file(const std::string& file) {
    const runtime::Descriptor from{::open(file.c_str(), O_RDONLY | O_CLOEXEC)};
    const auto doing = "read " + file;
    if (!from) return Fail{runtime::os_error(doing, errno)};
    auto hasher = crypto::tagged_hasher(crypto::HashTag::Message);
    std::array<std::uint8_t, kPieceBytes> piece;  // NOLINT: never read before it is written
    for (;;) {
        const auto got = ::read(from.get(), piece.data(), piece.size());
        if (got == 0) return hasher.finish();
        if (got > 0) {
            hasher.update(ByteView{piece}.first(static_cast<std::size_t>(got)));
        } else if (errno != EINTR) {
            return Fail{runtime::os_error(doing, errno)};
        }
    }
}

Result<crypto::Digest> message_digest(Console& console, const std::string& file) {
    return is_stdin(file) ? digest_of_stream(console) : digest_of_file(file);
}

Result<void> run_sign(Invocation& call) {
    TRY(const auto store, keystore_of(call));
    TRY(const auto info, find_key(call, store, call.argument("NAME")));
    // Before the passphrase, so that a wrong file name costs no typing.
    TRY(const auto digest, message_digest(call.console, call.argument("FILE")));
    TRY(const auto secret, open_key(call, store, info));
    const auto signature = to_hex(crypto::sign(secret, digest).to_der());
    const json::Value data = json::Object{{"key", info.name},
                                          {"publicKey", info.public_key.hex()},
                                          {"address", info.public_key.address().hex()},
                                          {"digest", digest.hex()},
                                          {"signature", signature}};
    print_data(call, data, [&] { return signature + "\n"; });
    return ok();
}

/// Who is said to have signed.
struct Signer {
    crypto::PublicKey key;
    std::string name;  ///< as the person gave it
};

Result<Signer> signer_of(Invocation& call, const std::string& given) {
    if (const auto bytes = from_hex(given); bytes && bytes->size() == crypto::PublicKey::kSize) {
        const auto key = crypto::PublicKey::parse(*bytes);
        if (!key) return Fail{with_context(given, crypto::to_error(key.error()))};
        return Signer{*key, given};
    }
    TRY(const auto store, keystore_of(call));
    auto info = find_key(call, store, given);
    if (info) return Signer{info->public_key, given};
    auto error = std::move(info).error();
    if (from_hex(given)) {
        error.message += fmt::format(
            "\na public key has 66 hexadecimal digits, this has {}{}", given.size(),
            given.size() == 40 ? "; an address is not enough to check a signature, ask for the public key" : "");
    }
    return Fail{std::move(error)};
}

/// Digits, or what `key sign -o json` and `-o yaml` print.
Result<crypto::Signature> parse_signature(std::string_view text, const std::string& where) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    text = text.substr(0, text.find_last_not_of(kBlanks) + 1);
    auto bytes = from_hex(text);
    if (!bytes) {
        const auto document = yaml::parse(text, {.bytes = kSignatureFileBytesMax, .depth = 4});
        if (document) bytes = from_hex(document->text_at({"signature"}));
    }
    if (!bytes || bytes->empty()) {
        return fail(
            ErrorKind::Invalid,
            fmt::format("{} holds no signature: it must be hexadecimal digits, as 'key sign' prints them", where));
    }
    const auto signature = crypto::Signature::from_der(*bytes);
    if (!signature) return Fail{with_context(where, crypto::to_error(signature.error()))};
    return *signature;
}

Result<crypto::Signature> signature_of(Console& console, const std::string& given) {
    // DER begins with 30; eight bytes are the least, and a file name that looks like this can be written ./30…
    if (given.size() >= 16 && given.starts_with("30") && from_hex(given)) return parse_signature(given, "--signature");
    if (given == "-") {
        TRY(const auto piped, read_stdin(console, kSignatureFileBytesMax));
        return parse_signature(as_text(piped.view()), "stdin");
    }
    auto text = runtime::read_file(given, kSignatureFileBytesMax);
    if (!text) {
        auto error = std::move(text).error();
        if (error.kind == ErrorKind::NotFound)
            error.message += "\n--signature takes a file, or the signature itself in hexadecimal";
        return Fail{std::move(error)};
    }
    return parse_signature(*text, given);
}

Result<void> run_verify(Invocation& call) {
    const auto file = call.argument("FILE");
    if (is_stdin(file) && call.text("signature") == "-")
        return fail(ErrorKind::Usage, "the message and the signature cannot both come from stdin: name a file for one");
    TRY(const auto signer, signer_of(call, call.argument("KEY")));
    TRY(const auto signature, signature_of(call.console, call.text("signature")));
    TRY(const auto digest, message_digest(call.console, file));
    if (const auto verdict = crypto::verify(signer.key, digest, signature); !verdict) {
        if (verdict.error() != crypto::SignatureFault::WrongSignature) return Fail{verdict.error()};
        return fail(ErrorKind::Denied, fmt::format("bad signature: {} was changed, or {} did not sign it",
                                                   message_name(file), signer.name));
    }
    call.console.out << fmt::format("good signature: {} signed {}\n", signer.name, printable(message_name(file)));
    return ok();
}

Argument message_argument(std::string help) {
    return {.name = "FILE", .help = std::move(help), .required = false, .completion = Completion::files()};
}

}  // namespace

Command sign_command() {
    return {
        .name = "sign",
        .summary = "Sign a file or a text",
        .details =
            "Prints a signature that shows two things to whoever has your public key: that you signed, and that not a "
            "byte was changed since. 'rhizome key verify' checks it. The file is read in pieces and may have any "
            "size.\n"
            "\n"
            "What is signed is SHA-256 over the message with the tag \"rhizome/message\" in front (as in BIP-340), "
            "so a signature made here can never pass as a transaction's, whatever the file holds. For the same reason "
            "there is no option to sign a hash that somebody hands you: you could not know what it stands for.\n"
            "\n"
            "The signature is ECDSA over secp256k1 in DER, printed in hexadecimal. The same key and message always "
            "give the same one.",
        .examples = {{"sign a file", "rhizome key sign alice note.txt > note.sig"},
                     {"sign what another program prints", "tar c docs | rhizome key sign alice > docs.sig"},
                     {"with everything others need to check it", "rhizome key sign alice note.txt -o yaml"}},
        .arguments = {name_argument("the key to sign with"),
                      message_argument("what to sign; default: stdin, also written -")},
        .options = {passphrase_file_option(), keys_option(), output_option()},
        .variables = {passphrase_variable()},
        .run = run_sign,
    };
}

Command verify_command() {
    return {
        .name = "verify",
        .summary = "Check who signed a file or a text",
        .details =
            "Says whether this key made this signature for exactly this content. KEY is the name of a key of yours, "
            "or somebody's public key in hexadecimal, which they print with 'rhizome key show NAME --public'. Be sure "
            "that it is theirs: the check is worth as much as that.\n"
            "\n"
            "Exits with 0 for a good signature, 4 for a bad one, and 1 when something is not a signature or not a key "
            "at all.",
        .examples = {{"check a file", "rhizome key verify alice note.txt --signature note.sig"},
                     {"with a public key that you were given",
                      "rhizome key verify $(cat alice.pub) note.txt --signature note.sig"},
                     {"what another program prints", "tar c docs | rhizome key verify alice --signature docs.sig"}},
        .arguments = {{.name = "KEY",
                       .help = "the name of a key, or a public key of 66 hexadecimal digits",
                       .completion = Completion::of(key_names)},
                      message_argument("what was signed; default: stdin, also written -")},
        .options = {{.name = "signature",
                     .letter = 's',
                     .value_name = "SIGNATURE",
                     .help = "the file with the signature, - for stdin, or the signature itself in hexadecimal",
                     .required = true,
                     .completion = Completion::files()},
                    keys_option()},
        .run = run_verify,
    };
}

}  // namespace rhizome::cli::key
