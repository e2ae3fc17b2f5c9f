// SPDX-License-Identifier: Apache-2.0
#include "base/yaml.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace rhizome::yaml {
namespace {

using json::Fault;
using json::Value;

/// The compact JSON of the one document in `text`.
std::string as_json(std::string_view text) {
    const auto value = yaml::parse(text);
    return value ? json::print(*value) : fmt::format("{}: {}", name(value.error().fault), value.error().what);
}

constexpr std::string_view kDeployment = R"(# a comment
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web, "version": "1"}
  annotations:
    note: >-
      folded
      text
spec:
  replicas: 3
  paused: no
  template:
    spec:
      containers:
      - name: web
        image: registry.example.org:5000/web:1.4  # tagged
        args: ["--listen=:8080", '--name=it''s']
        command:
          - sh
          - -c
          - |
            set -e
              exec web
        resources:
          limits:
            cpu: 0.5
            memory: 64Mi
      nodeSelector: {}
      volumes: []
      tolerations: ~
)";

TEST(Yaml, ReadsWhatKubectlUsersWrite) {
    EXPECT_EQ(
        as_json(kDeployment),
        R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","labels":{"app":"web","version":"1"},)"
        R"("annotations":{"note":"folded text"}},"spec":{"replicas":3,"paused":false,"template":{"spec":{"containers":)"
        R"([{"name":"web","image":"registry.example.org:5000/web:1.4","args":["--listen=:8080","--name=it's"],)"
        R"("command":["sh","-c","set -e\n  exec web\n"],"resources":{"limits":{"cpu":0.5,"memory":"64Mi"}}}],)"
        R"("nodeSelector":{},"volumes":[],"tolerations":null}}}})");
}

TEST(Yaml, PrintsAsKubectlDoes) {
    EXPECT_EQ(yaml::print(*yaml::parse(kDeployment)), R"(apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels:
    app: web
    version: "1"
  annotations:
    note: folded text
spec:
  replicas: 3
  paused: false
  template:
    spec:
      containers:
      - name: web
        image: registry.example.org:5000/web:1.4
        args:
        - --listen=:8080
        - --name=it's
        command:
        - sh
        - -c
        - |
          set -e
            exec web
        resources:
          limits:
            cpu: 0.5
            memory: 64Mi
      nodeSelector: {}
      volumes: []
      tolerations: null
)");
    EXPECT_EQ(yaml::print(*json::parse(R"([[1,[2,{"a":[3]}]],{"b":{},"c":[[]]}])")),
              "- - 1\n  - - 2\n    - a:\n      - 3\n- b: {}\n  c:\n  - []\n");
    EXPECT_EQ(yaml::print(json::Array{}), "[]\n");
    EXPECT_EQ(yaml::print(json::Object{}), "{}\n");
    EXPECT_EQ(yaml::print(nullptr), "null\n");
    EXPECT_EQ(yaml::print("a\nb"), "|-\n  a\n  b\n");
}

