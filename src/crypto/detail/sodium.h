// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace rhizome::crypto::detail {

/// Call before any function of libsodium. The first call prepares the library (it picks the code for this processor);
/// later ones cost a load and a branch. Any thread may be first.
void prepare_sodium();

}  // namespace rhizome::crypto::detail
