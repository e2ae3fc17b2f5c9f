// SPDX-License-Identifier: Apache-2.0
#include "runtime/os_error.h"

#include <cerrno>
#include <string>
#include <system_error>

#include <fmt/core.h>

namespace rhizome::runtime {

ErrorKind kind_of_errno(int number) {
    switch (number) {
        case ENOENT:
        case ENOTDIR:
        case ENODEV:
        case ENXIO:
        case ESRCH: return ErrorKind::NotFound;
        case EACCES:
        case EPERM:
        case EROFS: return ErrorKind::Denied;
        case EEXIST:
        case ENOTEMPTY:
        case ETXTBSY: return ErrorKind::Conflict;
        case ENOSPC:
        case EDQUOT:
        case EFBIG:
        case EMFILE:
        case ENFILE:
        case ENOMEM: return ErrorKind::Exhausted;
        case EAGAIN:
        case EBUSY:
        case ECONNREFUSED:
        case EHOSTUNREACH:
        case ENETUNREACH:
        case ETIMEDOUT: return ErrorKind::Unavailable;
        case EINVAL:
        case EISDIR:
        case ELOOP:
        case ENAMETOOLONG: return ErrorKind::Invalid;
        case ENOSYS:
        case EOPNOTSUPP: return ErrorKind::Unsupported;
        default: return ErrorKind::Failed;
    }
}

Error os_error(std::string_view doing, int number) {
    // Not strerror(): that one may share its buffer between threads.
    return {kind_of_errno(number), fmt::format("cannot {}: {}", doing, std::generic_category().message(number))};
}

}  // namespace rhizome::runtime
