// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/time.h"

/// Shared by the files that print the cells of kinds.
namespace rhizome::api::detail {

using Path = std::initializer_list<std::string_view>;

/// An object, and when it is printed.
struct Printed {
    const json::Value& object;
    Time now{};

    [[nodiscard]] std::string_view text(Path path) const { return object.text_at(path); }
    /// The text, or `otherwise` when there is none.
    [[nodiscard]] std::string text_or(Path path, std::string_view otherwise) const;
    [[nodiscard]] std::int64_t number(Path path, std::int64_t otherwise = 0) const;
    [[nodiscard]] bool flag(Path path) const;
    /// The elements of a list; none when there is no list.
    [[nodiscard]] const json::Array& list(Path path) const;
    [[nodiscard]] std::size_t count(Path path) const;  ///< of a list or an object
    /// Since the time that stands there; `<unknown>` when there is none.
    [[nodiscard]] std::string since(Path path) const;
    [[nodiscard]] std::string age() const { return since({"metadata", "creationTimestamp"}); }
    [[nodiscard]] std::string name() const { return std::string(text({"metadata", "name"})); }
    [[nodiscard]] std::string created_at() const { return std::string(text({"metadata", "creationTimestamp"})); }
};

/// `a=b,c=d` of an object of labels, sorted; `<none>` for none.
std::string labels_text(const json::Value* labels);
/// The text of a label selector in a document; `<none>` for an empty one.
std::string selector_text(const json::Value* selector);
/// A scalar as people read it: texts without quotes.
std::string scalar_text(const json::Value* value, std::string_view otherwise);
/// Name and time of creation, for kinds of which Kubernetes shows no more.
json::Array created_cells(const Printed& row);
std::string joined(const std::vector<std::string>& texts, std::string_view between = ",");
/// The `field` of each element of a list.
std::string joined_fields(const json::Array& list, std::string_view field);

using CellsOf = json::Array (*)(const Printed&);
/// Null when the kind is not printed by this file.
CellsOf workload_cells(std::string_view group, std::string_view kind);
CellsOf network_cells(std::string_view group, std::string_view kind);
CellsOf storage_cells(std::string_view group, std::string_view kind);
CellsOf other_cells(std::string_view group, std::string_view kind);

/// The values a JSONPath of a custom column names: members, indices, `[*]` and `[?(@.a=="b")]`.
std::vector<const json::Value*> json_path(const json::Value& object, std::string_view path);

}  // namespace rhizome::api::detail
