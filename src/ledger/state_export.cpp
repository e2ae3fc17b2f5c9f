// SPDX-License-Identifier: Apache-2.0
#include "ledger/state_export.h"

#include <fmt/core.h>

#include "ledger/detail/entry_check.h"
#include "ledger/detail/json_members.h"
#include "script/assembler.h"
#include "state/tree.h"

namespace rhizome::ledger {
namespace {

using detail::bad_member;
using detail::JsonMembers;
using state::Entry;
using state::EntryPtr;
using state::Mark;
using state::Path;

constexpr std::string_view kKind = "rhizome-state";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kRecordBytesMax = 1u << 20;
/// The state, its entries, an entry, a mark; documents stand in it as strings.
constexpr json::Limits kLimits{.bytes = kStateTextBytesMax, .depth = 8};

// ---- writing --------------------------------------------------------------------------------------------------------

json::Value mark_data(const Mark& mark) {
    return json::Object{{"txid", mark.output.change.hex()},
                        {"vout", mark.output.index},
                        {"height", mark.height.number()},
                        {"time", to_rfc3339(mark.time, Precision::Millis)}};
}

json::Value entry_data(const Entry& entry) {
    if (!entry.is_written()) return json::Object{{"path", entry.path().text()}, {"bytes", to_hex(entry.bytes())}};
    return json::Object{{"path", entry.path().text()},
                        {"born", mark_data(entry.origin().born)},
                        {"latest", mark_data(entry.origin().latest)},
                        {"lock", mark_data(entry.origin().lock)},
                        {"script", script::disassemble(entry.script())},
                        {"document", entry.document()}};
}

// ---- reading --------------------------------------------------------------------------------------------------------

Result<Mark> read_mark(JsonMembers& entry, std::string_view key, const ExportedState& after) {
    TRY(auto members, entry.object(key));
    Mark mark;
    TRY(mark.output.change, members.id<crypto::Hash256>("txid"));
    TRY(mark.output.index, members.number<std::uint16_t>("vout"));
    TRY(const auto height, members.number<std::uint64_t>("height"));
    mark.height = Height{height};
    TRY(mark.time, members.time("time"));
    TRY(members.finish());
    if (!detail::is_up_to(mark, after.height, after.time))
        return bad_member(entry.place(key), "was written after the state's own block");
    return mark;
}

Result<EntryPtr> read_entry(std::string_view text, const std::string& place, const ExportedState& after) {
    TRY(auto members, JsonMembers::of(text, place, kLimits));
    TRY(const std::string path_text, members.text("path"));
    const auto path = Path::parse(path_text);
    if (!path) return bad_member(members.place("path"), to_error(path.error()).message);
    if (path->shape() == Path::Shape::Chain) {
        TRY(const Bytes bytes, members.hex("bytes", kRecordBytesMax));
        TRY(members.finish());
        if (!detail::is_good_record(path_text, bytes))
            return bad_member(members.place("bytes"), fmt::format("no record of {}", path_text));
        auto entry = Entry::plain(*path, bytes);
        if (!entry) return bad_member(members.place("bytes"), to_error(entry.error()).message);
        return *std::move(entry);
    }
    state::Origin origin;
    TRY(origin.born, read_mark(members, "born", after));
    TRY(origin.latest, read_mark(members, "latest", after));
    TRY(origin.lock, read_mark(members, "lock", after));
    TRY(const std::string assembly, members.text("script"));
    const auto script = script::assemble(assembly);
    if (!script) return bad_member(members.place("script"), script::to_error(script.error()).message);
    TRY(const std::string document, members.text("document"));
    TRY(members.finish());
    if (const auto good = detail::check_document(*path, document); !good)
        return bad_member(members.place("document"), to_text(good.error()));
    auto entry = Entry::written(*path, origin, *script, document);
    if (!entry) return bad_member(place, to_error(entry.error()).message);
    return *std::move(entry);
}

}  // namespace

std::string export_state(const ExportedState& state) {
    std::string text = "{\n";
    const auto member = [&](std::string_view key, const json::Value& value) {
        text += fmt::format("  \"{}\": {},\n", key, json::print(value));
    };
    member("kind", kKind);
    member("version", kVersion);
    member("chainId", state.chain.hex());
    member("height", state.height.number());
    member("time", to_rfc3339(state.time, Precision::Millis));
    member("tip", state.tip.hex());
    member("root", state.view.root().hex());
    text += "  \"entries\": [";
    const char* between = "\n    ";
    state::Cursor cursor = state.view.walk(state::Prefix::everything());
    while (const Entry* entry = cursor.next()) {
        text += between;
        json::print_to(text, entry_data(*entry));
        between = ",\n    ";
    }
    text += "\n  ]\n}\n";
    return text;
}

Result<ExportedState> import_state(std::string_view text) {
    TRY(auto members, JsonMembers::of(text, {}, kLimits));
    TRY(const std::string kind, members.text("kind"));
    if (kind != kKind) return bad_member("kind", "this is no exported state");
    TRY(const auto version, members.number<std::uint32_t>("version"));
    if (version != kVersion)
        return fail(ErrorKind::Unsupported,
                    fmt::format("version: {} is not known; this program reads {}", version, kVersion));
    ExportedState state;
    TRY(state.chain, members.id<ChainId>("chainId"));
    TRY(const auto height, members.number<std::uint64_t>("height"));
    if (height > detail::kHeightMax) return bad_member("height", "no chain is that long");
    state.height = Height{height};
    TRY(state.time, members.time("time"));
    TRY(state.tip, members.id<BlockHash>("tip"));
    TRY(const auto root, members.id<state::Hash256>("root"));
    TRY(const auto entries, members.elements("entries", kStateEntriesMax));
    TRY(members.finish());
    state::OrderedBuilder builder;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const std::string place = fmt::format("entries[{}]", i);
        TRY(auto entry, read_entry(entries[i].text, place, state));
        if (!builder.add(std::move(entry))) return bad_member(place, "its path does not come after the one before");
    }
    state.view = std::move(builder).finish();
    if (state.view.root() != root)
        return fail(ErrorKind::Corrupt,
                    fmt::format("the state's root is {}, not {} as the file says: it was changed or cut",
                                state.view.root(), root));
    if (!detail::is_state_of(state.view, state.tip, state.chain))
        return fail(ErrorKind::Corrupt, "chainId: the state is that of another chain");
    return state;
}

}  // namespace rhizome::ledger
