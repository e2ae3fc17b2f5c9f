// SPDX-License-Identifier: Apache-2.0
#include "node/resources.h"

#include <vector>

#include <fmt/core.h>

namespace rhizome::node {
namespace {

using state::Path;

std::string lower(std::string_view text) {
    std::string out{text};
    for (char& letter : out)
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    return out;
}

/// A word that a person or a stranger typed, as an error shows it.
std::string printable(std::string_view text) {
    std::string out{text};
    for (char& letter : out)
        if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f) letter = '?';
    return out;
}

}  // namespace

Result<Path> parse_path(std::string_view text, std::string_view what) {
    auto path = Path::parse(text);
    if (!path)
        return fail(ErrorKind::Usage, fmt::format("{} {}: {}\na path is / or such as /namespaces/web/core/Pod/db", what,
                                                  printable(text), to_error(path.error()).message));
    return *std::move(path);
}

Result<state::Prefix> parse_prefix(std::string_view text, std::string_view what) {
    const auto bad = [&](std::string_view why) {
        return fail(ErrorKind::Usage,
                    fmt::format("{} {}: {}\na prefix is /, /chain, or such as /namespaces/web/core/Pod", what,
                                printable(text), why));
    };
    if (!text.starts_with('/')) return bad("does not begin with a slash");
    std::string key;
    std::string_view rest = text.substr(1);
    if (rest != "chain" && !rest.starts_with("chain/")) key = std::string{"cluster"} + '\0';
    while (!rest.empty()) {
        const auto slash = std::min(rest.find('/'), rest.size());
        key += std::string{rest.substr(0, slash)} + '\0';
        rest.remove_prefix(std::min(slash + 1, rest.size()));
    }
    auto prefix = state::Prefix::from_key(as_bytes(key));
    if (!prefix) return bad(to_error(prefix.error()).message);
    return *std::move(prefix);
}

Result<const state::Entry*> find_resource(const state::StateView& view, std::string_view text,
                                          std::string_view name_space, std::string_view what) {
    if (text.starts_with('/')) {
        TRY(const Path path, parse_path(text, what));
        const state::Entry* entry = view.get(path);
        if (entry == nullptr)
            return fail(ErrorKind::NotFound, fmt::format("there is no {} in the state", printable(text)));
        return entry;
    }
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos || slash == 0 || slash + 1 == text.size())
        return fail(ErrorKind::Usage, fmt::format("{} {} is neither KIND/NAME nor a path", what, printable(text)));
    const std::string type = lower(text.substr(0, slash));
    const std::string_view name = text.substr(slash + 1);
    const std::string kind = type.substr(0, type.find('.'));
    const bool any_group = kind.size() == type.size();
    std::vector<const state::Entry*> found;
    state::Cursor cursor = view.walk(state::Prefix::documents());
    while (const state::Entry* entry = cursor.next()) {
        const Path path = entry->path();
        if (path.name() == name && lower(path.kind()) == kind &&
            (path.namespace_name().empty() || path.namespace_name() == name_space) &&
            (any_group || lower(path.group()) == type.substr(kind.size() + 1)))
            found.push_back(entry);
    }
    if (found.empty())
        return fail(ErrorKind::NotFound,
                    fmt::format("there is no {} in the state\nfor another namespace than {} give -n", printable(text),
                                printable(name_space)));
    if (found.size() > 1) {
        std::string message = fmt::format("{} may be several things; give the path of one", printable(text));
        for (const state::Entry* entry : found) message += "\n" + printable(entry->path().text());
        return fail(ErrorKind::Usage, message);
    }
    return found.front();
}

}  // namespace rhizome::node
