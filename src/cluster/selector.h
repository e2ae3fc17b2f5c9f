// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cluster/field_error.h"
#include "cluster/kinds.h"

/// Which objects are meant: by their labels (`app=web,tier notin (db)`) and by their fields (`status.phase=Running`).
namespace rhizome::cluster {

class LabelSelector {
public:
    enum class Operator : std::uint8_t { In, NotIn, Exists, DoesNotExist, GreaterThan, LessThan };
    struct Requirement {
        std::string key{};
        Operator op = Operator::Exists;
        std::vector<std::string> values{};  ///< sorted, each once
        friend bool operator==(const Requirement&, const Requirement&) = default;
    };

    /// Everything.
    LabelSelector() = default;
    static LabelSelector nothing();

    /// The query parameter `labelSelector`; an error has Kubernetes' words.
    static Result<LabelSelector> parse(std::string_view text);
    /// `matchLabels` and `matchExpressions` of a document at `where`. An empty object means everything; null and no
    /// value at all mean nothing, as workloads and policies want it.
    static Result<LabelSelector, FieldErrors> from_document(const json::Value* selector, const Where& where);
    /// A plain map of labels (services, replication controllers).
    static LabelSelector from_map(const json::Value* labels);

    /// `labels` is the object of that name in metadata; null: none.
    [[nodiscard]] bool matches(const json::Value* labels) const;
    /// By the labels in an object's metadata.
    [[nodiscard]] bool matches_object(const json::Value& object) const;
    [[nodiscard]] bool is_everything() const { return !nothing_ && requirements_.empty(); }
    [[nodiscard]] const std::vector<Requirement>& requirements() const { return requirements_; }
    /// One text for one meaning, which `parse` reads back; sorted by key.
    [[nodiscard]] std::string text() const;

    friend bool operator==(const LabelSelector&, const LabelSelector&) = default;

private:
    std::vector<Requirement> requirements_;  ///< sorted by key
    bool nothing_ = false;
};

class FieldSelector {
public:
    struct Term {
        std::string field{};
        std::string value{};
        bool equal = true;  ///< false: `!=`
        friend bool operator==(const Term&, const Term&) = default;
    };

    /// The query parameter `fieldSelector`; an error has Kubernetes' words.
    static Result<FieldSelector> parse(std::string_view text);
    /// Whether all its fields can be selected by in this kind; the error is that of the API server.
    [[nodiscard]] Result<void> check(const Kind& kind) const;

    [[nodiscard]] bool matches(const json::Value& object, const Kind& kind) const;
    [[nodiscard]] bool is_everything() const { return terms_.empty(); }
    [[nodiscard]] const std::vector<Term>& terms() const { return terms_; }
    /// The value that a field must equal, when one does: lets a list of one name be a lookup.
    [[nodiscard]] const std::string* required(std::string_view field) const;
    [[nodiscard]] std::string text() const;

    friend bool operator==(const FieldSelector&, const FieldSelector&) = default;

private:
    std::vector<Term> terms_;
};

/// What an object shows to a field selector: `false` and `0` where nothing was written, since Kubernetes' own objects
/// are never without a value.
std::string selectable_value(const json::Value& object, const Kind& kind, std::string_view field);

}  // namespace rhizome::cluster
