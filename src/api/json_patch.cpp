// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/core.h>

#include "api/detail/number.h"
#include "api/patch.h"

namespace rhizome::api {
namespace {

constexpr std::size_t kOperationsMax = 10'000;
constexpr std::size_t kCopiedBytesMax = 3u << 20;
/// Elements moved aside or looked at: an operation on a small document needs a handful, and ten thousand insertions at
/// the front of an array of half a million elements would take minutes.
constexpr std::size_t kWorkMax = 10'000'000;
/// Values inside each other, as deep as a parsed document may be.
constexpr std::size_t kDepthMax = 64;

Fail<Status> failed(std::string_view why) {
    Status status{.code = 422, .reason = "Invalid"};
    status.message = fmt::format("the server rejected our request due to an error in our request: {}", why);
    return Fail{std::move(status)};
}
Fail<Status> undecodable(std::string_view why) {
    return Fail{bad_request(fmt::format("error decoding patch: {}", why))};
}

using Pointer = std::vector<std::string>;

/// RFC 6901.
std::optional<Pointer> read_pointer(std::string_view text) {
    Pointer parts;
    if (text.empty()) return parts;
    if (text.front() != '/') return std::nullopt;
    for (const char c : text) {
        if (c == '/')
            parts.emplace_back();
        else
            parts.back().push_back(c);
    }
    for (std::string& part : parts) {
        std::string plain;
        for (std::size_t i = 0; i < part.size(); ++i) {
            if (part[i] != '~') {
                plain.push_back(part[i]);
                continue;
            }
            if (++i == part.size() || (part[i] != '0' && part[i] != '1')) return std::nullopt;
            plain.push_back(part[i] == '0' ? '~' : '/');
        }
        part = std::move(plain);
    }
    return parts;
}

/// An index without a sign or leading zeros, at most `most`.
std::optional<std::size_t> read_index(std::string_view text, std::size_t most) {
    if (text.empty() || text.size() > 9 || (text.size() > 1 && text.front() == '0')) return std::nullopt;
    std::size_t index = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') return std::nullopt;
        index = index * 10 + static_cast<std::size_t>(c - '0');
    }
    return index <= most ? std::optional(index) : std::nullopt;
}

class Patcher {
public:
    explicit Patcher(json::Value document) : document_(std::move(document)) {}

    Result<void, Status> apply(const json::Value& operation) {
        const std::string_view op = operation.text_at({"op"});
        const json::Value* path_value = operation.find("path");
        const std::string* path = path_value == nullptr ? nullptr : path_value->if_string();
        if (op.empty()) return undecodable("an operation has no \"op\"");
        if (path == nullptr) return undecodable(fmt::format("the operation \"{}\" has no \"path\"", op));
        const auto to = read_pointer(*path);
        if (!to) return undecodable(fmt::format("\"{}\" is no JSON pointer", *path));
        const json::Value* value = operation.find("value");
        const bool needs_value = op == "add" || op == "replace" || op == "test";
        if (needs_value && value == nullptr)
            return undecodable(fmt::format("the operation \"{}\" on \"{}\" has no \"value\"", op, *path));
        if (op == "add") return add(*to, *value, *path, op);
        if (op == "remove") {
            TRY(take(*to, *path, op));
            return {};
        }
        if (op == "replace") return replace(*to, *value, *path);
        if (op == "test") return test(*to, *value, *path);
        if (op != "move" && op != "copy") return failed(fmt::format("Unexpected kind: {}", op));

        const json::Value* from_value = operation.find("from");
        const std::string* from_text = from_value == nullptr ? nullptr : from_value->if_string();
        if (from_text == nullptr) return undecodable(fmt::format("the operation \"{}\" has no \"from\"", op));
        const auto from = read_pointer(*from_text);
        if (!from) return undecodable(fmt::format("\"{}\" is no JSON pointer", *from_text));
        return op == "move" ? move(*from, *to, *from_text, *path) : copy(*from, *to, *from_text, *path);
    }

    json::Value take_document() && { return std::move(document_); }

private:
    /// The value at the end of `parts`; null when there is none.
    json::Value* find(std::span<const std::string> parts) {
        json::Value* at = &document_;
        for (const std::string& part : parts) {
            if (json::Array* array = at->if_array()) {
                const auto index = read_index(part, array->size());
                if (!index || *index == array->size()) return nullptr;
                at = &(*array)[*index];
            } else {
                at = at->find(part);
            }
            if (at == nullptr) return nullptr;
        }
        return at;
    }

    json::Value* parent_of(const Pointer& parts) { return find(std::span(parts).first(parts.size() - 1)); }

    static Fail<Status> missing(std::string_view op, std::string_view what, std::string_view path) {
        return failed(fmt::format("{} operation does not apply: doc is missing {}: {}: missing value", op, what, path));
    }

    Result<void, Status> spend(std::size_t work) {
        work_ += work;
        if (work_ > kWorkMax) return failed("the patch moves too many elements: send it in parts");
        return {};
    }

    /// Nodes from here to the deepest leaf, counted as work.
    Result<std::size_t, Status> height_of(const json::Value& value) {
        std::size_t height = 0;
        if (const json::Array* array = value.if_array()) {
            TRY(spend(array->size()));
            for (const json::Value& each : *array) {
                TRY(const std::size_t below, height_of(each));
                height = std::max(height, below);
            }
        } else if (const json::Object* object = value.if_object()) {
            TRY(spend(object->size()));
            for (const auto& member : *object) {
                TRY(const std::size_t below, height_of(member.value));
                height = std::max(height, below);
            }
        } else {
            return std::size_t{0};
        }
        return height + 1;
    }

