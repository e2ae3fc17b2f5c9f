// SPDX-License-Identifier: Apache-2.0
#include "cli/invocation.h"

namespace rhizome::cli {
namespace {

template <class Map>
const std::vector<std::string>& declared(const Map& values, std::string_view name) {
    const auto found = values.find(name);
    ensure(found != values.end(), "a command asks for an option or argument that it does not declare");
    return found->second;
}

}  // namespace

const std::vector<std::string>& Invocation::option_values(std::string_view name) const {
    return declared(values_.options, name);
}

std::string Invocation::text(std::string_view option) const { return if_text(option).value_or(""); }

std::optional<std::string> Invocation::if_text(std::string_view option) const {
    const auto& all = option_values(option);
    if (all.empty()) return {};
    return all.back();
}

std::string Invocation::argument(std::string_view name) const {
    const auto& all = arguments(name);
    return all.empty() ? "" : all.front();
}

const std::vector<std::string>& Invocation::arguments(std::string_view name) const {
    return declared(values_.arguments, name);
}

}  // namespace rhizome::cli
