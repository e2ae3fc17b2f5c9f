// SPDX-License-Identifier: Apache-2.0
#include "api/again.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace rhizome::api {
namespace {

json::Value again_value(std::string_view text) {
    auto value = json::parse(text);
    EXPECT_TRUE(value) << text;
    return value ? *std::move(value) : json::Value{};
}

TEST(MakingAgain, AsksWhetherSomebodyElseChangedTheSameField) {
    struct Row {
        const char* name;
        const char* before;
        const char* after;
        const char* now;
        const char* contested;  ///< empty: it can be made again
    };
    const Row rows[] = {
        {"another field", R"({"data":{"a":"1"}})", R"({"data":{"a":"2"}})", R"({"data":{"a":"1","b":"x"}})", ""},
        {"the same field", R"({"data":{"a":"1"}})", R"({"data":{"a":"2"}})", R"({"data":{"a":"3"}})", "data.a"},
        {"the same value", R"({"data":{"a":"1"}})", R"({"data":{"a":"2"}})", R"({"data":{"a":"2"}})", ""},
        {"gone meanwhile", R"({"data":{"a":"1"}})", R"({"data":{"a":"2"}})", R"({"data":{}})", "data.a"},
        {"both add", R"({})", R"({"data":{"a":"2"}})", R"({"data":{"b":"x"}})", ""},
        {"both add the same", R"({})", R"({"data":{"a":"2"}})", R"({"data":{"a":"x"}})", "data.a"},
        {"takes away what grew", R"({"data":{"a":"1"}})", R"({})", R"({"data":{"a":"1","b":"x"}})", "data"},
        {"a list is one field", R"({"l":[1,2]})", R"({"l":[1,2,3]})", R"({"l":[0,1,2]})", "l"},
        {"bookkeeping", R"({"metadata":{"generation":1,"managedFields":[1]}})",
         R"({"metadata":{"generation":2,"managedFields":[2]}})", R"({"metadata":{"generation":3,"managedFields":[3]}})",
         ""},
        {"nothing stood there", R"(null)", R"({"kind":"M","data":{"a":"2"}})", R"({"kind":"M","data":{"b":"1"}})", ""},
    };
    for (const Row& row : rows) {
        const auto touched = touched_fields(again_value(row.before), again_value(row.after));
        EXPECT_EQ(contested_field(touched, again_value(row.now)).value_or(""), row.contested) << row.name;
    }
}

TEST(MakingAgain, DoesNothingThatItDidNotDoAtFirst) {
    const auto first =
        touched_fields(again_value(R"({"data":{"a":"1"}})"), again_value(R"({"data":{"a":"2","c":"3"}})"));
    const auto same = touched_fields(again_value(R"({"data":{"b":"x","a":"1"}})"),
                                     again_value(R"({"data":{"b":"x","a":"2","c":"3"}})"));
    EXPECT_TRUE(does_the_same(first, same));
    EXPECT_TRUE(does_the_same(first, {})) << "it stands already";
    const auto more =
        touched_fields(again_value(R"({"data":{"b":"x","a":"1"}})"), again_value(R"({"data":{"a":"2"}})"));
    EXPECT_FALSE(does_the_same(first, more)) << "what somebody else added would go";
    const auto other = touched_fields(again_value(R"({"data":{"a":"1"}})"), again_value(R"({"data":{"a":"9"}})"));
    EXPECT_FALSE(does_the_same(first, other));
}

TEST(MakingAgain, IsForPatchesThatNameNoVersionAndTestNothing) {
    struct Row {
        const char* media;
        const char* body;
        bool may;
    };
    const Row rows[] = {
        {"application/merge-patch+json", R"({"data":{"a":"1"}})", true},
        {"application/strategic-merge-patch+json", R"({"spec":{"replicas":2}})", true},
        {"application/merge-patch+json", R"({"metadata":{"resourceVersion":"7"},"data":{"a":"1"}})", false},
        {"application/apply-patch+yaml", "kind: ConfigMap\ndata:\n  a: b\n", true},
        {"application/apply-patch+yaml", "metadata:\n  resourceVersion: '7'\n", false},
        {"application/json-patch+json", R"([{"op":"replace","path":"/data/a","value":"2"}])", true},
        {"application/json-patch+json",
         R"([{"op":"test","path":"/data/a","value":"1"},{"op":"remove","path":"/data/a"}])", false},
        {"application/json-patch+json", R"([{"op":"replace","path":"/metadata/resourceVersion","value":"2"}])", false},
        {"application/merge-patch+json", "{", false},
        {"text/plain", "{}", false},
    };
    for (const Row& row : rows) {
        Call call{.verb = Verb::Patch, .body = row.body, .media = row.media};
        EXPECT_EQ(may_be_made_again(call), row.may) << row.media << row.body;
        call.verb = Verb::Update;
        EXPECT_FALSE(may_be_made_again(call)) << "a replacement says what it was made from";
    }
    Call dry{.verb = Verb::Patch, .body = "{}", .media = "application/merge-patch+json"};
    dry.query = Query{{{"dryRun", "All"}}};
    EXPECT_FALSE(may_be_made_again(dry));
}

ledger::TxId numbered(std::uint8_t number) { return ledger::TxId{std::array<std::uint8_t, 32>{number}}; }

TEST(MakingAgain, RemembersTheNewestWithinItsBounds) {
    Remembered remembered;
    for (std::uint8_t i = 0; i < 40; ++i) remembered.put(numbered(i), {.bytes = 1u << 19});
    EXPECT_LE(remembered.bytes(), Remembered::kBytesMax);
    EXPECT_FALSE(remembered.take(numbered(0)));
    EXPECT_TRUE(remembered.take(numbered(39)));
    EXPECT_FALSE(remembered.take(numbered(39))) << "once";
    remembered.put(numbered(200), {.bytes = 2u << 20});
    EXPECT_FALSE(remembered.take(numbered(200))) << "too large";
    for (std::uint8_t i = 0; i < 40; ++i) (void)remembered.take(numbered(i));
    EXPECT_EQ(remembered.bytes(), 0u);
}

}  // namespace
}  // namespace rhizome::api
