// SPDX-License-Identifier: Apache-2.0
#include "cli/parser.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "cli/completion.h"
#include "cli/sample_tree.h"
#include "cli/testing.h"

namespace rhizome::cli {
namespace {

using Words = std::vector<std::string>;

/// One option in one of the ways it may be written. A value that begins with '=' cannot be told from `-t=value` when it
/// is attached to a letter.
Words spelled(const Option& option, const std::string& value, int way) {
    const std::string letter{'-', option.letter};
    const auto name = "--" + option.name;
    if (!option.takes_value()) return {way % 2 == 0 ? name : letter};
    switch (way) {
        case 0: return {name, value};
        case 1: return {name + "=" + value};
        case 2: return {letter, value};
        case 3: return {letter + "=" + value};
        default: return value.empty() || value.front() == '=' ? Words{letter, value} : Words{letter + value};
    }
}

TEST(ParserProperty, HoweverALineIsWrittenItsValuesAreRead) {
    const auto root = testing::sample_tree();
    const auto& command = *root.find("key")->find("new");
    const auto& type = command.options[0];
    const auto& label = command.options[1];
    const auto& force = command.options[3];
    const bool held = rc::check([&] {
        const auto arguments = *rc::gen::nonEmpty(rc::gen::arbitrary<Words>());
        const auto labels = *rc::gen::arbitrary<Words>();
        const bool forced = *rc::gen::arbitrary<bool>();
        const auto way = [] { return *rc::gen::inRange(0, 5); };
        std::vector<Words> pieces;
        for (const auto& text : labels) pieces.push_back(spelled(label, text, way()));
        if (forced) pieces.push_back(spelled(force, "", way()));
        pieces.push_back(spelled(type, "secp256k1", way()));
        // Arguments that look like options stand behind `--`; the others anywhere.
        std::size_t free = 0;
        while (free < arguments.size() && !arguments[free].starts_with('-')) ++free;

        Words words{"key", "new"};
        std::size_t used = 0;
        for (const auto& piece : pieces) {
            if (used < free && *rc::gen::arbitrary<bool>()) words.push_back(arguments[used++]);
            words.insert(words.end(), piece.begin(), piece.end());
        }
        words.emplace_back("--");
        words.insert(words.end(), arguments.begin() + static_cast<std::ptrdiff_t>(used), arguments.end());

        const auto parsed = parse(root, "rhizome", words, {});
        if (!parsed) RC_FAIL(parsed.error().message);
        const auto& values = parsed->values;
        RC_ASSERT(values.options.at("label") == labels);
        RC_ASSERT(values.options.at("force").size() == (forced ? 1u : 0u));
        RC_ASSERT(values.options.at("type") == Words{"secp256k1"});
        Words read = values.arguments.at("NAME");
        const auto& files = values.arguments.at("FILE");
        read.insert(read.end(), files.begin(), files.end());
        RC_ASSERT(read == arguments);
    });
    EXPECT_TRUE(held);
}

rc::Gen<Words> any_line() {
    const auto word = rc::gen::oneOf(
        rc::gen::element<std::string>("key", "new", "show", "fail", "help", "ann", "--type", "--type=ed25519", "-t",
                                      "-ft", "--label", "--label=", "-l", "--force", "-f", "--as=hex", "--color",
                                      "--help", "--", "-", "", "--version", "--unknown", "-z", "--force=x"),
        rc::gen::arbitrary<std::string>());
    return rc::gen::container<Words>(word);
}

TEST(ParserProperty, AnyLineRunsOrIsAUsageErrorAndCompletes) {
    const auto root = testing::sample_tree();
    testing::Harness harness;
    const bool held = rc::check([&] {
        const auto words = *any_line();
        const auto parsed = parse(root, "rhizome", words, {});
        if (!parsed) RC_ASSERT(parsed.error().kind == ErrorKind::Usage);
        const auto done = complete(root, words, harness.console);
        const std::string current = words.empty() ? "" : words.back();
        for (const auto& candidate : done.candidates) RC_ASSERT(candidate.value.starts_with(current));
    });
    EXPECT_TRUE(held);
}

}  // namespace
}  // namespace rhizome::cli
