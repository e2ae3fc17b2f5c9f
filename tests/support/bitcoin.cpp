// SPDX-License-Identifier: Apache-2.0
#include "support/bitcoin.h"

#include <algorithm>
#include <memory>

#include <secp256k1.h>

#include "base/codec.h"
#include "script/locks.h"

namespace rhizome::test::bitcoin {
namespace {

constexpr std::uint32_t kHashNone = 2;
constexpr std::uint32_t kHashSingle = 3;
constexpr std::uint32_t kAnyoneCanPay = 0x80;

void put_size(Writer& out, std::uint64_t size) {
    if (size < 0xfd) {
        out.u8(static_cast<std::uint8_t>(size));
    } else if (size <= 0xffff) {
        out.u8(0xfd).u16(static_cast<std::uint16_t>(size));
    } else {
        out.u8(0xfe).u32(static_cast<std::uint32_t>(size));
    }
}
void put_script(Writer& out, ByteView script) {
    put_size(out, script.size());
    out.raw(script);
}

std::optional<std::uint64_t> get_size(Reader& in) {
    const auto first = in.u8();
    if (!first) return std::nullopt;
    if (*first < 0xfd) return *first;
    if (*first == 0xfd) {
        const auto size = in.u16();
        return size ? std::optional<std::uint64_t>{*size} : std::nullopt;
    }
    const auto size = in.u32();
    return *first == 0xfe && size ? std::optional<std::uint64_t>{*size} : std::nullopt;
}
bool get_script(Reader& in, Bytes& out) {
    const auto size = get_size(in);
    if (!size) return false;
    const auto view = in.raw(*size);
    if (!view) return false;
    out = to_bytes(*view);
    return true;
}

/// The instructions of `script` with some left out. What comes behind a broken push is kept.
Bytes without_separators(ByteView script) {
    Bytes out;
    script::InstructionReader reader{script};
    while (const auto instruction = reader.next()) {
        if (instruction->code == script::OP_CODESEPARATOR) continue;
        const ByteView bytes = script.subspan(instruction->offset, instruction->size);
        out.insert(out.end(), bytes.begin(), bytes.end());
    }
    return out;
}

/// Bitcoin's FindAndDelete: takes `what` out wherever it stands at the beginning of an instruction, again and again.
int find_and_delete(Bytes& script, ByteView what) {
    if (what.empty()) return 0;
    Bytes kept;
    int found = 0;
    std::size_t at = 0;
    std::size_t copied = 0;
    bool more = true;
    do {
        kept.insert(kept.end(), script.begin() + static_cast<std::ptrdiff_t>(copied),
                    script.begin() + static_cast<std::ptrdiff_t>(at));
        while (script.size() - at >= what.size() &&
               std::equal(what.begin(), what.end(), script.begin() + static_cast<std::ptrdiff_t>(at))) {
            at += what.size();
            ++found;
        }
        copied = at;
        script::InstructionReader reader{ByteView{script}.subspan(at)};
        const auto instruction = reader.next();
        more = instruction && !instruction->broken;
        if (more) at += instruction->size;
    } while (more);
    if (found > 0) {
        kept.insert(kept.end(), script.begin() + static_cast<std::ptrdiff_t>(copied), script.end());
        script = std::move(kept);
    }
    return found;
}

/// `CScript() << data`: the shortest length prefix, but never a small-number instruction.
Bytes plain_push(ByteView data) {
    Writer out;
    if (data.size() < script::OP_PUSHDATA1) {
        out.u8(static_cast<std::uint8_t>(data.size()));
    } else if (data.size() <= 0xff) {
        out.u8(script::OP_PUSHDATA1).u8(static_cast<std::uint8_t>(data.size()));
    } else {
        out.u8(script::OP_PUSHDATA2).u16(static_cast<std::uint16_t>(data.size()));
    }
    return std::move(out.raw(data)).take();
}

const secp256k1_context* context() {
    static const std::unique_ptr<secp256k1_context, void (*)(secp256k1_context*)> made{
        secp256k1_context_create(SECP256K1_CONTEXT_VERIFY), secp256k1_context_destroy};
    return made.get();
}

/// Signatures as they were read before BIP 66: BER with almost any lengths. Numbers that are too large become zero.
class LaxReader {
public:
    explicit LaxReader(ByteView in) : in_(in) {}

