// SPDX-License-Identifier: Apache-2.0
#include "guards/source_scan.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>

#include <fmt/core.h>

namespace rhizome::guards {
namespace {

bool has_suffix_before_extension(const std::string& path, std::string_view suffix) {
    return path.size() > suffix.size() + 4 && path.ends_with(std::string{suffix} + ".cpp");
}

std::size_t line_at(std::string_view text, std::size_t offset) {
    return 1 +
           static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
}

std::set<std::string> words_of(const std::string& text) {
    std::istringstream in{text};
    return {std::istream_iterator<std::string>{in}, {}};
}

/// A deciding file: not a test, not in an acting module, not in an io/ folder.
bool decides(const SourceFile& file, const Layers& layers) {
    return !file.is_test() && !file.in_io() && !layers.acts.contains(file.module());
}

struct Forbidden {
    const char* pattern;
    const char* why;
};
const Forbidden kForbidden[] = {
    {R"(\b(system_clock|steady_clock|high_resolution_clock|utc_clock|clock_gettime|gettimeofday|localtime\w*|gmtime\w*)\b)",
     "asks a clock: the host hands the time in"},
    {R"(\b(std::time|time)\s*\(\s*(nullptr|NULL|0)?\s*\))", "asks a clock: the host hands the time in"},
    {R"(\b(random_device|mt19937\w*|default_random_engine|s?rand48|getrandom|getentropy|arc4random\w*|randombytes\w*|RAND_bytes)\b)",
     "draws randomness of its own: a seed or entropy is handed in"},
    {R"(\bs?rand\s*\()", "draws randomness of its own: a seed or entropy is handed in"},
    {R"(\b(secure_getenv|getenv|setenv|environ)\b)", "reads the environment"},
    {R"(\b(std::j?thread|std::async|std::(\w*_)?mutex|std::condition_variable\w*|std::future|std::promise|pthread_\w+|sleep_for|sleep_until|usleep|nanosleep|thread_local)\b)",
     "uses threads: heavy work goes through base/parallel.h"},
    {R"(\b(socket|accept4?|recv(from|msg)?|send(to|msg)|epoll_\w+|setsockopt|getaddrinfo)\s*\()", "uses sockets"},
    {R"(\basio::)", "uses sockets"},
    {R"(\b(std::[io]?fstream|std::filesystem|fopen|freopen|popen|mmap|fsync|fdatasync|opendir)\b)", "touches files"},
    {R"(\b(float|double)\b)", "uses floating point: machines may round differently"},
    {R"(\b(std::locale|setlocale|std::stod|std::stof|strtod|strtof|std::regex)\b)",
     "depends on the locale, on rounding, or on an unbounded matcher"},
};

/// What tests do only in the helpers: chance from support/seed.h and support/fresh.h, waiting in support/waiting.h.
struct Helped {
    const char* pattern;
    bool in_strings;  ///< what stands in strings counts, too
    const char* why;
};
const Helped kHelped[] = {
    {R"(\b(random_device|mt19937\w*|default_random_engine|minstd_rand0?|ranlux\w+|knuth_b|[dlejmn]rand48|s?rand48|getrandom|getentropy|arc4random\w*|randombytes\w*|RAND_bytes|runtime::fill_with_entropy)\b|(^|[^\w.>])(s?rand(om)?|random_number)\s*\(\s*\))",
     false, "draws by itself: support/seed.h gives the seed of this run, support/fresh.h keys and nonces"},
    {R"(/dev/u?random\b|\bRC_PARAMS\b)", true, "draws by itself: support/seed.h gives the seed of this run"},
    {R"(\b(Random|[Ss]eed\w*)\s*(\w+\s*)?[={(][^;]*\b(now|time|clock|getpid|get_id|time_since_epoch)\s*\()", false,
     "takes its seed from the time or the process: support/seed.h gives the seed of this run"},
    {R"(\bint\s+main\s*\()", false, "has a main of its own, which gives RapidCheck no seed"},
    {R"(\b(sleep_for|sleep_until|usleep|nanosleep|clock_nanosleep|pthread_delay_np)\b|(^|[^\w.>])sleep\s*\()", false,
     "sleeps: support/waiting.h waits for a state, or lets time pass and says why"},
    {R"(\bp?poll\s*\(\s*(nullptr|NULL|0)\s*,|\b(p?select)\s*\(\s*0\s*,)", false,
     "sleeps: support/waiting.h waits for a state, or lets time pass and says why"},
    {R"((^|[\s/;&|("'])sleep(\s+[0-9.$]|"|\s+infinity))", true,
     "lets a shell sleep: wait for what it does; a program that goes on until it is ended is `tail -f /dev/null`"},
};
/// The helpers, and the tests of what they stand on.
bool may_draw_or_wait(const SourceFile& file) {
    static const std::set<std::string> helpers{
        "tests/support/seed.cpp",     "tests/support/seed.h",     "tests/support/fresh.h",
        "tests/support/main.cpp",     "tests/support/waiting.h",  "tests/support/waiting_task.h",
        "tests/guards/seed_test.cpp", "runtime/entropy_test.cpp",
    };
    return helpers.contains(file.path);
}

/// Names declared as unordered containers in `code`.
std::set<std::string> unordered_names(const std::string& code) {
    std::set<std::string> names;
    static const std::regex start{R"(\bunordered_(multi)?(map|set)\s*<)"};
    for (std::sregex_iterator at{code.begin(), code.end(), start}, end; at != end; ++at) {
        auto position = static_cast<std::size_t>(at->position() + at->length());
        for (int depth = 1; depth > 0 && position < code.size(); ++position) {
            if (code[position] == '<') ++depth;
            if (code[position] == '>') --depth;
        }
        static const std::regex name{R"(^[\s&*]*([A-Za-z_]\w*)\s*[;={(,)])"};
        std::smatch match;
        const std::string rest = code.substr(position, 200);
        if (std::regex_search(rest, match, name)) names.insert(match[1]);
    }
    return names;
}

}  // namespace

std::string SourceFile::module() const { return path.substr(0, path.find('/')); }
bool SourceFile::is_header() const { return path.ends_with(".h"); }
bool SourceFile::is_test() const {
    return has_suffix_before_extension(path, "_test") || has_suffix_before_extension(path, "_bench") ||
           has_suffix_before_extension(path, "_fuzz");
}
bool SourceFile::in_io() const { return path.find("/io/") != std::string::npos; }

std::vector<SourceFile> read_sources(const std::filesystem::path& src) {
    std::vector<SourceFile> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{src}) {
        const auto extension = entry.path().extension();
        if (!entry.is_regular_file() || (extension != ".h" && extension != ".cpp")) continue;
        std::ifstream in{entry.path(), std::ios::binary};
        files.push_back({std::filesystem::relative(entry.path(), src).generic_string(),
                         std::string{std::istreambuf_iterator<char>{in}, {}}});
    }
    std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
    return files;
}

