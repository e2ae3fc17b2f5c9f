// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cluster/decimal.h"

namespace rhizome::api::detail {

using cluster::same_number;
using cluster::same_value;

}  // namespace rhizome::api::detail