    bool parse(secp256k1_ecdsa_signature& out) {
        std::array<std::uint8_t, 64> numbers{};
        // A signature of nothing but zeros fails every verification.
        secp256k1_ecdsa_signature_parse_compact(context(), &out, numbers.data());
        if (at_ == in_.size() || in_[at_++] != 0x30) return false;
        if (at_ == in_.size()) return false;
        std::size_t size = in_[at_++];
        if ((size & 0x80) != 0) {  // the length of the whole is read over
            size -= 0x80;
            if (size > in_.size() - at_) return false;
            at_ += size;
        }
        ByteView r;
        ByteView s;
        if (!integer(r) || !integer(s)) return false;
        const bool fits = place(r, numbers.data()) && place(s, numbers.data() + 32) &&
                          secp256k1_ecdsa_signature_parse_compact(context(), &out, numbers.data()) != 0;
        if (!fits) {
            numbers.fill(0);
            secp256k1_ecdsa_signature_parse_compact(context(), &out, numbers.data());
        }
        return true;
    }

private:
    bool integer(ByteView& out) {
        if (at_ == in_.size() || in_[at_++] != 0x02) return false;
        if (at_ == in_.size()) return false;
        std::size_t size = in_[at_++];
        if ((size & 0x80) != 0) {
            std::size_t bytes = size - 0x80;
            if (bytes > in_.size() - at_) return false;
            while (bytes > 0 && in_[at_] == 0) {
                ++at_;
                --bytes;
            }
            if (bytes >= 4) return false;
            size = 0;
            for (; bytes > 0; --bytes) size = size << 8 | in_[at_++];
        }
        if (size > in_.size() - at_) return false;
        out = in_.subspan(at_, size);
        at_ += size;
        return true;
    }
    static bool place(ByteView number, std::uint8_t* out) {
        while (!number.empty() && number.front() == 0) number = number.subspan(1);
        if (number.size() > 32) return false;
        std::copy(number.begin(), number.end(), out + 32 - number.size());
        return true;
    }

