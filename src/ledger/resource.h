// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ledger/reject.h"
#include "state/path.h"

/// What an output is about: the identity of the resource its document names, read without building the document.
namespace rhizome::ledger {

/// Where documents of a kind live. Their order is that of the hierarchy, parents before children.
enum class Scope : std::uint8_t {
    Cluster,  ///< the one `rhizome.dev Cluster`
    Node,     ///< a machine
    Namespace,
    JoinToken,
    ClusterScoped,  ///< every other kind without a namespace, definitions included
    NodeReport,     ///< below its Node
    Namespaced,     ///< below its Namespace
};
std::string_view name(Scope scope);
/// Steps below the cluster: 0, 1 or 2.
[[nodiscard]] unsigned depth_of(Scope scope);

/// Group and kind: the version is a way to read a document, not part of what it is.
struct GroupKind {
    std::string group{};  ///< empty for Kubernetes' core group
    std::string kind{};
    friend auto operator<=>(const GroupKind&, const GroupKind&) = default;
};

/// The kinds this level knows by itself; others come from definitions (CustomResourceDefinition) in the state.
std::optional<Scope> builtin_scope(std::string_view group, std::string_view kind);

struct Resource {
    GroupKind type{};
    Scope scope = Scope::Namespaced;
    bool builtin = false;      ///< else a definition must exist in the state
    std::string name_space{};  ///< empty when it has none
    std::string name{};
    state::Path path = state::Path::cluster();

    /// `Deployment default/web`: how sentences name it.
    [[nodiscard]] std::string label() const;
};

/// What one output's value asks for.
enum class Wish : std::uint8_t {
    Nothing,  ///< null: goes with a consumed input that is deleted
    Store,    ///< a document
    Delete,   ///< `{"apiVersion","kind","metadata":{"namespace","name"},"deleted":true}`: whatever its version
};

struct NamedOutput {
    Wish wish = Wish::Nothing;
    Resource resource{};
};

/// Reads an output's value: strict JSON, an identity, a kind that lives where the document says. Checks no schema.
Result<NamedOutput, Reject> name_output(std::string_view value);

}  // namespace rhizome::ledger
