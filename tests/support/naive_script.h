// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "crypto/hash.h"
#include "script/interpreter.h"

/// The script language a second time, written from the description only and as plainly as possible: strings for items,
/// vectors that are copied, exceptions for failures, a table of functions. Slow and independent; the real interpreter
/// must agree with it on everything. Header-only, so that the fuzzer can use it.
namespace rhizome::test::naive {

using Item = std::string;

struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Outcome {
    std::string error = "OK";
    std::uint32_t checks = 0;
    bool depends = false;
    std::vector<Item> stack{};

    friend bool operator==(const Outcome&, const Outcome&) = default;
};

class Run {
public:
    Run(const script::Host& host, const script::Rules& rules, std::uint32_t checks_max)
        : host_(host), rules_(rules), checks_max_(checks_max) {}

    Outcome verify(ByteView unlocking, ByteView locking) {
        Outcome outcome;
        try {
            const std::string first{as_text(unlocking)};
            const std::string second{as_text(locking)};
            if (rules_.push_only_unlocking && !push_only(first)) throw Failure{"SIG_PUSHONLY"};
            evaluate(first);
            evaluate(second);
            if (stack_.empty() || !truth(stack_.back())) throw Failure{"EVAL_FALSE"};
            if (rules_.clean_stack && stack_.size() > 1) throw Failure{"CLEANSTACK"};
        } catch (const Failure& failure) {
            outcome.error = failure.what();
        }
        outcome.checks = checks_;
        outcome.depends = depends_;
        outcome.stack = stack_;
        return outcome;
    }

private:
    struct Token {
        int code = 0;
        Item data{};
        std::size_t end = 0;
    };

    /// The token at `at`; nothing when a push is cut off.
    static std::optional<Token> token(const std::string& script, std::size_t at) {
        Token result;
        result.code = static_cast<unsigned char>(script[at]);
        ++at;
        std::size_t size = 0;
        if (result.code <= 75) {
            size = static_cast<std::size_t>(result.code);
        } else if (result.code <= 78) {
            const std::size_t width = std::size_t{1} << (result.code - 76);
            if (script.size() < at + width) return std::nullopt;
            std::size_t unit = 1;
            for (std::size_t i = 0; i < width; ++i, unit *= 256)
                size += unit * static_cast<unsigned char>(script[at + i]);
            at += width;
        }
        if (script.size() < at + size) return std::nullopt;
        result.data = script.substr(at, size);
        result.end = at + size;
        return result;
    }

    static bool push_only(const std::string& script) {
        for (std::size_t at = 0; at < script.size();) {
            const auto next = token(script, at);
            if (!next || next->code > 96) return false;
            at = next->end;
        }
        return true;
    }

    static bool truth(const Item& item) {
        Item magnitude = item;
        if (!magnitude.empty()) magnitude.back() = static_cast<char>(magnitude.back() & 0x7f);
        return std::any_of(magnitude.begin(), magnitude.end(), [](char byte) { return byte != 0; });
    }

    static Item from_number(std::int64_t number) {
        Item item;
        bool negative = number < 0;
        for (std::int64_t rest = negative ? -number : number; rest > 0; rest /= 256)
            item += static_cast<char>(rest % 256);
        if (item.empty()) return item;
        if (static_cast<unsigned char>(item.back()) >= 128) item += '\0';
        if (negative) item.back() = static_cast<char>(item.back() | 0x80);
        return item;
    }

    std::int64_t to_number(const Item& item, std::size_t most = 4) const {
        if (item.size() > most) throw Failure{"SCRIPTNUM"};
        std::int64_t number = 0;
        std::int64_t unit = 1;
        for (std::size_t i = 0; i < item.size(); ++i, unit *= 256) {
            int byte = static_cast<unsigned char>(item[i]);
            if (i + 1 == item.size()) byte &= 0x7f;
            number += unit * byte;
        }
        if (!item.empty() && static_cast<unsigned char>(item.back()) >= 128) number = -number;
        if (rules_.minimal_data && from_number(number) != item) throw Failure{"SCRIPTNUM"};
        return number;
    }

