// SPDX-License-Identifier: Apache-2.0
#include "consensus/signed_seal.h"

#include <algorithm>

#include <fmt/core.h>

#include "ledger/chain_records.h"

namespace rhizome::consensus {
namespace {

using ledger::Block;
using ledger::ConsensusPart;
using ledger::MemberKey;
using ledger::Reject;
using ledger::RejectCode;
namespace records = ledger::records;

Fail<Reject> bad_seal(std::string why) { return ledger::reject(RejectCode::BadSeal, std::move(why)); }

crypto::Digest digest_of(const ledger::Header& header) { return crypto::Digest{hash_of(header).view()}; }

/// Who sealed the block, if what the block says about it holds by itself.
Result<crypto::PublicKey, Reject> signer_of(const Block& block) {
    const ledger::Header& header = block.header;
    if (header.seal_root != seal_root_of(block.seal))
        return bad_seal("the seal is not the header's: it was changed on the way");
    if (header.consensus != ledger::ConsensusId::Work && (header.bits != 0 || header.nonce != 0))
        return bad_seal("bits and nonce belong to chains that work");
    TRY(const auto proposer, proposer_of(block.seal));
    const auto signature = crypto::Signature::from_compact(block.signature);
    if (!signature) return bad_seal(fmt::format("the signature is none: {}", to_error(signature.error()).message));
    if (const auto good = crypto::verify(proposer, digest_of(header), *signature); !good)
        return bad_seal(fmt::format("{} did not sign the block: {}", proposer.hex(), to_error(good.error()).message));
    return proposer;
}

std::vector<MemberKey> voters_of(const state::StateView& view) {
    const state::Entry* record = view.get(records::voters());
    if (record == nullptr) return {};
    auto voters = records::decode_voters(record->bytes());
    ensure(voters.has_value(), "a record of voters of ours");
    return *std::move(voters);
}

bool is_voter(const MemberKey& key, const state::StateView& view) {
    const auto voters = voters_of(view);
    return std::binary_search(voters.begin(), voters.end(), key);
}

ledger::Seal seal_of(const crypto::PublicKey& proposer) { return {.proof = to_bytes(proposer.bytes())}; }

void sign(Block& block, const crypto::SecretKey& proposer) {
    block.signature = crypto::sign(proposer, digest_of(block.header)).to_compact();
}

ConsensusPart genesis_part(const crypto::PublicKey& first_voter) {
    ConsensusPart part;
    part.records.emplace_back(records::voters(), records::encode_voters({first_voter.bytes()}));
    return part;
}

}  // namespace

Result<crypto::PublicKey, Reject> proposer_of(const ledger::Seal& seal) {
    if (seal.proof.size() < crypto::PublicKey::kSize) return bad_seal("the seal names no proposer");
    auto key = crypto::PublicKey::parse(ByteView{seal.proof}.first(crypto::PublicKey::kSize));
    if (!key) return bad_seal("the proposer that the seal names is no key");
    return *key;
}

bool is_only_voter(const crypto::PublicKey& key, const state::StateView& view) {
    return voters_of(view) == std::vector<MemberKey>{key.bytes()};
}

Result<ConsensusPart, Reject> SignedSeal::judge(const ledger::LedgerState& parent, const ledger::Header&,
                                                const Block& block) const {
    // Who it would be is asked before the dear signature check.
    TRY(const auto claimed, proposer_of(block.seal));
    if (parent.view().get(records::member(claimed.bytes())) == nullptr && !is_voter(claimed.bytes(), parent.view()))
        return bad_seal(fmt::format("{} is neither a member nor a voter", claimed.hex()));
    TRY(const auto proposer, signer_of(block));
    return part_of_proposer(proposer);
}

Result<ConsensusPart, Reject> SignedSeal::judge_genesis(const Block& block) const {
    TRY(const auto first, signer_of(block));
    return genesis_part(first);
}

ConsensusPart part_of_proposer(const crypto::PublicKey& proposer) { return {.heard = {proposer.bytes()}}; }

Block seal_block(ledger::BlockDraft draft, const crypto::SecretKey& proposer) {
    const ledger::Seal seal = seal_of(proposer.public_key());
    draft.header.seal_root = seal_root_of(seal);
    Block block = draft.to_block(seal);
    sign(block, proposer);
    return block;
}

Result<ledger::GenesisBlock, Reject> seal_genesis(std::string cluster, Bytes lock, Time time,
                                                  const crypto::SecretKey& proposer) {
    const auto key = proposer.public_key();
    TRY(auto genesis, ledger::make_genesis(std::move(cluster), std::move(lock), time, genesis_part(key), seal_of(key)));
    sign(genesis.block, proposer);
    return genesis;
}

}  // namespace rhizome::consensus