    Result<void, Status> add(const Pointer& to, json::Value value, std::string_view path, std::string_view op) {
        TRY(const std::size_t height, height_of(value));
        if (to.size() + height > kDepthMax)
            return failed(
                fmt::format("{} operation does not apply: {} would be deeper than {} levels", op, path, kDepthMax));
        if (to.empty()) {
            document_ = std::move(value);
            return {};
        }
        json::Value* parent = parent_of(to);
        if (parent == nullptr) return missing(op, "path", json::quote(path));
        if (json::Object* object = parent->if_object()) {
            object->set(to.back(), std::move(value));
            return {};
        }
        json::Array* array = parent->if_array();
        if (array == nullptr) return missing(op, "path", json::quote(path));
        const auto index = to.back() == "-" ? std::optional(array->size()) : read_index(to.back(), array->size());
        if (!index)
            return failed(
                fmt::format("error in {} for path: '{}': Unable to access invalid index: {}: invalid index "
                            "referenced",
                            op, path, to.back()));
        TRY(spend(array->size() - *index));
        array->insert(array->begin() + static_cast<std::ptrdiff_t>(*index), std::move(value));
        return {};
    }

    /// Takes the value out of the document.
    Result<json::Value, Status> take(const Pointer& at, std::string_view path, std::string_view op) {
        if (at.empty()) return std::exchange(document_, json::Value{});
        json::Value* parent = parent_of(at);
        if (parent == nullptr) return missing(op, "path", json::quote(path));
        if (json::Object* object = parent->if_object()) {
            json::Value* found = object->find(at.back());
            if (found == nullptr)
                return failed(
                    fmt::format("error in {} for path: '{}': Unable to remove nonexistent key: {}: missing "
                                "value",
                                op, path, at.back()));
            json::Value taken = std::move(*found);
            TRY(spend(object->size()));
            object->erase(at.back());
            return taken;
        }
        json::Array* array = parent->if_array();
        if (array == nullptr) return missing(op, "path", json::quote(path));
        const auto index = read_index(at.back(), array->size());
        if (!index || *index == array->size())
            return failed(
                fmt::format("error in {} for path: '{}': Unable to access invalid index: {}: invalid index "
                            "referenced",
                            op, path, at.back()));
        TRY(spend(array->size() - *index));
        json::Value taken = std::move((*array)[*index]);
        array->erase(array->begin() + static_cast<std::ptrdiff_t>(*index));
        return taken;
    }

    Result<void, Status> replace(const Pointer& at, const json::Value& value, std::string_view path) {
        TRY(const std::size_t height, height_of(value));
        if (at.size() + height > kDepthMax)
            return failed(
                fmt::format("replace operation does not apply: {} would be deeper than {} levels", path, kDepthMax));
        json::Value* old = find(at);
        if (old == nullptr) return missing("replace", parent_missing(at) ? "path" : "key", path);
        *old = value;
        return {};
    }

    bool parent_missing(const Pointer& at) { return !at.empty() && parent_of(at) == nullptr; }

    Result<void, Status> test(const Pointer& at, const json::Value& value, std::string_view path) {
        const json::Value* found = find(at);
        TRY(height_of(value));  // counts what is compared
        if (found == nullptr || !detail::same_value(*found, value))
            return failed(fmt::format("testing value {} failed: test failed", path));
        return {};
    }

    Result<void, Status> move(const Pointer& from, const Pointer& to, std::string_view from_text,
                              std::string_view path) {
        if (from.size() < to.size() && std::equal(from.begin(), from.end(), to.begin()))
            return failed(fmt::format("move operation does not apply: {} lies inside {}", path, from_text));
        if (find(from) == nullptr) return missing("move", "from path", from_text);
        TRY(auto value, take(from, from_text, "move"));
        return add(to, std::move(value), path, "move");
    }

    Result<void, Status> copy(const Pointer& from, const Pointer& to, std::string_view from_text,
                              std::string_view path) {
        const json::Value* found = find(from);
        if (found == nullptr) return missing("copy", "from path", from_text);
        copied_ += json::print(*found).size();
        if (copied_ > kCopiedBytesMax)
            return failed(
                fmt::format("Unable to complete the copy, the accumulated size increase of copy is {}, "
                            "exceeding the limit {}",
                            copied_, kCopiedBytesMax));
        json::Value value = *found;
        return add(to, std::move(value), path, "copy");
    }

    json::Value document_;
    std::size_t work_ = 0;
    std::size_t copied_ = 0;
};

}  // namespace

Result<json::Value, Status> apply_json_patch(json::Value document, const json::Value& patch) {
    const json::Array* operations = patch.if_array();
    if (operations == nullptr) return undecodable("a JSON patch is an array of operations");
    if (operations->size() > kOperationsMax) {
        Status status{.code = 413, .reason = "RequestEntityTooLarge"};
        status.message = fmt::format("The allowed maximum operations in a JSON patch is {}, got {}", kOperationsMax,
                                     operations->size());
        return Fail{std::move(status)};
    }
    Patcher patcher{std::move(document)};
    for (const json::Value& operation : *operations) {
        if (!operation.is_object()) return undecodable("an operation is no object");
        TRY(patcher.apply(operation));
    }
    return std::move(patcher).take_document();
}

}  // namespace rhizome::api
