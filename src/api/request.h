// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/status.h"
#include "base/result.h"
#include "base/time.h"

/// What a request asks for, read from its method, path and query: no kinds are looked up here.
namespace rhizome::api {

enum class Verb : unsigned char { Get, List, Watch, Create, Update, Patch, Delete, DeleteCollection };
/// As audit logs and metrics spell it: `deletecollection`.
std::string_view name(Verb verb);

/// A request about resources: `/api/v1/namespaces/web/pods/db/status`, `/apis/apps/v1/deployments`.
struct ResourcePath {
    std::string group{};  ///< empty for the core group
    std::string version{};
    std::string name_space{};  ///< empty: of no namespace, or of all
    std::string resource{};    ///< the plural
    std::string name{};        ///< empty: the collection
    std::string subresource{};
    std::string rest{};  ///< behind `proxy`, as it was sent: `/a%20b//c` of `…/proxy/a%20b//c`; `/` of `…/proxy/`
};
/// Nothing for every other path. Percent escapes are undone.
std::optional<ResourcePath> parse_resource_path(std::string_view path);

/// The words behind `?`.
class Query {
public:
    using Pairs = std::vector<std::pair<std::string, std::string>>;
    Query() = default;
    explicit Query(Pairs pairs) : pairs_(std::move(pairs)) {}

    /// The first of that name; empty when there is none.
    [[nodiscard]] std::string_view text(std::string_view name) const;
    [[nodiscard]] bool has(std::string_view name) const;
    /// `true` and `1`; what Kubernetes takes for yes.
    [[nodiscard]] bool flag(std::string_view name) const;
    /// Nothing where it is not named; BadRequest for what is no whole number.
    [[nodiscard]] Result<std::optional<std::uint64_t>, Status> number(std::string_view name) const;
    [[nodiscard]] std::vector<std::string_view> all(std::string_view name) const;

private:
    Pairs pairs_;
};

/// The verb that a method means for this path. Nothing for methods that nobody answers.
std::optional<Verb> verb_of(std::string_view method, const ResourcePath& path, const Query& query);

/// What form a client wants its answer in: the first of its `Accept` that is known here.
enum class Form : unsigned char {
    Object,    ///< the documents themselves
    Table,     ///< rows as `kubectl get` prints them
    Metadata,  ///< `PartialObjectMetadata`
};
/// Nothing when it takes none of them.
std::optional<Form> form_wanted(std::string_view accept);
/// Whether one of the media ranges of `accept` asks for aggregated discovery, and which version of it; empty: none.
std::string_view aggregated_discovery_wanted(std::string_view accept);

}  // namespace rhizome::api
