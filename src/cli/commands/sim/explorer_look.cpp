// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "cli/commands/sim/explorer.h"
#include "cli/commands/sim/page.h"
#include "cli/commands/sim/shared.h"
#include "cli/print.h"
#include "cli/text.h"
#include "runtime/files.h"

/// How an explored cluster is looked at; nothing here changes it.
namespace rhizome::cli::simulate {
namespace {

/// The optional number of lines.
Result<std::size_t> count_in(const std::vector<std::string>& words) {
    if (words.empty()) return std::size_t{20};
    const auto count = number_in(words[0]);
    if (!count || *count == 0)
        return fail(ErrorKind::Usage, fmt::format("{} is no number of lines", printable(words[0])));
    return static_cast<std::size_t>(std::min<std::uint64_t>(*count, 100'000));
}

}  // namespace

std::string Explorer::group_of(std::size_t which) const {
    if (groups_.empty()) return "-";
    for (std::size_t i = 0; i < groups_.size(); ++i)
        if (std::find(groups_[i].begin(), groups_[i].end(), which) != groups_[i].end())
            return i < 26 ? std::string(1, static_cast<char>('A' + i)) : fmt::format("#{}", i);
    return "alone";
}

Result<std::string> Explorer::show(const Words&, const Out& out) {
    Table table{{"MACHINE", "STATE", "GROUP", "HEIGHT", "TIP", "FINAL", "PEERS", "WAITING", "NOTES"}};
    for (std::size_t i = 0; i < sim_.size(); ++i) {
        std::vector<std::string> notes;
        if (!sim_.is_honest(i)) notes.emplace_back("lies");
        if (clocks_[i].count() != 0)
            notes.push_back(fmt::format("clock {}{}", clocks_[i].count() > 0 ? "+" : "", to_text(clocks_[i])));
        if (!sim_.is_up(i)) {
            table.add({sim::name_of(i), Cell{"off", Tone::Bad}, group_of(i), "-", "-", "-", "-", "-",
                       cli::join(notes, ", ")});
            continue;
        }
        const core::Node& node = sim_.node(i);
        for (std::size_t c = 0; c < 6; ++c)
            if (const auto condition = static_cast<core::Condition>(c); node.has(condition))
                notes.emplace_back(sim::name(condition));
        const bool paused = paused_until_[i] > sim_.now();
        table.add({sim::name_of(i), paused ? Cell{"paused", Tone::Warning} : Cell{"on", Tone::Good}, group_of(i),
                   fmt::format("{}", node.tip().height), sim::short_hash(node.tip_hash()),
                   fmt::format("{}", node.final_height()), fmt::format("{}", node.usage().peers),
                   fmt::format("{}", node.pending()), cli::join(notes, ", ")});
    }
    std::string text = table.render(out.style, out.width);
    text += fmt::format("{} s passed; {} tip{}, {} order{} open of {}\n", moment_text(sim_.elapsed()),
                        sim_.distinct_tips(), sim_.distinct_tips() == 1 ? "" : "s", sim_.open_orders(),
                        sim_.open_orders() == 1 ? "" : "s", sim_.orders().size());
    for (const std::string& fault : sim_.checks().faults())
        text += out.style.paint(Tone::Bad, fmt::format("broken promise: {}", fault)) + "\n";
    return text;
}

Result<std::string> Explorer::orders(const Words& words, const Out& out) {
    TRY(const auto count, count_in(words));
    const auto& all = sim_.orders();
    if (all.empty()) return std::string{"there are no orders yet; 'submit' gives one, 'load 10' many\n"};
    Table table{{"ORDER", "MACHINE", "ASKED", "STAGE", "WHY"}};
    for (std::size_t i = all.size() - std::min(count, all.size()); i < all.size(); ++i) {
        const sim::Order& order = all[i];
        const Tone tone = order.stage == core::Stage::Final ? Tone::Good : order.refused ? Tone::Warning : Tone::Plain;
        table.add({fmt::format("{}", i), sim::name_of(order.machine), moment_text(order.asked - timeline_.start()),
                   Cell{std::string{stage_name(order)}, tone}, order.refused ? to_text(*order.refused) : ""});
    }
    return table.render(out.style, out.width);
}

sim::Timeline Explorer::settled() const {
    sim::Timeline copy = timeline_;
    // The branch that most machines follow is the one that survives so far.
    std::map<ledger::BlockHash, std::size_t> followers;
    for (std::size_t i = 0; i < sim_.size(); ++i)
        if (sim_.is_up(i) && sim_.is_honest(i)) ++followers[sim_.node(i).tip_hash()];
    ledger::BlockHash tip{};
    std::size_t most = 0;
    for (const auto& [hash, count] : followers)
        if (count > most) {
            most = count;
            tip = hash;
        }
    copy.settle(sim_.now(), tip);
    return copy;
}

Result<std::string> Explorer::chain(const Words& words, const Out& out) {
    TRY(const auto count, count_in(words));
    const sim::Timeline record = settled();
    const auto& blocks = record.blocks();
    if (blocks.empty()) return std::string{"no block was sealed yet; 'run 10s' lets time pass\n"};
    Table table{{"HEIGHT", "BLOCK", "ON", "SEALED BY", "AT", "ORDERS", "BRANCH", "FINAL", "TIP OF"}};
    std::map<ledger::BlockHash, std::vector<std::size_t>> tips;
    for (std::size_t i = 0; i < sim_.size(); ++i)
        if (sim_.is_up(i)) tips[sim_.node(i).tip_hash()].push_back(i);
    for (std::size_t i = blocks.size() - std::min(count, blocks.size()); i < blocks.size(); ++i) {
        const sim::BlockRecord& block = blocks[i];
        const auto at_tip = tips.find(block.hash);
        table.add({fmt::format("{}", block.height), sim::short_hash(block.hash),
                   block.parent ? sim::short_hash(blocks[*block.parent].hash) : "the beginning",
                   block.proposer == sim::kNobody ? "-" : sim::name_of(block.proposer),
                   moment_text(block.seen - record.start()), fmt::format("{}", block.transactions),
                   block.branch == 0 ? Cell{"-"} : Cell{fmt::format("dead end {}", block.branch), Tone::Warning},
                   block.final_since ? Cell{moment_text(*block.final_since - record.start()), Tone::Good} : Cell{"-"},
                   at_tip == tips.end() ? "" : sim::names_of(at_tip->second)});
    }
    return table.render(out.style, out.width);
}

Result<std::string> Explorer::timeline(const Words& words, const Out& out) {
    TRY(const auto count, count_in(words));
    auto lines = lines_of(timeline_, {});
    if (lines.size() > count) lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(count));
    if (lines.empty()) return std::string{"nothing happened yet; 'run 10s' lets time pass\n"};
    return timeline_table(lines, timeline_.start(), out.style, out.width);
}

Result<std::string> Explorer::html(const Words& words, const Out&) {
    Page page{.title = "A cluster explored by hand"};
    page.histories.push_back(
        {.title = fmt::format("{} machines, seed {}", sim_.size(), sim_.setup().seed),
         .faults = sim_.checks().faults(),
         .facts = {{"simulated", fmt::format("{} s, {} events", moment_text(sim_.elapsed()), grouped(sim_.events()))},
                   {"orders", fmt::format("{}, {} open", sim_.orders().size(), sim_.open_orders())}},
         .drawing = drawing_of(settled())});
    const std::string text = render(page);
    TRY(runtime::replace_file(words[0], text, 0644));
    return fmt::format("{} is written ({}); open it in a browser\n", printable(words[0]), size_text(text.size()));
}

}  // namespace rhizome::cli::simulate
