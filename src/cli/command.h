// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

/// Commands as data. One tree of these is all that the parser, the help, the completions and the manual pages know; a
/// command is added by adding a value.
///
/// Texts are plain: blank lines separate paragraphs, lines that begin with a blank stay as they are.
namespace rhizome::cli {

struct Command;
struct Console;
class Invocation;

/// One thing a shell may put in place of the word under the cursor.
struct Candidate {
    std::string value;
    std::string description{};  ///< shown by zsh and fish

    friend bool operator==(const Candidate&, const Candidate&) = default;
};

/// Where the completions of a value come from. A value with choices needs none: the choices are it.
enum class Completes : unsigned char {
    Nothing,
    Files,
    Folders,
    Values,    ///< what the function `values` says
    Commands,  ///< names of this program's commands, one level deeper with every argument
};
struct Completion {
    Completes from = Completes::Nothing;
    /// Called while a person waits for the tab key: quick, silent, and no answer is better than an error.
    std::function<std::vector<Candidate>(const Console&)> values{};

    static Completion files() { return {Completes::Files, {}}; }
    static Completion folders() { return {Completes::Folders, {}}; }
    static Completion commands() { return {Completes::Commands, {}}; }
    static Completion of(std::function<std::vector<Candidate>(const Console&)> values_in) {
        return {Completes::Values, std::move(values_in)};
    }
};

struct Choice {
    std::string value;
    std::string description{};
};

/// `--name`, `-n VALUE`. Without a value name it is a flag.
struct Option {
    std::string name;               ///< without dashes
    char letter = 0;                ///< the short form, or none
    std::string value_name{};       ///< upper case: FILE, NAME, DURATION
    std::string help;               ///< what it does, lower case, no full stop
    std::string fallback{};         ///< the value when not given; shown in the help
    std::vector<Choice> choices{};  ///< the only values accepted
    std::string variable{};         ///< an environment variable that gives the value when the option is absent
    bool repeatable = false;        ///< every use adds a value; otherwise the last one counts
    bool required = false;
    Completion completion{};

    [[nodiscard]] bool takes_value() const { return !value_name.empty(); }
};

/// A word that is no option, known by its place. Only the last may be repeatable, and none may follow an optional one.
struct Argument {
    std::string name;  ///< upper case: NAME
    std::string help;
    bool required = true;
    bool repeatable = false;
    std::vector<Choice> choices{};
    Completion completion{};
};

struct Example {
    std::string purpose;  ///< "keep a copy of the key in a file"
    std::string command;  ///< the whole line as typed, `rhizome key export alice > alice.key`
};

/// An environment variable that no option names, for the help.
struct Variable {
    std::string name;
    std::string help;
};

/// Does the command's work. The kind of an error decides the exit code; the first line of its message says what
/// happened and why, further lines are hints what to try next.
using Handler = std::function<Result<void>(Invocation&)>;

struct Command {
    std::string name;
    std::string summary;    ///< one line, upper case first letter, no full stop
    std::string details{};  ///< what it does, in a few paragraphs
    std::vector<Example> examples{};
    std::vector<Argument> arguments{};
    std::vector<Option> options{};
    std::vector<Command> subcommands{};
    std::vector<Variable> variables{};
    Handler run{};                         ///< none: the command only groups its subcommands and shows its help
    std::string group{};                   ///< the heading of the overview it stands under
    bool hidden = false;                   ///< works, but help, completion and manual do not show it
    std::vector<Option> global_options{};  ///< of the root only: every command takes them too

    [[nodiscard]] const Command* find(std::string_view subcommand) const;
};

/// From the root to a command.
using CommandPath = std::vector<const Command*>;

/// `rhizome key new`, where the program is what the root is called by.
std::string path_text(std::string_view program, const CommandPath& path);

/// The options a command takes: its own, then the global ones.
std::vector<const Option*> options_of(const CommandPath& path);

/// What our own code must get right about a tree (names unique, arguments in an order that can be parsed, texts
/// present); the sentences say what is wrong. Empty for a good tree; a test keeps it so.
std::vector<std::string> faults(const Command& root);

}  // namespace rhizome::cli