namespace {

std::string stripped(std::string_view text, bool keep_strings) {
    std::string code{text};
    const auto blank = [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < std::min(to, code.size()); ++i)
            if (code[i] != '\n') code[i] = ' ';
    };
    for (std::size_t i = 0; i < text.size();) {
        const std::string_view rest = text.substr(i);
        std::size_t end = i + 1;
        if (rest.starts_with("//")) {
            end = std::min(text.find('\n', i), text.size());
            blank(i, end);
        } else if (rest.starts_with("/*")) {
            const std::size_t close = text.find("*/", i + 2);
            end = close == std::string_view::npos ? text.size() : close + 2;
            blank(i, end);
        } else if (rest.starts_with("R\"")) {
            const std::size_t open = text.find('(', i);
            const std::string close = ")" + std::string{text.substr(i + 2, open - i - 2)} + "\"";
            const std::size_t at = text.find(close, open);
            end = at == std::string_view::npos ? text.size() : at + close.size();
            if (!keep_strings) blank(i, end);
        } else if (rest[0] == '"' ||
                   (rest[0] == '\'' && (i == 0 || !std::isalnum(static_cast<unsigned char>(text[i - 1]))))) {
            while (end < text.size() && text[end] != rest[0]) end += text[end] == '\\' ? 2 : 1;
            ++end;
            if (!keep_strings) blank(i + 1, end - 1);
        }
        i = end;
    }
    return code;
}

}  // namespace

std::string code_only(std::string_view text) { return stripped(text, false); }
std::string without_comments(std::string_view text) { return stripped(text, true); }

std::vector<Include> includes_of(std::string_view text) {
    std::vector<Include> found;
    static const std::regex pattern{R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])"};
    std::istringstream in{std::string{text}};
    std::string line;
    for (std::size_t number = 1; std::getline(in, line); ++number) {
        std::smatch match;
        if (std::regex_search(line, match, pattern)) found.push_back({number, match[1] == "\"", match[2]});
    }
    return found;
}

