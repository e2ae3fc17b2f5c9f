// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "cli/command.h"
#include "cli/invocation.h"
#include "node/keystore.h"

/// What the key commands have in common: the folder, finding a key in it with errors that help, and showing it.
namespace rhizome::cli::key {

/// `--keys FOLDER`. A command that declares it uses `keystore_of`.
Option keys_option();
Result<node::Keystore> keystore_of(const Invocation& call);

/// The argument NAME, of a key that exists.
Argument name_argument(std::string help);
/// Names of the keys in the folder that the environment names; --keys is not known while completing.
std::vector<Candidate> key_names(const Console& console);

/// Warns when others can get at the folder, or at this key's file, and says the command that ends it.
void warn_if_open(Invocation& call, const node::Keystore& store);
void warn_if_open(Invocation& call, const node::Keystore& store, const node::Keystore::Entry& entry);

/// The public part of a key, with its name as the folder has it; warns as above. NotFound with names that are near,
/// or why the file cannot be used and what to do then.
Result<crypto::KeyFileInfo> find_key(Invocation& call, const node::Keystore& store, const std::string& name);

/// The secret of a key that was found, after asking for its passphrase where it has one. The command declares
/// `passphrase_file_option`.
Result<crypto::SecretKey> open_key(Invocation& call, const node::Keystore& store, const crypto::KeyFileInfo& info);

/// Conflict when there is anything of that name, Usage for a bad name: before a person is asked for a passphrase.
Result<void> check_is_free(Invocation& call, const node::Keystore& store, const std::string& name);

/// The same error with hints behind it, when it says that a key file cannot be used.
Error with_hints_about_file(const Invocation& call, Error error, std::string_view name);

/// Everything up to the end of stdin, when that is at most `max_bytes`.
Result<SecretBytes> read_stdin(Console& console, std::size_t max_bytes);

/// Everything public about a key.
json::Value key_data(const node::Keystore& store, const crypto::KeyFileInfo& info);
std::string key_text(const Console& console, const node::Keystore& store, const crypto::KeyFileInfo& info);

}  // namespace rhizome::cli::key
