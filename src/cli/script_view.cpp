// SPDX-License-Identifier: Apache-2.0
#include "cli/script_view.h"

#include <algorithm>
#include <optional>

#include <fmt/core.h>

#include "cli/print.h"
#include "script/assembler.h"
#include "script/script.h"
#include "script/template.h"

namespace rhizome::cli {
namespace {

bool is_readable(ByteView item) {
    return std::all_of(item.begin(), item.end(), [](std::uint8_t byte) { return byte >= 0x20 && byte < 0x7f; });
}

/// One item for a person: its owner's name, a number, text, or the beginning of its bytes.
std::string item_text(ByteView item, const KnownKeys& keys) {
    constexpr std::size_t kWholeMax = 8;
    if (item.empty()) return "0";
    if (const std::string owner = keys.name_of(item); !owner.empty()) return "<" + owner + ">";
    if (item.size() == 1 && item[0] <= 16) return fmt::format("{}", item[0]);
    if (item.size() > 2 && item.size() <= 2 * kWholeMax && is_readable(item))
        return fmt::format("'{}'", rhizome::as_text(item));
    if (item.size() <= kWholeMax) return "<" + to_hex(item) + ">";
    return fmt::format("<{}.. {}>", to_hex(item.first(4)), item.size());
}

std::string stack_text(const std::vector<Bytes>& stack, const KnownKeys& keys) {
    std::string text;
    for (const Bytes& item : stack) text += (text.empty() ? "" : " ") + item_text(item, keys);
    return text;
}

/// Assembly with long pushes shortened in the same way.
std::string short_script(ByteView bytes, const KnownKeys& keys) {
    std::string text;
    script::InstructionReader reader{bytes};
    while (const auto instruction = reader.next()) {
        if (!text.empty()) text += ' ';
        const bool data = instruction->is_push() && !instruction->broken && instruction->data.size() > 4;
        text += data ? item_text(instruction->data, keys)
                     : script::disassemble(bytes.subspan(instruction->offset, instruction->size));
    }
    return text;
}

/// The bytes of a script as `script asm` prints them: one word of hexadecimal digits that cannot be a number. Numbers
/// of scripts have at most ten digits.
std::optional<Bytes> bytes_of_word(std::string_view text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    if (text.size() <= 10 && text.find_first_of("abcdefABCDEF") == std::string_view::npos) return std::nullopt;
    return from_hex(text);
}

}  // namespace

Result<Bytes> compile_script(Console& console, std::string_view what, std::string_view text, const KnownKeys& keys) {
    auto made = script::compile(text, &keys);
    if (made) return std::move(*made);
    if (auto bytes = bytes_of_word(text)) return *std::move(bytes);  // no instruction is spelt like that
    console.err << script::point_at(text, made.error()) << '\n';
    return Fail{with_context(what, script::to_error(made.error()))};
}

std::string verdict_text(const script::Verdict& verdict, const Style& style) {
    if (!verdict.ok()) return style.paint(Tone::Bad, name(verdict.error)) + "\n";
    std::string text = style.paint(Tone::Good, "OK") + fmt::format(", {} signature check{}", verdict.signature_checks,
                                                                   verdict.signature_checks == 1 ? "" : "s");
    if (verdict.depends_on_block) text += ", for this block only";
    return text + "\n";
}

std::string trace_table(const script::Trace& trace, ByteView unlocking, ByteView locking, const KnownKeys& keys,
                        const Console& console) {
    Table table{{"STEP", "SCRIPT", "OPCODE", "STACK", "REST OF SCRIPT", "WHAT HAPPENED"}};
    std::size_t number = 0;
    for (const script::TraceStep& step : trace.steps) {
        const ByteView bytes = step.part == script::ScriptPart::Unlocking ? unlocking : locking;
        script::InstructionReader reader{bytes.subspan(step.offset)};
        const auto instruction = reader.next();
        const std::size_t size = instruction ? instruction->size : 0;
        std::string stack = stack_text(step.stack, keys);
        if (!step.alt_stack.empty()) stack += " | alt: " + stack_text(step.alt_stack, keys);
        const Tone tone = step.error != script::ScriptError::Ok ? Tone::Bad : step.executed ? Tone::Plain : Tone::Faint;
        table.add({fmt::format("{}", ++number), std::string{name(step.part)},
                   Cell{short_script(bytes.subspan(step.offset, size), keys), tone}, stack,
                   short_script(bytes.subspan(step.offset + size), keys), Cell{step.what, tone}});
    }
    std::string text = table.render(console.out_style, console.out_width);
    if (trace.left_out > 0) text += fmt::format("({} more steps)\n", trace.left_out);
    return text + "\n" + verdict_text(trace.verdict, console.out_style);
}

}  // namespace rhizome::cli
