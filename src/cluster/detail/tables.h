// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "cluster/kinds.h"
#include "cluster/schema.h"

/// The constant tables that tools/kubernetes_tables.py makes.
namespace rhizome::cluster::detail {

struct KindSchema {
    std::string_view group{};
    std::string_view version{};
    std::string_view kind{};
    const Schema* schema = nullptr;
};

/// What `Kind` takes from the facts of Kubernetes; the members in the order in which the tool prints them.
struct KindRow {
    std::string_view group{};
    std::string_view version{};
    std::string_view kind{};
    std::string_view plural{};
    std::string_view singular{};
    std::string_view message{};
    std::span<const std::string_view> short_names{};
    std::span<const std::string_view> categories{};
    std::span<const Column> columns{};
    std::span<const Subresource> subresources{};
    std::span<const std::string_view> field_selectors{};
    const Schema* schema = nullptr;
    VerbSet verbs{};
    bool namespaced = false;
    bool preferred = false;
};

/// Sorted by group, version, kind.
std::span<const KindSchema> kind_schemas();
/// Sorted by name.
std::span<const NamedSchema> named_schemas();
/// Sorted as `Kinds::all` is.
std::span<const KindRow> kind_rows();

}  // namespace rhizome::cluster::detail
