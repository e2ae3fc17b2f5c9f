// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "state/path.h"

namespace rhizome::follow {

enum class Verb : std::uint8_t { Create, Update, Delete };
std::string_view name(Verb verb);

/// A change that a transaction would make.
struct WantedChange {
    Verb verb{};
    state::Path path = state::Path::cluster();
};

/// What a co-signer puts its signature under, without a person.
struct CosignRule {
    std::string name{};
    std::vector<state::Prefix> below{};  ///< resources at or below these
    std::set<Verb> verbs{};
    std::uint32_t per_minute = 60;
    /// A program and its arguments, asked with the transaction on its standard input: it signs when that ends with 0.
    /// Empty: nobody is asked. This is what makes a co-signer an oracle.
    std::vector<std::string> command{};
    milliseconds timeout{5'000};  ///< of the command
};

/// Reads
///
///     rules:
///     - name: scaling
///       below: [/namespaces/web]
///       verbs: [update]             # default: create, update, delete
///       perMinute: 10               # default: 60
///       command: [/usr/local/bin/load-is-high, web]
///       timeout: 5s                 # default: 5s, at most 60s
///
/// as YAML or JSON. Errors name the rule and the member; what nobody knows is refused, so that no misspelt condition is
/// lost.
Result<std::vector<CosignRule>> cosign_rules_from(std::string_view text);
inline constexpr std::size_t kCosignRulesBytesMax = 64u << 10;
inline constexpr std::size_t kCosignRulesMax = 256;

/// Decides what is signed. Pure; confined to one thread.
class Cosigner {
public:
    explicit Cosigner(std::vector<CosignRule> rules);

    /// The rules that together allow every change, each once, in their own order: whoever calls asks their commands.
    /// Of a change the first rule counts that covers it. Denied names the first change that none covers; Exhausted a
    /// rule whose minute is full. What is admitted counts for the rate, whatever the commands say afterwards: asking
    /// them is what is dear.
    Result<std::vector<const CosignRule*>> admit(const std::vector<WantedChange>& changes, Time now);

private:
    std::vector<CosignRule> rules_;
    std::vector<std::deque<Time>> admitted_;  ///< within the last minute, by rule; at most `per_minute` each
};

}  // namespace rhizome::follow
