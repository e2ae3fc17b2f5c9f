// SPDX-License-Identifier: Apache-2.0
// `rhizome script`: writing, reading and trying out locking scripts. Needs no node.
#include <charconv>
#include <istream>
#include <iterator>
#include <limits>

#include <fmt/core.h>

#include "base/time.h"
#include "cli/commands/commands.h"
#include "cli/print.h"
#include "cli/text.h"
#include "crypto/keys.h"
#include "runtime/files.h"
#include "script/assembler.h"
#include "script/explain.h"
#include "script/interpreter.h"
#include "script/locks.h"
#include "script/template.h"
#include "script/tracer.h"

namespace rhizome::cli {
namespace {

constexpr std::size_t kTextBytesMax = 1 << 20;

// ---- input ----------------------------------------------------------------------------------------------------------

/// Keys that the command line names: `--key alice=02ab...`.
class NamedKeys final : public script::KeyResolver {
public:
    static Result<NamedKeys> from(const std::vector<std::string>& pairs) {
        NamedKeys keys;
        for (const std::string& pair : pairs) {
            const std::size_t equals = pair.find('=');
            if (equals == std::string::npos || equals == 0) {
                return fail(ErrorKind::Usage, fmt::format("--key {} is not NAME=KEY", printable(pair)));
            }
            const auto bytes = from_hex(std::string_view{pair}.substr(equals + 1));
            auto key = bytes ? crypto::PublicKey::parse(*bytes) : Fail{crypto::SignatureFault::BadKey};
            if (!key) {
                return fail(ErrorKind::Usage,
                            fmt::format("--key {} is not followed by a public key\n66 hexadecimal digits",
                                        printable(pair.substr(0, equals + 1))));
            }
            keys.keys_.emplace_back(pair.substr(0, equals), *key);
        }
        return keys;
    }

    [[nodiscard]] std::optional<crypto::PublicKey> find(std::string_view name) const override {
        for (const auto& [known, key] : keys_) {
            if (known == name) return key;
        }
        return std::nullopt;
    }
    [[nodiscard]] std::vector<std::string> names() const override {
        std::vector<std::string> all;
        for (const auto& [name, key] : keys_) all.push_back(name);
        return all;
    }
    /// What an item on the stack is called: `alice`, `hash of alice`; empty when it is nobody's.
    [[nodiscard]] std::string name_of(ByteView item) const {
        for (const auto& [name, key] : keys_) {
            if (rhizome::as_text(item) == rhizome::as_text(key.bytes())) return name;
            if (rhizome::as_text(item) == rhizome::as_text(key.address().view())) return "hash of " + name;
        }
        return {};
    }

private:
    std::vector<std::pair<std::string, crypto::PublicKey>> keys_;
};

/// The text of a script: the arguments, a file, or what comes on stdin.
Result<std::string> script_text(const Invocation& call) {
    const auto& words = call.arguments("SCRIPT");
    const auto file = call.if_text("file");
    if (file && !words.empty()) {
        return fail(ErrorKind::Usage, "a script is given twice: as an argument and with --file");
    }
    if (!words.empty()) return join(words, " ");
    if (file && *file != "-") return runtime::read_file(*file, kTextBytesMax);
    std::string text;
    char letter = 0;
    while (text.size() <= kTextBytesMax && call.console.in.get(letter)) text += letter;
    if (text.size() > kTextBytesMax) return fail(ErrorKind::Exhausted, "the script on stdin has more than 1 MiB");
    return text;
}

/// Shows the place on stderr, then fails with the sentence.
Fail<Error> faulty(Console& console, std::string_view what, std::string_view text, const script::TextFault& fault) {
    console.err << script::point_at(text, fault) << '\n';
    return Fail{with_context(what, script::to_error(fault))};
}

Result<Bytes> script_of(Invocation& call, std::string_view what, const std::string& text, const NamedKeys& keys) {
    auto made = script::compile(text, &keys);
    if (!made) return faulty(call.console, what, text, made.error());
    return std::move(*made);
}

// ---- a transaction that exists on the command line only
// -----------------------------------------------------------------

class AssumedHost final : public script::Host {
public:
    std::optional<crypto::Digest> digest{};
    bool assume_valid = false;
    std::uint32_t lock_time = 0;
    std::uint32_t sequence = script::kSequenceFinal;
    std::int64_t height = 0;
    std::int64_t time = 0;
    std::vector<Bytes> members{};

