// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"
#include "script/policy.h"

namespace rhizome::script {

/// What a locking script means, for people.
struct Explanation {
    /// Who can unlock and when: `any 2 of 3 keys; or, after 5 days, any 1 of 3 keys`. Says so when the form is not
    /// known.
    std::string sentence;
    /// The same as a template; empty when the form is not known.
    std::string as_template{};
    /// What the unlocking script has to push, in order, for each way there is: `1, 0, 2 signatures in the order of the
    /// keys`.
    std::vector<std::string> ways{};
    bool known = false;
};

Explanation explain(ByteView locking);

}  // namespace rhizome::script
