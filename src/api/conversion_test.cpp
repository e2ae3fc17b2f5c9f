// SPDX-License-Identifier: Apache-2.0
#include "api/conversion.h"

#include <gtest/gtest.h>

namespace rhizome::api {
namespace {

json::Value value_of(std::string_view text) { return *json::parse(text); }

const json::Array kAsked{*json::parse(
    R"({"apiVersion":"a.example/v1","kind":"Foo","metadata":{"name":"x","namespace":"n","uid":"u","labels":{"a":"1"}},"spec":{"host":"h"}})")};

std::string answer(std::string_view object, std::string_view uid = "q", std::string_view status = "Success") {
    return std::string{R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","response":{"uid":")"} +
           std::string{uid} + R"(","result":{"status":")" + std::string{status} +
           R"(","message":"why not"},"convertedObjects":[)" + std::string{object} + "]}}";
}

TEST(Conversion, TakesWhatAWebhookMayChange) {
    const auto converted = converted_objects(
        value_of(answer(
            R"({"apiVersion":"a.example/v2","kind":"Foo","metadata":{"name":"x","namespace":"n","uid":"u","labels":{"b":"2"},"finalizers":["mine"]},"spec":{"hostPort":"h:1"}})")),
        "q", "a.example/v2", kAsked);
    ASSERT_TRUE(converted) << converted.error().message;
    EXPECT_EQ(
        json::print(converted->front()),
        R"({"apiVersion":"a.example/v2","kind":"Foo","metadata":{"name":"x","namespace":"n","uid":"u","labels":{"b":"2"}},"spec":{"hostPort":"h:1"}})");
}

TEST(Conversion, RefusesEveryOtherAnswer) {
    const std::string good =
        R"({"apiVersion":"a.example/v2","kind":"Foo","metadata":{"name":"x","namespace":"n","uid":"u"}})";
    const std::pair<std::string, std::string_view> rows[] = {
        {answer(good, "other"), "the uid differs"},
        {answer(good, "q", "Failed"), "why not"},
        {answer(""), "0 objects instead of 1"},
        {answer(good + "," + good), "2 objects instead of 1"},
        {answer(R"({"apiVersion":"a.example/v1","kind":"Foo","metadata":{"name":"x"}})"),
         "came back as a.example/v1 Foo"},
        {answer(R"({"apiVersion":"a.example/v2","kind":"Bar","metadata":{"name":"x"}})"),
         "came back as a.example/v2 Bar"},
        {answer(R"({"apiVersion":"a.example/v2","kind":"Foo","metadata":{"name":"y","namespace":"n","uid":"u"}})"),
         "another metadata.name"},
        {answer(R"({"apiVersion":"a.example/v2","kind":"Foo"})"), "without metadata"},
        {R"({"kind":"Status"})", "no ConversionReview"},
    };
    for (const auto& [text, says] : rows) {
        const auto converted = converted_objects(value_of(text), "q", "a.example/v2", kAsked);
        ASSERT_FALSE(converted) << text;
        EXPECT_NE(converted.error().message.find(says), std::string::npos) << converted.error().message;
    }
}

TEST(Conversion, AsksWithAReview) {
    EXPECT_EQ(
        json::print(conversion_review("q", "a.example/v2", {json::Value{json::Object{{"a", 1}}}})),
        R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"uid":"q","desiredAPIVersion":"a.example/v2","objects":[{"a":1}]}})");
}

}  // namespace
}  // namespace rhizome::api
