// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.h"

namespace rhizome::runtime {

/// The kind that an `errno` value has for programs: ENOENT is NotFound, EACCES is Denied, and so on.
ErrorKind kind_of_errno(int number);

/// `cannot <doing>: <what the system says>`, for instance `cannot read /etc/x: No such file or directory`.
Error os_error(std::string_view doing, int number);

}  // namespace rhizome::runtime
