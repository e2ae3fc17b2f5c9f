// SPDX-License-Identifier: Apache-2.0
#include "node/state_shelf.h"

#include <algorithm>
#include <functional>

#include "ledger/special_kinds.h"
#include "node/host.h"
#include "node/look.h"

namespace rhizome::node {
namespace {

constexpr std::size_t kForTokensMax = 2;
constexpr std::size_t kOtherStatesMax = 2;
/// After the last question: a newcomer asks again within its own time-out.
constexpr seconds kUnusedMax{60};
/// More than anybody hands out in an hour; of more the first are looked at.
constexpr std::size_t kTokensLookedAt = 256;

/// The heights of the newest blocks that have a token which can still be used.
std::vector<ledger::Height> blocks_of_open_tokens(const state::StateView& view, Time now) {
    std::vector<ledger::Height> heights;
    for (const state::Entry* entry : view.list(state::Prefix::join_tokens(), std::nullopt, kTokensLookedAt).entries) {
        const auto token = ledger::read_join_token(ledger::parse_checked(entry->document()));
        if (token && token->expires > now) heights.push_back(entry->origin().born.height);
    }
    std::sort(heights.begin(), heights.end(), std::greater{});
    heights.erase(std::unique(heights.begin(), heights.end()), heights.end());
    if (heights.size() > kForTokensMax) heights.resize(kForTokensMax);
    return heights;
}

}  // namespace

StateShelf::StateShelf(const store::Store& store, std::function<std::shared_ptr<const NodeView>()> look)
    : store_(store), look_(std::move(look)) {}

core::Message StateShelf::answer(const std::variant<core::WantManifest, core::WantPart>& wanted) {
    if (const auto* manifest = std::get_if<core::WantManifest>(&wanted)) {
        core::StateManifest answer{.block = manifest->block};
        Shelved* state = find(manifest->block, false);
        if (const auto* made = state == nullptr ? nullptr : manifest_of(*state)) answer.bytes = ledger::encode(*made);
        return answer;
    }
    const auto& want = std::get<core::WantPart>(wanted);
    core::StatePart answer{.block = want.block, .part = want.part};
    Shelved* state = find(want.block, false);
    const auto* manifest = state == nullptr ? nullptr : manifest_of(*state);
    if (manifest == nullptr || want.part >= manifest->partition.parts.size()) return answer;
    // Cut otherwise by another version: its asker would take this for a lie.
    if (manifest->partition.parts[want.part].hash != want.hash) return answer;
    answer.bytes = ledger::encode_part(state->view, *manifest, want.part);
    return answer;
}

StateShelf::Shelved* StateShelf::find(const ledger::BlockHash& block, bool for_token) {
    const auto view = look_();
    const auto info = store_.info(block);
    if (!info || !store_.on_chain(*info)) return nullptr;
    // A token's block is kept from the start, and given out once it is final.
    if (!for_token && info->height() > view->final_height) return nullptr;
    const auto now = runtime::instant_now();
    const auto known =
        std::find_if(states_.begin(), states_.end(), [&](const Shelved& one) { return one.block == block; });
    if (known != states_.end()) {
        known->used = now;
        known->for_token |= for_token;
        return &*known;
    }
    const auto is_other = [](const Shelved& one) { return !one.for_token; };
    const auto others = static_cast<std::size_t>(std::count_if(states_.begin(), states_.end(), is_other));
    if (!for_token && others >= kOtherStatesMax) {
        tidy();
        if (static_cast<std::size_t>(std::count_if(states_.begin(), states_.end(), is_other)) >= kOtherStatesMax)
            return nullptr;  // others are being fetched
    }
    const Sight sight{.store = store_,
                      .tip = view->tip,
                      .tip_hash = view->tip_hash,
                      .state = view->state,
                      .final_height = view->final_height};
    auto past = state_at(sight, info->height());
    if (!past || past->block.hash != block || past->view.root() != info->header.state_root) return nullptr;
    states_.push_back(
        {.block = block, .height = info->height(), .view = std::move(past->view), .for_token = for_token, .used = now});
    return &states_.back();
}

const ledger::SnapshotManifest* StateShelf::manifest_of(Shelved& state) const {
    if (!state.manifest) {
        const auto info = store_.info(state.block);
        auto seal = store_.seal(state.block);
        if (!info || !seal) return nullptr;
        const ledger::Block block{
            .header = info->header, .signature = info->signature, .txs = {}, .seal = *std::move(seal)};
        auto made = ledger::make_manifest(store_.chain(), block, state.view);
        if (!made) return nullptr;  // larger than any manifest can say
        state.manifest = *std::move(made);
    }
    return &*state.manifest;
}

void StateShelf::keep(const ledger::BlockHash& block) {
    if (find(block, true) == nullptr) return;
    tidy();
}

void StateShelf::keep_for_open_tokens() {
    for (const ledger::Height height : blocks_of_open_tokens(look_()->state, runtime::now()))
        if (const auto info = store_.info_at(height)) keep(info->hash);
}

void StateShelf::tidy() {
    const auto now = runtime::instant_now();
    const auto wanted = blocks_of_open_tokens(look_()->state, runtime::now());
    std::erase_if(states_, [&](Shelved& state) {
        if (!state.for_token) return now > state.used + kUnusedMax;
        if (std::find(wanted.begin(), wanted.end(), state.height) != wanted.end()) return false;
        // Of a token that is used up or old: only somebody who is fetching it still needs it.
        state.for_token = false;
        return !state.manifest.has_value() || now > state.used + kUnusedMax;
    });
}

}  // namespace rhizome::node
