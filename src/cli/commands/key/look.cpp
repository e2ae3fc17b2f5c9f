// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/core.h>

#include "cli/commands/key/shared.h"
#include "cli/commands/key/verbs.h"
#include "cli/print.h"
#include "cli/text.h"
#include "runtime/files.h"

/// `key list`, `key show` and `key export`: what is in the folder.
namespace rhizome::cli::key {
namespace {

using node::Keystore;

json::Value list_data(const Keystore& store, const std::vector<Keystore::Entry>& entries) {
    json::Array keys;
    for (const auto& entry : entries) {
        if (entry.info) {
            auto info = *entry.info;
            info.name = entry.name;
            keys.push_back(key_data(store, info));
        } else {
            const auto path = store.folder() / (entry.name + std::string{Keystore::kSuffix});
            keys.push_back(
                json::Object{{"name", entry.name}, {"path", path.native()}, {"error", entry.info.error().message}});
        }
    }
    return json::Object{{"folder", store.folder().native()}, {"keys", std::move(keys)}};
}

std::string list_text(const Console& console, const std::vector<Keystore::Entry>& entries) {
    constexpr std::size_t kShortDigits = 8;
    const auto render = [&](bool with_public_key, const Style& style) {
        std::vector<std::string> headers{"NAME", "AGE", "ENCRYPTED", "ADDRESS"};
        if (with_public_key) headers.emplace_back("PUBLIC-KEY");
        Table table{headers};
        for (const auto& entry : entries) {
            std::vector<Cell> row{entry.name};
            if (entry.info) {
                row.emplace_back(age_text(console.now() - entry.info->created));
                row.push_back(entry.info->cost ? Cell{"yes"} : Cell{"no", Tone::Warning});
                row.emplace_back(entry.info->public_key.address().hex());
                if (with_public_key) row.emplace_back(entry.info->public_key.hex().substr(0, kShortDigits) + "…");
            } else {
                row.insert(row.end(), {"-", "-"});
                row.emplace_back(entry.info.error().kind == ErrorKind::Corrupt ? "(damaged)" : "(cannot be used)",
                                 Tone::Bad);
                if (with_public_key) row.emplace_back("-");
            }
            table.add(std::move(row));
        }
        return table.render(style);
    };
    // Addresses cannot be broken into lines: on a narrow terminal the least useful column goes.
    const auto is_too_wide = [&] {
        const auto text = render(true, Style{});
        for (std::string_view rest{text}; !rest.empty();) {
            const auto end = std::min(rest.find('\n'), rest.size() - 1);
            if (display_width(rest.substr(0, end)) > *console.out_width) return true;
            rest.remove_prefix(end + 1);
        }
        return false;
    };
    return render(!console.out_width || !is_too_wide(), console.out_style);
}

Result<void> run_list(Invocation& call) {
    TRY(const auto store, keystore_of(call));
    TRY(const auto entries, store.list());
    if (!entries.empty() || format_of(call) != Format::Table)
        print_data(call, list_data(store, entries), [&] { return list_text(call.console, entries); });
    if (entries.empty()) {
        call.console.err << fmt::format("no keys in {}\nmake one with '{} key new NAME'\n",
                                        printable(store.folder().native()), call.program);
    }
    call.console.out.flush();
    warn_if_open(call, store);
    for (const auto& entry : entries) {
        warn_if_open(call, store, entry);
        if (!entry.info)
            print_warning(call.console, with_hints_about_file(call, entry.info.error(), entry.name).message);
    }
    return ok();
}

Result<void> run_show(Invocation& call) {
    if (call.flag("public") && call.flag("address"))
        return fail(ErrorKind::Usage, "--public and --address each print one value: give one of them");
    TRY(const auto store, keystore_of(call));
    TRY(const auto info, find_key(call, store, call.argument("NAME")));
    if (call.flag("public")) {
        call.console.out << info.public_key.hex() << '\n';
    } else if (call.flag("address")) {
        call.console.out << info.public_key.address().hex() << '\n';
    } else {
        print_data(call, key_data(store, info), [&] { return key_text(call.console, store, info); });
    }
    return ok();
}

Result<void> write_copy(Invocation& call, const std::string& file, std::string_view text, mode_t mode) {
    if (const auto written = runtime::write_new_file(file, text, mode); !written) {
        auto error = written.error();
        if (error.kind == ErrorKind::Conflict) error.message += "\nfiles are never overwritten: name another";
        return Fail{std::move(error)};
    }
    call.console.err << fmt::format("wrote {}\n", printable(file));
    return ok();
}

Result<void> run_export(Invocation& call) {
    TRY(const auto store, keystore_of(call));
    const auto name = call.argument("NAME");
    const auto file = call.argument("FILE");
    const bool to_stdout = file.empty() || file == "-";
    TRY(const auto info, find_key(call, store, name));
    if (call.flag("public")) {
        const auto text = info.public_key.hex() + "\n";
        if (!to_stdout) return write_copy(call, file, text, 0644);
        call.console.out << text;
        return ok();
    }
    if (!info.cost && to_stdout && call.console.out_is_terminal && !call.flag("force")) {
        return fail(ErrorKind::Usage,
                    fmt::format("the key \"{0}\" is not encrypted: its secret would stay on this screen and in its "
                                "history\n"
                                "'{1} key export {0} FILE' writes a file that only you can read\n"
                                "--force prints it here all the same",
                                name, call.program));
    }
    TRY(const auto text, store.export_file(name));
    if (!info.cost) print_warning(call.console, "this copy is not encrypted: whoever can read it can sign with it");
    if (!to_stdout) return write_copy(call, file, text, 0600);
    call.console.out << text;
    return ok();
}

}  // namespace

Command list_command() {
    return {
        .name = "list",
        .summary = "List the keys you have",
        .details =
            "Shows every key file in the folder. Files that cannot be used are shown too, and why: a key that silently "
            "disappears from a list looks like one that never was.",
        .examples = {{"all keys", "rhizome key list"},
                     {"names and public keys, for a script",
                      "rhizome key list -o json | jq -r '.keys[] | .name + \" \" + .publicKey'"}},
        .options = {keys_option(), output_option()},
        .run = run_list,
    };
}

Command show_command() {
    return {
        .name = "show",
        .summary = "Show everything public about a key",
        .details = "Nothing secret is shown and no passphrase is needed.",
        .examples = {{"look at a key", "rhizome key show alice"},
                     {"what others need to check your signatures", "rhizome key show alice --public"}},
        .arguments = {name_argument("the key")},
        .options = {{.name = "public", .help = "print the public key only, 66 hexadecimal digits"},
                    {.name = "address", .help = "print the address only, 40 hexadecimal digits"},
                    keys_option(),
                    output_option()},
        .run = run_show,
    };
}

Command export_command() {
    return {
        .name = "export",
        .summary = "Copy a key out, for a backup or another machine",
        .details =
            "Writes the key file as it is: still encrypted, with the same passphrase, which is not needed here. "
            "'rhizome key import' reads it back. A new file is readable by you only; an existing one is never "
            "overwritten.",
        .examples = {{"a backup", "rhizome key export alice /media/stick/alice.key.json"},
                     {"to another machine", "rhizome key export alice | ssh desk rhizome key import -"},
                     {"what others need to check your signatures", "rhizome key export alice --public alice.pub"}},
        .arguments = {name_argument("the key"),
                      {.name = "FILE",
                       .help = "where to; default: stdout",
                       .required = false,
                       .completion = Completion::files()}},
        .options = {{.name = "public", .help = "write the public key only, 66 hexadecimal digits"},
                    {.name = "force", .help = "print a key that is not encrypted even to a terminal"},
                    keys_option()},
        .run = run_export,
    };
}

}  // namespace rhizome::cli::key
