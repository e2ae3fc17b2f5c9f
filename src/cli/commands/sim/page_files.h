// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

/// The frame, looks and behaviour of the page, built into the program from the folder `page/`.
namespace rhizome::cli::simulate {

extern const std::string_view kPageHtml;
extern const std::string_view kPageHistory;
extern const std::string_view kPageStyle;
extern const std::string_view kPageScript;

}  // namespace rhizome::cli::simulate
