// SPDX-License-Identifier: Apache-2.0
// The one program of all fuzz targets (CONTRIBUTING.md).
//
//     rhizome_fuzz list                        the targets' names
//     rhizome_fuzz NAME [libFuzzer options]    fuzzes one
//     rhizome_fuzz replay [DIR] [NAME…]        gives all of them, or those named, no bytes and what DIR/NAME/ holds
//                                              (default tests/fuzz)
//
// libFuzzer has the main function and calls LLVMFuzzerInitialize first, which takes our words out of the arguments.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "support/fuzz_table.h"

namespace rhizome::test {
namespace {

// libFuzzer starts itself again for -jobs, -merge and -minimize_crash, with the arguments it saw: the name is here.
constexpr const char* kNameVariable = "RHIZOME_FUZZ_TARGET";
// As long as `./run fuzz` gives one input.
constexpr unsigned kInputSecondsMax = 10;

const FuzzTarget* g_chosen = nullptr;  // libFuzzer's callback has no argument for it

[[noreturn]] void die(const std::string& why) {
    fmt::print(stderr, "error: {}\n", why);
    std::exit(2);
}

/// The target of that name; `_fuzz` may be left out.
const FuzzTarget* find_target(std::string_view name) {
    for (const FuzzTarget& target : fuzz_targets())
        if (target.name == name || target.name == std::string{name} + "_fuzz") return &target;
    return nullptr;
}

const FuzzTarget& target_or_die(std::string_view name) {
    if (const FuzzTarget* target = find_target(name)) return *target;
    std::string names;
    for (const FuzzTarget& target : fuzz_targets()) names += fmt::format(" {}", target.name);
    die(fmt::format("there is no fuzz target \"{}\"\n  one of:{}", name, names));
}

// ---- replay ------------------------------------------------------------------------------------------------------

std::vector<std::filesystem::path> recorded_inputs(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    if (!std::filesystem::is_directory(folder)) return files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
        if (entry.is_regular_file()) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

/// Exactly as much memory as there are bytes, so that reading past them is noticed; a place even for none, as
/// libFuzzer.
void run_bytes(const FuzzTarget& target, std::string_view bytes) {
    const auto exact = std::make_unique<std::uint8_t[]>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), exact.get());
    (void)target.run(exact.get(), bytes.size());
}

void run_file(const FuzzTarget& target, const std::filesystem::path& file) {
    std::ifstream in{file, std::ios::binary};
    const std::string text{std::istreambuf_iterator<char>{in}, {}};
    if (!in) die(fmt::format("{} cannot be read", file.string()));
    run_bytes(target, text);
}

struct Progress {
    std::size_t inputs_done;
};

/// Each target in a process of its own, so that one that stops does not hide the others.
bool replay(const FuzzTarget& target, const std::filesystem::path& folder, Progress& progress) {
    const auto files = recorded_inputs(folder / target.name);
    progress.inputs_done = 0;
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child < 0) die("no process could be started");
    if (child == 0) {
        ::alarm(kInputSecondsMax);
        run_bytes(target, "");
        for (const auto& file : files) {
            ++progress.inputs_done;
            ::alarm(kInputSecondsMax);
            run_file(target, file);
        }
        ::alarm(kInputSecondsMax);
        std::exit(0);  // and not _exit: leaks are looked for here
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    const bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    const std::size_t at = progress.inputs_done;
    const bool late = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    const std::string what = good ? fmt::format("clean, {} recorded inputs", files.size())
                                  : fmt::format("FAILED{}: {}", late ? ", too slow" : "",
                                                at == 0 ? std::string{"the empty input"} : files[at - 1].string());
    fmt::print("{:<22} {}\n", target.name, what);  // as wide as the rows of ./run fuzz
    return good;
}

[[noreturn]] void replay_all(const std::vector<std::string>& arguments) {
    std::filesystem::path folder = "tests/fuzz";
    auto names = arguments.begin();
    if (names != arguments.end() && std::filesystem::is_directory(*names)) folder = *names++;
    std::vector<const FuzzTarget*> chosen;
    for (; names != arguments.end(); ++names) chosen.push_back(&target_or_die(*names));
    if (chosen.empty()) {
        for (const FuzzTarget& target : fuzz_targets()) chosen.push_back(&target);
        if (!std::filesystem::is_directory(folder)) die(fmt::format("there is no folder {}", folder.string()));
        // A misspelt folder would be forgotten without a word.
        for (const auto& entry : std::filesystem::directory_iterator(folder))
            if (find_target(entry.path().filename().string()) == nullptr)
                die(fmt::format("{} belongs to no fuzz target", entry.path().string()));
    }
    void* shared =
        ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, /*fd=*/-1, /*offset=*/0);
    if (shared == MAP_FAILED) die("no memory to share with the processes");
    auto& progress = *new (shared) Progress{};
    std::size_t failed = 0;
    for (const FuzzTarget* target : chosen)
        if (!replay(*target, folder, progress)) ++failed;
    fmt::print("{} passed, {} failed\n", chosen.size() - failed, failed);
    std::exit(failed == 0 ? 0 : 1);
}

void choose(int* argc, char** argv) {
    if (const char* inherited = std::getenv(kNameVariable)) {
        g_chosen = &target_or_die(inherited);
        return;
    }
    const std::string_view word = *argc > 1 ? argv[1] : "";
    if (word == "list") {
        for (const FuzzTarget& target : fuzz_targets()) fmt::print("{}\n", target.name);
        std::exit(0);
    }
    if (word == "replay") replay_all({argv + 2, argv + *argc});
    if (word.empty() || word.starts_with('-'))
        die("say what to do\n  rhizome_fuzz list | NAME [libFuzzer options] | replay [DIR] [NAME…]");
    g_chosen = &target_or_die(word);
    ::setenv(kNameVariable, g_chosen->name, /*replace=*/1);
    std::copy(argv + 2, argv + *argc + 1, argv + 1);  // with the null at the end
    --*argc;
}

}  // namespace
}  // namespace rhizome::test

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv);
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
    rhizome::test::choose(argc, *argv);
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return rhizome::test::g_chosen->run(data, size);
}
