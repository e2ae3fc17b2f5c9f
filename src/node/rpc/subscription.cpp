// SPDX-License-Identifier: Apache-2.0
#include "node/rpc/subscription.h"

#include <algorithm>

#include <fmt/core.h>

#include "node/resources.h"

namespace rhizome::node::rpc {
namespace {

Fail<Error> bad(std::string_view what) { return fail(ErrorKind::Invalid, std::string{what}); }

Result<void> read_events(const json::Value& form, Subscription& into) {
    const json::Array* words = form.if_array();
    if (words == nullptr) return bad("events is no array");
    into.blocks = into.final_blocks = into.changes = into.conditions = false;
    for (const json::Value& word : *words) {
        const std::string* text = word.if_string();
        if (text == nullptr) return bad("events holds something that is no string");
        if (*text == "blocks") {
            into.blocks = true;
        } else if (*text == "final") {
            into.final_blocks = true;
        } else if (*text == "changes") {
            into.changes = true;
        } else if (*text == "conditions") {
            into.conditions = true;
        } else {
            return bad("events are blocks, final, changes and conditions");
        }
    }
    return ok();
}

Result<void> read_after(const json::Value& form, Subscription& into) {
    const json::Object* members = form.if_object();
    if (members == nullptr) return bad("after is no object");
    for (const auto& [key, value] : *members) {
        if (key == "hash") {
            const auto hash = value.is_string() ? ledger::BlockHash::from_hex(*value.if_string()) : std::nullopt;
            if (!hash) return bad("after.hash has 64 hexadecimal digits");
            into.after_hash = *hash;
        } else if (key == "height") {
            const auto height = value.if_int64();
            if (!height || *height < 0) return bad("after.height is a height");
            into.after_height = ledger::Height{static_cast<std::uint64_t>(*height)};
        } else {
            return bad("after has a height and a hash");
        }
    }
    if (!into.after_hash && !into.after_height) return bad("after names a height or a hash");
    return ok();
}

}  // namespace

Result<Subscription> parse_subscription(std::string_view text) {
    const auto form = json::parse(text, {.bytes = kSubscribeBytesMax, .depth = 4});
    if (!form) return Fail{to_error(form.error())};
    const json::Object* members = form->if_object();
    if (members == nullptr || form->text_at({"type"}) != "subscribe")
        return bad(R"(the first message is {"type":"subscribe",…})");
    Subscription wanted;
    for (const auto& [key, value] : *members) {
        if (key == "type") continue;
        if (key == "events") {
            TRY(read_events(value, wanted));
        } else if (key == "prefix") {
            if (!value.is_string()) return bad("prefix is no string");
            TRY(wanted.prefix, parse_prefix(*value.if_string(), "prefix"));
        } else if (key == "after") {
            TRY(read_after(value, wanted));
        } else {
            return bad("a subscription has events, prefix and after");
        }
    }
    return wanted;
}

Result<Way> way_between(const store::Store& store, const ledger::BlockHash& from, const ledger::BlockHash& to,
                        std::size_t most) {
    Way way;
    if (from == to) return way;
    TRY(store::BlockInfo left, store.info(from));
    TRY(store::BlockInfo right, store.info(to));
    while (left.hash != right.hash) {
        if (way.undone.size() + way.applied.size() >= most)
            return fail(ErrorKind::Exhausted, fmt::format("more than {} blocks behind", most));
        if (left.height() > right.height() || left.height() == right.height()) {
            way.undone.push_back(left);
            TRY(left, store.info(left.header.previous));
        } else {
            way.applied.push_back(right);
            TRY(right, store.info(right.header.previous));
        }
    }
    std::reverse(way.applied.begin(), way.applied.end());
    return way;
}

std::optional<json::Object> block_event(const Subscription& wanted, const store::BlockInfo& block, bool undone,
                                        const state::Delta* change) {
    json::Array changes;
    if (wanted.changes && change != nullptr)
        change->visit([&](const state::Change& one) {
            const state::Entry& any = one.after ? *one.after : *one.before;
            if (!any.is_written() || !wanted.prefix.covers(any.key())) return;
            const bool came = undone ? !one.after : !one.before;
            const bool went = undone ? !one.before : !one.after;
            json::Object row{{"verb", came ? "created" : went ? "deleted" : "updated"}, {"path", any.path().text()}};
            const state::EntryPtr& now = undone ? one.before : one.after;
            if (now) row.set("txid", now->origin().latest.output.change.hex());
            changes.push_back(std::move(row));
        });
    const bool unknown = wanted.changes && change == nullptr;
    if (!wanted.blocks && changes.empty() && !unknown) return std::nullopt;
    json::Object event{{"type", undone ? "undone" : "block"},
                       {"height", block.height().number()},
                       {"hash", block.hash.hex()},
                       {"previous", block.header.previous.hex()},
                       {"time", to_rfc3339(block.header.time, Precision::Millis)},
                       {"transactions", block.tx_count}};
    if (unknown) {
        event.set("changesUnknown", true);
    } else if (wanted.changes) {
        event.set("changes", std::move(changes));
    }
    return event;
}

}  // namespace rhizome::node::rpc
