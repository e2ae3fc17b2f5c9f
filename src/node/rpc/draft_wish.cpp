// SPDX-License-Identifier: Apache-2.0
#include "node/rpc/draft_wish.h"

#include <limits>

#include <fmt/core.h>

#include "node/resources.h"

namespace rhizome::node {
namespace {

Fail<Error> bad(std::string_view place, std::string_view what) {
    return fail(ErrorKind::Invalid, fmt::format("{}: {}", place, what));
}

Result<std::uint32_t> number_of(const json::Value& value, std::string_view place) {
    const auto number = value.if_int64();
    if (!number || *number < 0 || *number > std::numeric_limits<std::uint32_t>::max())
        return bad(place, "is no whole number below 2^32");
    return static_cast<std::uint32_t>(*number);
}

Result<std::string> text_of(const json::Value& value, std::string_view place) {
    if (!value.is_string()) return bad(place, "is no string");
    return *value.if_string();
}

Result<ledger::Change> change_from(const json::Value& form, const std::string& place, const state::StateView& view) {
    const json::Object* members = form.if_object();
    if (members == nullptr) return bad(place, "is no object");
    ledger::Change change;
    std::optional<std::string> deletes;
    std::string name_space = "default";
    for (const auto& [key, value] : *members) {
        const std::string at = place + "." + key;
        if (key == "document") {
            if (!value.is_object()) return bad(at, "is no object");
            change.document = json::print(value);
        } else if (key == "lock") {
            TRY(const std::string digits, text_of(value, at));
            const auto bytes = from_hex(digits);
            if (!bytes) return bad(at, "is not hexadecimal");
            change.lock = *bytes;
        } else if (key == "delete") {
            TRY(deletes, text_of(value, at));
        } else if (key == "namespace") {
            TRY(name_space, text_of(value, at));
        } else {
            return bad(at, "is not known here");
        }
    }
    if (deletes.has_value() == !change.document.empty())
        return bad(place, "has a document to write, or names what to delete");
    if (!deletes) return change;
    if (change.lock) return bad(place + ".lock", "what is deleted has no lock");
    TRY(const state::Entry* entry, find_resource(view, *deletes, name_space, "delete"));
    if (!entry->is_written())
        return fail(ErrorKind::NotFound, fmt::format("{} is a record of the chain's own", entry->path().text()));
    change.document = ledger::deletion_of(entry->document());
    return change;
}

}  // namespace

Result<ledger::DraftWish> draft_wish_from_json(std::string_view text, const state::StateView& view) {
    const auto form = json::parse(text, {.bytes = kDraftWishBytesMax});
    if (!form) return Fail{to_error(form.error())};
    const json::Object* members = form->if_object();
    if (members == nullptr) return fail(ErrorKind::Invalid, "a wish is an object with changes");
    ledger::DraftWish wish;
    for (const auto& [key, value] : *members) {
        if (key == "changes") {
            const json::Array* changes = value.if_array();
            if (changes == nullptr) return bad(key, "is no array");
            for (std::size_t i = 0; i < changes->size(); ++i) {
                TRY(auto change, change_from((*changes)[i], fmt::format("changes[{}]", i), view));
                wish.changes.push_back(std::move(change));
            }
        } else if (key == "by") {
            TRY(const std::string path, text_of(value, key));
            TRY(wish.by, parse_path(path, "by"));
        } else if (key == "lockTime") {
            TRY(wish.lock_time, number_of(value, key));
        } else if (key == "sequence") {
            TRY(wish.sequence, number_of(value, key));
        } else if (key == "expiry") {
            TRY(wish.expiry, number_of(value, key));
        } else {
            return bad(key, "is not known here");
        }
    }
    if (wish.changes.empty()) return bad("changes", "there is nothing to change");
    return wish;
}

json::Object to_json(const WishForm& form) {
    json::Array changes;
    for (const WishedChange& change : form.changes) {
        if (!change.deletes.empty()) {
            json::Object row{{"delete", change.deletes}};
            if (!change.name_space.empty()) row.set("namespace", change.name_space);
            changes.push_back(std::move(row));
            continue;
        }
        json::Object row{{"document", json::Raw{std::make_shared<const std::string>(change.document)}}};
        if (change.lock) row.set("lock", to_hex(*change.lock));
        changes.push_back(std::move(row));
    }
    json::Object data{{"changes", std::move(changes)}};
    if (form.by) data.set("by", form.by->text());
    if (form.lock_time != 0) data.set("lockTime", form.lock_time);
    if (form.sequence != ledger::kSequenceFinal) data.set("sequence", form.sequence);
    if (form.expiry) data.set("expiry", *form.expiry);
    return data;
}

}  // namespace rhizome::node