    ByteView in_;
    std::size_t at_ = 0;
};

bool key_has_its_size(ByteView key) {
    if (key.empty()) return false;
    switch (key[0]) {
        case 2:
        case 3: return key.size() == 33;
        case 4:
        case 6:
        case 7: return key.size() == 65;
        default: return false;
    }
}

bool is_pay_to_script_hash(ByteView locking) {
    return locking.size() == 23 && locking[0] == script::OP_HASH160 && locking[1] == 20 &&
           locking[22] == script::OP_EQUAL;
}

}  // namespace

std::optional<Tx> parse_tx(ByteView bytes) {
    Reader in{bytes};
    Tx tx;
    const auto version = in.u32();
    const auto inputs = get_size(in);
    if (!version || !inputs) return std::nullopt;
    tx.version = *version;
    for (std::uint64_t i = 0; i < *inputs; ++i) {
        TxIn input;
        const auto previous = in.array<32>();
        const auto index = in.u32();
        if (!previous || !index || !get_script(in, input.script)) return std::nullopt;
        const auto sequence = in.u32();
        if (!sequence) return std::nullopt;
        input.previous = *previous;
        input.index = *index;
        input.sequence = *sequence;
        tx.inputs.push_back(std::move(input));
    }
    const auto outputs = get_size(in);
    if (!outputs) return std::nullopt;
    for (std::uint64_t i = 0; i < *outputs; ++i) {
        TxOut output;
        const auto value = in.u64();
        if (!value || !get_script(in, output.script)) return std::nullopt;
        output.value = static_cast<std::int64_t>(*value);
        tx.outputs.push_back(std::move(output));
    }
    const auto lock_time = in.u32();
    if (!lock_time || !in.empty()) return std::nullopt;
    tx.lock_time = *lock_time;
    return tx;
}

Bytes serialize(const Tx& tx) {
    Writer out;
    out.u32(tx.version);
    put_size(out, tx.inputs.size());
    for (const TxIn& input : tx.inputs) {
        out.raw(input.previous).u32(input.index);
        put_script(out, input.script);
        out.u32(input.sequence);
    }
    put_size(out, tx.outputs.size());
    for (const TxOut& output : tx.outputs) {
        out.u64(static_cast<std::uint64_t>(output.value));
        put_script(out, output.script);
    }
    out.u32(tx.lock_time);
    return std::move(out).take();
}

crypto::Hash256 legacy_digest(const Tx& tx, ByteView script_code, std::size_t input, std::int32_t hash_type) {
    const auto type = static_cast<std::uint32_t>(hash_type);
    const std::uint32_t kind = type & 0x1f;
    crypto::Hash256 one;
    one.writable()[0] = 1;  // what Bitcoin signs when there is nothing to sign
    if (input >= tx.inputs.size()) return one;
    if (kind == kHashSingle && input >= tx.outputs.size()) return one;

    Tx copy = tx;
    for (TxIn& in : copy.inputs) in.script.clear();
    copy.inputs[input].script = without_separators(script_code);
    if (kind == kHashNone || kind == kHashSingle) {
        for (std::size_t i = 0; i < copy.inputs.size(); ++i) {
            if (i != input) copy.inputs[i].sequence = 0;
        }
        copy.outputs.resize(kind == kHashNone ? 0 : input + 1);
        for (std::size_t i = 0; i + 1 < copy.outputs.size(); ++i) copy.outputs[i] = TxOut{-1, {}};
    }
    if ((type & kAnyoneCanPay) != 0) copy.inputs = {copy.inputs[input]};
    Writer out;
    out.raw(serialize(copy)).u32(type);
    return crypto::hash256d(out.view());
}

Tx credit_tx(ByteView locking) {
    Tx tx;
    tx.inputs.push_back({.script = {script::OP_0, script::OP_0}});
    tx.outputs.push_back({.value = 0, .script = to_bytes(locking)});
    return tx;
}

Tx spend_tx(ByteView unlocking, const Tx& credit) {
    Tx tx;
    tx.inputs.push_back(
        {.previous = crypto::hash256d(serialize(credit)).array(), .index = 0, .script = to_bytes(unlocking)});
    tx.outputs.push_back({});
    return tx;
}

bool Host::check_signature(const script::SignatureQuestion& question) const {
    if (!key_has_its_size(question.key)) return false;
    Bytes code = to_bytes(question.script_code);
    for (const ByteView signature : question.together) find_and_delete(code, plain_push(signature));
    const ByteView der = question.signature.first(question.signature.size() - 1);
    const crypto::Hash256 digest = legacy_digest(tx_, code, 0, question.signature.back());
    secp256k1_pubkey key;
    if (secp256k1_ec_pubkey_parse(context(), &key, question.key.data(), question.key.size()) == 0) return false;
    secp256k1_ecdsa_signature signature;
    if (!LaxReader{der}.parse(signature)) return false;
    secp256k1_ecdsa_signature_normalize(context(), &signature, &signature);
    return secp256k1_ecdsa_verify(context(), &signature, digest.view().data(), &key) == 1;
}

bool Host::check_lock_time(std::int64_t operand) const {
    return script::waits_for(operand, tx_.lock_time, tx_.inputs[0].sequence);
}

bool Host::check_sequence(std::int64_t operand) const {
    return tx_.version >= 2 && script::waits_as_long_as(operand, tx_.inputs[0].sequence);
}

bool Host::keeps_script_code(ByteView script_code, std::span<const ByteView> signatures) const {
    Bytes code = to_bytes(script_code);
    return std::none_of(signatures.begin(), signatures.end(),
                        [&](ByteView signature) { return find_and_delete(code, plain_push(signature)) > 0; });
}

std::optional<Flags> parse_flags(std::string_view text) {
    Flags flags;
    script::Rules& rules = flags.rules;
    const struct {
        std::string_view name;
        bool* rule;
    } known[] = {
        {"P2SH", &flags.p2sh},
        {"STRICTENC", &rules.strict_encoding},
        {"DERSIG", &rules.strict_der},
        {"LOW_S", &rules.low_s},
        {"MINIMALDATA", &rules.minimal_data},
        {"NULLDUMMY", &rules.null_dummy},
        {"NULLFAIL", &rules.null_fail},
        {"SIGPUSHONLY", &rules.push_only_unlocking},
        {"CLEANSTACK", &rules.clean_stack},
        {"CHECKLOCKTIMEVERIFY", &rules.lock_time},
        {"CHECKSEQUENCEVERIFY", &rules.sequence},
        {"DISCOURAGE_UPGRADABLE_NOPS", &rules.discourage_nops},
        {"CONST_SCRIPTCODE", &rules.constant_script_code},
        // These concern witness scripts only.
        {"WITNESS", nullptr},
        {"MINIMALIF", nullptr},
        {"WITNESS_PUBKEYTYPE", nullptr},
        {"DISCOURAGE_UPGRADABLE_WITNESS_PROGRAM", nullptr},
        {"TAPROOT", nullptr},
        {"DISCOURAGE_UPGRADABLE_TAPROOT_VERSION", nullptr},
        {"DISCOURAGE_UPGRADABLE_PUBKEYTYPE", nullptr},
        {"DISCOURAGE_OP_SUCCESS", nullptr},
        {"NONE", nullptr},
    };
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        const std::string_view flag = text.substr(0, comma);
        text.remove_prefix(std::min(comma + 1, text.size()));
        const auto found =
            std::find_if(std::begin(known), std::end(known), [&](const auto& row) { return row.name == flag; });
        if (found == std::end(known)) return std::nullopt;
        if (found->rule != nullptr) *found->rule = true;
    }
    return flags;
}

script::Verdict verify_script(ByteView unlocking, ByteView locking, const Flags& flags, const script::Host& host) {
    using script::ScriptError;
    if (!flags.p2sh || !is_pay_to_script_hash(locking)) return verify(unlocking, locking, host, flags.rules);

    // The clean stack is asked for at the end, after the script that was hashed.
    script::Rules without_clean = flags.rules;
    without_clean.clean_stack = false;
    script::Verdict verdict = verify(unlocking, locking, host, without_clean);
    if (!verdict.ok()) return verdict;
    if (!script::is_push_only(unlocking)) {
        verdict.error = ScriptError::SigPushOnly;
        return verdict;
    }
    script::Stack stack;
    run(unlocking, stack, host, flags.rules, {}, verdict);
    const ByteView hashed = stack.top();  // a view of the unlocking script
    stack.pop();
    run(hashed, stack, host, flags.rules, {}, verdict);
    if (!verdict.ok()) return verdict;
    if (stack.size() == 0 || !script::is_true(stack.top())) {
        verdict.error = ScriptError::EvalFalse;
    } else if (flags.rules.clean_stack && stack.size() != 1) {
        verdict.error = ScriptError::CleanStack;
    }
    return verdict;
}

}  // namespace rhizome::test::bitcoin
