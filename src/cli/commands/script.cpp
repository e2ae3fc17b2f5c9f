// SPDX-License-Identifier: Apache-2.0
// `rhizome script`: writing, reading and trying out locking scripts. Needs no node.
#include <iterator>
#include <limits>

#include <fmt/core.h>

#include "base/time.h"
#include "cli/commands/commands.h"
#include "cli/input.h"
#include "cli/known_keys.h"
#include "cli/print.h"
#include "cli/script_view.h"
#include "cli/text.h"
#include "cli/values.h"
#include "crypto/keys.h"
#include "script/assembler.h"
#include "script/explain.h"
#include "script/interpreter.h"
#include "script/locks.h"
#include "script/template.h"
#include "script/trace_json.h"
#include "script/tracer.h"

namespace rhizome::cli {
namespace {

constexpr std::size_t kTextBytesMax = 1 << 20;

// ---- input ----------------------------------------------------------------------------------------------------------

/// Keys that the command line names: `--key alice=02ab...`.
Result<KnownKeys> named_keys(const std::vector<std::string>& pairs) {
    KnownKeys keys;
    for (const std::string& pair : pairs) {
        const std::size_t equals = pair.find('=');
        if (equals == std::string::npos || equals == 0) {
            return fail(ErrorKind::Usage, fmt::format("--key {} is not NAME=KEY", printable(pair)));
        }
        const auto bytes = from_hex(std::string_view{pair}.substr(equals + 1));
        auto key = bytes ? crypto::PublicKey::parse(*bytes) : Fail{crypto::SignatureFault::BadKey};
        if (!key) {
            return fail(ErrorKind::Usage, fmt::format("--key {} is not followed by a public key\n66 hexadecimal digits",
                                                      printable(pair.substr(0, equals + 1))));
        }
        keys.add(pair.substr(0, equals), *key);
    }
    return keys;
}

/// The text of a script: the arguments, a file, or what comes on stdin.
Result<std::string> script_text(const Invocation& call) {
    const auto& words = call.arguments("SCRIPT");
    const auto file = call.if_text("file");
    if (file && !words.empty()) {
        return fail(ErrorKind::Usage, "a script is given twice: as an argument and with --file");
    }
    if (!words.empty()) return join(words, " ");
    return read_input(call.console, file.value_or("-"), kTextBytesMax);
}

// ---- a transaction that exists on the command line only -------------------------------------------------------------

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

struct Trial {
    KnownKeys keys;
    Bytes unlocking;
    Bytes locking;
    AssumedHost host;
    script::Rules rules = script::kChainRules;
    script::Limits limits;
};

Result<Trial> trial(Invocation& call) {
    Trial made;
    TRY(made.keys, named_keys(call.texts("key")));
    TRY(const std::string locking_text, script_text(call));
    TRY(made.locking, compile_script(call.console, "locking script", locking_text, made.keys));
    TRY(made.unlocking, compile_script(call.console, "unlocking script", call.text("unlock"), made.keys));
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

/// The sentence of a verdict goes to stdout; a failed one also decides the exit code.
Result<void> concluded(const script::Verdict& verdict) {
    if (verdict.ok()) return ok();
    return Fail{script::to_error(verdict)};
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
    TRY(const KnownKeys keys, named_keys(call.texts("key")));
    TRY(const std::string text, script_text(call));
    TRY(const Bytes bytes, compile_script(call.console, "script", text, keys));
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
    TRY(const KnownKeys keys, named_keys(call.texts("key")));
    TRY(const std::string text, script_text(call));
    TRY(const Bytes bytes, compile_script(call.console, "script", text, keys));
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
    print_data(call, script::to_json(verdict), [&] { return verdict_text(verdict, call.console.out_style); });
    return concluded(verdict);
}

Result<void> run_trace(Invocation& call) {
    TRY(const Trial tried, trial(call));
    const script::Trace made = trace(tried.unlocking, tried.locking, tried.host, tried.rules, tried.limits);
    print_data(call, script::to_json(made),
               [&] { return trace_table(made, tried.unlocking, tried.locking, tried.keys, call.console); });
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
