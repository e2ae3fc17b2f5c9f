// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <gtest/gtest.h>

#include <fmt/format.h>  // clang 14 finds no format_to in the library

#include "base/ids.h"

namespace rhizome {
namespace {

using namespace std::chrono_literals;
using PeerId = Id<struct PeerIdTag, 8>;
using Height = Count<struct HeightTag>;

constexpr Time kNow = Time::from_unix_millis(1'763'242'051'250);

/// Keeps formatted lines, as a host's sink would print them.
class LineSink final : public LogSink {
public:
    void write(const LogRecord& record) override {
        texts.push_back(to_text_line(record, kNow));
        jsons.push_back(to_json_line(record, kNow));
    }
    std::vector<std::string> texts, jsons;
};

/// A field's value as the text line shows it.
std::string shown(const LogField& field) {
    const std::string line = to_text_line({LogLevel::Info, "", "e", {&field, 1}}, kNow);
    return line.substr(line.find("e v=") + 4);
}

TEST(Log, ARecordIsAnEventAndFields) {
    LineSink sink;
    const Log log{sink};
    const auto id = *PeerId::from_hex("0123456789abcdef");
    const ErrorKind why = ErrorKind::Unavailable;
    const std::string text = "10.0.0.1:6444";
    log.info("peer dropped", {{"peer", id}, {"why", why}, {"at", text}, {"height", Height{7}}});
    log.area("p2p").warn("slow", {{"after", 1500ms}, {"retry", true}, {"left", -3}, {"most", UINT64_MAX}});
    log.error("stopped");
    EXPECT_EQ(
        sink.texts[0],
        "2025-11-15T21:27:31.250Z info  peer dropped peer=0123456789abcdef why=Unavailable at=10.0.0.1:6444 height=7");
    EXPECT_EQ(sink.texts[1],
              "2025-11-15T21:27:31.250Z warn  p2p: slow after=1s500ms retry=true left=-3 most=18446744073709551615");
    EXPECT_EQ(sink.texts[2], "2025-11-15T21:27:31.250Z error stopped");
    EXPECT_EQ(sink.jsons[0], R"({"time":"2025-11-15T21:27:31.250Z","level":"info","event":"peer dropped","fields":)"
                             R"({"peer":"0123456789abcdef","why":"Unavailable","at":"10.0.0.1:6444","height":"7"}})");
    EXPECT_EQ(sink.jsons[1],
              R"({"time":"2025-11-15T21:27:31.250Z","level":"warn","area":"p2p","event":"slow","fields":)"
              R"({"after":"1s500ms","retry":true,"left":-3,"most":18446744073709551615}})");
    EXPECT_EQ(sink.jsons[2], R"({"time":"2025-11-15T21:27:31.250Z","level":"error","event":"stopped"})");
}

TEST(Log, EveryTypeOfFieldHasItsValue) {
    const char* const pointer = "pointer";
    const std::string_view view = "view";
    const Error error{ErrorKind::Denied, "no key"};
    EXPECT_EQ(LogField("k", "literal").value(), LogValue("literal"));
    EXPECT_EQ(LogField("k", pointer).value(), LogValue("pointer"));
    EXPECT_EQ(LogField("k", view).value(), LogValue("view"));
    EXPECT_EQ(LogField("k", error).value(), LogValue("no key"));
    EXPECT_EQ(LogField("k", false).value(), LogValue(false));
    EXPECT_EQ(LogField("k", std::uint8_t{200}).value(), LogValue(std::uint64_t{200}));
    EXPECT_EQ(LogField("k", std::int16_t{-2}).value(), LogValue(std::int64_t{-2}));
    EXPECT_EQ(LogField("k", 2min).value(), LogValue(microseconds{120'000'000}));
    EXPECT_EQ(LogField("k", kNow).value(), LogValue("2025-11-15T21:27:31.250Z"));
    EXPECT_EQ(LogField("key", 1).key(), "key");
}

TEST(Log, LevelsAreFiltered) {
    MemorySink sink;
    for (const auto& [level, count] : std::initializer_list<std::pair<LogLevel, std::size_t>>{
             {LogLevel::Error, 1}, {LogLevel::Warn, 2}, {LogLevel::Info, 3}, {LogLevel::Debug, 4}}) {
        sink.clear();
        const Log log{sink, {.level = level, .debug_areas = {}}};
        log.error("e");
        log.warn("w");
        log.info("i");
        log.debug("d");
        EXPECT_EQ(sink.entries().size(), count) << name(level);
        EXPECT_EQ(log_level_from(name(level)), level);
    }
    EXPECT_EQ(log_level_from("loud"), std::nullopt);
}

TEST(Log, DebugIsLetThroughByArea) {
    MemorySink sink;
    const Log log{sink, {.level = LogLevel::Warn, .debug_areas = {"p2p"}}};
    log.debug("none");
    log.area("p2p").debug("some");
    log.area("p2p.relay").debug("some");
    log.area("p2px").debug("none");
    log.area("p2p").area("api").debug("none");
    EXPECT_EQ(sink.count("some"), 2u);
    EXPECT_EQ(sink.count("none"), 0u);
    EXPECT_EQ(sink.entries().back().area, "p2p.relay");
}

struct Counted {
    int* formatted;
};

}  // namespace
}  // namespace rhizome

