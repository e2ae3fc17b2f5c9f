// SPDX-License-Identifier: Apache-2.0
#include "base/ensure.h"
#include "cli/completion.h"

namespace rhizome::cli {
namespace {

// Works with bash 4.2 and later, without the bash-completion package.
constexpr std::string_view kBash = R"bash(# bash completion for rhizome
# shellcheck shell=bash

_rhizome_complete() {
    # Bash cuts words at '=' and ':' too. Put together again what has no blank in between.
    local words=() rest=$COMP_LINE word trimmed
    for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
        trimmed=${rest#"${rest%%[![:space:]]*}"}
        if [[ ${#words[@]} -eq 0 || $trimmed != "$rest" ]]; then
            words+=("$word")
        else
            words[${#words[@]}-1]+=$word
        fi
        rest=${trimmed#"$word"}
    done
    local current=${words[${#words[@]}-1]}
    [[ ${#words[@]} -gt 1 ]] || return 0

    local program=${words[0]/#\~/$HOME} line directive=0 tab=$'\t'
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
            :[0-9]*) directive=${line#:} ;;
            *) COMPREPLY+=("${line%%"$tab"*}") ;;
        esac
    done < <("$program" __complete -- "${words[@]:1}" 2>/dev/null)

    # Bash replaces only what follows the last '=' or ':', so the part before it has to go.
    local kept=${current%"${current##*[=:]}"} i
    if [[ -n $kept ]]; then
        for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]=${COMPREPLY[i]#"$kept"}; done
    fi
    if ((directive & 16)); then
        compopt -o filenames 2>/dev/null
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "${current##*[=:]}")
    elif ! ((directive & 4)); then
        compopt -o filenames 2>/dev/null
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "${current##*[=:]}")
    fi
}

complete -F _rhizome_complete rhizome kubectl-rhizome
)bash";

constexpr std::string_view kZsh = R"zsh(#compdef rhizome kubectl-rhizome
# zsh completion for rhizome

_rhizome() {
    local -a lines described
    local line value directive=0
    lines=("${(@f)$(${~words[1]} __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    for line in $lines; do
        if [[ $line == :<-> ]]; then
            directive=${line#:}
        elif [[ $line == *$'\t'* ]]; then
            value=${line%%$'\t'*}
            described+=("${value//:/\\:}:${line#*$'\t'}")
        else
            described+=("${line//:/\\:}")
        fi
    done
    (( $#described )) && _describe -t values 'rhizome' described
    if (( directive & 16 )); then
        _files -/
    elif ! (( directive & 4 )); then
        _files
    fi
}

# Both ways of use: as a file _rhizome in $fpath, and sourced after compinit.
if [[ $funcstack[1] == _rhizome ]]; then
    _rhizome "$@"
elif (( $+functions[compdef] )); then
    compdef _rhizome rhizome kubectl-rhizome
fi
)zsh";

constexpr std::string_view kFish = R"fish(# fish completion for rhizome

function __rhizome_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    set -l directive 0
    for line in ($program __complete -- $words $current 2>/dev/null)
        if string match -qr '^:\d+$' -- $line
            set directive (string sub -s 2 -- $line)
        else
            echo $line
        end
    end
    switch $directive
        case 0
            __fish_complete_path $current
        case 16
            __fish_complete_directories $current
    end
end

complete -c rhizome -f -a '(__rhizome_complete)'
complete -c kubectl-rhizome -f -a '(__rhizome_complete)'
)fish";

}  // namespace

std::string_view completion_script(Shell shell) {
    switch (shell) {
        case Shell::Bash: return kBash;
        case Shell::Zsh: return kZsh;
        case Shell::Fish: return kFish;
    }
    unreachable("every shell has a script");
}

}  // namespace rhizome::cli
