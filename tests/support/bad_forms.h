// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/result.h"

/// Texts that a reader refuses, each with how its message must begin.
namespace rhizome::test {

/// `text` with the first `what` in it exchanged.
inline std::string with(std::string text, std::string_view what, std::string_view instead) {
    const auto at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what << " in " << text;
    return at == std::string::npos ? text : text.replace(at, what.size(), instead);
}

struct BadForm {
    std::string text;
    std::string_view error;
    ErrorKind kind = ErrorKind::Invalid;
};

template <class Read>
void expect_refused(std::span<const BadForm> forms, const Read& read) {
    for (const auto& [text, error, kind] : forms) {
        const auto result = read(text);
        ASSERT_FALSE(result) << text;
        EXPECT_EQ(result.error().kind, kind) << result.error().message;
        EXPECT_TRUE(result.error().message.starts_with(error)) << result.error().message << "\n" << error;
    }
}

}  // namespace rhizome::test