TEST(Yaml, StringsThatCouldMeanSomethingElseAreQuoted) {
    using namespace std::string_view_literals;
    const std::pair<std::string_view, std::string_view> rows[] = {
        {"", R"("")"},
        {"1", R"("1")"},
        {"-1", R"("-1")"},
        {"+1", R"("+1")"},
        {"1.5", R"("1.5")"},
        {".5", R"(".5")"},
        {"1.", R"("1.")"},
        {"1e3", R"("1e3")"},
        {"1_000", R"("1_000")"},
        {"0x1f", R"("0x1f")"},
        {"0o17", R"("0o17")"},
        {"0755", R"("0755")"},
        {"0b11", R"("0b11")"},
        {"12:30", R"("12:30")"},
        {"1:02:03.5", R"("1:02:03.5")"},
        {".inf", R"(".inf")"},
        {"-.INF", R"("-.INF")"},
        {".nan", R"(".nan")"},
        {"y", R"("y")"},
        {"N", R"("N")"},
        {"yes", R"("yes")"},
        {"No", R"("No")"},
        {"ON", R"("ON")"},
        {"off", R"("off")"},
        {"true", R"("true")"},
        {"False", R"("False")"},
        {"null", R"("null")"},
        {"NULL", R"("NULL")"},
        {"~", R"("~")"},
        {"=", R"("=")"},
        {"<<", R"("<<")"},
        {"2026-01-01", R"("2026-01-01")"},
        {"2026-1-1 10:00:00", R"("2026-1-1 10:00:00")"},
        {"2026-03-01T10:15:30Z", R"("2026-03-01T10:15:30Z")"},
        {"a: b", "'a: b'"},
        {"a:", "'a:'"},
        {"- a", "'- a'"},
        {"-", "'-'"},
        {"? a", "'? a'"},
        {"#c", "'#c'"},
        {"a #c", "'a #c'"},
        {" a", "' a'"},
        {"a ", "'a '"},
        {" ", "' '"},
        {"&a", "'&a'"},
        {"*a", "'*a'"},
        {"!a", "'!a'"},
        {"|", "'|'"},
        {">", "'>'"},
        {"%a", "'%a'"},
        {"@a", "'@a'"},
        {"`a", "'`a'"},
        {"[a", "'[a'"},
        {"{a", "'{a'"},
        {"\"a", "'\"a'"},
        {"'a", "'''a'"},
        {"''a''", "'''''a'''''"},
        {"---", "'---'"},
        {"...", "'...'"},
        {"a\tb", R"("a\tb")"},
        {"a\r\nb", R"("a\r\nb")"},
        {"\n", R"("\n")"},
        {" a\nb", R"(" a\nb")"},
        {"a \nb", R"("a \nb")"},
        {"a\\\"\x01\nb", R"("a\\\"\u0001\nb")"},
        {"\0"sv, R"("\u0000")"},
        {"\x1b[31m", R"("\u001b[31m")"},
        {"a\x7f", R"("a\u007f")"},
        {"a\xc2\x85", R"("a\u0085")"},
        {"a\xe2\x80\xa8", R"("a\u2028")"},
        {"\xef\xbb\xbf", R"("\ufeff")"},
        {"a\xf0\x9f\xbf\xbf", R"("a\U0001ffff")"},
        // and these need none
        {"a", "a"},
        {"a:b", "a:b"},
        {"a#b", "a#b"},
        {"-a", "-a"},
        {":8080", ":8080"},
        {"--listen=:8080", "--listen=:8080"},
        {"1.2.3", "1.2.3"},
        {"10.0.0.1", "10.0.0.1"},
        {"10.0.0.0/8", "10.0.0.0/8"},
        {"64Mi", "64Mi"},
        {"500m", "500m"},
        {"0c0b6ff2-52a2-4fc9", "0c0b6ff2-52a2-4fc9"},
        {"it's", "it's"},
        {"truely", "truely"},
        {"é 😀", "é 😀"},
    };
    for (const auto& [text, printed] : rows) {
        EXPECT_EQ(yaml::print(text), fmt::format("{}\n", printed));
        EXPECT_EQ(yaml::parse(yaml::print(text)), (Result<Value, json::ParseError>{Value(text)})) << printed;
        const Value as_key = json::Object{{text, json::Object{{text, 1}}}};
        EXPECT_EQ(yaml::parse(yaml::print(as_key)), (Result<Value, json::ParseError>{as_key})) << printed;
        EXPECT_EQ(yaml::print(json::Object{{text, 1}}), fmt::format("{}: 1\n", printed));
    }
    EXPECT_EQ(yaml::print("bad \xff"), "\"bad \xef\xbf\xbd\"\n") << "what is no UTF-8 is repaired";
}

TEST(Yaml, TextsOfSeveralLinesAreBlocks) {
    const std::pair<std::string_view, std::string_view> rows[] = {
        {"a\nb", "k: |-\n  a\n  b\n"},
        {"a\nb\n", "k: |\n  a\n  b\n"},
        {"a\n\n", "k: |+\n  a\n\n"},
        {"a\n\nb\n", "k: |\n  a\n\n  b\n"},
        {"a\n  b\n c\n", "k: |\n  a\n    b\n   c\n"},
        {"#a\n- b\n", "k: |\n  #a\n  - b\n"},
    };
    for (const auto& [text, printed] : rows) {
        const Value value = json::Object{{"k", text}};
        EXPECT_EQ(yaml::print(value), printed);
        EXPECT_EQ(yaml::parse(printed), (Result<Value, json::ParseError>{value})) << printed;
    }
}

TEST(Yaml, LongKeysAreReadBack) {
    for (const std::size_t length : {127u, 999u, 1000u, 1001u, 1024u, 5000u}) {
        const Value value = json::Object{{"a", json::Object{{std::string(length, 'k'), json::Array{1}}, {"b", 2}}}};
        EXPECT_EQ(yaml::parse(yaml::print(value)), (Result<Value, json::ParseError>{value})) << length;
    }
}

TEST(Yaml, ScalarsResolveAsForKubectl) {
    const std::pair<std::string_view, std::string_view> rows[] = {
        {"1", "1"},
        {"-0", "-0"},
        {"1.50", "1.50"},
        {"1e3", "1e3"},
        {"123456789012345678901234567890", "123456789012345678901234567890"},
        {"+5", "5"},
        {"0x1F", "31"},
        {"-0x10", "-16"},
        {"0o17", "15"},
        {"017", "15"},
        {"08", "8"},
        {"0b101", "5"},
        {"1_000", "1000"},
        {"-0x8000000000000000", "-9223372036854775808"},
        {"0xffffffffffffffff", "18446744073709551615"},
        {"0x10000000000000000", "\"0x10000000000000000\""},
        {"+1.5", "1.5"},
        {".5", "0.5"},
        {"-.5e-3", "-0.5e-3"},
        {"1.", "1"},
        {"007.50", "7.50"},
        {"0x", "\"0x\""},
        {"0o8", "\"0o8\""},
        {".", "\".\""},
        {"1.2.3", "\"1.2.3\""},
        {"64Mi", "\"64Mi\""},
        {"2026-01-01", "\"2026-01-01\""},
        {"12:30", "\"12:30\""},
        {"y", "true"},
        {"Yes", "true"},
        {"ON", "true"},
        {"TRUE", "true"},
        {"n", "false"},
        {"off", "false"},
        {"tRue", "\"tRue\""},
        {"yEs", "\"yEs\""},
        {"null", "null"},
        {"~", "null"},
        {"nUll", "\"nUll\""},
        {"'1'", "\"1\""},
        {"\"yes\"", "\"yes\""},
        {"|-\n  1\n", "\"1\""},
        {"|\n  1\n", "\"1\\n\""},
        {"|\n  1", "\"1\""},
        {"|\n  1\n ", "\"1\\n\""},
        {"|\n  1\n# c", "\"1\\n\""},
        {">\n  1\n  2", "\"1 2\""},
        {"!!str 1", "\"1\""},
        {"! 1", "\"1\""},
        {"!!int 0x10", "16"},
        {"!!int '7'", "7"},
        {"!!float 1", "1"},
        {"!!bool yes", "true"},
        {"!!null ''", "null"},
        {"!!map {a: 1}", R"({"a":1})"},
        {"!!seq [a]", R"(["a"])"},
        {R"("\ud83d\ude00\x41\u00e9\n\/")", "\"😀Aé\\n/\""},
        {"{1: a, yes: b, 0x10: c, 1.5: d}", R"({"1":"a","true":"b","16":"c","1.5":"d"})"},
    };
    for (const auto& [text, json] : rows) EXPECT_EQ(as_json(text), json) << text;
}

TEST(Yaml, SingleQuotesAreUnquoted) {
    EXPECT_EQ(as_json("'a''''b'"), "\"a''b\"");
    EXPECT_EQ(as_json("''''''''"), "\"'''\"");
    EXPECT_EQ(as_json("''"), "\"\"");
    EXPECT_EQ(as_json("k: 'one  \n  two\n\n  three\r\n\r\n\r\n  four ''''  '\nl: 'x'"),
              R"({"k":"one two\nthree\n\nfour ''  ","l":"x"})");
    EXPECT_EQ(as_json("['a\n  b', ' \n ', '\n\nc']"), R"(["a b"," ","\nc"])");
}

TEST(Yaml, AnchorsAndMergesAreExpanded) {
    EXPECT_EQ(as_json("a: &x [1, 2]\nb: *x\nc: {d: *x}"), R"({"a":[1,2],"b":[1,2],"c":{"d":[1,2]}})");
    EXPECT_EQ(as_json("k: &k name\nv: {*k : 1}"), R"({"k":"name","v":{"name":1}})");
    EXPECT_EQ(as_json("base: &b {a: 1, b: 2}\nuse: {<<: *b, b: 3, c: 4}"),
              R"({"base":{"a":1,"b":2},"use":{"b":3,"c":4,"a":1}})");
    EXPECT_EQ(as_json("- &a {x: 1, w: 1}\n- &b {w: 2, z: 2}\n- <<: [*a, *b]\n  z: 3"),
              R"([{"x":1,"w":1},{"w":2,"z":2},{"z":3,"x":1,"w":1}])");
    EXPECT_EQ(as_json("'<<': 1"), R"({"<<":1})") << "a quoted key is a string";
    EXPECT_EQ(as_json("a: <<"), R"({"a":"<<"})");
}

TEST(Yaml, StreamsHoldManyDocuments) {
    const auto all = yaml::parse_all("# none\n---\n---\na: 1\n...\n---\n# empty\n---\n- b\n--- null\n--- |\n  c\n");
    ASSERT_TRUE(all.has_value()) << all.error().what;
    std::string shown;
    for (const Value& value : *all) shown += json::print(value) + ";";
    EXPECT_EQ(shown, R"({"a":1};["b"];null;"c\n";)");
    EXPECT_TRUE(yaml::parse_all("")->empty());
    EXPECT_TRUE(yaml::parse_all("\n# only a comment\n")->empty());
    EXPECT_EQ(yaml::parse("---\n").error().fault, Fault::Truncated);
    EXPECT_EQ(yaml::parse("a\n---\nb\n").error().fault, Fault::Trailing);
    EXPECT_EQ(as_json("\xef\xbb\xbf"
                      "a: 1"),
              R"({"a":1})")
        << "a byte order mark may come first";
}

TEST(Yaml, BadTextIsNamedWithItsPlace) {
    struct Bad {
        std::string_view text;
        Fault fault;
        std::size_t line, column;
    };
    const Bad rows[] = {
        {"a: b: c", Fault::Syntax, 1, 5},
        {"a:\n\t- b", Fault::Syntax, 2, 1},
        {"a: [1,\n", Fault::Truncated, 2, 1},
        {"a: 1\nb: }\n", Fault::Syntax, 2, 4},
        {"a: 1\nb:\n  c: 2\n  d: 3\n  c: 4\n", Fault::DuplicateKey, 5, 3},
        {"{1: a, '1': b}", Fault::DuplicateKey, 1, 9},
        {"<<: {a: 1}\n<<: {b: 1}", Fault::DuplicateKey, 2, 1},
        {"? [a]\n: b", Fault::Syntax, 1, 3},
        {"~: b", Fault::Syntax, 1, 1},
        {"<<: 1", Fault::Syntax, 1, 1},
        {"<<: [{a: 1}, 2]", Fault::Syntax, 1, 1},
        {"a: *x", Fault::Syntax, 1, 5},
        {"a: &x [*x]", Fault::Syntax, 1, 9},
        {"a: &x 1\n---\nb: *x", Fault::Syntax, 3, 5},
        {"a: !mine b", Fault::Syntax, 1, 10},
        {"a: !!int b", Fault::Syntax, 1, 10},
        {"a: !!binary aGk=", Fault::Syntax, 1, 13},
        {"a: !!map [1]", Fault::Syntax, 1, 10},
        {"a: .inf", Fault::Syntax, 1, 4},
        {"a: \"\\ud800\"", Fault::Syntax, 1, 5},
        {"a: \x01", Fault::Syntax, 1, 4},
        {"a: \xff", Fault::BadUtf8, 1, 4},
        {"\xff\xfe"
         "a",
         Fault::BadUtf8, 1, 1},
    };
    for (const Bad& row : rows) {
        const auto value = yaml::parse(row.text);
        ASSERT_FALSE(value.has_value()) << row.text;
        EXPECT_EQ(name(value.error().fault), name(row.fault)) << row.text;
        EXPECT_EQ(value.error().line, row.line) << row.text << ": " << value.error().what;
        EXPECT_EQ(value.error().column, row.column) << row.text << ": " << value.error().what;
        EXPECT_FALSE(value.error().what.empty()) << row.text;
    }
}

TEST(Yaml, SizeAndDepthHaveBounds) {
    EXPECT_EQ(yaml::parse("abcdef", {.bytes = 5}).error().fault, Fault::TooLarge);
    EXPECT_TRUE(yaml::parse("[[1]]", {.depth = 2}));
    EXPECT_TRUE(yaml::parse("--- [[],[],[],[],[]]", {.bytes = 20})) << "small limits do not count tokens";
    EXPECT_TRUE(yaml::parse("- - a", {.depth = 2}));
    EXPECT_EQ(yaml::parse("- - a", {.depth = 1}).error().fault, Fault::TooDeep);
    EXPECT_EQ(yaml::parse("[[1]]", {.depth = 1}).error().fault, Fault::TooDeep);
    EXPECT_EQ(yaml::parse(std::string(100'000, '[')).error().fault, Fault::TooDeep);
    EXPECT_EQ(yaml::parse(std::string(1'000'000, '[')).error().fault, Fault::TooLarge) << "before it takes much memory";
    std::string dashes;
    for (int i = 0; i < 5000; ++i) dashes += "- ";
    EXPECT_EQ(yaml::parse(dashes).error().fault, Fault::TooDeep);
    EXPECT_TRUE(yaml::parse("a: &x [[1]]\nb: [*x]", {.depth = 4}));
    EXPECT_EQ(yaml::parse("a: &x [[1]]\nb: [*x]", {.depth = 3}).error().fault, Fault::TooDeep);
}

TEST(Yaml, AliasesCannotGrowWithoutBound) {
    std::string laughs = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n";
    for (int i = 1; i < 10; ++i)
        laughs +=
            fmt::format("a{0}: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}]\n", i, i - 1);
    EXPECT_EQ(yaml::parse(laughs).error().fault, Fault::TooLarge);

    std::string merges = "m0: &m0 {k: v}\n";
    for (int i = 1; i < 40; ++i) merges += fmt::format("m{0}: &m{0} {{a: *m{1}, b: *m{1}, <<: *m{1}}}\n", i, i - 1);
    EXPECT_EQ(yaml::parse(merges).error().fault, Fault::TooLarge);

    std::string anchors;  // each anchor keeps a copy of everything inside it
    for (int i = 0; i < 60; ++i) anchors += fmt::format("&x{} [", i);
    anchors += "'" + std::string(1 << 18, 'x') + "'" + std::string(60, ']');
    EXPECT_EQ(yaml::parse(anchors).error().fault, Fault::TooLarge);
}

TEST(Yaml, RawPartsArePrinted) {
    const json::Raw raw{std::make_shared<const std::string>(R"({"a":[1]})")};
    EXPECT_EQ(yaml::print(json::Object{{"r", raw}}), "r:\n  a:\n  - 1\n");
    EXPECT_EQ(yaml::print(raw), "a:\n- 1\n");
}

TEST(Yaml, SaysOnWhichLineEachKeyStands) {
    const auto read = parse_located("a: 1\n# why\nlog:\n  level: info\n  deep: {x: 1,\n   z: 2}\nlist:\n- k: 1\n");
    ASSERT_TRUE(read);
    const std::map<std::string, std::size_t, std::less<>> lines{{"a", 1},        {"log", 3},        {"log.level", 4},
                                                                {"log.deep", 5}, {"log.deep.x", 5}, {"log.deep.z", 6},
                                                                {"list", 7},     {"list.k", 8}};
    EXPECT_EQ(read->lines, lines);
    EXPECT_EQ(read->value, *parse("{a: 1, log: {level: info, deep: {x: 1, z: 2}}, list: [{k: 1}]}"));
    EXPECT_EQ(parse_located("a: [").error(), parse("a: [").error()) << "the same faults";
    EXPECT_FALSE(parse_located("")) << "nothing is no document";
}

}  // namespace
}  // namespace rhizome::yaml