template <>
struct fmt::formatter<rhizome::Counted> {
    constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
    template <class Context>
    auto format(const rhizome::Counted& counted, Context& context) const {
        ++*counted.formatted;
        return fmt::format_to(context.out(), "counted");
    }
};

namespace rhizome {
namespace {

TEST(Log, NothingIsFormattedWhenTheLevelIsOff) {
    int formatted = 0;
    MemorySink sink;
    const Log log{sink};
    log.debug("dear", {{"value", Counted{&formatted}}});
    EXPECT_EQ(formatted, 0);
    EXPECT_FALSE(log.on(LogLevel::Debug));
    log.info("dear", {{"value", Counted{&formatted}}});
    EXPECT_EQ(formatted, 1);
    EXPECT_EQ(sink.entries().at(0).fields.at(0).second, LogValue("counted"));
}

TEST(Log, ALogWithoutASinkIsSilent) {
    const Log log;
    log.error("nobody hears", {{"n", 1}});
    EXPECT_FALSE(log.area("x").on(LogLevel::Error));
}

TEST(Log, StrangersCannotForgeLinesOrFields) {
    using namespace std::string_view_literals;
    const std::pair<std::string_view, std::string_view> rows[] = {
        {"plain", "plain"},
        {"a/b:c-d_e.f@1", "a/b:c-d_e.f@1"},
        {"grün", "grün"},
        {"", R"("")"},
        {"two words", R"("two words")"},
        {"a=b", R"("a=b")"},
        {"say \"hi\"", R"("say \"hi\"")"},
        {"back\\slash", R"("back\\slash")"},
        {"x\n2025-11-15T21:27:31.250Z info  forged", R"("x\n2025-11-15T21:27:31.250Z info  forged")"},
        {"\r", R"("\r")"},
        {"\t", R"("\t")"},
        {"\x1b[2J", R"("\u001b[2J")"},
        {"\xc2\x9b"
         "2J",
         R"("\u009b2J")"},
        {"\x7f", R"("\u007f")"},
        {"a\0b"sv, R"("a\u0000b")"},
        {"a\xff", R"("a\xff")"},
        {"abc\xe2\x80\xae"
         "def",
         R"("abc\u202edef")"},
        {"zero\xe2\x80\x8bwidth", R"("zero\u200bwidth")"},
        {"\xe2\x80\xa8", R"("\u2028")"},
        {"\xf3\xa0\x81\x81", R"("\U000e0041")"},
        {"no\xc2\xa0"
         "break",
         "\"no\xc2\xa0"
         "break\""},
    };
    for (const auto& [value, line] : rows) EXPECT_EQ(shown({"v", value}), line);
}

TEST(Log, LongValuesAreCut) {
    const std::string text(5000, 'x');
    EXPECT_EQ(shown({"v", text}), fmt::format("{}…", text.substr(0, kLogValueBytesMax)));
    std::string wide = "a";
    for (int i = 0; i < 1000; ++i) wide += "é";
    EXPECT_EQ(shown({"v", wide}), fmt::format("{}…", wide.substr(0, kLogValueBytesMax - 1)));
    const LogField field{"v", wide};
    EXPECT_TRUE(to_json_line({LogLevel::Info, "", "e", {&field, 1}}, kNow)
                    .ends_with(fmt::format("\"fields\":{{\"v\":\"{}…\"}}}}", wide.substr(0, kLogValueBytesMax - 1))));
}

TEST(Log, JsonLinesAreOneLine) {
    const LogField fields[] = {{"v", "a\nb\x1b\xff"}, {"v", 2}};
    const std::string line = to_json_line({LogLevel::Info, "", "e", fields}, kNow);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    EXPECT_TRUE(line.ends_with(R"("fields":{"v":2}})")) << "a key stands once: " << line;
    const std::string first = to_json_line({LogLevel::Info, "", "e", {fields, 1}}, kNow);
    EXPECT_TRUE(first.ends_with("{\"v\":\"a\\nb\\u001b\xef\xbf\xbd\"}}")) << first;
}

}  // namespace
}  // namespace rhizome
