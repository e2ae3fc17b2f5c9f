// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

namespace rhizome {

std::string_view name(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::Invalid: return "Invalid";
        case ErrorKind::Usage: return "Usage";
        case ErrorKind::NotFound: return "NotFound";
        case ErrorKind::Denied: return "Denied";
        case ErrorKind::Conflict: return "Conflict";
        case ErrorKind::Unavailable: return "Unavailable";
        case ErrorKind::Corrupt: return "Corrupt";
        case ErrorKind::Exhausted: return "Exhausted";
        case ErrorKind::Unsupported: return "Unsupported";
        case ErrorKind::Failed: return "Failed";
    }
    unreachable("an ErrorKind has a name");
}

Error with_context(std::string_view context, Error error) {
    error.message.insert(0, ": ").insert(0, context);
    return error;
}

}  // namespace rhizome
