// SPDX-License-Identifier: Apache-2.0
#include "api/patch.h"

#include <gtest/gtest.h>

#include "support/read_json.h"

namespace rhizome::api {
namespace {

using test::read;

TEST(JsonPatch, FollowsRfc6902) {
    const struct {
        std::string_view what;
        std::string_view document;
        std::string_view patch;
        std::string_view expected;
    } rows[] = {
        {"A.1 adding a member", R"({"foo":"bar"})", R"([{"op":"add","path":"/baz","value":"qux"}])",
         R"({"baz":"qux","foo":"bar"})"},
        {"A.2 adding an element", R"({"foo":["bar","baz"]})", R"([{"op":"add","path":"/foo/1","value":"qux"}])",
         R"({"foo":["bar","qux","baz"]})"},
        {"A.3 removing a member", R"({"baz":"qux","foo":"bar"})", R"([{"op":"remove","path":"/baz"}])",
         R"({"foo":"bar"})"},
        {"A.4 removing an element", R"({"foo":["bar","qux","baz"]})", R"([{"op":"remove","path":"/foo/1"}])",
         R"({"foo":["bar","baz"]})"},
        {"A.5 replacing", R"({"baz":"qux","foo":"bar"})", R"([{"op":"replace","path":"/baz","value":"boo"}])",
         R"({"baz":"boo","foo":"bar"})"},
        {"A.6 moving", R"({"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}})",
         R"([{"op":"move","from":"/foo/waldo","path":"/qux/thud"}])",
         R"({"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}})"},
        {"A.7 moving an element", R"({"foo":["all","grass","cows","eat"]})",
         R"([{"op":"move","from":"/foo/1","path":"/foo/3"}])", R"({"foo":["all","cows","eat","grass"]})"},
        {"A.8 testing", R"({"baz":"qux","foo":["a",2,"c"]})",
         R"([{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}])",
         R"({"baz":"qux","foo":["a",2,"c"]})"},
        {"A.10 adding a nested member", R"({"foo":"bar"})",
         R"([{"op":"add","path":"/child","value":{"grandchild":{}}}])", R"({"foo":"bar","child":{"grandchild":{}}})"},
        {"A.14 escapes", R"({"/":9,"~1":10})", R"([{"op":"test","path":"/~01","value":10}])", R"({"/":9,"~1":10})"},
        {"A.16 at the end", R"({"foo":["bar"]})", R"([{"op":"add","path":"/foo/-","value":["abc","def"]}])",
         R"({"foo":["bar",["abc","def"]]})"},
        {"the whole", R"({"a":1})", R"([{"op":"replace","path":"","value":[1]}])", "[1]"},
        {"copying", R"({"a":{"b":1}})", R"([{"op":"copy","from":"/a","path":"/c"},{"op":"remove","path":"/a/b"}])",
         R"({"a":{},"c":{"b":1}})"},
        {"numbers by value", R"({"a":1.50})",
         R"([{"op":"test","path":"/a","value":15e-1},{"op":"add","path":"/b","value":100000000000000000000001}])",
         R"({"a":1.50,"b":100000000000000000000001})"},
        {"the empty key", R"({"":{"":1}})", R"([{"op":"replace","path":"//","value":2}])", R"({"":{"":2}})"},
    };
    for (const auto& row : rows) {
        const auto patched = apply_json_patch(read(row.document), read(row.patch));
        ASSERT_TRUE(patched) << row.what << ": " << patched.error().message;
        EXPECT_EQ(*patched, read(row.expected)) << row.what << ": " << json::print(*patched);
    }
}

