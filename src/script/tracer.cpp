// SPDX-License-Identifier: Apache-2.0
#include "script/tracer.h"

#include <fmt/core.h>

#include "script/assembler.h"
#include "script/opcodes.h"

namespace rhizome::script {
namespace {

constexpr std::size_t kItemOverhead = 32;  // what a kept item costs beside its bytes

class Recorder final : public Observer {
public:
    Recorder(Trace& trace, const TraceLimits& limits) : trace_(trace), limits_(limits) {}

    void before(const Moment& moment) override {
        std::size_t cost = 0;
        before_ = full_ ? std::vector<Bytes>{} : copy(moment.stack, cost);
        used_ += cost;
    }

    void after(const Moment& moment) override {
        if (full_ || trace_.steps.size() == limits_.steps || used_ > limits_.bytes) {
            full_ = true;
            ++trace_.left_out;
            return;
        }
        std::size_t cost = 0;
        TraceStep step;
        step.part = moment.part;
        step.offset = moment.instruction.offset;
        step.instruction = disassemble(moment.script.subspan(moment.instruction.offset, moment.instruction.size));
        step.executed = moment.executed;
        step.open_branches = moment.open_branches;
        step.stack_before = std::move(before_);
        step.stack = copy(moment.stack, cost);
        for (std::size_t i = 0; i < moment.stack.alt_size(); ++i) {
            step.alt_stack.push_back(to_bytes(moment.stack.alt_at(i)));
            cost += step.alt_stack.back().size() + kItemOverhead;
        }
        step.rest = disassemble(moment.script.subspan(moment.instruction.end()));
        step.error = moment.error;
        step.what = describe(moment, step);
        used_ += cost + step.rest.size();
        trace_.steps.push_back(std::move(step));
    }

private:
    static std::vector<Bytes> copy(const Stack& stack, std::size_t& cost) {
        std::vector<Bytes> items;
        items.reserve(stack.size());
        for (std::size_t i = 0; i < stack.size(); ++i) {
            items.push_back(to_bytes(stack.at(i)));
            cost += items.back().size() + kItemOverhead;
        }
        return items;
    }

    static std::string describe(const Moment& moment, const TraceStep& step) {
        if (moment.error != ScriptError::Ok) {
            return fmt::format("Fails with {}: {}.", name(moment.error), script::explain(moment.error));
        }
        if (!moment.executed) return "Skipped: this branch is not taken.";
        const Opcode& row = opcode(moment.instruction.code);
        if (moment.instruction.is_push()) {
            return moment.instruction.code == OP_0 ? "Pushes an empty item."
                                                   : fmt::format("Pushes {} bytes.", moment.instruction.data.size());
        }
        std::string text{row.help};
        // For those that only say something, say what.
        const bool says = row.effect.ends_with("true or false");
        if (says && !step.stack.empty()) text += is_true(step.stack.back()) ? " Here: yes." : " Here: no.";
        return text;
    }

    Trace& trace_;
    const TraceLimits& limits_;
    std::vector<Bytes> before_{};
    std::size_t used_ = 0;
    bool full_ = false;
};

}  // namespace

Trace trace(ByteView unlocking, ByteView locking, const Host& host, const Rules& rules, const Limits& limits,
            const TraceLimits& kept) {
    Trace made;
    Recorder recorder{made, kept};
    made.verdict = verify(unlocking, locking, host, rules, limits, &recorder);
    return made;
}

}  // namespace rhizome::script
