// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "api/field_set.h"
#include "base/json.h"
#include "base/result.h"

/// The entries of `metadata.managedFields` as values.
namespace rhizome::api::detail {

inline constexpr std::string_view kApply = "Apply";
inline constexpr std::string_view kUpdate = "Update";

struct ManagerEntry {
    std::string manager{};
    std::string operation{};  ///< `Apply` or `Update`
    std::string api_version{};
    std::string subresource{};
    std::string time{};  ///< RFC 3339 in UTC, so texts sort as times; empty: it never changed the object
    FieldSet fields{};

    [[nodiscard]] bool applies() const { return operation == kApply; }
    /// Who it is. An applier is the same one in whatever version it applies.
    [[nodiscard]] auto identity() const {
        return std::tuple(std::string_view(manager), std::string_view(operation),
                          applies() ? std::string_view{} : std::string_view(api_version),
                          std::string_view(subresource));
    }
    /// Appliers first, then by age.
    [[nodiscard]] auto order() const {
        return std::tuple(!applies(), std::string_view(time), std::string_view(manager), std::string_view(api_version),
                          std::string_view(subresource));
    }
};
using ManagerEntries = std::vector<ManagerEntry>;

/// More nobody has: updaters are merged when there are more than ten, and appliers are people and programs. Each of
/// them is compared with every change.
inline constexpr std::size_t kEntriesMax = 1000;
/// All of them, or what is wrong with one.
Result<ManagerEntries> read_entries(const json::Array& entries);
/// In their order, without those that own nothing.
json::Array print_entries(ManagerEntries entries);

/// `metadata.managedFields` of a document; empty when it has none.
const json::Array& entries_of(const json::Value& object);

}  // namespace rhizome::api::detail
