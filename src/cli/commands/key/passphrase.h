// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "cli/command.h"
#include "cli/invocation.h"

/// Where passphrases come from, the first of: `--passphrase-file FILE`, the variable RHIZOME_PASSPHRASE, the person at
/// the terminal.
namespace rhizome::cli::key {

inline constexpr std::string_view kPassphraseVariable = "RHIZOME_PASSPHRASE";

Option passphrase_file_option();
Option no_passphrase_option();
/// RHIZOME_PASSPHRASE, for the help.
Variable passphrase_variable();

/// The passphrase of a key that exists. Usage when there is nobody to ask. The command declares
/// `passphrase_file_option`.
Result<SecretBytes> passphrase_of(Invocation& call, std::string_view name);

/// The passphrase that the options or the environment give; nothing when they say nothing, and nobody is asked. The
/// command declares `passphrase_file_option`.
Result<std::optional<SecretBytes>> given_passphrase(Invocation& call);

/// The passphrase for a new key, asked for twice; nothing with --no-passphrase, which also warns. The command declares
/// both options.
Result<std::optional<SecretBytes>> new_passphrase(Invocation& call, std::string_view name);

}  // namespace rhizome::cli::key