    [[nodiscard]] bool check_signature(const script::SignatureQuestion& question) const override {
        if (!digest) return assume_valid;
        const ByteView der = question.signature.first(question.signature.size() - 1);
        return crypto::verify_der(question.key, *digest, der).has_value();
    }
    [[nodiscard]] bool check_lock_time(std::int64_t operand) const override {
        return script::waits_for(operand, lock_time, sequence);
    }
    [[nodiscard]] bool check_sequence(std::int64_t operand) const override {
        return script::waits_as_long_as(operand, sequence);
    }
    [[nodiscard]] bool check_expiry(std::int64_t operand) const override {
        return script::before_expiry(operand, height, time);
    }
    [[nodiscard]] bool is_member(ByteView key) const override {
        return std::find(members.begin(), members.end(), to_bytes(key)) != members.end();
    }
};

Result<std::uint64_t> whole_number(const Invocation& call, std::string_view option, std::uint64_t most) {
    const std::string text = call.text(option);
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number > most) {
        return fail(ErrorKind::Usage,
                    fmt::format("--{} {} is not a number from 0 to {}", option, printable(text), most));
    }
    return number;
}

/// A number, a date, or (for a sequence) a waiting time.
Result<std::uint32_t> lock_number(const Invocation& call, std::string_view option) {
    const std::string text = call.text(option);
    if (const auto moment = script::parse_moment(text);
        moment && *moment <= std::numeric_limits<std::uint32_t>::max()) {
        return static_cast<std::uint32_t>(*moment);
    }
    if (const auto wait = parse_duration(text); wait && option == "sequence") {
        if (const auto operand = script::relative_lock(*wait)) return static_cast<std::uint32_t>(*operand);
    }
    TRY(const std::uint64_t number, whole_number(call, option, std::numeric_limits<std::uint32_t>::max()));
    return static_cast<std::uint32_t>(number);
}

struct Trial {
    NamedKeys keys;
    Bytes unlocking;
    Bytes locking;
    AssumedHost host;
    script::Rules rules = script::kChainRules;
    script::Limits limits;
};

Result<Trial> trial(Invocation& call) {
    Trial made;
    TRY(made.keys, NamedKeys::from(call.texts("key")));
    TRY(const std::string locking_text, script_text(call));
    TRY(made.locking, script_of(call, "locking script", locking_text, made.keys));
    TRY(made.unlocking, script_of(call, "unlocking script", call.text("unlock"), made.keys));
    TRY(made.host.lock_time, lock_number(call, "lock-time"));
    TRY(made.host.sequence, lock_number(call, "sequence"));
    TRY(const std::uint64_t height, whole_number(call, "height", std::numeric_limits<std::int64_t>::max()));
    made.host.height = static_cast<std::int64_t>(height);
    made.host.time = call.console.now().unix_seconds();
    if (const auto time = call.if_text("time")) {
        const auto moment = script::parse_moment(*time);
        if (!moment) return fail(ErrorKind::Usage, fmt::format("--time {} is no date from 1985 on", printable(*time)));
        made.host.time = *moment;
    }
    for (const std::string& member : call.texts("member")) {
        const auto key = made.keys.find(member);
        const auto bytes = key ? to_bytes(key->bytes()) : from_hex(member);
        if (!bytes || bytes->size() != crypto::PublicKey::kSize) {
            return fail(ErrorKind::Usage,
                        fmt::format("--member {} is neither a public key nor a name of --key", printable(member)));
        }
        made.host.members.push_back(*bytes);
    }
    if (const auto digest = call.if_text("digest")) {
        made.host.digest = crypto::Digest::from_hex(*digest);
        if (!made.host.digest) return fail(ErrorKind::Usage, "--digest is not 64 hexadecimal digits");
    }
    if (call.text("assume-signatures") == "valid") {
        if (made.host.digest) return fail(ErrorKind::Usage, "--digest checks signatures; --assume-signatures does not");
        made.host.assume_valid = true;
        // Whoever assumes signatures has none to show: 'sig' will do.
        made.rules.strict_der = made.rules.low_s = made.rules.strict_encoding = made.rules.hash_type_all = false;
    }
    TRY(const std::uint64_t checks, whole_number(call, "checks", 20'000));
    made.limits.signature_checks = static_cast<std::uint32_t>(checks);
    return made;
}

// ---- output ---------------------------------------------------------------------------------------------------------

json::Value verdict_data(const script::Verdict& verdict) {
    json::Object data;
    data.set("ok", verdict.ok());
    data.set("error", name(verdict.error));
    if (!verdict.ok()) {
        data.set("why", explain(verdict.error));
        data.set("script", name(verdict.part));
        data.set("offset", verdict.offset);
    }
    data.set("signatureChecks", verdict.signature_checks);
    data.set("dependsOnBlock", verdict.depends_on_block);
    return data;
}

/// The sentence of a verdict goes to stdout; a failed one also decides the exit code.
Result<void> concluded(const script::Verdict& verdict) {
    if (verdict.ok()) return ok();
    return Fail{script::to_error(verdict)};
}

std::string verdict_text(const script::Verdict& verdict, const Style& style) {
    if (!verdict.ok()) return style.paint(Tone::Bad, name(verdict.error)) + "\n";
    std::string text = style.paint(Tone::Good, "OK") + fmt::format(", {} signature check{}", verdict.signature_checks,
                                                                   verdict.signature_checks == 1 ? "" : "s");
    if (verdict.depends_on_block) text += ", for this block only";
    return text + "\n";
}

bool is_readable(ByteView item) {
    return std::all_of(item.begin(), item.end(), [](std::uint8_t byte) { return byte >= 0x20 && byte < 0x7f; });
}

/// One item for a person: its owner's name, a number, text, or the beginning of its bytes.
std::string item_text(ByteView item, const NamedKeys& keys) {
    constexpr std::size_t kWholeMax = 8;
    if (item.empty()) return "0";
    if (const std::string owner = keys.name_of(item); !owner.empty()) return "<" + owner + ">";
    if (item.size() == 1 && item[0] <= 16) return fmt::format("{}", item[0]);
    if (item.size() > 2 && item.size() <= 2 * kWholeMax && is_readable(item))
        return fmt::format("'{}'", rhizome::as_text(item));
    if (item.size() <= kWholeMax) return "<" + to_hex(item) + ">";
    return fmt::format("<{}.. {}>", to_hex(item.first(4)), item.size());
}

std::string stack_text(const std::vector<Bytes>& stack, const NamedKeys& keys) {
    std::string text;
    for (const Bytes& item : stack) text += (text.empty() ? "" : " ") + item_text(item, keys);
    return text;
}

/// Assembly with long pushes shortened in the same way.
std::string short_script(ByteView bytes, const NamedKeys& keys) {
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

json::Array hex_items(const std::vector<Bytes>& stack) {
    json::Array items;
    for (const Bytes& item : stack) items.emplace_back(to_hex(item));
    return items;
}

json::Value trace_data(const script::Trace& trace) {
    json::Array steps;
    for (const script::TraceStep& step : trace.steps) {
        json::Object row;
        row.set("step", steps.size() + 1);
        row.set("script", name(step.part));
        row.set("offset", step.offset);
        row.set("instruction", step.instruction);
        row.set("executed", step.executed);
        row.set("openBranches", step.open_branches);
        row.set("stack", hex_items(step.stack));
        row.set("altStack", hex_items(step.alt_stack));
        row.set("rest", step.rest);
        row.set("what", step.what);
        steps.emplace_back(std::move(row));
    }
    json::Object data;
    data.set("steps", std::move(steps));
    data.set("stepsLeftOut", trace.left_out);
    data.set("verdict", verdict_data(trace.verdict));
    return data;
}

std::string trace_table(const script::Trace& trace, const Trial& tried, const Console& console) {
    Table table{{"STEP", "SCRIPT", "OPCODE", "STACK", "REST OF SCRIPT", "WHAT HAPPENED"}};
    std::size_t number = 0;
    for (const script::TraceStep& step : trace.steps) {
        const ByteView bytes = step.part == script::ScriptPart::Unlocking ? tried.unlocking : tried.locking;
        script::InstructionReader reader{bytes.subspan(step.offset)};
        const auto instruction = reader.next();
        const std::size_t size = instruction ? instruction->size : 0;
        std::string stack = stack_text(step.stack, tried.keys);
        if (!step.alt_stack.empty()) stack += " | alt: " + stack_text(step.alt_stack, tried.keys);
        const Tone tone = step.error != script::ScriptError::Ok ? Tone::Bad : step.executed ? Tone::Plain : Tone::Faint;
        table.add({fmt::format("{}", ++number), std::string{name(step.part)},
                   Cell{short_script(bytes.subspan(step.offset, size), tried.keys), tone}, stack,
                   short_script(bytes.subspan(step.offset + size), tried.keys), Cell{step.what, tone}});
    }
    std::string text = table.render(console.out_style, console.out_width);
    if (trace.left_out > 0) text += fmt::format("({} more steps)\n", trace.left_out);
    return text + "\n" + verdict_text(trace.verdict, console.out_style);
}

// ---- commands -------------------------------------------------------------------------------------------------------

json::Value script_data(ByteView bytes) {
    json::Object data;
    data.set("hex", to_hex(bytes));
    data.set("assembly", script::disassemble(bytes));
    data.set("bytes", bytes.size());
    return data;
}

Result<void> run_asm(Invocation& call) {
    TRY(const NamedKeys keys, NamedKeys::from(call.texts("key")));
    TRY(const std::string text, script_text(call));
    TRY(const Bytes bytes, script_of(call, "script", text, keys));
    print_data(call, script_data(bytes), [&] { return to_hex(bytes) + "\n"; });
    return ok();
}

Result<void> run_disasm(Invocation& call) {
    TRY(std::string text, script_text(call));
    std::erase_if(text,
                  [](char letter) { return letter == ' ' || letter == '\n' || letter == '\t' || letter == '\r'; });
    if (text.starts_with("0x") || text.starts_with("0X")) text.erase(0, 2);
    const auto bytes = from_hex(text);
    if (!bytes) {
        const std::size_t bad = std::min(text.find_first_not_of("0123456789abcdefABCDEF"), text.size());
        const bool odd = bad == text.size();
        return fail(ErrorKind::Invalid,
                    odd ? fmt::format("the script has {} hexadecimal digits; two make a byte", text.size())
                        : fmt::format("digit {} of the script is not hexadecimal", bad + 1));
    }
    print_data(call, script_data(*bytes), [&] { return script::disassemble(*bytes) + "\n"; });
    return ok();
}

Result<void> run_explain(Invocation& call) {
    TRY(const NamedKeys keys, NamedKeys::from(call.texts("key")));
    TRY(const std::string text, script_text(call));
    TRY(const Bytes bytes, script_of(call, "script", text, keys));
    const script::Explanation meaning = script::explain(bytes);
    json::Value data = script_data(bytes);
    data["meaning"] = meaning.sentence;
    data["known"] = meaning.known;
    data["template"] = meaning.as_template;
    json::Array ways;
    for (const std::string& way : meaning.ways) ways.emplace_back(way);
    data["unlockedBy"] = std::move(ways);
    print_data(call, data, [&] {
        std::string out = meaning.sentence + "\n";
        for (const std::string& way : meaning.ways)
            out += call.console.out_style.paint(Tone::Faint, "unlock with: " + way) + "\n";
        return out;
    });
    return ok();
}

Result<void> run_run(Invocation& call) {
    TRY(const Trial tried, trial(call));
    const script::Verdict verdict = verify(tried.unlocking, tried.locking, tried.host, tried.rules, tried.limits);
    print_data(call, verdict_data(verdict), [&] { return verdict_text(verdict, call.console.out_style); });
    return concluded(verdict);
}

Result<void> run_trace(Invocation& call) {
    TRY(const Trial tried, trial(call));
    const script::Trace made = trace(tried.unlocking, tried.locking, tried.host, tried.rules, tried.limits);
    print_data(call, trace_data(made), [&] { return trace_table(made, tried, call.console); });
    return concluded(made.verdict);
}

Argument script_argument(std::string help) {
    return {.name = "SCRIPT", .help = std::move(help), .required = false, .repeatable = true};
}

std::vector<Option> reading_options() {
    return {
        output_option(),
        {.name = "file",
         .letter = 'f',
         .value_name = "FILE",
         .help = "read the script from a file, or from stdin with -",
         .completion = Completion::files()},
        {.name = "key",
         .letter = 'k',
         .value_name = "NAME=KEY",
         .help = "give a public key a name to use in the script",
         .repeatable = true},
    };
}

std::vector<Option> trial_options() {
    std::vector<Option> options = reading_options();
    const Option more[] = {
        {.name = "unlock", .letter = 'u', .value_name = "SCRIPT", .help = "the unlocking script, which runs first"},
        {.name = "assume-signatures",
         .value_name = "ANSWER",
         .help = "what the signature checks say",
         .fallback = "invalid",
         .choices = {{"valid", "every signature is good, and may be any bytes"}, {"invalid", "no signature is good"}}},
        {.name = "digest", .value_name = "HEX", .help = "check signatures of this digest for real"},
        {.name = "sequence",
         .value_name = "WAIT",
         .help = "the input's sequence: a number, or a time such as 5d",
         .fallback = "4294967295"},
        {.name = "lock-time",
         .value_name = "WHEN",
         .help = "the transaction's lock time: a height or a date",
         .fallback = "0"},
        {.name = "height", .value_name = "NUMBER", .help = "the block's height", .fallback = "0"},
        {.name = "time", .value_name = "DATE", .help = "the block's time; now when not given"},
        {.name = "member",
         .value_name = "KEY",
         .help = "a key that belongs to a node of the cluster",
         .repeatable = true},
        {.name = "checks",
         .value_name = "NUMBER",
         .help = "how many signature checks are allowed",
         .fallback = "20000"},
    };
    options.insert(options.end(), std::begin(more), std::end(more));
    return options;
}

}  // namespace

Command script_command() {
    const std::string languages =
        "A script is assembly (OP_DUP OP_HASH160 <...> ...) or a template (p2pkh alice, either ... or after 5d ...). "
        "Give it "
        "as an "
        "argument, in a file, or on stdin; bytes of a script are written 0x....";
    return {
        .name = "script",
        .summary = "Write, read and try out locking scripts",
        .details =
            "Locking scripts say who may change a resource, and when.\n\n"
            "Templates:\n"
            "  p2pkh WHO            whoever has this key\n"
            "  multisig M KEY...    any M of these keys\n"
            "  member               any node of the cluster\n"
            "  after WHEN TEMPLATE  once it is time\n"
            "  until WHEN TEMPLATE  as long as it is not yet time\n"
            "  either TEMPLATE or TEMPLATE\n"
            "  cosigned WHO TEMPLATE\n\n"
            "WHEN is a time such as 5d, 10 blocks, a date such as 2027-01-01, or a block height; until takes only the "
            "last two.",
        .examples = {{"see what a template stands for", "rhizome script explain 'after 5d member'"}},
        .subcommands =
            {
                {.name = "asm",
                 .summary = "Turn a script or template into bytes",
                 .details = languages,
                 .examples = {{"push two numbers and add them", "rhizome script asm 1 2 OP_ADD"},
                              {"two of three owners",
                               "rhizome script asm -k a=02... -k b=03... -k c=02... multisig 2 a b c"}},
                 .arguments = {script_argument("assembly or a template")},
                 .options = reading_options(),
                 .run = run_asm},
                {.name = "disasm",
                 .summary = "Print the bytes of a script as assembly",
                 .details = "What it prints assembles to the same bytes, whatever they are.",
                 .examples = {{"read a script", "rhizome script disasm 76a914"}},
                 .arguments = {script_argument("bytes in hexadecimal")},
                 .options = reading_options(),
                 .run = run_disasm},
                {.name = "explain",
                 .summary = "Say who can unlock a script, and when",
                 .details = languages,
                 .examples = {{"what does this lock mean",
                               "rhizome script explain 5d OP_CSV OP_DROP OP_CHECKMEMBERSIG"}},
                 .arguments = {script_argument("assembly or a template")},
                 .options = reading_options(),
                 .run = run_explain},
                {.name = "run",
                 .summary = "Run an unlocking and a locking script to a verdict",
                 .details = languages + "\n\nThe exit code is 4 when the script does not open.",
                 .examples = {{"is the sum right", "rhizome script run --unlock '1 2' OP_ADD 3 OP_EQUAL"},
                              {"try a delay",
                               "rhizome script run --unlock \"'sig' <02...>\" --assume-signatures valid "
                               "--sequence 5d 'after 5d p2pkh 02...'"}},
                 .arguments = {script_argument("the locking script")},
                 .options = trial_options(),
                 .run = run_run},
                {.name = "trace",
                 .summary = "Run scripts and show the stack after every step",
                 .details = languages + "\n\nThe exit code is 4 when the script does not open.",
                 .examples = {{"watch an addition", "rhizome script trace --unlock '1 2' OP_ADD 3 OP_EQUAL"}},
                 .arguments = {script_argument("the locking script")},
                 .options = trial_options(),
                 .run = run_trace},
            },
        .group = std::string{kGroupChain},
    };
}

}  // namespace rhizome::cli
