// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
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

/// What is wrong with a document: the first faults as they are, the others counted. A stranger's 3 MiB can hold 300,000
/// bad labels, each with a sentence of its own; nobody reads them, and to keep or compare them all takes minutes.
class FieldErrors {
public:
    static constexpr std::size_t kKept = 256;

    FieldErrors() = default;
    FieldErrors(std::initializer_list<FieldError> errors);

    void push_back(FieldError error);
    void append(FieldErrors more);
    /// Counts as many that are not kept.
    void leave_out(std::size_t count) { left_out_ += count; }
    void clear() { *this = {}; }

    [[nodiscard]] bool empty() const { return kept_.empty() && left_out_ == 0; }
    [[nodiscard]] std::size_t left_out() const { return left_out_; }
    // Those that are kept.
    [[nodiscard]] std::size_t size() const { return kept_.size(); }
    [[nodiscard]] const FieldError& operator[](std::size_t at) const { return kept_[at]; }
    [[nodiscard]] auto begin() const { return kept_.begin(); }
    [[nodiscard]] auto end() const { return kept_.end(); }

private:
    std::vector<FieldError> kept_{};
    std::size_t left_out_ = 0;
};
/// One as it is, several as `[a, b]`, and `[a, b, and 7 more]`: how the message of a refusal lists them.
std::string text(const FieldErrors& errors);

/// A place in a document, for building the texts above: `Where("spec") / "containers" / 0u` is `spec.containers[0]`.
/// Shares the way with the places above it: a step costs its own length, not that of all before it, which a stranger
/// may make a mebibyte long and take a hundred thousand times.
class Where {
public:
    Where() = default;
    explicit Where(std::string_view text);
    [[nodiscard]] Where operator/(std::string_view member) const;
    [[nodiscard]] Where operator/(std::size_t index) const;
    /// `metadata.labels[a/b]`: an entry of a map with free keys.
    [[nodiscard]] Where key(std::string_view key) const;
    /// The whole way; of one that nobody would read to its end, the first 4 KiB.
    [[nodiscard]] std::string text() const;

private:
    struct Step;
    Where(const Where& above, std::string text, bool is_member);
    std::shared_ptr<const Step> last_{};  ///< null at the top
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
