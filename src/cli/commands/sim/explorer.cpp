// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/sim/explorer.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/core.h>

#include "base/similar.h"
#include "cli/commands/sim/shared.h"
#include "cli/text.h"
#include "sim/liars.h"

namespace rhizome::cli::simulate {
namespace {

constexpr std::uint64_t kLoadMax = 1'000;
constexpr microseconds kRunMax = hours{24};
/// How often `stop` is asked, in virtual time.
constexpr microseconds kSlice = milliseconds{20};

struct LieName {
    std::string_view name;
    sim::Lie lie;
};
constexpr std::array<LieName, sim::kLies> kLieNames{{{"equivocate", sim::Lie::Equivocate},
                                                     {"withhold", sim::Lie::Withhold},
                                                     {"seal", sim::Lie::WrongSeal},
                                                     {"order", sim::Lie::WrongOrder},
                                                     {"root", sim::Lie::BadRoot},
                                                     {"time", sim::Lie::FutureTime},
                                                     {"scripts", sim::Lie::BadScripts},
                                                     {"tamper", sim::Lie::Tamper},
                                                     {"tip", sim::Lie::FalseTip},
                                                     {"flood", sim::Lie::Flood},
                                                     {"clock", sim::Lie::WrongClock}}};

std::vector<std::string> lie_names() {
    std::vector<std::string> names;
    for (const LieName& each : kLieNames) names.emplace_back(each.name);
    return names;
}

Fail<Error> usage(std::string what) { return fail(ErrorKind::Usage, std::move(what)); }

std::vector<std::string> split_words(std::string_view line) {
    std::vector<std::string> words;
    for (std::size_t at = 0; at < line.size();) {
        const auto end = std::min(line.find_first_of(" \t\r", at), line.size());
        if (end > at) words.emplace_back(line.substr(at, end - at));
        at = end + 1;
    }
    return words;
}

/// `+2s`, `-250ms`, `0`.
std::optional<microseconds> signed_duration(std::string_view text) {
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    if (text == "0") return microseconds{0};
    const auto duration = parse_duration(text);
    if (!duration) return {};
    return negative ? -*duration : *duration;
}

sim::Setup sim_setup(const Explorer::Setup& setup) {
    return {.seed = setup.seed,
            .machines = setup.machines,
            .spec = setup.trust == "byzantine" ? R"({"trust":"byzantine"})" : "{}"};
}

}  // namespace

struct Explorer::Verb {
    std::string_view name;
    std::string_view arguments;  ///< as the help shows them
    std::size_t least;           ///< how many words follow it
    std::size_t most;
    std::string_view help;
    Result<std::string> (Explorer::*perform)(const Words&, const Out&);
};

const std::vector<Explorer::Verb>& Explorer::table() {
    static const std::vector<Verb> verbs{
        {"run", "[TIME]", 0, 1, "let time pass: run 5s (1s when not said)", &Explorer::run},
        {"settle", "[TIME]", 0, 1, "let time pass until all agree and no order is open, at most so long (60s)",
         &Explorer::settle},
        {"cut", "GROUPS", 1, 9, "cut the network into groups: cut 0,1|2-4; who is in none hears nobody",
         &Explorer::cut},
        {"heal", "", 0, 0, "make the network whole again", &Explorer::heal},
        {"block", "FROM TO", 2, 2, "what FROM sends no longer arrives at TO", &Explorer::block},
        {"unblock", "FROM TO", 2, 2, "it does again", &Explorer::unblock},
        {"link", "DELAY [LOSS]", 1, 2, "all links take so long and lose so many of 1000 messages: link 80ms 20",
         &Explorer::link},
        {"crash", "MACHINES", 1, 1, "they lose power, and what was not yet on their disks", &Explorer::crash},
        {"start", "MACHINES", 1, 1, "they start again", &Explorer::start},
        {"pause", "MACHINE TIME", 2, 2, "it stands still for so long", &Explorer::pause},
        {"clock", "MACHINE AHEAD", 2, 2, "its clock is so much ahead: clock 3 +2s, clock 3 0", &Explorer::clock},
        {"disk", "MACHINE STATE", 2, 2, "full, roomy, slow, quick, damaged, backup; restore or new while it is off",
         &Explorer::disk},
        {"lie", "MACHINE HOW", 2, 2,
         "it lies: equivocate, withhold, seal, order, root, time, scripts, tamper, tip, flood or clock",
         &Explorer::lie},
        {"load", "N [MACHINES]", 1, 2, "people write N times a second, there or everywhere; load 0 ends it",
         &Explorer::load},
        {"submit", "[MACHINE] [NAME]", 0, 2, "one order: write a document of this name", &Explorer::submit},
        {"leave", "MACHINE", 1, 1, "one order: take this member's Node away", &Explorer::leave},
        {"join", "MACHINE", 1, 1, "one order: write its Node again", &Explorer::join},
        {"recover", "MACHINES", 1, 1, "one order of the owner: these alone vote from now on", &Explorer::recover},
        {"show", "", 0, 0, "every machine: tip, final height, peers, what waits", &Explorer::show},
        {"orders", "[N]", 0, 1, "the last N orders and what became of them (20)", &Explorer::orders},
        {"chain", "[N]", 0, 1, "the last N blocks, dead ends included (20)", &Explorer::chain},
        {"timeline", "[N]", 0, 1, "the last N lines of what happened (20)", &Explorer::timeline},
        {"html", "FILE", 1, 1, "write a page that draws it all", &Explorer::html},
        {"help", "[COMMAND]", 0, 1, "this", &Explorer::help},
        {"quit", "", 0, 0, "end; Ctrl-D does the same", &Explorer::quit},
    };
    return verbs;
}

std::vector<Candidate> Explorer::verbs() {
    std::vector<Candidate> all;
    for (const Verb& verb : table())
        all.push_back(
            {verb.arguments.empty() ? std::string{verb.name} : fmt::format("{} {}", verb.name, verb.arguments),
             std::string{verb.help}});
    return all;
}

Explorer::Explorer(const Setup& setup, std::function<bool()> stop)
    : stop_(std::move(stop)),
      sim_(sim_setup(setup)),
      timeline_(setup.machines, sim_.setup().start),
      paused_until_(setup.machines),
      clocks_(setup.machines) {
    sim_.watch = [this](const sim::Seen& seen) { timeline_.note(seen); };
}
Explorer::~Explorer() = default;

Result<std::string> Explorer::perform(std::string_view line, const Style& style, std::optional<unsigned> width) {
    if (line.size() > kLineMax) return usage(fmt::format("a line has at most {} letters", kLineMax));
    Words words = split_words(line);
    if (words.empty() || words.front().starts_with('#')) return std::string{};
    const std::string name = std::move(words.front());
    words.erase(words.begin());
    const auto verb = std::find_if(table().begin(), table().end(), [&](const Verb& one) { return one.name == name; });
    if (verb == table().end()) {
        std::vector<std::string> names;
        for (const Verb& each : table()) names.emplace_back(each.name);
        const auto near = nearest(name, names);
        return usage(fmt::format("\"{}\" is no command here\n{}", printable(name),
                                 near.empty() ? "'help' lists what there is" : did_you_mean(near)));
    }
    if (words.size() < verb->least || words.size() > verb->most)
        return usage(fmt::format("{} {}\ntype it as: {} {}", verb->name,
                                 words.size() < verb->least ? "needs more words" : "has too many words", verb->name,
                                 verb->arguments));
    return (this->*verb->perform)(words, {style, width});
}

// ---- words
// -----------------------------------------------------------------------------------------------------------

Result<std::vector<std::size_t>> Explorer::machines_in(std::string_view text) const {
    std::vector<std::size_t> machines;
    for (const std::string& word : words_of({std::string{text}})) {
        const auto dash = word.find('-');
        TRY(const auto first, machine_in(word.substr(0, dash), sim_.size()));
        std::size_t last = first;
        if (dash != std::string::npos) {
            TRY(last, machine_in(word.substr(dash + 1), sim_.size()));
        }
        if (last < first) return usage(fmt::format("{} counts down\nwrite {}-{}", printable(word), last, first));
        for (std::size_t i = first; i <= last; ++i) machines.push_back(i);
    }
    if (machines.empty()) return usage("no machine is named\nwrite for example 0, or 1,3-5");
    std::sort(machines.begin(), machines.end());
    machines.erase(std::unique(machines.begin(), machines.end()), machines.end());
    return machines;
}

Result<std::size_t> Explorer::machine(const Words& words, std::size_t at) const {
    return machine_in(words[at], sim_.size());
}

Result<std::size_t> Explorer::running(const Words& words, std::size_t at) const {
    TRY(const auto which, machine(words, at));
    if (!sim_.is_up(which)) return usage(fmt::format("n{0} is off\n'start {0}' starts it", which));
    return which;
}

Result<std::size_t> Explorer::some_running() const {
    for (std::size_t i = 0; i < sim_.size(); ++i)
        if (sim_.is_up(i) && sim_.is_honest(i)) return i;
    return usage("no machine is on that could take an order\n'start 0' starts one");
}

// ---- time
// ------------------------------------------------------------------------------------------------------------

std::string Explorer::pass(microseconds duration, const std::function<bool()>& done) {
    const Time begun = sim_.now();
    const Time end = begun + duration;
    const std::size_t known = timeline_.seen().size();
    bool stopped = false;
    while (sim_.now() < end && !done() && !(stopped = stop_ && stop_()))
        sim_.run_until(done, std::min(kSlice, end - sim_.now()));
    std::string text;
    for (const sim::TimelineLine& line : lines_of(timeline_, {.skipped = known}))
        text += fmt::format("{:>10}  {:<7} {}\n", moment_text(line.at - timeline_.start()),
                            sim::names_of(line.machines), line.text);
    if (stopped) text += fmt::format("stopped after {} of {}\n", to_text(sim_.now() - begun), to_text(duration));
    return text;
}

Result<std::string> Explorer::run(const Words& words, const Out&) {
    const auto duration = words.empty() ? microseconds{seconds{1}} : parse_duration(words[0]);
    if (!duration || *duration > kRunMax)
        return usage(fmt::format("{} is no time up to {}\nwrite for example run 5s, run 250ms or run 2m",
                                 printable(words[0]), to_text(kRunMax)));
    return pass(*duration, [] { return false; });
}

Result<std::string> Explorer::settle(const Words& words, const Out&) {
    const auto duration = words.empty() ? microseconds{seconds{60}} : parse_duration(words[0]);
    if (!duration || *duration > kRunMax)
        return usage(fmt::format("{} is no time up to {}", printable(words[0]), to_text(kRunMax)));
    const auto settled_now = [this] { return sim_.open_orders() == 0 && sim_.distinct_tips() <= 1; };
    const Time begun = sim_.now();
    std::string text = pass(*duration, settled_now);
    text += settled_now()
                ? fmt::format("settled after {}: one tip, no order open\n", to_text(sim_.now() - begun))
                : fmt::format("not settled: {} tips, {} orders open\n", sim_.distinct_tips(), sim_.open_orders());
    return text;
}

// ---- the network
// -----------------------------------------------------------------------------------------------------

Result<std::string> Explorer::cut(const Words& words, const Out&) {
    // Blanks around the bars are as good as none.
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
    std::vector<std::vector<std::size_t>> groups;
    std::set<std::size_t> seen;
    for (std::size_t at = 0; at <= text.size();) {
        const auto end = std::min(text.find('|', at), text.size());
        TRY(auto group, machines_in(text.substr(at, end - at)));
        for (const std::size_t each : group)
            if (!seen.insert(each).second) return usage(fmt::format("n{} is in two groups", each));
        groups.push_back(std::move(group));
        at = end + 1;
    }
    sim_.split(groups);
    groups_ = groups;
    std::string answer = fmt::format("cut into {} group{}", groups.size(), groups.size() == 1 ? "" : "s");
    if (seen.size() < sim_.size()) answer += fmt::format("; {} hear nobody", sim_.size() - seen.size());
    return answer + "\n";
}

Result<std::string> Explorer::heal(const Words&, const Out&) {
    sim_.heal();
    groups_.clear();
    return std::string{};
}

Result<std::string> Explorer::block(const Words& words, const Out&) {
    TRY(const auto from, machine(words, 0));
    TRY(const auto to, machine(words, 1));
    if (from == to) return usage("a machine always hears itself");
    sim_.block(from, to, true);
    return std::string{};
}

Result<std::string> Explorer::unblock(const Words& words, const Out&) {
    TRY(const auto from, machine(words, 0));
    TRY(const auto to, machine(words, 1));
    sim_.block(from, to, false);
    return std::string{};
}

Result<std::string> Explorer::link(const Words& words, const Out&) {
    const auto delay = parse_duration(words[0]);
    const auto loss = words.size() > 1 ? number_in(words[1]) : 0;
    if (!delay || *delay > minutes{1}) return usage("a delay is a time up to 1m\nwrite for example link 80ms");
    if (!loss || *loss > 1'000) return usage("of 1000 messages at most 1000 are lost\nwrite for example link 80ms 20");
    sim_.set_links({.delay = *delay, .jitter = *delay / 2, .loss = static_cast<std::uint32_t>(*loss)});
    return std::string{};
}

// ---- machines
// --------------------------------------------------------------------------------------------------------

Result<std::string> Explorer::crash(const Words& words, const Out&) {
    TRY(const auto machines, machines_in(words[0]));
    for (const std::size_t each : machines)
        if (!sim_.is_up(each)) return usage(fmt::format("n{} is off already", each));
    for (const std::size_t each : machines) {
        sim_.crash(each);
        paused_until_[each] = {};
    }
    return std::string{};
}

Result<std::string> Explorer::start(const Words& words, const Out&) {
    TRY(const auto machines, machines_in(words[0]));
    for (const std::size_t each : machines)
        if (sim_.is_up(each)) return usage(fmt::format("n{} is on already", each));
    for (const std::size_t each : machines) sim_.start(each);
    return std::string{};
}

Result<std::string> Explorer::pause(const Words& words, const Out&) {
    TRY(const auto which, running(words, 0));
    const auto duration = parse_duration(words[1]);
    if (!duration || *duration > kRunMax)
        return usage(fmt::format("{} is no time\nwrite for example pause 2 5s", printable(words[1])));
    sim_.pause(which, *duration);
    paused_until_[which] = sim_.now() + *duration;
    return std::string{};
}

Result<std::string> Explorer::clock(const Words& words, const Out&) {
    TRY(const auto which, machine(words, 0));
    const auto ahead = signed_duration(words[1]);
    // The start is a second after its own block: a clock that is set back further would be before 1970 for no use.
    if (!ahead || *ahead > hours{24 * 365} || *ahead < -hours{24 * 365})
        return usage(fmt::format("{} is no time up to a year\nwrite for example clock 3 +2s, clock 3 -250ms, clock 3 0",
                                 printable(words[1])));
    sim_.set_clock(which, *ahead);
    clocks_[which] = *ahead;
    return std::string{};
}

Result<std::string> Explorer::disk(const Words& words, const Out&) {
    TRY(const auto which, machine(words, 0));
    const std::string& what = words[1];
    if (what == "full" || what == "roomy") {
        sim_.set_disk_full(which, what == "full");
        sim_.set_disk_low(which, what == "full");  // seen at once
    } else if (what == "slow") {
        sim_.clog(which, milliseconds{50}, milliseconds{400});
    } else if (what == "quick") {
        sim_.clog(which, microseconds{100}, microseconds{400});
    } else if (what == "damaged") {
        if (!sim_.misdirect(which)) return usage(fmt::format("n{} has no block yet that could be damaged", which));
    } else if (what == "backup") {
        sim_.back_up(which);
    } else if (what == "restore" || what == "new") {
        if (sim_.is_up(which))
            return usage(fmt::format("n{0} is on\n'crash {0}' first, 'start {0}' afterwards", which));
        if (what == "new") {
            sim_.replace_disk(which);
        } else if (!sim_.restore_backup(which)) {
            return usage(fmt::format("n{0} has no backup\n'disk {0} backup' makes one", which));
        }
    } else {
        return usage(
            fmt::format("{} is nothing that a disk can be\nfull, roomy, slow, quick, damaged, backup, restore or new",
                        printable(what)));
    }
    return std::string{};
}

void Explorer::keep_lying(std::size_t which) {
    sim_.after(seconds{1}, [this, which] {
        sim_.let_lie(which);
        keep_lying(which);
    });
}

Result<std::string> Explorer::lie(const Words& words, const Out&) {
    TRY(const auto which, machine(words, 0));
    const auto lie =
        std::find_if(kLieNames.begin(), kLieNames.end(), [&](const LieName& one) { return one.name == words[1]; });
    if (lie == kLieNames.end())
        return usage(fmt::format("{} is no way to lie\nthere are {}", printable(words[1]), join_or(lie_names())));
    if (!sim_.is_honest(which)) return usage(fmt::format("n{} lies already", which));
    sim_.corrupt(which, sim::make_liar(lie->lie, sim_.random().next()));
    keep_lying(which);
    return std::string{};
}

// ---- people
// ----------------------------------------------------------------------------------------------------------

Result<std::string> Explorer::load(const Words& words, const Out&) {
    const auto rate = number_in(words[0]);
    if (!rate || *rate > kLoadMax) return usage(fmt::format("a load is a number from 0 to {}", kLoadMax));
    std::vector<std::size_t> at;
    if (words.size() > 1) {
        TRY(at, machines_in(words[1]));
    } else {
        for (std::size_t i = 0; i < sim_.size(); ++i)
            if (sim_.is_honest(i)) at.push_back(i);
    }
    sim_.load(*rate, at);
    return std::string{};
}

Result<std::string> Explorer::submit(const Words& words, const Out&) {
    std::size_t at = 0;
    if (words.empty()) {
        TRY(at, some_running());
    } else {
        TRY(at, running(words, 0));
    }
    const std::string name = words.size() > 1 ? words[1] : fmt::format("x{}", ++names_);
    const auto is_good = [](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '-';
    };
    if (name.size() > 63 || !std::all_of(name.begin(), name.end(), is_good) || name.front() == '-' ||
        name.back() == '-')
        return usage(fmt::format("{} is no name\nup to 63 small letters, digits and dashes inside", printable(name)));
    const auto order = sim_.submit(
        at, sim::create_map(sim_.node(at).state(), name, fmt::format("order {}", sim_.orders().size()), sim_.now()));
    return fmt::format("order {} at n{}: ConfigMap {}, {}\n", order, at, name, stage_name(sim_.orders()[order]));
}

Result<std::string> Explorer::leave(const Words& words, const Out&) {
    TRY(const auto which, machine(words, 0));
    TRY(const auto at, some_running());
    const auto tx = sim::remove_machine(sim_.node(at).state(), which);
    if (!tx) return usage(fmt::format("n{} is no member where n{} stands", which, at));
    return fmt::format("order {} at n{}\n", sim_.submit(at, tx), at);
}

Result<std::string> Explorer::join(const Words& words, const Out&) {
    TRY(const auto which, machine(words, 0));
    TRY(const auto at, some_running());
    const auto& state = sim_.node(at).state();
    if (sim::remove_machine(state, which)) return usage(fmt::format("n{} is a member already", which));
    return fmt::format("order {} at n{}\n",
                       sim_.submit(at, sim::register_machine(state, which, sim_.chain(), sim_.now())), at);
}

Result<std::string> Explorer::recover(const Words& words, const Out&) {
    TRY(const auto machines, machines_in(words[0]));
    std::size_t at = SIZE_MAX;
    for (const std::size_t each : machines)
        if (at == SIZE_MAX && sim_.is_up(each)) at = each;
    if (at == SIZE_MAX) return usage("none of these machines is on");
    const auto generation = sim_.node(at).final_generation() + 1;
    const auto order = sim_.submit(at, sim::recover(sim_.node(at).state(), generation, machines));
    return fmt::format("order {} at n{}: generation {}\n", order, at, generation);
}

// ---- help
// ------------------------------------------------------------------------------------------------------------

Result<std::string> Explorer::help(const Words& words, const Out& out) {
    std::string text;
    std::size_t width = 0;
    for (const Candidate& each : verbs()) width = std::max(width, each.value.size());
    for (std::size_t i = 0; i < table().size(); ++i) {
        if (!words.empty() && table()[i].name != words[0]) continue;
        const Candidate each = verbs()[i];
        text += out.style.paint(Tone::Command, pad(each.value, width)) + "   " + each.description + "\n";
    }
    if (text.empty())
        return usage(fmt::format("{} is no command here\n'help' lists what there is", printable(words[0])));
    if (words.empty()) text += "\nMachines are 0, 1, 2 …, and MACHINES are 0,2-4. Times are 250ms, 5s, 2m.\n";
    return text;
}

Result<std::string> Explorer::quit(const Words&, const Out&) {
    quit_ = true;
    return std::string{};
}

}  // namespace rhizome::cli::simulate
