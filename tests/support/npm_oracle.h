// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/json.h"
#include "base/result.h"
#include "runtime/environment.h"
#include "runtime/process.h"
#include "support/temp_folder.h"
#include "support/vectors.h"

namespace rhizome::test {

/// Somebody else's program as a judge: a script of tests/oracles that reads questions and prints answers, one JSON a
/// line, with the npm packages that it needs in a folder of its own.
class NpmOracle {
public:
    /// Unavailable, with why, where there is no node, no npm or no registry: then the test is skipped.
    Result<void> bring(const std::string& script, std::vector<std::string> packages) {
        const auto environment = runtime::Environment::of_process();
        const auto npm = environment.find_program("npm");
        const auto node = environment.find_program("node");
        if (!npm || !node) return fail(ErrorKind::Unavailable, "node and npm are not installed");
        node_ = node->string();
        std::vector<std::string> words{"install",   "--ignore-scripts", "--no-audit",
                                       "--no-fund", "--prefix",         folder_.path().string()};
        words.insert(words.end(), packages.begin(), packages.end());
        const auto installed = runtime::run_process({.program = npm->string(),
                                                     .arguments = std::move(words),
                                                     .deadline = milliseconds{120'000},
                                                     .output_max = 1u << 20});
        for (const std::string& package : packages)
            if (!installed ||
                !std::filesystem::exists(folder_ / "node_modules" / package.substr(0, package.rfind('@'))))
                return fail(ErrorKind::Unavailable,
                            fmt::format("npm could not install {}: no registry can be reached", package));
        script_ = folder_ / script;
        std::filesystem::copy_file(source_root() / "tests/oracles" / script, script_);
        return {};
    }

    /// An answer for each question.
    Result<std::vector<json::Value>> ask(const std::vector<json::Value>& questions) {
        std::string lines;
        for (const json::Value& one : questions) lines += json::print(one) + "\n";
        TRY(const auto end, runtime::run_process({.program = node_,
                                                  .arguments = {script_.string()},
                                                  .input = lines,
                                                  .deadline = milliseconds{240'000},
                                                  .output_max = 64u << 20}));
        if (end.exit_code != 0) return fail(ErrorKind::Failed, end.err);
        std::vector<json::Value> answers;
        std::string_view left = end.out;
        while (!left.empty()) {
            const std::size_t stop = std::min(left.find('\n'), left.size());
            auto answer = json::parse(left.substr(0, stop));
            if (!answer) return Fail{to_error(answer.error())};
            answers.push_back(*std::move(answer));
            left.remove_prefix(std::min(stop + 1, left.size()));
        }
        if (answers.size() != questions.size())
            return fail(ErrorKind::Failed, fmt::format("{} answers to {} questions", answers.size(), questions.size()));
        return answers;
    }

private:
    TempFolder folder_;
    std::string node_{};
    std::filesystem::path script_{};
};

}  // namespace rhizome::test
