// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cluster/schema.h"

/// Sets of fields of a document, as `managedFields` writes them (FieldsV1): a trie whose steps are `f:member`,
/// `k:{"name":"x"}` (an element of a list by its keys) and `v:"x"` (an element of a set).
namespace rhizome::api {

struct FieldSet {
    bool member = false;  ///< the path that ends here is in the set; `.` when there are deeper ones too
    std::map<std::string, FieldSet, std::less<>> children{};

    [[nodiscard]] bool empty() const { return !member && children.empty(); }
    void merge(const FieldSet& other);
    /// Takes the paths of `other` out. Where `other` ends, all below goes too: what is gone has no owner.
    void subtract(const FieldSet& other);
    /// The paths that `other` has not: path by path, so that what lies below a path of `other` stays.
    [[nodiscard]] FieldSet without(const FieldSet& other) const;
    /// All paths that both have.
    [[nodiscard]] FieldSet intersect(const FieldSet& other) const;
    /// The part below a step; null when there is none.
    [[nodiscard]] const FieldSet* find(std::string_view step) const;

    /// All paths as people read them, `.spec.containers[name="web"].image`; at every place first what is a member
    /// there, then what lies deeper. At most `most` of them; of one that nobody would read to its end, the first 4 KiB.
    [[nodiscard]] std::vector<std::string> paths(std::size_t most = SIZE_MAX) const;
    /// How many there are.
    [[nodiscard]] std::size_t count() const;

    [[nodiscard]] json::Value to_json() const;
    /// Strict about its form: every key is a step, every value an object. Steps get their one form.
    static Result<FieldSet> from_json(const json::Value& value);

    friend bool operator==(const FieldSet&, const FieldSet&) = default;
};

/// What two versions of a document differ in.
struct FieldChanges {
    FieldSet written{};  ///< added or changed
    FieldSet removed{};
};
/// By the schema: lists with keys element by element, atomic values as wholes. Without a schema (custom kinds) objects
/// member by member and lists as wholes. Structs that are always there count as there.
FieldChanges compare_fields(const json::Value& before, const json::Value& after, const cluster::Schema* schema);

/// All fields that a document has: what somebody who creates it owns.
FieldSet fields_of(const json::Value& object, const cluster::Schema* schema);

/// Without what nobody owns: the document's own names, and what only the server sets.
FieldSet ownable(FieldSet set);

}  // namespace rhizome::api
