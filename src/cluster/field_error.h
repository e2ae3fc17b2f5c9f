// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

/// What is wrong with one field of a document, in the words that Kubernetes' users know.
namespace rhizome::cluster {

struct FieldError {
    enum class Cause : std::uint8_t {
        Required,
        Invalid,
        NotSupported,  ///< not one of the values there are
        Duplicate,
        Forbidden,
        TooLong,
        TooMany,
        NotFound,
        TypeInvalid,
    };
    Cause cause = Cause::Invalid;
    std::string field{};   ///< `spec.template.spec.containers[0].name`
    json::Value value{};   ///< what stood there
    std::string detail{};  ///< may be empty

    /// `Invalid value: "x": must be …`: the message of a cause in a Status.
    [[nodiscard]] std::string body() const;
    /// The field and the body, `spec.replicas: Invalid value: -1: must be …`.
    [[nodiscard]] std::string text() const;

    friend bool operator==(const FieldError&, const FieldError&) = default;
};
/// `FieldValueInvalid`: the reason of a cause in a Status.
std::string_view reason(FieldError::Cause cause);

using FieldErrors = std::vector<FieldError>;
/// One as it is, several as `[a, b]`: how the message of a refusal lists them.
std::string text(const FieldErrors& errors);

/// A place in a document, for building the texts above: `Where("spec") / "containers" / 0u` is `spec.containers[0]`.
class Where {
public:
    Where() = default;
    explicit Where(std::string_view text) : text_(text) {}
    [[nodiscard]] Where operator/(std::string_view member) const;
    [[nodiscard]] Where operator/(std::size_t index) const;
    /// `metadata.labels[a/b]`: an entry of a map with free keys.
    [[nodiscard]] Where key(std::string_view key) const;
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    std::string text_;
};

FieldError required(const Where& where, std::string_view detail = {});
FieldError invalid(const Where& where, json::Value value, std::string_view detail);
/// Lists what is supported, sorted.
FieldError not_supported(const Where& where, json::Value value, std::vector<std::string_view> supported);
FieldError duplicate(const Where& where, json::Value value);
FieldError forbidden(const Where& where, std::string_view detail);
FieldError too_long(const Where& where, std::size_t bytes_max);
FieldError too_many(const Where& where, std::size_t count, std::size_t count_max);

}  // namespace rhizome::cluster
