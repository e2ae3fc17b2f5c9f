// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"
#include "script/interpreter.h"

/// A run step by step, for people: the interpreter itself with an observer, never a second one.
namespace rhizome::script {

struct TraceStep {
    ScriptPart part = ScriptPart::Unlocking;
    std::uint32_t offset = 0;
    std::string instruction;            ///< as the disassembler prints it
    bool executed = true;               ///< false in a branch that is not taken
    std::size_t open_branches = 0;      ///< after the step
    std::vector<Bytes> stack_before{};  ///< bottom first
    std::vector<Bytes> stack{};         ///< after the step
    std::vector<Bytes> alt_stack{};
    std::string rest{};  ///< what this script still has to do
    std::string what{};  ///< what happened, in a sentence
    ScriptError error = ScriptError::Ok;
};

struct Trace {
    std::vector<TraceStep> steps{};
    /// Steps that were run but not kept, because there were too many of them or their stacks were too large.
    std::size_t left_out = 0;
    Verdict verdict{};
};

/// What a trace keeps at most: a script of a stranger could fill gigabytes with copies of its stack.
struct TraceLimits {
    std::size_t steps = 2'000;
    std::size_t bytes = 16 << 20;
};

Trace trace(ByteView unlocking, ByteView locking, const Host& host, const Rules& rules = kChainRules,
            const Limits& limits = {}, const TraceLimits& kept = {});

}  // namespace rhizome::script
