// SPDX-License-Identifier: Apache-2.0
#include "api/table.h"

#include <optional>

#include <fmt/core.h>

#include "api/detail/cells.h"

namespace rhizome::api {
namespace {

using cluster::Column;
using cluster::Kind;
using detail::Printed;

/// A cell of a custom kind, by its path.
json::Value custom_cell(const Printed& row, const Column& column) {
    if (column.json_path.empty()) return row.name();
    const auto found = detail::json_path(row.object, column.json_path);
    if (column.type == "date") {
        const auto time = found.empty() || !found[0]->is_string() ? std::nullopt : from_rfc3339(*found[0]->if_string());
        return time ? json::Value(human_duration(row.now - *time)) : json::Value("<unknown>");
    }
    if (found.empty() || found[0]->is_null()) return column.type == "string" ? json::Value("") : json::Value{};
    if (found[0]->if_number() != nullptr || found[0]->if_boolean()) return *found[0];
    return detail::scalar_text(found[0], "");
}

detail::CellsOf cells_of(const Kind& kind) {
    for (const auto find : {detail::workload_cells, detail::network_cells, detail::storage_cells, detail::other_cells})
        if (const detail::CellsOf found = find(kind.group, kind.kind)) return found;
    return nullptr;
}

}  // namespace

std::string human_duration(microseconds duration) {
    const std::int64_t seconds = std::chrono::floor<std::chrono::seconds>(duration).count();
    if (seconds < -1) return "<invalid>";
    if (seconds < 0) return "0s";
    if (seconds < 120) return fmt::format("{}s", seconds);
    // Two units while the second one says something, one afterwards.
    const auto two = [](std::int64_t large, std::string_view unit, std::int64_t small, std::string_view small_unit) {
        return small == 0 ? fmt::format("{}{}", large, unit) : fmt::format("{}{}{}{}", large, unit, small, small_unit);
    };
    const std::int64_t minutes = seconds / 60;
    if (minutes < 10) return two(minutes, "m", seconds % 60, "s");
    if (minutes < 180) return fmt::format("{}m", minutes);
    const std::int64_t hours = minutes / 60;
    if (hours < 8) return two(hours, "h", minutes % 60, "m");
    if (hours < 48) return fmt::format("{}h", hours);
    const std::int64_t days = hours / 24;
    if (days < 8) return two(days, "d", hours % 24, "h");
    if (days < 730) return fmt::format("{}d", days);
    if (days < 2920) return two(days / 365, "y", days % 365, "d");
    return fmt::format("{}y", days / 365);
}

std::optional<RowObject> parse_row_object(std::string_view text) {
    if (text.empty() || text == "Metadata") return RowObject::Metadata;
    if (text == "None") return RowObject::None;
    if (text == "Object") return RowObject::Object;
    return std::nullopt;
}

json::Array table_columns(const Kind& kind) {
    static constexpr Column kPlain[] = {{.name = "Name", .type = "string", .format = "name"},
                                        {.name = "Age", .type = "string"}};
    json::Array out;
    for (const Column& column : kind.columns.empty() ? std::span<const Column>(kPlain) : kind.columns)
        out.emplace_back(json::Object{{"name", column.name},
                                      {"type", column.type},
                                      {"format", column.format},
                                      {"description", column.description},
                                      {"priority", column.priority}});
    return out;
}

json::Array table_cells(const json::Value& object, const Kind& kind, Time now) {
    const Printed row{object, now};
    if (kind.custom) {
        json::Array out;
        for (const Column& column : kind.columns) out.push_back(custom_cell(row, column));
        return out;
    }
    if (const detail::CellsOf cells = cells_of(kind)) return cells(row);
    return {row.name(), row.age()};
}

const Kind& scale_kind() {
    static constexpr Column kColumns[] = {
        {.name = "Name", .type = "string", .format = "name", .description = "Of the workload."},
        {.name = "Desired", .type = "integer", .description = "How many replicas there shall be."},
        {.name = "Available", .type = "integer", .description = "How many there are."},
        {.name = "Age", .type = "string", .description = "Of the workload."}};
    static const Kind kScale{.group = "autoscaling", .version = "v1", .kind = "Scale", .columns = kColumns};
    return kScale;
}

json::Value partial_metadata(const json::Value& object) {
    json::Object out{{"kind", "PartialObjectMetadata"}, {"apiVersion", "meta.k8s.io/v1"}};
    if (const json::Value* metadata = object.find("metadata")) out.set("metadata", *metadata);
    return out;
}

json::Value table_row(const json::Value& object, const Kind& kind, RowObject carried, Time now) {
    json::Object out{{"cells", table_cells(object, kind, now)}};
    if (carried == RowObject::Metadata) out.set("object", partial_metadata(object));
    if (carried == RowObject::Object) out.set("object", object);
    if (carried == RowObject::None) out.set("object", nullptr);
    return out;
}

json::Value make_table(const Kind& kind, json::Array rows, json::Value metadata, bool with_columns) {
    return json::Object{{"kind", "Table"},
                        {"apiVersion", "meta.k8s.io/v1"},
                        {"metadata", std::move(metadata)},
                        {"columnDefinitions", with_columns ? json::Value(table_columns(kind)) : json::Value{}},
                        {"rows", std::move(rows)}};
}

}  // namespace rhizome::api