TEST(JsonPatch, SaysWhyItDoesNotApply) {
    const struct {
        std::string_view patch;
        unsigned code;
        std::string_view why;
    } rows[] = {
        {R"([{"op":"test","path":"/a","value":2}])", 422, "testing value /a failed: test failed"},
        {R"([{"op":"test","path":"/x","value":2}])", 422, "testing value /x failed: test failed"},
        {R"([{"op":"remove","path":"/x"}])", 422, "Unable to remove nonexistent key: x: missing value"},
        {R"([{"op":"remove","path":"/x/y"}])", 422,
         "remove operation does not apply: doc is missing path: \"/x/y\": missing value"},
        {R"([{"op":"replace","path":"/x","value":1}])", 422,
         "replace operation does not apply: doc is missing key: /x: missing value"},
        {R"([{"op":"add","path":"/x/y","value":1}])", 422,
         "add operation does not apply: doc is missing path: \"/x/y\": missing value"},
        {R"([{"op":"add","path":"/l/3","value":1}])", 422, "Unable to access invalid index: 3"},
        {R"([{"op":"add","path":"/l/01","value":1}])", 422, "Unable to access invalid index: 01"},
        {R"([{"op":"remove","path":"/l/-"}])", 422, "Unable to access invalid index: -"},
        {R"([{"op":"move","from":"/x","path":"/y"}])", 422, "doc is missing from path: /x"},
        {R"([{"op":"move","from":"/o","path":"/o/p"}])", 422, "lies inside"},
        {R"([{"op":"copy","from":"/x","path":"/y"}])", 422, "doc is missing from path: /x"},
        {R"([{"op":"spread","path":"/a"}])", 422, "Unexpected kind: spread"},
        {R"({"op":"add"})", 400, "error decoding patch: a JSON patch is an array"},
        {R"([7])", 400, "error decoding patch"},
        {R"([{"path":"/a"}])", 400, "has no \"op\""},
        {R"([{"op":"add","value":1}])", 400, "has no \"path\""},
        {R"([{"op":"add","path":"/a"}])", 400, "has no \"value\""},
        {R"([{"op":"add","path":"a","value":1}])", 400, "is no JSON pointer"},
        {R"([{"op":"add","path":"/~2","value":1}])", 400, "is no JSON pointer"},
        {R"([{"op":"move","path":"/a"}])", 400, "has no \"from\""},
    };
    for (const auto& row : rows) {
        const auto patched = apply_json_patch(read(R"({"a":1,"l":[1,2],"o":{}})"), read(row.patch));
        ASSERT_FALSE(patched) << row.patch;
        EXPECT_EQ(patched.error().code, row.code) << row.patch;
        EXPECT_NE(patched.error().message.find(row.why), std::string::npos) << patched.error().message;
    }
}

TEST(JsonPatch, IsBounded) {
    json::Array many(10'001, read(R"({"op":"test","path":"","value":{}})"));
    EXPECT_EQ(apply_json_patch(read("{}"), many).error().code, 413u);
    // Each copy doubles the document.
    json::Array copies(100, read(R"({"op":"copy","from":"","path":"/a"})"));
    EXPECT_FALSE(apply_json_patch(read(R"({"x":"0123456789"})"), copies));
    // Each pair of moves makes the document one level deeper.
    json::Array moves;
    for (int i = 0; i < 100; ++i) {
        moves.push_back(read(R"({"op":"add","path":"/b","value":{}})"));
        moves.push_back(read(R"({"op":"move","from":"/a","path":"/b/a"})"));
        moves.push_back(read(R"({"op":"move","from":"/b","path":"/a"})"));
    }
    const auto deep = apply_json_patch(read(R"({"a":{}})"), moves);
    ASSERT_FALSE(deep);
    EXPECT_NE(deep.error().message.find("deeper than 64 levels"), std::string::npos);
    // Ten thousand insertions at the front of a long array.
    json::Array front(10'000, read(R"({"op":"add","path":"/0","value":1})"));
    EXPECT_FALSE(apply_json_patch(json::Array(100'000, json::Value(1)), front));
}

TEST(MergePatch, FollowsRfc7386) {
    const struct {
        std::string_view original;
        std::string_view patch;
        std::string_view expected;
    } rows[] = {
        // appendix A
        {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
        {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
        {R"({"a":"b"})", R"({"a":null})", R"({})"},
        {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
        {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
        {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
        {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
        {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
        {R"(["a","b"])", R"(["c","d"])", R"(["c","d"])"},
        {R"({"a":"b"})", R"(["c"])", R"(["c"])"},
        {R"({"a":"foo"})", R"(null)", R"(null)"},
        {R"({"a":"foo"})", R"("bar")", R"("bar")"},
        {R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
        {R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})"},
        {R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
    };
    for (const auto& row : rows)
        EXPECT_EQ(apply_merge_patch(read(row.original), read(row.patch)), read(row.expected)) << row.patch;
}

TEST(Patch, KnowsItsContentTypes) {
    EXPECT_EQ(patch_type("application/json-patch+json"), PatchType::Json);
    EXPECT_EQ(patch_type("application/merge-patch+json; charset=utf-8"), PatchType::Merge);
    EXPECT_EQ(patch_type("application/strategic-merge-patch+json"), PatchType::StrategicMerge);
    EXPECT_EQ(patch_type("application/apply-patch+yaml"), PatchType::Apply);
    EXPECT_FALSE(patch_type("application/json"));
}

}  // namespace
}  // namespace rhizome::api
