// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <gtest/gtest.h>

#include <fmt/core.h>

namespace rhizome::json {
namespace {

Value good(std::string_view text) {
    auto value = parse(text);
    EXPECT_TRUE(value.has_value()) << text << ": " << (value ? "" : value.error().what);
    return value ? std::move(*value) : Value{};
}

struct Bad {
    std::string_view text;
    Fault fault;
    std::size_t offset;
};

TEST(Json, BadTextIsNamedWithItsPlace) {
    using namespace std::string_view_literals;
    const Bad rows[] = {
        {"", Fault::Truncated, 0},
        {" \n", Fault::Truncated, 2},
        {"nul", Fault::Truncated, 3},
        {"nuls", Fault::Syntax, 3},
        {"True", Fault::Syntax, 0},
        {"NaN", Fault::Syntax, 0},
        {"Infinity", Fault::Syntax, 0},
        {"'a'", Fault::Syntax, 0},
        {"\xef\xbb\xbf{}", Fault::Syntax, 0},
        {"01", Fault::Trailing, 1},
        {"+1", Fault::Syntax, 0},
        {".5", Fault::Syntax, 0},
        {"-", Fault::Truncated, 1},
        {"-a", Fault::Syntax, 1},
        {"1.", Fault::Truncated, 2},
        {"1.e3", Fault::Syntax, 2},
        {"1e", Fault::Truncated, 2},
        {"1e+", Fault::Truncated, 3},
        {"[1e+]", Fault::Syntax, 4},
        {"0x10", Fault::Trailing, 1},
        {"1 2", Fault::Trailing, 2},
        {"{} x", Fault::Trailing, 3},
        {"null\0"sv, Fault::Trailing, 4},
        {"[", Fault::Truncated, 1},
        {"[1", Fault::Truncated, 2},
        {"[1,", Fault::Truncated, 3},
        {"[1,]", Fault::Syntax, 3},
        {"[,1]", Fault::Syntax, 1},
        {"[1 2]", Fault::Syntax, 3},
        {"[1}", Fault::Syntax, 2},
        {"]", Fault::Syntax, 0},
        {"// c\n1", Fault::Syntax, 0},
        {"{", Fault::Truncated, 1},
        {"{\"a\"", Fault::Truncated, 4},
        {"{\"a\":", Fault::Truncated, 5},
        {"{\"a\":1", Fault::Truncated, 6},
        {"{\"a\":1,", Fault::Truncated, 7},
        {"{\"a\":1,}", Fault::Syntax, 7},
        {"{\"a\"}", Fault::Syntax, 4},
        {"{\"a\" 1}", Fault::Syntax, 5},
        {"{a:1}", Fault::Syntax, 1},
        {"{1:1}", Fault::Syntax, 1},
        {"{\"a\":1]", Fault::Syntax, 6},
        {"{\"a\":1,\"a\":2}", Fault::DuplicateKey, 7},
        {"{\"a\":1,\"b\":{},\"\\u0061\":2}", Fault::DuplicateKey, 14},
        {"{\"a\":{\"x\":1,\"x\":2}}", Fault::DuplicateKey, 12},
        {"\"", Fault::Truncated, 1},
        {"\"abc", Fault::Truncated, 4},
        {"\"\\", Fault::Truncated, 2},
        {"\"\\x\"", Fault::Syntax, 1},
        {"\"\\u12", Fault::Truncated, 5},
        {"\"\\u12g4\"", Fault::Syntax, 5},
        {"\"\t\"", Fault::Syntax, 1},
        {"\"a\nb\"", Fault::Syntax, 2},
        {"\"\0\""sv, Fault::Syntax, 1},
        {"\"a long run of plain text\x1f\"", Fault::Syntax, 25},
        {"\"\\ud800\"", Fault::BadUtf8, 1},
        {"\"\\ud800x\"", Fault::BadUtf8, 1},
        {"\"\\ud800\\n\"", Fault::BadUtf8, 1},
        {"\"\\ud800\\ud800\"", Fault::BadUtf8, 1},
        {"\"\\udc00\"", Fault::BadUtf8, 1},
        {"\"\\ud800", Fault::Truncated, 7},
        {"\"\\ud800\\", Fault::Truncated, 8},
        {"\"\x80\"", Fault::BadUtf8, 1},
        {"\"\xc0\xaf\"", Fault::BadUtf8, 1},
        {"\"\xc1\xbf\"", Fault::BadUtf8, 1},
        {"\"\xc3(\"", Fault::BadUtf8, 1},
        {"\"\xe0\x80\x80\"", Fault::BadUtf8, 1},
        {"\"\xed\xa0\x80\"", Fault::BadUtf8, 1},
        {"\"\xf0\x8f\xbf\xbf\"", Fault::BadUtf8, 1},
        {"\"\xf4\x90\x80\x80\"", Fault::BadUtf8, 1},
        {"\"\xf5\x80\x80\x80\"", Fault::BadUtf8, 1},
        {"\"\xff\"", Fault::BadUtf8, 1},
        {"\"\xe2\x82", Fault::Truncated, 3},
    };
    for (const Bad& row : rows) {
        const auto value = parse(row.text);
        ASSERT_FALSE(value.has_value()) << row.text;
        EXPECT_EQ(name(value.error().fault), name(row.fault)) << row.text;
        EXPECT_EQ(value.error().offset, row.offset) << row.text;
        EXPECT_FALSE(value.error().what.empty()) << row.text;
        const auto checked = check(row.text);
        ASSERT_FALSE(checked.has_value()) << row.text;
        EXPECT_EQ(checked.error(), value.error()) << row.text;
    }
}

TEST(Json, GoodTextPrintsInItsCompactForm) {
    const std::pair<std::string_view, std::string_view> rows[] = {
        {"null", "null"},
        {" true ", "true"},
        {"\r\n\tfalse\n", "false"},
        {"0", "0"},
        {"-0", "-0"},
        {"-0.00", "-0.00"},
        {"1E+05", "1E+05"},
        {"123456789012345678901234567890", "123456789012345678901234567890"},
        {"0.1000000000000000055511151231257827", "0.1000000000000000055511151231257827"},
        {"1e999999999999", "1e999999999999"},
        {R"("")", R"("")"},
        {R"("\/\"\\\b\f\n\r\t")", R"("/\"\\\b\f\n\r\t")"},
        {R"("\u0000\u001f\u007f")", "\"\\u0000\\u001f\x7f\""},
        {R"("\u00e9\u20AC\ud83d\ude00")", "\"é€😀\""},
        {"\"\xf4\x8f\xbf\xbf\xed\x9f\xbf\xee\x80\x80\"", "\"\xf4\x8f\xbf\xbf\xed\x9f\xbf\xee\x80\x80\""},
        {"[ ]", "[]"},
        {"{ }", "{}"},
        {"[[],{},[[ ]]]", "[[],{},[[]]]"},
        {R"({ "b" : 1 , "a" : [ 1 , "x" , null ] })", R"({"b":1,"a":[1,"x",null]})"},
        {R"({"":0,"a\u0000":1,"a":2})", R"({"":0,"a\u0000":1,"a":2})"},
    };
    for (const auto& [text, printed] : rows) {
        EXPECT_TRUE(check(text).has_value()) << text;
        EXPECT_EQ(print(good(text)), printed) << text;
        EXPECT_EQ(good(print(good(text))), good(text)) << text;
    }
}

TEST(Json, ErrorsCountLinesAndColumns) {
    const auto error = parse("{\n  \"a\": 1,\n  \"b\": x\n}").error();
    EXPECT_EQ(error.line, 3u);
    EXPECT_EQ(error.column, 8u);
    EXPECT_EQ(to_error(error).message, "line 3, column 8: expected a value, found 'x'");
    EXPECT_EQ(to_error(error).kind, ErrorKind::Invalid);
    EXPECT_EQ(to_error(parse(R"({"a":1,"a":2})").error()).message,
              "line 1, column 8: the key \"a\" stands twice in one object");
    EXPECT_EQ(to_error(parse("[[]]", {.depth = 1}).error()).kind, ErrorKind::Exhausted);
}

TEST(Json, DepthHasABound) {
    const auto nested = [](std::size_t depth) {
        std::string text;
        for (std::size_t i = 0; i < depth; ++i) text += i % 2 == 0 ? "[" : "{\"a\":";
        text += "0";
        for (std::size_t i = depth; i-- > 0;) text += i % 2 == 0 ? "]" : "}";
        return text;
    };
    EXPECT_TRUE(parse(nested(64)));
    EXPECT_EQ(parse(nested(65)).error().fault, Fault::TooDeep);
    EXPECT_TRUE(parse("1", {.depth = 0}));
    EXPECT_EQ(parse("[]", {.depth = 0}).error().fault, Fault::TooDeep);
    EXPECT_TRUE(parse(nested(kDepthMax), {.depth = SIZE_MAX}));
    EXPECT_EQ(parse(nested(kDepthMax + 1), {.depth = SIZE_MAX}).error().fault, Fault::TooDeep);
    EXPECT_EQ(parse(std::string(1u << 20, '['), {.depth = SIZE_MAX}).error().fault, Fault::TooDeep);
}

TEST(Json, SizeHasABound) {
    EXPECT_TRUE(parse("[1,2]", {.bytes = 5}));
    const auto error = parse("[1,2]", {.bytes = 4}).error();
    EXPECT_EQ(error.fault, Fault::TooLarge);
    EXPECT_EQ(error.offset, 4u);
    EXPECT_EQ(check("[1,2]", {.bytes = 4}).error(), error);
    EXPECT_EQ(slices("[1,2]", {.bytes = 4}).error(), error);
}

TEST(Json, ADuplicateAmongManyKeysIsFound) {
    std::string text = "{";
    for (int i = 0; i < 1000; ++i) text += fmt::format("\"k{}\":{},", i * 7919 % 1000, i);
    EXPECT_EQ(good(text + "\"z\":0}").if_object()->size(), 1001u);
    const auto error = parse(text + "\"k5\":0,\"k5\":1,\"k4\":2}").error();
    EXPECT_EQ(error.fault, Fault::DuplicateKey);
    EXPECT_EQ(error.offset, text.size()) << "the first place where a key stands for the second time";
    EXPECT_EQ(parse(text + "\"\\u006b5\":0}").error().offset, text.size());
    const auto long_key = std::string(1000, 'x');
    EXPECT_LT(parse(fmt::format(R"({{"{0}":1,"{0}":2}})", long_key)).error().what.size(), 150u);
}

TEST(Json, NumbersKeepTheirText) {
    EXPECT_EQ(good("1.50").if_number()->text(), "1.50");
    EXPECT_NE(good("1.5"), good("1.50"));
    EXPECT_EQ(good("9223372036854775807").if_int64(), INT64_MAX);
    EXPECT_EQ(good("-9223372036854775808").if_int64(), INT64_MIN);
    EXPECT_EQ(good("9223372036854775808").if_int64(), std::nullopt);
    EXPECT_EQ(good("18446744073709551615").if_number()->to_uint64(), UINT64_MAX);
    EXPECT_EQ(good("18446744073709551616").if_number()->to_uint64(), std::nullopt);
    EXPECT_EQ(good("-1").if_number()->to_uint64(), std::nullopt);
    EXPECT_EQ(good("1.0").if_int64(), std::nullopt);
    EXPECT_EQ(good("1e3").if_int64(), std::nullopt);
    EXPECT_EQ(good("\"1\"").if_int64(), std::nullopt);
    EXPECT_EQ(Value{INT64_MIN}, good("-9223372036854775808"));
    EXPECT_EQ(Value{UINT64_MAX}, good("18446744073709551615"));
    EXPECT_EQ(Value{static_cast<short>(-3)}, good("-3"));
}

TEST(Json, OnlyNumbersAreNumbers) {
    for (const std::string_view text : {"", "-", "1.", "01", "1e", "+1", " 1", "1 ", "0x1", "1.5.2"})
        EXPECT_FALSE(Number::from_text(text)) << text;
    for (const std::string_view text : {"0", "-0", "10", "1.5", "1e3", "1E-3", "-0.0e+00"})
        EXPECT_EQ(Number::from_text(text)->text(), text);
}

TEST(Json, ObjectsKeepTheirOrder) {
    Object object{{"b", 1}, {"a", 2}};
    object.set("c", 3);
    object.set("b", 4);
    object["d"];
    EXPECT_EQ(print(object), R"({"b":4,"a":2,"c":3,"d":null})");
    EXPECT_TRUE(object.erase("a"));
    EXPECT_FALSE(object.erase("a"));
    EXPECT_EQ(print(object), R"({"b":4,"c":3,"d":null})");
    EXPECT_FALSE(object.contains("a"));
    EXPECT_EQ(object.find("a"), nullptr);
    EXPECT_EQ(*object.find("c"), Value{3});
}

TEST(Json, LargeObjectsFindTheirMembers) {
    Object object;
    for (int i = 0; i < 500; ++i) object.set(fmt::format("key{}", i * 37 % 500), i);
    for (int i = 0; i < 500; i += 3) EXPECT_TRUE(object.erase(fmt::format("key{}", i)));
    const Object copy = object;
    for (const Object* each : {const_cast<const Object*>(&object), &copy}) {
        for (int i = 0; i < 500; ++i) {
            const Value* found = each->find(fmt::format("key{}", i));
            ASSERT_EQ(found != nullptr, i % 3 != 0) << i;
            if (found != nullptr) {
                EXPECT_EQ(found->if_int64().value() * 37 % 500, i);
            }
        }
    }
    while (!object.empty()) {
        EXPECT_TRUE(object.erase(std::string(object.begin()->key)));
        for (const auto& member : object) ASSERT_EQ(object.find(member.key), &member.value);
    }
    EXPECT_EQ(copy.size(), 333u);
}

TEST(Json, AnObjectIsMadeOfMembersAtOnce) {
    const auto members = [](std::initializer_list<std::string_view> keys) {
        std::vector<Object::Member> out;
        for (const std::string_view key : keys) out.push_back({std::string(key), out.size()});
        return out;
    };
    EXPECT_EQ(print(*Object::from_members(members({"b", "a"}))), R"({"b":0,"a":1})");
    EXPECT_EQ(Object::from_members(members({"b", "a", "c", "a", "b"})).error(), 3u);
    auto many = members({});
    for (int i = 0; i < 100; ++i) many.push_back({std::to_string(i), i});
    EXPECT_EQ(Object::from_members(many)->find("57")->if_int64(), 57);
    many.push_back({"57", 0});
    many.push_back({"3", 0});
    EXPECT_EQ(Object::from_members(many).error(), 100u);
}

TEST(Json, ManyMembersAreErasedInOnePass) {
    Object object;
    for (int i = 0; i < 1000; ++i) object.set(std::to_string(i), i);
    EXPECT_EQ(object.erase_if([](const auto& member) { return member.key.back() != '7'; }), 900u);
    EXPECT_EQ(object.erase_if([](const auto&) { return false; }), 0u);
    EXPECT_EQ(object.size(), 100u);
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(object.contains(std::to_string(i)), i % 10 == 7);
}

TEST(Json, EqualityOfObjectsIgnoresOrder) {
    EXPECT_EQ(good(R"({"a":1,"b":{"x":1,"y":2}})"), good(R"({"b":{"y":2,"x":1},"a":1})"));
    EXPECT_NE(good(R"({"a":1})"), good(R"({"a":2})"));
    EXPECT_NE(good(R"({"a":1})"), good(R"({"b":1})"));
    EXPECT_NE(good(R"({"a":1})"), good(R"({"a":1,"b":1})"));
    EXPECT_NE(good("[1,2]"), good("[2,1]"));
    EXPECT_NE(good("null"), good("false"));
    Object up, down;
    for (int i = 0; i < 20'000; ++i) up.set(fmt::format("{:05}", i), i);
    for (int i = 20'000; i-- > 0;) down.set(fmt::format("{:05}", i), i);
    EXPECT_EQ(up, down);
    down.set("00077", 0);
    EXPECT_NE(up, down);
}

TEST(Json, ValuesAnswerOnlyWhatTheyHold) {
    const Value value = good(R"({"metadata":{"name":"a","n":1},"list":[true]})");
    EXPECT_EQ(value.text_at({"metadata", "name"}), "a");
    EXPECT_EQ(value.text_at({"metadata", "n"}), "");
    EXPECT_EQ(value.text_at({"metadata", "name", "deeper"}), "");
    EXPECT_EQ(value.find_path({"metadata", "none"}), nullptr);
    EXPECT_EQ(value.find_path({}), &value);
    EXPECT_EQ(value.find("list")->if_array()->front().if_boolean(), true);
    EXPECT_EQ(value.find("list")->find("x"), nullptr);
    EXPECT_EQ(value.if_string(), nullptr);
    EXPECT_EQ(value.if_boolean(), std::nullopt);
    for (const auto& [text, kind] :
         std::initializer_list<std::pair<std::string_view, std::string_view>>{{"null", "null"},
                                                                              {"true", "boolean"},
                                                                              {"1", "number"},
                                                                              {"\"\"", "string"},
                                                                              {"[]", "array"},
                                                                              {"{}", "object"}})
        EXPECT_EQ(name(good(text).kind()), kind);
}

TEST(Json, DocumentsAreBuiltInPlace) {
    Value value;
    value["metadata"]["name"] = "a";
    value["spec"]["containers"].make_array().push_back(Object{{"name", "c"}, {"tty", false}});
    value["spec"]["x"] = nullptr;
    EXPECT_EQ(print(value), R"({"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","tty":false}],"x":null}})");
    Value copy = value;
    copy["metadata"]["name"] = std::string_view("b");
    EXPECT_EQ(value.text_at({"metadata", "name"}), "a");
    EXPECT_NE(copy, value);
}

TEST(JsonDeathTest, OurOwnMistakesStopTheProcess) {
    Value text = "a";
    EXPECT_DEATH(text.make_object(), "object here");
    EXPECT_DEATH(text.make_array(), "array here");
    EXPECT_DEATH((Object{{"a", 1}, {"a", 2}}), "keys of an object");
}

TEST(Json, SlicesGiveTheBytesAsTheyStand) {
    const std::string_view text =
        " { \"a\" : [1, 2 ] ,\"\\u0062\":{ \"x\": 1}, \"c\" : \"\\n\",\"d\": -1.0 ,\"e\":true}";
    const auto cut = slices(text);
    ASSERT_TRUE(cut.has_value());
    std::string shown;
    for (const Slice& slice : *cut) shown += fmt::format("{}={}|", slice.key, slice.text);
    EXPECT_EQ(shown, "a=[1, 2 ]|b={ \"x\": 1}|c=\"\\n\"|d=-1.0|e=true|");

    const std::string_view list = "[{} , \"a\",[[ ]], null]";
    shown.clear();
    const auto elements = slices(list);
    for (const Slice& slice : *elements) shown += fmt::format("{}={}|", slice.key, slice.text);
    EXPECT_EQ(shown, "={}|=\"a\"|=[[ ]]|=null|");
    EXPECT_TRUE(slices("[]")->empty());
    EXPECT_EQ(slices("1").error().fault, Fault::Syntax);
    EXPECT_EQ(slices("[1").error().fault, Fault::Truncated);
}

TEST(Json, RawPartsArePrintedAsTheyAre) {
    const Raw raw{std::make_shared<const std::string>("{ \"b\":1, \"a\": [ ] }")};
    const Value value = Object{{"z", raw}, {"items", Array{raw, 1}}};
    EXPECT_EQ(print(value), R"({"z":{ "b":1, "a": [ ] },"items":[{ "b":1, "a": [ ] },1]})");
    EXPECT_EQ(print_canonical(value), R"({"items":[{"a":[],"b":1},1],"z":{"a":[],"b":1}})");
    EXPECT_EQ(value.find("z")->find("b"), nullptr);
    EXPECT_EQ(value, value);
    EXPECT_EQ(name(value.find("z")->kind()), "raw");
}

TEST(Json, CanonicalTextIsOneForOneValue) {
    EXPECT_EQ(print_canonical(good(R"({"b":1,"a":{"d":"\u00e9\/","c":1.0},"":[],"B":{}})")),
              "{\"\":[],\"B\":{},\"a\":{\"c\":1.0,\"d\":\"é/\"},\"b\":1}");
    EXPECT_EQ(print_canonical(good("{\"\xc3\xa9\":1,\"z\":2,\"\xf0\x9f\x98\x80\":3}")),
              "{\"z\":2,\"\xc3\xa9\":1,\"\xf0\x9f\x98\x80\":3}")
        << "sorted by bytes, not by signed characters";
}

TEST(Json, PrettyTextIsForPeople) {
    EXPECT_EQ(print_pretty(good(R"({"a":[1,{"b":[]}],"c":{}})")),
              "{\n  \"a\": [\n    1,\n    {\n      \"b\": []\n    }\n  ],\n  \"c\": {}\n}\n");
    EXPECT_EQ(print_pretty(nullptr), "null\n");
}

TEST(Json, QuotingEscapesWhatItMustAndRepairsBadUtf8) {
    EXPECT_EQ(quote("a\"b\\c\x01\n\x7f é"), "\"a\\\"b\\\\c\\u0001\\n\x7f é\"");
    EXPECT_EQ(quote("a\xff\xc3(\xe2\x82"), "\"a\xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd\"");
    EXPECT_EQ(quote(std::string_view("\0", 1)), "\"\\u0000\"");
}

// Strings of every length around the sixteen bytes that are scanned at once, with the odd byte at every place.
TEST(Json, StringsAreScannedRightAtEveryLength) {
    for (std::size_t length = 0; length < 50; ++length) {
        const std::string plain(length, 'x');
        EXPECT_EQ(*good('"' + plain + '"').if_string(), plain);
        EXPECT_EQ(parse('"' + plain).error().offset, length + 1);
        for (std::size_t place = 0; place < length; ++place) {
            std::string odd = plain;
            odd[place] = '\x1f';
            EXPECT_EQ(parse('"' + odd + '"').error().offset, place + 1);
            odd[place] = '"';
            EXPECT_EQ(*good(quote(odd)).if_string(), odd);
            odd.replace(place, 1, "ß");
            EXPECT_EQ(*good('"' + odd + '"').if_string(), odd);
        }
    }
}

TEST(Json, NumbersAreFoundByTheirWay) {
    const Value value = parse(R"({"a":{"b":7,"c":"7","d":1.5,"e":-3}})").value();
    EXPECT_EQ(value.number_at({"a", "b"}), 7);
    EXPECT_EQ(value.number_at({"a", "e"}), -3);
    for (const char* other : {"c", "d", "none"}) EXPECT_EQ(value.number_at({"a", other}), 0) << other;
    EXPECT_EQ(value.number_at({"a", "b", "c"}), 0);
}

}  // namespace
}  // namespace rhizome::json
