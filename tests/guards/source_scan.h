// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

/// Reads the source tree as text, for the tests that keep the map true: who includes whom, and which words deciding
/// files may not contain.
namespace rhizome::guards {

struct SourceFile {
    std::string path;  ///< below src/, with forward slashes: `ledger/io/plots.cpp`
    std::string text;

    [[nodiscard]] std::string module() const;  ///< `ledger`
    [[nodiscard]] bool is_header() const;
    [[nodiscard]] bool is_test() const;  ///< `_test`, `_bench`, `_fuzz`: may use what the world offers
    [[nodiscard]] bool in_io() const;    ///< below the module's io/
};

/// All .h and .cpp files below `src`, sorted.
std::vector<SourceFile> read_sources(const std::filesystem::path& src);

/// The text with comments, strings and character literals blanked out, newlines kept, so that words and lines found in
/// it are code.
std::string code_only(std::string_view text);
/// The same with strings kept: what a test tells a shell is in them.
std::string without_comments(std::string_view text);

struct Include {
    std::size_t line;
    bool quoted;  ///< "x/y.h" rather than <x>
    std::string target;
};
std::vector<Include> includes_of(std::string_view text);

/// `src/layers.txt`.
struct Layers {
    std::map<std::string, std::set<std::string>> may_include;  ///< `ledger`, `market/io`
    std::set<std::string> acts;
};
/// Lines that cannot be read are added to `faults`.
Layers parse_layers(std::string_view text, std::vector<std::string>& faults);

/// Every breach as a sentence `path:line: what and why`.
std::vector<std::string> layer_breaches(const std::vector<SourceFile>& files, const Layers& layers);
std::vector<std::string> header_breaches(const std::vector<SourceFile>& files, const Layers& layers);
std::vector<std::string> word_breaches(const std::vector<SourceFile>& files, const Layers& layers);
/// Suites in `x_<label>_test.cpp` end in that label, and only those: otherwise ctest's filters would miss them.
std::vector<std::string> suite_breaches(const std::vector<SourceFile>& files, const std::vector<std::string>& labels);
/// Tests, and what supports them below `tests/`, take chance from support/seed.h (CI decides the same twice) and wait
/// with support/waiting.h (for a state, not for a while).
std::vector<std::string> chance_breaches(const std::vector<SourceFile>& files);

}  // namespace rhizome::guards
