// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>
#include <string_view>

#include "base/json.h"
#include "cluster/field_error.h"

/// Shared by the files that validate kinds. A `Checker` stands at one place of the document; what is not there is
/// skipped, since decoding has judged types and `required` says what must be there.
namespace rhizome::cluster::detail {

class Checker {
public:
    Checker(const json::Value* value, Where where, FieldErrors& errors)
        : value_(value), where_(std::move(where)), errors_(&errors) {}

    [[nodiscard]] Checker at(std::string_view member) const;
    /// Calls for each element of the list that stands here.
    void each(const std::function<void(const Checker&)>& visit) const;
    /// Calls for each entry of the map that stands here.
    void each_entry(const std::function<void(const std::string& key, const json::Value& value)>& visit) const;

    [[nodiscard]] bool present() const { return value_ != nullptr && !value_->is_null(); }
    [[nodiscard]] std::string_view text() const;
    [[nodiscard]] std::optional<std::int64_t> number() const {
        return value_ == nullptr ? std::nullopt : value_->if_int64();
    }
    [[nodiscard]] bool flag() const { return value_ != nullptr && value_->if_boolean() == true; }
    [[nodiscard]] std::size_t size() const;  ///< of a list or an object
    [[nodiscard]] const json::Value* value() const { return value_; }
    [[nodiscard]] const Where& where() const { return where_; }
    [[nodiscard]] FieldErrors& errors() const { return *errors_; }

    void add(FieldError error) const { errors_->push_back(std::move(error)); }
    void add(FieldErrors errors) const;

    /// A text or a non-empty list or object must stand here.
    bool require(std::string_view detail = {}) const;
    void one_of(std::vector<std::string_view> supported) const;  ///< when a text stands here
    void not_negative() const;
    void positive() const;
    void between(std::int64_t least, std::int64_t most) const;
    /// 1 to 65535.
    void port() const;
    /// What a check of names.h says of the text that stands here.
    void named(std::vector<std::string> (*check)(std::string_view)) const;
    /// Two elements of a list may not have the same `field`.
    void unique(std::string_view field) const;
    /// A whole number not below 0, or a percentage.
    void count_or_percent() const;
    /// A quantity not below 0.
    void quantity() const;

private:
    const json::Value* value_;
    Where where_;
    FieldErrors* errors_;
};

/// A pod's spec at this place; `restarts`: the policies allowed here, all when empty; `volumes`: those it has besides
/// its own.
void check_pod_spec(const Checker& spec, std::vector<std::string_view> restarts = {},
                    std::set<std::string_view> volumes = {});
/// A template, whose labels the selector must match.
void check_template(const Checker& pod_template, const Checker& selector, std::vector<std::string_view> restarts,
                    std::set<std::string_view> volumes = {});

/// The rules of kinds. Nothing for those without rules of their own.
void check_workload(const Checker& object, std::string_view group, std::string_view kind);
void check_other(const Checker& object, std::string_view group, std::string_view kind);

/// Both kinds of admission webhook configurations.
void check_webhooks(const Checker& object);

/// What may not change between two versions.
void check_immutable(const json::Value& after, const json::Value& before, std::string_view group, std::string_view kind,
                     FieldErrors& errors);

/// Five fields, or `@daily` and its like.
bool is_cron_schedule(std::string_view text);

}  // namespace rhizome::cluster::detail
