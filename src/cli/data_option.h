// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"
#include "cli/command.h"
#include "cli/invocation.h"

/// Where this machine keeps its chain and its own keys: `--data DIR`, the variable RHIZOME_DATA, else /var/lib/rhizome
/// for root and `rhizome` in the user's data folder for everybody else.
namespace rhizome::cli {

inline constexpr std::string_view kDataVariable = "RHIZOME_DATA";

/// A command that declares it uses `data_folder_of`.
Option data_option();
Result<std::filesystem::path> data_folder_of(const Invocation& call);
/// The same without the option, for completions.
Result<std::filesystem::path> default_data_folder(const Console& console);
/// ` --data DIR` when that is what has to be typed to get this folder again; for hints that show a command.
std::string data_words(const Invocation& call);

}  // namespace rhizome::cli
