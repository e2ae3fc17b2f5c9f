// SPDX-License-Identifier: Apache-2.0
#include "state/proof.h"

#include "state/detail/access.h"
#include "state/detail/rehash.h"

namespace rhizome::state {

using detail::bit_at;
using detail::bit_of;
using detail::NodeRef;

namespace {

/// No way is longer than a key has bits.
constexpr std::size_t kStepsMax = 8 * kPathBytesMax;

/// Walks down by the bits of `key` while they are below `end_bit`, noting the siblings.
NodeRef way_down(NodeRef node, std::string_view key, unsigned end_bit, std::vector<Step>& steps) {
    while (bit_of(node) < end_bit) {
        const detail::Inner* inner = node.inner();
        const unsigned side = bit_at(key, inner->bit);
        steps.push_back({inner->bit, inner->hash[1 - side]});
        node = inner->child[side];
    }
    return node;
}

bool bits_grow(const std::vector<Step>& steps) {
    for (std::size_t i = 0; i < steps.size(); ++i)
        if (steps[i].bit >= kStepsMax || (i > 0 && steps[i].bit <= steps[i - 1].bit)) return false;
    return true;
}

/// The root above a subtree with this hash, to which the bits of `key` lead.
Hash256 climb(Hash256 hash, std::string_view key, const std::vector<Step>& steps) {
    for (auto step = steps.rbegin(); step != steps.rend(); ++step)
        hash = bit_at(key, step->bit) == 0 ? detail::inner_hash(step->bit, hash, step->sibling)
                                           : detail::inner_hash(step->bit, step->sibling, hash);
    return hash;
}

/// The hash of the tree of these leaves, which are in order: the keys alone give its shape.
Hash256 hash_of_leaves(const std::vector<Summary>& leaves) {
    std::vector<std::pair<int, Hash256>> open;  // as in OrderedBuilder
    const auto fold = [&](int bit) {
        while (open.size() >= 2 && open.back().first > bit) {
            const auto [split, right] = open.back();
            open.pop_back();
            open.back().second = detail::inner_hash(static_cast<std::uint16_t>(split), open.back().second, right);
        }
    };
    for (std::size_t i = 0; i < leaves.size(); ++i) {
        int bit = 0;
        if (i > 0) {
            bit = static_cast<int>(*detail::first_difference(leaves[i - 1].path.key(), leaves[i].path.key()));
            fold(bit);
        }
        open.emplace_back(bit, leaves[i].leaf_hash());
    }
    fold(-1);
    return open.back().second;
}

}  // namespace

std::string_view name(ProofFault fault) {
    switch (fault) {
        case ProofFault::WrongRoot: return "WrongRoot";
        case ProofFault::WrongWay: return "WrongWay";
        case ProofFault::BadOrder: return "BadOrder";
        case ProofFault::Incomplete: return "Incomplete";
        case ProofFault::WrongPrefix: return "WrongPrefix";
    }
    unreachable("all proof faults are named");
}

Error to_error(ProofFault fault) {
    const auto sentence = [&]() -> std::string_view {
        switch (fault) {
            case ProofFault::WrongRoot: return "the proof belongs to another state";
            case ProofFault::WrongWay: return "the proof is about another path";
            case ProofFault::BadOrder: return "the parts of the proof are out of order";
            case ProofFault::Incomplete: return "the proof shows no entry";
            case ProofFault::WrongPrefix: return "the proof shows an entry that was not asked for";
        }
        unreachable("all proof faults have a sentence");
    };
    return {ErrorKind::Invalid, std::string{sentence()}};
}

// ---- one path -----------------------------------------------------------------------------------------------------

Proof prove(const StateView& view, const Path& path) {
    Proof proof;
    if (view.empty()) return proof;
    const NodeRef leaf = way_down(TreeAccess::root(view), path.key(), detail::kLeafBit, proof.steps);
    proof.leaf = summarise(*leaf.leaf());
    return proof;
}

Result<Finding, ProofFault> verify(const Hash256& root, const Path& path, const Proof& proof) {
    if (!proof.leaf) {
        if (!proof.steps.empty()) return Fail{ProofFault::Incomplete};
        if (!root.is_zero()) return Fail{ProofFault::WrongRoot};
        return Finding{Absence{}};
    }
    if (!bits_grow(proof.steps)) return Fail{ProofFault::BadOrder};
    // A leaf reached by other bits than the key's says nothing about the key.
    for (const Step& step : proof.steps)
        if (bit_at(path.key(), step.bit) != bit_at(proof.leaf->path.key(), step.bit)) return Fail{ProofFault::WrongWay};
    if (climb(proof.leaf->leaf_hash(), path.key(), proof.steps) != root) return Fail{ProofFault::WrongRoot};
    if (proof.leaf->path == path) return Finding{Presence{*proof.leaf}};
    return Finding{Absence{}};
}

// ---- all under a prefix -------------------------------------------------------------------------------------------

std::optional<PrefixProof> prove_under(const StateView& view, const Prefix& prefix, std::size_t leaves_max) {
    PrefixProof proof;
    if (view.empty()) return proof;
    const auto bits = static_cast<unsigned>(prefix.key().size() * 8);
    const NodeRef node = way_down(TreeAccess::root(view), prefix.key(), bits, proof.steps);
    if (const Entry* first = detail::first_leaf(node); !prefix.covers(first->key())) {
        way_down(node, first->key(), detail::kLeafBit, proof.steps);
        proof.leaves.push_back(summarise(*first));
        return proof;
    }
    if (detail::count_of(node) > leaves_max) return std::nullopt;
    proof.leaves.reserve(detail::count_of(node));
    Cursor cursor = TreeAccess::walk(node);
    while (const Entry* entry = cursor.next()) proof.leaves.push_back(summarise(*entry));
    return proof;
}

Result<std::vector<Summary>, ProofFault> verify_under(const Hash256& root, const Prefix& prefix,
                                                      const PrefixProof& proof) {
    if (proof.leaves.empty()) {
        if (!proof.steps.empty()) return Fail{ProofFault::Incomplete};
        if (!root.is_zero()) return Fail{ProofFault::WrongRoot};
        return std::vector<Summary>{};
    }
    if (!bits_grow(proof.steps)) return Fail{ProofFault::BadOrder};
    const auto bits = static_cast<unsigned>(prefix.key().size() * 8);
    const std::string_view first = proof.leaves.front().path.key();

    if (!prefix.covers(first)) {
        // Down to the subtree by the prefix's bits, then by any: all leaves there begin like this one, so none of them,
        // and no others, could have had the prefix.
        if (proof.leaves.size() != 1) return Fail{ProofFault::WrongPrefix};
        for (const Step& step : proof.steps)
            if (step.bit < bits && bit_at(prefix.key(), step.bit) != bit_at(first, step.bit))
                return Fail{ProofFault::WrongWay};
        if (climb(proof.leaves.front().leaf_hash(), first, proof.steps) != root) return Fail{ProofFault::WrongRoot};
        return std::vector<Summary>{};
    }
    if (!proof.steps.empty() && proof.steps.back().bit >= bits) return Fail{ProofFault::Incomplete};
    for (std::size_t i = 0; i < proof.leaves.size(); ++i) {
        if (!prefix.covers(proof.leaves[i].path.key())) return Fail{ProofFault::WrongPrefix};
        if (i > 0 && proof.leaves[i].path <= proof.leaves[i - 1].path) return Fail{ProofFault::BadOrder};
    }
    if (climb(hash_of_leaves(proof.leaves), prefix.key(), proof.steps) != root) return Fail{ProofFault::WrongRoot};
    return proof.leaves;
}

// ---- codec --------------------------------------------------------------------------------------------------------

namespace {

void encode_steps(Writer& out, const std::vector<Step>& steps) {
    out.varint(steps.size());
    for (const Step& step : steps) out.u16(step.bit).id(step.sibling);
}

Result<std::vector<Step>, DecodeFault> decode_steps(Reader& in) {
    TRY(const std::uint64_t written, in.varint());
    TRY(const std::size_t count, in.bounded_count(written, kStepsMax, 34));
    std::vector<Step> steps(count);
    for (Step& step : steps) {
        TRY(step.bit, in.u16());
        TRY(step.sibling, in.id<Hash256>());
    }
    if (!bits_grow(steps)) return Fail{DecodeFault::BadValue};
    return steps;
}

}  // namespace

Bytes encode(const Proof& proof) {
    Writer out;
    encode_steps(out, proof.steps);
    out.boolean(proof.leaf.has_value());
    if (proof.leaf) encode(out, *proof.leaf);
    return std::move(out).take();
}

Result<Proof, DecodeFault> decode_proof(ByteView bytes) {
    Reader in{bytes};
    Proof proof;
    TRY(proof.steps, decode_steps(in));
    TRY(const bool has_leaf, in.boolean());
    if (has_leaf) {
        TRY(proof.leaf, decode_summary(in));
    }
    TRY(in.finish());
    return proof;
}

Bytes encode(const PrefixProof& proof) {
    Writer out;
    encode_steps(out, proof.steps);
    out.varint(proof.leaves.size());
    for (const Summary& leaf : proof.leaves) encode(out, leaf);
    return std::move(out).take();
}

Result<PrefixProof, DecodeFault> decode_prefix_proof(ByteView bytes, std::size_t leaves_max) {
    Reader in{bytes};
    PrefixProof proof;
    TRY(proof.steps, decode_steps(in));
    TRY(const std::uint64_t written, in.varint());
    constexpr std::size_t kLeastEach = 1 + 1 + 8 + 32;  // tag, key length, the shortest key, one hash
    TRY(const std::size_t count, in.bounded_count(written, leaves_max, kLeastEach));
    proof.leaves.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        TRY(Summary leaf, decode_summary(in));
        proof.leaves.push_back(std::move(leaf));
    }
    TRY(in.finish());
    return proof;
}

}  // namespace rhizome::state
