// SPDX-License-Identifier: Apache-2.0
#include "api/revisions.h"

#include <algorithm>
#include <charconv>
#include <set>

#include <fmt/core.h>

#include "base/ensure.h"
#include "ledger/chain_records.h"
#include "ledger/member.h"
#include "ledger/readiness.h"

namespace rhizome::api {
namespace {

constexpr std::int64_t kEpochMillis = 1'577'836'800'000;  // 2020-01-01T00:00:00Z
constexpr unsigned kTagBits = 22;

/// The Node whose readiness this record is, by the state where it stands.
std::optional<std::string> node_of(std::string_view key, const state::StateView& view) {
    static const std::string front = ledger::records::all_readiness().key();
    if (!key.starts_with(front)) return std::nullopt;
    ledger::MemberKey member{};
    if (!from_hex_into(key.substr(front.size(), 2 * member.size()), member)) return std::nullopt;
    const state::Entry* record = view.get(ledger::records::member(member));
    if (record == nullptr) return std::nullopt;
    const auto read = ledger::decode_member(record->bytes());
    if (!read) return std::nullopt;
    const auto path = state::Path::node(read->node);
    return path ? std::optional{std::string{path->key()}} : std::nullopt;
}

/// Whose change a change of this key is: of a Node when its report changes, or whether it is ready; nobody's otherwise
/// under `/chain/`. A Node that is no member any more changes itself.
std::optional<std::string> subject_of(std::string_view key, const state::StateView& after) {
    const state::Path path = state::Path::from_checked_key(key);
    switch (path.shape()) {
        case state::Path::Shape::Chain: return node_of(key, after);
        case state::Path::Shape::NodeReport: return std::string{path.parent_key()};
        default: return std::string{key};
    }
}

bool is_node(std::string_view key) {
    static const std::string nodes = state::Prefix::nodes().key();
    return key.starts_with(nodes) && state::Path::from_checked_key(key).shape() == state::Path::Shape::Node;
}

/// Puts in what else is shown of a Node.
void look_at_node(Standing& found, const state::StateView& view, const state::Path& node) {
    found.report = state::EntryPtr{view.get(*state::Path::node_report(node.name()))};
    ledger::MemberKey key{};
    const state::Entry* member = view.get(ledger::records::node(node.name()));
    if (member == nullptr || member->bytes().size() != key.size()) return;
    std::copy(member->bytes().begin(), member->bytes().end(), key.begin());
    found.readiness = state::EntryPtr{view.get(ledger::records::readiness(key))};
}

std::size_t bytes_of(const Standing& standing) {
    return (standing.document ? standing.document->document().size() : 0) +
           (standing.report ? standing.report->document().size() : 0);
}

}  // namespace

Revision first_revision(Time started, std::uint32_t node_tag) {
    const std::int64_t millis = std::max<std::int64_t>(started.unix_millis() - kEpochMillis, 1);
    const auto time = static_cast<Revision>(millis) & ((Revision{1} << (63 - kTagBits)) - 1);
    return time << kTagBits | (node_tag & ((1u << kTagBits) - 1));
}

Result<Revision> parse_revision(std::string_view text) {
    Revision number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size())
        return fail(ErrorKind::Invalid,
                    fmt::format("invalid resource version {:?}: it is no number of a list or object",
                                std::string{text.substr(0, 64)}));
    return number;
}

Revisions::Revisions(Revision first, state::StateView chain, Limits limits)
    : limits_(limits), first_(first), newest_(first), views_{std::move(chain), state::StateView{}} {}

Standing Revisions::look(const state::StateView& view, std::string_view key) {
    const state::Path path = state::Path::from_checked_key(key);
    Standing found;
    found.document = state::EntryPtr{view.get(path)};
    if (found.document && is_node(key)) look_at_node(found, view, path);
    return found;
}

void Revisions::feed(Layer layer, const state::Delta& delta, state::StateView after) {
    state::StateView& held = views_[static_cast<std::size_t>(layer)];
    // A Node stands right before its report in the order of keys, so a subject that comes twice comes in a row; but for
    // those whose readiness has changed, which comes first.
    std::string last;
    std::set<std::string, std::less<>> turned;
    delta.visit([&](const state::Change& change) {
        auto subject = subject_of(change.key(), after);
        if (!subject || *subject == last || turned.contains(*subject)) return;
        add(layer, *subject, held, after);
        if (change.key().starts_with("chain")) turned.insert(*subject);
        last = *std::move(subject);
    });
    held = std::move(after);
}

void Revisions::add(Layer layer, const std::string& key, const state::StateView& before,
                    const state::StateView& after) {
    Revised change{.before = look(before, key), .after = look(after, key)};
    if (!change.before && !change.after) return;  // a report without its Node
    change.key = (change.after ? change.after : change.before).document->key();
    change.revision = ++newest_;
    if (change.before) change.before.revision = revision_of(layer, key);
    // The name goes before the entry that it lies in.
    numbers_.erase(key);
    if (change.before) by_entry_.erase(change.before.document.get());
    if (change.after) {
        change.after.revision = change.revision;
        by_entry_.put(change.after.document, change.revision);
        numbers_.emplace(change.after.document->key(), change.revision);
    }
    window_bytes_ += bytes_of(change.before);
    window_.push_back(std::move(change));
    while (window_.size() > limits_.changes || (window_.size() > 1 && window_bytes_ > limits_.bytes)) {
        window_bytes_ -= bytes_of(window_.front().before);
        window_.pop_front();
    }
}

Revision Revisions::revision_of(Layer, std::string_view key) const {
    const auto at = numbers_.find(key);
    return at == numbers_.end() ? first_ : at->second;
}

Standing Revisions::find(Layer layer, const state::Path& path) const {
    const state::Entry* entry = view(layer).get(path);
    return entry == nullptr ? Standing{} : of(layer, *entry);
}

Standing Revisions::of(Layer layer, const state::Entry& entry) const {
    const auto known = by_entry_.find(&entry);
    Standing found{.document = state::EntryPtr{&entry}, .revision = known ? *known : revision_of(layer, entry.key())};
    if (is_node(entry.key())) look_at_node(found, view(layer), entry.path());
    found.is_final = entry.is_written() && entry.origin().latest.height <= final_;
    return found;
}

std::optional<std::vector<Revised>> Revisions::changes_after(Revision after, const state::Prefix& prefix,
                                                             std::size_t most, Revision* up_to) const {
    if (!is_ours(after) || after < oldest()) return std::nullopt;
    std::vector<Revised> found;
    *up_to = newest_;
    // Numbers in the window follow each other without gaps.
    for (std::size_t i = window_.size() - static_cast<std::size_t>(newest_ - after); i < window_.size(); ++i) {
        if (!prefix.covers(window_[i].key)) continue;
        if (found.size() == most) {
            *up_to = window_[i].revision - 1;
            break;
        }
        found.push_back(window_[i]);
    }
    return found;
}

}  // namespace rhizome::api
