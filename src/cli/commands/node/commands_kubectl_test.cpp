// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <sstream>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "support/golden.h"
#include "support/kubectl_world.h"
#include "support/vectors.h"

/// Every command of docs/spec/kubernetes.md, appendix A, that needs no controller.
namespace rhizome::cli {
namespace {

/// A line of tests/vectors/kubectl/commands.txt, whose head says how lines are written.
struct Line {
    std::vector<std::string> words{};
    std::string manifest{};
    bool headings_only = false;
};

std::optional<Line> line_of(std::string_view text) {
    if (text.empty() || text.starts_with('#')) return std::nullopt;
    Line line;
    line.headings_only = text.starts_with("~ ");
    if (line.headings_only) text.remove_prefix(2);
    bool quoted = false;
    bool open = false;
    for (const char c : text) {
        if (c == '\'') {
            quoted = !quoted;
        } else if (c == ' ' && !quoted) {
            open = false;
            continue;
        } else {
            if (!open) line.words.emplace_back();
            line.words.back() += c;
        }
        open = true;
    }
    const std::size_t count = line.words.size();
    if (count >= 2 && line.words[count - 2] == "<") {
        line.manifest = line.words.back();
        line.words.resize(count - 2);
    }
    return line;
}

/// The words before the first colon of lines that are not indented.
std::string headings(const std::string& text) {
    std::string out;
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);)
        if (!line.empty() && line.front() != ' ') out += line.substr(0, line.find(':')) + "\n";
    return out;
}

class CommandsKubectl : public test::KubectlWorld {
protected:
    /// All of the session against whichever context is the current one.
    void play();
};

void CommandsKubectl::play() {
    const auto folder = test::source_root() / "tests/vectors/kubectl";
    editor_ = "sed -i s/hello/edited/";
    std::istringstream lines{*test::read_file(folder / "commands.txt")};
    for (std::string text; std::getline(lines, text);) {
        const auto line = line_of(text);
        if (!line) continue;
        std::string input;
        if (!line->manifest.empty()) {
            const auto manifest = test::read_file(folder / "manifests" / (line->manifest + ".yaml"));
            ASSERT_TRUE(manifest) << text;
            input = *manifest;
        }
        const auto end = kubectl(line->words, input);
        transcript_ += "$ kubectl " + text + "\n";
        transcript_ += line->headings_only ? headings(end.out) : plain(end.out);
        transcript_ += plain(end.err) + fmt::format("[{}]\n", end.exit_code);
    }
}

TEST_F(CommandsKubectl, AreAnsweredByOneNode) {
    found("n1");
    play();
    test::expect_golden("kubectl/commands-answered.txt", transcript_);
}

TEST_F(CommandsKubectl, AreAnsweredAlikeByThree) {
    found("n1");
    join("n2", "n1");
    join("n3", "n1");
    (void)kubectl({"config", "use-context", "n1"});
    play();
    if (std::getenv("RHIZOME_WRITE_GOLDEN") != nullptr) return;  // one node writes it
    test::expect_golden("kubectl/commands-answered.txt", transcript_);
}

}  // namespace
}  // namespace rhizome::cli
