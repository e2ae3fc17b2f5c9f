// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "api/revisions.h"
#include "base/json.h"
#include "cluster/kinds.h"

/// What the API shows of a stored document. The document is what somebody signed; version, age and identity are what
/// the chain and this node know of it, and are put in when it is shown:
///
///  - `metadata.resourceVersion`: the node's own number (`revisions.h`);
///  - `metadata.creationTimestamp`: what the document says, which whoever drafted it put there, but never later than
///  the
///    block that created it, whose time it is where the document says nothing;
///  - the annotations `rhizome.dev/txid`, `rhizome.dev/height` and `rhizome.dev/finality` (included or final): the
///    transaction that wrote this version, the block that carries it, and whether that can still be undone;
///  - `metadata.uid` where the document has none: from the transaction and output that created it;
///  - of a Namespace its phase, of a Node what its machine reports.
///
/// They are never stored: `strip_shown` takes them out of what clients send back.
namespace rhizome::api {

/// What is heard of a machine, for its Node's condition `Ready`.
struct Heard {
    bool is_member = false;
    bool in_lease = false;
    std::int64_t silent_seconds = 0;
};
using HeardOf = std::function<Heard(std::string_view node)>;

/// The object as compact JSON, in the version of `kind`. Copies the document's bytes unless the kind has something
/// derived.
std::string shown_text(const cluster::Kind& kind, const Standing& standing, const HeardOf& heard_of);
/// The same, behind what stands in `out`.
void append_shown(std::string& out, const cluster::Kind& kind, const Standing& standing, const HeardOf& heard_of);
/// About how much longer than the document that is.
inline constexpr std::size_t kShownBytes = 288;
/// The same, parsed: for selectors, tables and patches.
json::Value shown_value(const cluster::Kind& kind, const Standing& standing, const HeardOf& heard_of);

/// `metadata.creationTimestamp` as it is shown.
std::string created_text(const state::Entry& document);

/// Takes out what is only shown, so that the rest can be stored.
void strip_shown(json::Value& object);
/// The annotations among it: they are nobody's, so that no manager of fields may come to own them.
void strip_shown_notes(json::Value& object);
/// Those of `shown`, put into `object`.
void show_notes_of(json::Value& object, const json::Value& shown);

/// The uid of a document that names none: from the transaction and output that created it.
std::string uid_of(const state::Outpoint& born);

}  // namespace rhizome::api
