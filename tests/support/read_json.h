// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <gtest/gtest.h>

#include "base/json.h"

namespace rhizome::test {

/// A document that stands in a test. The test fails, and gets null, when it is no JSON.
inline json::Value read(std::string_view text) {
    auto value = json::parse(text);
    if (!value) ADD_FAILURE() << text << ": " << to_error(value.error()).message;
    return value ? *std::move(value) : json::Value{};
}

}  // namespace rhizome::test
