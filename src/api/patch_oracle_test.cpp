// SPDX-License-Identifier: Apache-2.0
// Other people's patches: npm's fast-json-patch and json-merge-patch, on random documents.
#include <gtest/gtest.h>

#include "api/patch.h"
#include "base/random.h"
#include "support/npm_oracle.h"
#include "support/seed.h"

namespace rhizome::api {
namespace {

/// Small documents over few names, so that random paths often lead somewhere. Whole numbers only: JavaScript has no
/// others that are exact.
json::Value random_document(Random& random, unsigned depth) {
    switch (random.below(depth == 0 ? 3 : 6)) {
        case 0: return static_cast<std::int64_t>(random.below(5));
        case 1: return random.chance(1, 2);
        case 2: return std::string(1, static_cast<char>('x' + random.below(3)));
        case 3: {
            json::Array array;
            for (std::uint64_t left = random.below(4); left > 0; --left)
                array.push_back(random_document(random, depth - 1));
            return array;
        }
        default: {
            json::Object object;
            for (std::uint64_t left = random.below(4); left > 0; --left)
                object.set(std::string(1, static_cast<char>('a' + random.below(4))),
                           random_document(random, depth - 1));
            return object;
        }
    }
}

/// Documents of Kubernetes are objects, and fast-json-patch finds no way between other things.
json::Value random_object(Random& random) {
    for (;;)
        if (json::Value document = random_document(random, 3); document.is_object()) return document;
}

std::string random_pointer(Random& random) {
    static constexpr std::string_view kParts[] = {"a", "b", "c", "d", "0", "1", "2", "-"};
    std::string pointer;
    for (std::uint64_t left = 1 + random.below(3); left > 0; --left)
        pointer += "/" + std::string(kParts[random.below(std::size(kParts))]);
    return pointer;
}

json::Value random_patch(Random& random) {
    static constexpr std::string_view kOperations[] = {"add", "remove", "replace", "move", "copy", "test"};
    json::Array patch;
    for (std::uint64_t left = 1 + random.below(3); left > 0; --left) {
        const std::string_view op = kOperations[random.below(std::size(kOperations))];
        json::Object one{{"op", op}, {"path", random_pointer(random)}};
        if (op == "move" || op == "copy")
            one.set("from", random_pointer(random));
        else if (op != "remove")
            one.set("value", random_document(random, 1));
        patch.emplace_back(std::move(one));
    }
    return patch;
}

/// Where fast-json-patch leaves the RFC: it takes objects for arrays' parents loosely, and moves into own children.
bool is_comparable(const json::Value& patch) {
    for (const json::Value& one : *patch.if_array()) {
        const std::string_view from = one.text_at({"from"});
        if (!from.empty() && one.text_at({"path"}).starts_with(from)) return false;
    }
    return true;
}

TEST(PatchOracle, AgreesWithNpm) {
    test::NpmOracle oracle;
    if (const auto brought = oracle.bring("json_patch.js", {"fast-json-patch@3", "json-merge-patch@1"}); !brought)
        GTEST_SKIP() << brought.error().message;

    constexpr int kRounds = 10'000;
    Random random{test::seed_for(4417)};
    std::vector<json::Value> asked;
    for (int round = 0; round < kRounds; ++round)
        asked.emplace_back(json::Object{
            {"document", random_object(random)}, {"patch", random_patch(random)}, {"merge", random_object(random)}});
    const auto answers = oracle.ask(asked);
    ASSERT_TRUE(answers) << answers.error().message;
    std::size_t applied = 0;
    std::size_t refused = 0;
    for (std::size_t i = 0; i < asked.size(); ++i) {
        const json::Value& question = asked[i];
        const json::Value& answer = (*answers)[i];
        const json::Value& document = *question.find("document");
        const json::Value& merge = *question.find("merge");
        const auto between = apply_json_patch(document, *answer.find("between"));
        ASSERT_TRUE(between) << json::print(question) << between.error().message;
        EXPECT_EQ(*between, merge) << json::print(question);
        EXPECT_EQ(apply_merge_patch(document, merge), *answer.find("merged")) << json::print(question);
        if (!is_comparable(*question.find("patch"))) continue;
        const auto patched = apply_json_patch(document, *question.find("patch"));
        if (patched.has_value() != (answer.find("error") == nullptr)) {
            ADD_FAILURE() << json::print(question) << ' ' << json::print(answer)
                          << (patched ? json::print(*patched) : patched.error().message);
            return;
        }
        if (patched) {
            EXPECT_EQ(*patched, *answer.find("patched")) << json::print(question);
        }
        ++(patched ? applied : refused);
    }
    EXPECT_GT(applied, 300u);
    EXPECT_GT(refused, 300u);
}

}  // namespace
}  // namespace rhizome::api