Layers parse_layers(std::string_view text, std::vector<std::string>& faults) {
    Layers layers;
    std::istringstream in{std::string{text}};
    std::string line;
    for (std::size_t number = 1; std::getline(in, line); ++number) {
        line = line.substr(0, line.find('#'));
        if (line.find_first_not_of(" \t") == std::string::npos) continue;
        const auto colon = line.find(':');
        if (colon == std::string::npos) {
            faults.push_back(fmt::format("layers.txt:{}: no colon", number));
            continue;
        }
        const std::string subject = line.substr(0, colon);
        const auto words = words_of(line.substr(colon + 1));
        if (subject == "acts") {
            layers.acts = words;
        } else if (!layers.may_include.emplace(subject, words).second) {
            faults.push_back(fmt::format("layers.txt:{}: {} stands twice", number, subject));
        }
    }
    for (const auto& [subject, targets] : layers.may_include)
        for (const auto& target : targets)
            if (!layers.may_include.contains(target))
                faults.push_back(fmt::format("layers.txt: {} may include {}, which is no module", subject, target));
    return layers;
}

std::vector<std::string> layer_breaches(const std::vector<SourceFile>& files, const Layers& layers) {
    std::vector<std::string> breaches;
    for (const SourceFile& file : files) {
        const std::string module = file.module();
        const auto own = layers.may_include.find(module);
        if (own == layers.may_include.end()) {
            breaches.push_back(fmt::format("{}: {} is no module of layers.txt", file.path, module));
            continue;
        }
        std::set<std::string> allowed = own->second;
        allowed.insert(module);
        if (const auto io = layers.may_include.find(module + "/io"); file.in_io() && io != layers.may_include.end())
            allowed.insert(io->second.begin(), io->second.end());
        for (const Include& include : includes_of(file.text)) {
            if (!include.quoted) continue;
            const auto at = [&](std::string_view why) {
                breaches.push_back(
                    fmt::format("{}:{}: includes \"{}\": {}", file.path, include.line, include.target, why));
            };
            const std::string target = include.target.substr(0, include.target.find('/'));
            if (include.target.find('/') == std::string::npos) {
                at("includes start at src/, as \"module/file.h\"");
            } else if (file.is_test() && !layers.may_include.contains(target)) {
                continue;  // helpers below tests/
            } else if (!layers.may_include.contains(target)) {
                at(target + " is no module of layers.txt");
            } else if (target != module && include.target.find("/detail/") != std::string::npos) {
                at("detail/ is private to its module");
            } else if (file.is_test()) {
                continue;  // tests and benchmarks may bring real parts from anywhere
            } else if (!allowed.contains(target)) {
                at(fmt::format("{} may not include {} (src/layers.txt)", module, target));
            } else if (include.target.find("/io/") != std::string::npos && !file.in_io() &&
                       !layers.acts.contains(module)) {
                at("a deciding file never includes an acting one");
            } else if (include.target.find("/io/") != std::string::npos && target != module && module != "node") {
                at("only node joins the acting halves of features");
            }
        }
    }
    return breaches;
}

std::vector<std::string> header_breaches(const std::vector<SourceFile>& files, const Layers& layers) {
    // Heavy headers stay in .cpp files: docs/spec/dependencies.md. The system's own C headers are cheap, but only
    // acting headers and a module's private ones have a use for them.
    static const std::set<std::string> allowed{"fmt/core.h", "boost/json/fwd.hpp", "boost/asio/awaitable.hpp"};
    std::vector<std::string> breaches;
    for (const SourceFile& file : files) {
        if (!file.is_header()) continue;
        if (file.text.find("#pragma once") == std::string::npos)
            breaches.push_back(fmt::format("{}: no #pragma once", file.path));
        for (const Include& include : includes_of(file.text)) {
            const bool plain = include.target.find('/') == std::string::npos;
            const bool standard = plain && !include.target.ends_with(".h");
            const bool system = plain || include.target.starts_with("sys/");
            const bool may_use_system =
                layers.acts.contains(file.module()) || file.path.find("/detail/") != std::string::npos;
            if (system && may_use_system) continue;
            if (!include.quoted && !standard && !allowed.contains(include.target))
                breaches.push_back(fmt::format("{}:{}: <{}> is dear or not ours: include it in the .cpp", file.path,
                                               include.line, include.target));
        }
    }
    return breaches;
}

