// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "api/detail/cells.h"

namespace rhizome::api::detail {
namespace {

/// `RWO,ROX`
std::string access_modes(const json::Array& modes) {
    std::vector<std::string> found;
    for (const auto& [mode, shown] : {std::pair{"ReadWriteOnce", "RWO"},
                                      {"ReadOnlyMany", "ROX"},
                                      {"ReadWriteMany", "RWX"},
                                      {"ReadWriteOncePod", "RWOP"}})
        for (const json::Value& each : modes)
            if (scalar_text(&each, "") == mode) {
                found.emplace_back(shown);
                break;
            }
    return joined(found);
}

std::string phase_of(const Printed& row) {
    return row.text({"metadata", "deletionTimestamp"}).empty() ? std::string(row.text({"status", "phase"}))
                                                               : "Terminating";
}

/// The beta annotation still wins over the field, as it does for Kubernetes.
std::string class_of(const Printed& row) {
    const std::string_view noted = row.text({"metadata", "annotations", "volume.beta.kubernetes.io/storage-class"});
    return std::string(noted.empty() ? row.text({"spec", "storageClassName"}) : noted);
}

json::Array claim_cells(const Printed& row) {
    const bool bound = !row.text({"spec", "volumeName"}).empty();
    return {row.name(),
            phase_of(row),
            std::string(row.text({"spec", "volumeName"})),
            bound ? std::string(row.text({"status", "capacity", "storage"})) : std::string{},
            bound ? access_modes(row.list({"status", "accessModes"})) : std::string{},
            class_of(row),
            row.text_or({"spec", "volumeAttributesClassName"}, "<unset>"),
            row.age(),
            row.text_or({"spec", "volumeMode"}, "<unset>")};
}

json::Array volume_cells(const Printed& row) {
    const std::string_view claim = row.text({"spec", "claimRef", "name"});
    return {row.name(),
            std::string(row.text({"spec", "capacity", "storage"})),
            access_modes(row.list({"spec", "accessModes"})),
            std::string(row.text({"spec", "persistentVolumeReclaimPolicy"})),
            phase_of(row),
            claim.empty() ? std::string{} : fmt::format("{}/{}", row.text({"spec", "claimRef", "namespace"}), claim),
            class_of(row),
            row.text_or({"spec", "volumeAttributesClassName"}, "<unset>"),
            std::string(row.text({"status", "reason"})),
            row.age(),
            row.text_or({"spec", "volumeMode"}, "<unset>")};
}

json::Array class_cells(const Printed& row) {
    std::string name = row.name();
    if (row.text({"metadata", "annotations", "storageclass.kubernetes.io/is-default-class"}) == "true")
        name += " (default)";
    return {std::move(name),
            std::string(row.text({"provisioner"})),
            row.text_or({"reclaimPolicy"}, "Delete"),
            row.text_or({"volumeBindingMode"}, "Immediate"),
            row.flag({"allowVolumeExpansion"}),
            row.age()};
}

json::Array attachment_cells(const Printed& row) {
    return {row.name(),
            std::string(row.text({"spec", "attacher"})),
            std::string(row.text({"spec", "source", "persistentVolumeName"})),
            std::string(row.text({"spec", "nodeName"})),
            row.flag({"status", "attached"}),
            row.age()};
}

json::Array driver_cells(const Printed& row) {
    const json::Value* attach = row.object.find_path({"spec", "attachRequired"});
    std::vector<std::string> audiences;
    for (const json::Value& each : row.list({"spec", "tokenRequests"}))
        audiences.emplace_back(each.text_at({"audience"}));
    std::vector<std::string> modes;
    for (const json::Value& each : row.list({"spec", "volumeLifecycleModes"})) modes.push_back(scalar_text(&each, ""));
    return {row.name(),
            attach == nullptr || row.flag({"spec", "attachRequired"}),
            row.flag({"spec", "podInfoOnMount"}),
            row.flag({"spec", "storageCapacity"}),
            audiences.empty() ? "<unset>" : joined(audiences),
            row.flag({"spec", "requiresRepublish"}),
            modes.empty() ? "<none>" : joined(modes),
            row.age()};
}

json::Array csi_node_cells(const Printed& row) { return {row.name(), row.count({"spec", "drivers"}), row.age()}; }

}  // namespace

CellsOf storage_cells(std::string_view group, std::string_view kind) {
    if (group.empty() && kind == "PersistentVolumeClaim") return claim_cells;
    if (group.empty() && kind == "PersistentVolume") return volume_cells;
    if (group != "storage.k8s.io") return nullptr;
    if (kind == "StorageClass") return class_cells;
    if (kind == "VolumeAttachment") return attachment_cells;
    if (kind == "CSIDriver") return driver_cells;
    if (kind == "CSINode") return csi_node_cells;
    if (kind == "CSIStorageCapacity") return created_cells;
    return nullptr;
}

}  // namespace rhizome::api::detail