    static bool shortest(const Token& push) {
        const std::size_t size = push.data.size();
        if (size == 0) return push.code == 0;
        if (size == 1) {
            const int byte = static_cast<unsigned char>(push.data[0]);
            if (byte == 0x81 || (byte > 0 && byte < 17)) return false;
        }
        return push.code == (size <= 75 ? static_cast<int>(size) : size <= 255 ? 76 : 77);
    }

    void need(std::size_t items) const {
        if (stack_.size() < items) throw Failure{"INVALID_STACK_OPERATION"};
    }
    Item pop() {
        need(1);
        Item item = stack_.back();
        stack_.pop_back();
        return item;
    }
    void push(Item item) { stack_.push_back(std::move(item)); }
    void push_truth(bool value) { push(value ? Item(1, '\1') : Item{}); }

    void evaluate(const std::string& script) {
        if (script.size() > 10'000) throw Failure{"SCRIPT_SIZE"};
        alternative_.clear();
        operations_ = 0;
        signed_from_ = 0;
        std::vector<bool> branches;
        for (std::size_t at = 0; at < script.size();) {
            const bool live = std::find(branches.begin(), branches.end(), false) == branches.end();
            const auto next = token(script, at);
            if (!next) throw Failure{"BAD_OPCODE"};
            at = next->end;
            if (next->data.size() > 520) throw Failure{"PUSH_SIZE"};
            if (next->code > 96) ++operations_;
            if (operations_ > 201) throw Failure{"OP_COUNT"};
            static const std::string kDisabled = "\x7e\x7f\x80\x81\x83\x84\x85\x86\x8d\x8e\x95\x96\x97\x98\x99";
            if (kDisabled.find(static_cast<char>(next->code)) != std::string::npos) throw Failure{"DISABLED_OPCODE"};
            if (next->code == 0xab && rules_.constant_script_code) throw Failure{"OP_CODESEPARATOR"};
            if (next->code >= 0x63 && next->code <= 0x68) {
                flow(next->code, live, branches);
            } else if (live) {
                perform(*next, script);
            }
            if (stack_.size() + alternative_.size() > 1'000) throw Failure{"STACK_SIZE"};
        }
        if (!branches.empty()) throw Failure{"UNBALANCED_CONDITIONAL"};
    }

    void flow(int code, bool live, std::vector<bool>& branches) {
        if (code == 0x65 || code == 0x66) throw Failure{"BAD_OPCODE"};
        if (code == 0x63 || code == 0x64) {
            if (!live) {
                branches.push_back(false);
                return;
            }
            need(1);
            const Item item = stack_.back();
            if (rules_.minimal_if && item != "" && item != "\1") throw Failure{"MINIMALIF"};
            stack_.pop_back();
            branches.push_back(code == 0x63 ? truth(item) : !truth(item));
            return;
        }
        if (branches.empty()) throw Failure{"UNBALANCED_CONDITIONAL"};
        if (code == 0x67) {
            branches.back() = !branches.back();
        } else {
            branches.pop_back();
        }
    }

    void perform(const Token& next, const std::string& script) {
        if (next.code <= 78) {
            if (rules_.minimal_data && !shortest(next)) throw Failure{"MINIMALDATA"};
            push(next.data);
        } else if (next.code == 0x4f) {
            push(from_number(-1));
        } else if (next.code >= 0x51 && next.code <= 0x60) {
            push(from_number(next.code - 0x50));
        } else if (const auto simple = table().find(next.code); simple != table().end()) {
            simple->second(*this);
        } else if (next.code == 0xab) {
            signed_from_ = next.end;
        } else if (next.code == 0xac || next.code == 0xad || (next.code == 0xb4 && rules_.extensions)) {
            one_signature(next.code, script);
        } else if (next.code == 0xae || next.code == 0xaf) {
            many_signatures(next.code == 0xaf, script);
        } else if (next.code == 0xb1 || next.code == 0xb2 || (next.code == 0xb3 && rules_.extensions)) {
            lock(next.code);
        } else if (next.code >= 0xb0 && next.code <= 0xb9) {
            if (rules_.discourage_nops) throw Failure{"DISCOURAGE_UPGRADABLE_NOPS"};
        } else {
            throw Failure{"BAD_OPCODE"};
        }
    }

    /// Takes as many items as there are places in `before` and puts back those that `after` names: "ab" → "ba" swaps.
    void rearrange(const std::string& before, const std::string& after) {
        need(before.size());
        std::map<char, Item> named;
        for (std::size_t i = before.size(); i-- > 0;) named[before[i]] = pop();
        for (const char letter : after) push(named[letter]);
    }

    template <class F>
    void numbers1(F compute) {
        need(1);
        const std::int64_t a = to_number(stack_.back());
        pop();
        push(from_number(compute(a)));
    }
    template <class F>
    void numbers2(F compute) {
        need(2);
        const std::int64_t a = to_number(stack_[stack_.size() - 2]);
        const std::int64_t b = to_number(stack_.back());
        pop();
        pop();
        push(from_number(compute(a, b)));
    }
    void verify_top(const char* error) {
        if (!truth(stack_.back())) throw Failure{error};
        pop();
    }
    void same() {
        need(2);
        const Item a = pop();
        const Item b = pop();
        push_truth(a == b);
    }
    void pick(bool remove) {
        need(2);
        const std::int64_t depth = to_number(stack_.back());
        pop();
        if (depth < 0 || depth >= static_cast<std::int64_t>(stack_.size())) throw Failure{"INVALID_STACK_OPERATION"};
        const auto place = stack_.end() - 1 - depth;
        const Item item = *place;
        if (remove) stack_.erase(place);
        push(item);
    }
    template <class Hash>
    void hash(Hash function) {
        need(1);
        const Item item = pop();
        const auto result = function(as_bytes(item));
        push(std::string{as_text(result.view())});
    }

    using Action = std::function<void(Run&)>;
    static const std::map<int, Action>& table() {
        static const std::map<int, Action> kTable = {
            {0x61, [](Run&) {}},
            {0x69,
             [](Run& r) {
                 r.need(1);
                 r.verify_top("VERIFY");
             }},
            {0x6a, [](Run&) { throw Failure{"OP_RETURN"}; }},
            {0x6b, [](Run& r) { r.alternative_.push_back(r.pop()); }},
            {0x6c,
             [](Run& r) {
                 if (r.alternative_.empty()) throw Failure{"INVALID_ALTSTACK_OPERATION"};
                 r.push(r.alternative_.back());
                 r.alternative_.pop_back();
             }},
            {0x6d, [](Run& r) { r.rearrange("ab", ""); }},
            {0x6e, [](Run& r) { r.rearrange("ab", "abab"); }},
            {0x6f, [](Run& r) { r.rearrange("abc", "abcabc"); }},
            {0x70, [](Run& r) { r.rearrange("abcd", "abcdab"); }},
            {0x71, [](Run& r) { r.rearrange("abcdef", "cdefab"); }},
            {0x72, [](Run& r) { r.rearrange("abcd", "cdab"); }},
            {0x73,
             [](Run& r) {
                 r.need(1);
                 if (truth(r.stack_.back())) r.rearrange("a", "aa");
             }},
            {0x74, [](Run& r) { r.push(from_number(static_cast<std::int64_t>(r.stack_.size()))); }},
            {0x75, [](Run& r) { r.rearrange("a", ""); }},
            {0x76, [](Run& r) { r.rearrange("a", "aa"); }},
            {0x77, [](Run& r) { r.rearrange("ab", "b"); }},
            {0x78, [](Run& r) { r.rearrange("ab", "aba"); }},
            {0x79, [](Run& r) { r.pick(false); }},
            {0x7a, [](Run& r) { r.pick(true); }},
            {0x7b, [](Run& r) { r.rearrange("abc", "bca"); }},
            {0x7c, [](Run& r) { r.rearrange("ab", "ba"); }},
            {0x7d, [](Run& r) { r.rearrange("ab", "bab"); }},
            {0x82,
             [](Run& r) {
                 r.need(1);
                 r.push(from_number(static_cast<std::int64_t>(r.stack_.back().size())));
             }},
            {0x87, [](Run& r) { r.same(); }},
            {0x88,
             [](Run& r) {
                 r.same();
                 r.verify_top("EQUALVERIFY");
             }},
            {0x8b, [](Run& r) { r.numbers1([](std::int64_t a) { return a + 1; }); }},
            {0x8c, [](Run& r) { r.numbers1([](std::int64_t a) { return a - 1; }); }},
            {0x8f, [](Run& r) { r.numbers1([](std::int64_t a) { return -a; }); }},
            {0x90, [](Run& r) { r.numbers1([](std::int64_t a) { return std::abs(a); }); }},
            {0x91, [](Run& r) { r.numbers1([](std::int64_t a) { return a == 0 ? 1 : 0; }); }},
            {0x92, [](Run& r) { r.numbers1([](std::int64_t a) { return a == 0 ? 0 : 1; }); }},
            {0x93, [](Run& r) { r.numbers2([](auto a, auto b) { return a + b; }); }},
            {0x94, [](Run& r) { r.numbers2([](auto a, auto b) { return a - b; }); }},
            {0x9a, [](Run& r) { r.numbers2([](auto a, auto b) { return a != 0 && b != 0 ? 1 : 0; }); }},
            {0x9b, [](Run& r) { r.numbers2([](auto a, auto b) { return a != 0 || b != 0 ? 1 : 0; }); }},
            {0x9c, [](Run& r) { r.numbers2([](auto a, auto b) { return a == b ? 1 : 0; }); }},
            {0x9d,
             [](Run& r) {
                 r.numbers2([](auto a, auto b) { return a == b ? 1 : 0; });
                 r.verify_top("NUMEQUALVERIFY");
             }},
            {0x9e, [](Run& r) { r.numbers2([](auto a, auto b) { return a == b ? 0 : 1; }); }},
            {0x9f, [](Run& r) { r.numbers2([](auto a, auto b) { return a < b ? 1 : 0; }); }},
            {0xa0, [](Run& r) { r.numbers2([](auto a, auto b) { return a > b ? 1 : 0; }); }},
            {0xa1, [](Run& r) { r.numbers2([](auto a, auto b) { return a <= b ? 1 : 0; }); }},
            {0xa2, [](Run& r) { r.numbers2([](auto a, auto b) { return a >= b ? 1 : 0; }); }},
            {0xa3, [](Run& r) { r.numbers2([](auto a, auto b) { return a < b ? a : b; }); }},
            {0xa4, [](Run& r) { r.numbers2([](auto a, auto b) { return a > b ? a : b; }); }},
            {0xa5,
             [](Run& r) {
                 r.need(3);
                 const auto& s = r.stack_;
                 const std::int64_t x = r.to_number(s[s.size() - 3]);
                 const std::int64_t low = r.to_number(s[s.size() - 2]);
                 const std::int64_t high = r.to_number(s[s.size() - 1]);
                 r.rearrange("abc", "");
                 r.push_truth(x >= low && x < high);
             }},
            {0xa6, [](Run& r) { r.hash([](ByteView b) { return crypto::ripemd160(b); }); }},
            {0xa7, [](Run& r) { r.hash([](ByteView b) { return crypto::sha1(b); }); }},
            {0xa8, [](Run& r) { r.hash([](ByteView b) { return crypto::sha256(b); }); }},
            {0xa9, [](Run& r) { r.hash([](ByteView b) { return crypto::ripemd160(crypto::sha256(b).view()); }); }},
            {0xaa, [](Run& r) { r.hash([](ByteView b) { return crypto::sha256(crypto::sha256(b).view()); }); }},
        };
        return kTable;
    }

    void lock(int code) {
        if (code == 0xb1 && !rules_.lock_time) return;
        if (code == 0xb2 && !rules_.sequence) return;
        need(1);
        const std::int64_t operand = to_number(stack_.back(), 5);
        if (operand < 0) throw Failure{"NEGATIVE_LOCKTIME"};
        if (code == 0xb1 && !host_.check_lock_time(operand)) throw Failure{"UNSATISFIED_LOCKTIME"};
        const bool disabled = operand / 0x8000'0000LL % 2 == 1;
        if (code == 0xb2 && !disabled && !host_.check_sequence(operand)) throw Failure{"UNSATISFIED_LOCKTIME"};
        if (code == 0xb3) {
            depends_ = true;
            if (!host_.check_expiry(operand)) throw Failure{"EXPIRED"};
        }
    }

    /// BIP 66, byte by byte: 30 [total] 02 [R length] R 02 [S length] S [hash type].
    static bool strict_der(const Item& signature) {
        std::vector<unsigned> s;
        for (const char byte : signature) s.push_back(static_cast<unsigned char>(byte));
        if (s.size() < 9 || s.size() > 73) return false;
        if (s[0] != 0x30 || s[1] != s.size() - 3) return false;
        const unsigned r_size = s[3];
        if (5 + r_size >= s.size()) return false;
        const unsigned s_size = s[5 + r_size];
        if (r_size + s_size + 7 != s.size()) return false;
        if (s[2] != 2 || r_size == 0 || s[4] >= 128 || (r_size > 1 && s[4] == 0 && s[5] < 128)) return false;
        const unsigned at = r_size + 6;
        return s[r_size + 4] == 2 && s_size > 0 && s[at] < 128 && !(s_size > 1 && s[at] == 0 && s[at + 1] < 128);
    }

    /// A number of a strict signature as 64 hexadecimal digits; longer if it is larger.
    static std::string digits(const Item& signature, std::size_t at) {
        const std::size_t size = static_cast<unsigned char>(signature[at - 1]);
        std::string hex = to_hex(as_bytes(std::string_view{signature}.substr(at, size)));
        hex.erase(0, std::min(hex.find_first_not_of('0'), hex.size()));
        return hex.size() < 64 ? std::string(64 - hex.size(), '0') + hex : hex;
    }
    static bool above(const std::string& a, const std::string& b) {
        return a.size() != b.size() ? a.size() > b.size() : a > b;
    }
    static bool high_s(const Item& signature) {
        const std::string order = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
        const std::string half = "7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0";
        const std::string r = digits(signature, 4);
        const std::string s = digits(signature, 6 + static_cast<unsigned char>(signature[3]));
        if (!above(order, r) || !above(order, s)) return false;  // Bitcoin reads both as zero
        return above(s, half);
    }

    void forms(const Item& signature, const Item& key) const {
        if (!signature.empty()) {
            const bool strict = rules_.strict_der || rules_.low_s || rules_.strict_encoding;
            if (strict && !strict_der(signature)) throw Failure{"SIG_DER"};
            if (rules_.low_s && high_s(signature)) throw Failure{"SIG_HIGH_S"};
            const int type = static_cast<unsigned char>(signature.back());
            if (rules_.strict_encoding && (type % 128 < 1 || type % 128 > 3)) throw Failure{"SIG_HASHTYPE"};
            if (rules_.hash_type_all && type != 1) throw Failure{"SIG_HASHTYPE"};
        }
        const bool short_key = key.size() == 33 && (key[0] == 2 || key[0] == 3);
        const bool long_key = key.size() == 65 && key[0] == 4;
        if (rules_.strict_encoding && !short_key && !long_key) throw Failure{"PUBKEYTYPE"};
        if (rules_.compressed_keys && !short_key) throw Failure{"PUBKEYTYPE"};
    }

    bool ask(const Item& signature, const Item& key, const std::string& script, const std::vector<Item>& all) {
        if (signature.empty()) return false;
        if (checks_ == checks_max_) throw Failure{"SIG_CHECKS"};
        ++checks_;
        const std::vector<ByteView> views = viewed(all);
        return host_.check_signature(
            {as_bytes(signature), as_bytes(key), as_bytes(script).subspan(signed_from_), views});
    }
    static std::vector<ByteView> viewed(const std::vector<Item>& all) {
        std::vector<ByteView> views;
        for (const Item& item : all) views.push_back(as_bytes(item));
        return views;
    }
    void constant(const std::string& script, const std::vector<Item>& all) const {
        if (!rules_.constant_script_code) return;
        const auto views = viewed(all);
        if (!host_.keeps_script_code(as_bytes(script).subspan(signed_from_), views)) throw Failure{"SIG_FINDANDDELETE"};
    }

    void one_signature(int code, const std::string& script) {
        need(2);
        const Item key = stack_.back();
        const Item signature = stack_[stack_.size() - 2];
        constant(script, {signature});
        forms(signature, key);
        bool good = true;
        if (code == 0xb4) {
            depends_ = true;
            good = host_.is_member(as_bytes(key));
        }
        good = good && ask(signature, key, script, {signature});
        if (!good && rules_.null_fail && !signature.empty()) throw Failure{"NULLFAIL"};
        rearrange("ab", "");
        push_truth(good);
        if (code == 0xad) verify_top("CHECKSIGVERIFY");
    }

    void many_signatures(bool verify, const std::string& script) {
        std::vector<Item> rest = stack_;
        const auto take = [&rest] {
            if (rest.empty()) throw Failure{"INVALID_STACK_OPERATION"};
            Item item = rest.back();
            rest.pop_back();
            return item;
        };
        const std::int64_t key_count = to_number(take());
        if (key_count < 0 || key_count > 20) throw Failure{"PUBKEY_COUNT"};
        operations_ += static_cast<int>(key_count);
        if (operations_ > 201) throw Failure{"OP_COUNT"};
        std::vector<Item> keys;
        for (std::int64_t i = 0; i < key_count; ++i) keys.push_back(take());
        const std::int64_t needed = to_number(take());
        if (needed < 0 || needed > key_count) throw Failure{"SIG_COUNT"};
        std::vector<Item> signatures;
        for (std::int64_t i = 0; i < needed; ++i) signatures.push_back(take());
        constant(script, signatures);

        std::size_t key = 0;
        std::size_t signature = 0;
        bool good = true;
        while (signature < signatures.size()) {
            if (signatures.size() - signature > keys.size() - key) {
                good = false;
                break;
            }
            forms(signatures[signature], keys[key]);
            if (ask(signatures[signature], keys[key], script, signatures)) ++signature;
            ++key;
        }
        const bool all_empty =
            std::all_of(signatures.begin(), signatures.end(), [](const Item& s) { return s.empty(); });
        if (!good && rules_.null_fail && !all_empty) throw Failure{"NULLFAIL"};
        const Item dummy = take();
        if (rules_.null_dummy && !dummy.empty()) throw Failure{"SIG_NULLDUMMY"};
        stack_ = rest;
        push_truth(good);
        if (verify) verify_top("CHECKMULTISIGVERIFY");
    }

    const script::Host& host_;
    const script::Rules& rules_;
    std::uint32_t checks_max_;
    std::vector<Item> stack_{};
    std::vector<Item> alternative_{};
    int operations_ = 0;
    std::size_t signed_from_ = 0;
    std::uint32_t checks_ = 0;
    bool depends_ = false;
};

}  // namespace rhizome::test::naive