std::vector<std::string> word_breaches(const std::vector<SourceFile>& files, const Layers& layers) {
    std::vector<std::string> breaches;
    std::map<std::string, std::string> code_of;
    for (const SourceFile& file : files) code_of[file.path] = code_only(file.text);
    for (const SourceFile& file : files) {
        if (!decides(file, layers)) continue;
        const std::string& code = code_of[file.path];
        const auto report = [&](std::ptrdiff_t offset, std::string_view what, std::string_view why) {
            breaches.push_back(
                fmt::format("{}:{}: `{}` {}", file.path, line_at(code, static_cast<std::size_t>(offset)), what, why));
        };
        for (const Forbidden& forbidden : kForbidden) {
            const std::regex pattern{forbidden.pattern};
            for (std::sregex_iterator at{code.begin(), code.end(), pattern}, end; at != end; ++at)
                report(at->position(), at->str(), forbidden.why);
        }
        // Members declared in the header of the same name are walked in the .cpp.
        std::set<std::string> names = unordered_names(code);
        if (!file.is_header()) {
            const auto header = code_of.find(file.path.substr(0, file.path.size() - 3) + "h");
            if (header != code_of.end()) names.merge(unordered_names(header->second));
        }
        for (const std::string& name : names) {
            const std::regex walk{R"(for\s*\([^;()]*:\s*(\w+(\.|->))*)" + name + R"(\s*\)|\b)" + name +
                                  R"((\.|->)c?begin\s*\()"};
            for (std::sregex_iterator at{code.begin(), code.end(), walk}, end; at != end; ++at)
                report(at->position(), at->str(), "walks an unordered container: its order differs between machines");
        }
    }
    return breaches;
}

std::vector<std::string> suite_breaches(const std::vector<SourceFile>& files, const std::vector<std::string>& labels) {
    std::vector<std::string> breaches;
    static const std::regex suite{R"(\b(TEST|TEST_F|TEST_P|RC_GTEST_PROP|RC_GTEST_FIXTURE_PROP)\s*\(\s*(\w+)\s*,)"};
    for (const SourceFile& file : files) {
        if (!has_suffix_before_extension(file.path, "_test")) continue;
        std::string wanted;
        for (const auto& label : labels)
            if (label != "unit" && has_suffix_before_extension(file.path, "_" + label + "_test")) wanted = label;
        const std::string code = code_only(file.text);
        for (std::sregex_iterator at{code.begin(), code.end(), suite}, end; at != end; ++at) {
            const std::string name = (*at)[2];
            std::string carried;
            for (auto label : labels) {
                label[0] = static_cast<char>(std::toupper(label[0]));
                if (name.ends_with(label) && label != "Unit") carried = label;
            }
            if (!carried.empty()) carried[0] = static_cast<char>(std::tolower(carried[0]));
            if (carried != wanted)
                breaches.push_back(fmt::format("{}:{}: suite {} must {}", file.path,
                                               line_at(code, static_cast<std::size_t>(at->position())), name,
                                               wanted.empty() ? "not end in a label, or its file must carry that label"
                                                              : "end in the file's label, " + wanted));
        }
    }
    return breaches;
}

std::vector<std::string> chance_breaches(const std::vector<SourceFile>& files) {
    static const auto patterns = [] {
        std::vector<std::regex> made;
        for (const Helped& helped : kHelped) made.emplace_back(helped.pattern);
        return made;
    }();
    std::vector<std::string> breaches;
    for (const SourceFile& file : files) {
        const bool supports = file.path.starts_with("tests/") || file.path.ends_with("testing.h");
        if (!supports && !has_suffix_before_extension(file.path, "_test")) continue;
        if (may_draw_or_wait(file)) continue;
        const std::string code = code_only(file.text);
        const std::string words = without_comments(file.text);
        for (std::size_t i = 0; i < patterns.size(); ++i) {
            // Programs of their own begin somewhere.
            if (std::string_view{kHelped[i].pattern}.find("main") != std::string_view::npos &&
                !has_suffix_before_extension(file.path, "_test"))
                continue;
            // Line by line: so a match cannot run over half the file, and the matcher stays quick.
            std::istringstream in{kHelped[i].in_strings ? words : code};
            std::string line;
            for (std::size_t number = 1; std::getline(in, line); ++number) {
                std::smatch match;
                if (std::regex_search(line, match, patterns[i]))
                    breaches.push_back(fmt::format("{}:{}: `{}` {}", file.path, number, match.str(), kHelped[i].why));
            }
        }
    }
    return breaches;
}

}  // namespace rhizome::guards
