// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace rhizome::cli {

/// One manual page in the roff of man(7), section 1.
struct ManualPage {
    std::string file;  ///< `rhizome-key-new.1`
    std::string text;
};

/// The page of one command. The same tree and version give the same bytes: no dates.
ManualPage manual_page(const CommandPath& path, std::string_view version);

/// The pages of the whole tree, the root's first; hidden commands have none.
std::vector<ManualPage> manual_pages(const Command& root, std::string_view version);

}  // namespace rhizome::cli
