// SPDX-License-Identifier: Apache-2.0
#include "cli/data_option.h"

#include <unistd.h>

#include "cli/text.h"

namespace rhizome::cli {

Option data_option() {
    return {.name = "data",
            .value_name = "DIR",
            .help =
                "this machine's data directory; default: /var/lib/rhizome for root, else rhizome in your data "
                "folder (~/.local/share)",
            .variable = std::string{kDataVariable},
            .completion = Completion::folders()};
}

Result<std::filesystem::path> data_folder_of(const Invocation& call) {
    if (const auto given = call.if_text("data")) {
        if (given->empty()) return fail(ErrorKind::Usage, "--data needs the name of a directory");
        return std::filesystem::path{*given};
    }
    return default_data_folder(call.console);
}

Result<std::filesystem::path> default_data_folder(const Console& console) {
    if (const auto variable = console.environment.find_filled(kDataVariable)) return std::filesystem::path{*variable};
    if (::geteuid() == 0) return std::filesystem::path{"/var/lib/rhizome"};
    return console.environment.data_folder();
}

std::string data_words(const Invocation& call) {
    const auto given = call.if_text("data");
    if (!given || call.console.environment.find(kDataVariable) == given) return "";
    return " --data " + shell_word(*given);
}

}  // namespace rhizome::cli
