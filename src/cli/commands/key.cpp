// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/commands.h"
#include "cli/commands/key/verbs.h"

namespace rhizome::cli {

Command key_command() {
    return {
        .name = "key",
        .summary = "Make, keep and use signing keys",
        .details =
            "A key is who you are in a cluster: what you sign with it is yours, and nobody can sign in your place "
            "without it. It has a secret, which stays in a file encrypted with your passphrase; a public key, which "
            "others check your signatures with; and an address, a short name for the public key that rules refer to.\n"
            "\n"
            "Keys are kept one file each, NAME.key.json, in the folder that --keys or RHIZOME_KEYS names, else in "
            "rhizome/keys in your data folder (~/.local/share). No command here replaces or deletes a key: one that "
            "is lost, or whose passphrase is forgotten, cannot be had back.",
        .examples = {{"make a key", "rhizome key new alice"},
                     {"keep a copy in a safe place", "rhizome key export alice /media/stick/alice.key.json"},
                     {"sign a file", "rhizome key sign alice note.txt > note.sig"},
                     {"check the signature", "rhizome key verify alice note.txt --signature note.sig"}},
        .subcommands = {key::new_command(), key::list_command(), key::show_command(), key::export_command(),
                        key::import_command(), key::sign_command(), key::verify_command()},
        .group = std::string{kGroupYou},
    };
}

}  // namespace rhizome::cli
