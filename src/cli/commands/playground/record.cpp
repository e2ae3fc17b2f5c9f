// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/playground/record.h"

#include <fmt/core.h>

#include "base/json.h"
#include "cli/text.h"
#include "runtime/files.h"

namespace rhizome::cli::playground {
namespace {

constexpr std::size_t kRecordBytesMax = 1u << 20;
constexpr std::int64_t kVersion = 1;

json::Object process_json(const runtime::ProcessId& process) {
    return {{"pid", process.pid}, {"started", process.started}};
}

std::optional<std::int64_t> recorded_number(const json::Value& value, std::initializer_list<std::string_view> path) {
    const json::Value* found = value.find_path(path);
    return found == nullptr ? std::nullopt : found->if_int64();
}
runtime::ProcessId process_at(const json::Value& value, std::string_view name) {
    return {.pid = static_cast<pid_t>(recorded_number(value, {name, "pid"}).value_or(0)),
            .started = static_cast<std::uint64_t>(recorded_number(value, {name, "started"}).value_or(0))};
}

}  // namespace

std::string Record::text() const {
    json::Array rows;
    for (const NodeRecord& node : nodes)
        rows.push_back(json::Object{{"address", node.address},
                                    {"api", node.api},
                                    {"process", process_json(node.process)},
                                    {"wanted", node.wanted == Wanted::Up ? "up" : "killed"},
                                    {"key", node.key},
                                    {"network", node.network}});
    json::Array standing;
    for (const Cut& cut : cuts) standing.emplace_back(cut.text);
    return json::print(json::Object{{"version", kVersion},
                                    {"apart", apart == Apart::Networks ? "networks" : "ports"},
                                    {"ready", ready},
                                    {"holder", process_json(holder)},
                                    {"router", router},
                                    {"nodes", std::move(rows)},
                                    {"cuts", std::move(standing)}}) +
           "\n";
}

Result<Record> Record::parse(std::string_view text) {
    const Error damaged{ErrorKind::Corrupt, "it is not what 'playground up' writes"};
    const auto value = json::parse(text);
    if (!value || recorded_number(*value, {"version"}) != kVersion) return Fail{damaged};
    const json::Value* rows = value->find("nodes");
    const json::Value* standing = value->find("cuts");
    const json::Value* ready = value->find("ready");
    if (rows == nullptr || !rows->is_array() || standing == nullptr || !standing->is_array() || ready == nullptr)
        return Fail{damaged};
    Record record;
    record.apart = value->text_at({"apart"}) == "networks" ? Apart::Networks : Apart::Ports;
    record.ready = ready->if_boolean().value_or(false);
    record.holder = process_at(*value, "holder");
    record.router = static_cast<int>(recorded_number(*value, {"router"}).value_or(-1));
    for (const json::Value& row : *rows->if_array())
        record.nodes.push_back({.address = std::string{row.text_at({"address"})},
                                .api = std::string{row.text_at({"api"})},
                                .process = process_at(row, "process"),
                                .wanted = row.text_at({"wanted"}) == "up" ? Wanted::Up : Wanted::Killed,
                                .key = std::string{row.text_at({"key"})},
                                .network = static_cast<int>(recorded_number(row, {"network"}).value_or(-1))});
    for (const json::Value& one : *standing->if_array()) {
        const std::string* said = one.if_string();
        auto cut = said == nullptr ? Result<Cut>{Fail{damaged}} : parse_cut(*said, record.count());
        if (!cut) return Fail{damaged};
        record.cuts.push_back(*std::move(cut));
    }
    return record;
}

std::filesystem::path record_file(const std::filesystem::path& folder) { return folder / "playground.json"; }

Result<Record> read_record(const std::filesystem::path& folder) {
    TRY(const auto text, runtime::read_file(record_file(folder), kRecordBytesMax));
    auto record = Record::parse(text);
    if (record) return record;
    return fail(
        record.error().kind,
        fmt::format("{} cannot be read: {}\nlook which processes run with 'pgrep -af {}', end them, and delete "
                    "the directory",
                    printable(record_file(folder).native()), record.error().message, printable(folder.native())));
}

Result<void> write_record(const std::filesystem::path& folder, const Record& record) {
    return runtime::replace_file(record_file(folder), record.text(), 0600);
}

}  // namespace rhizome::cli::playground
