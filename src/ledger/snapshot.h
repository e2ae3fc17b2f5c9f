// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/parallel.h"
#include "ledger/block.h"
#include "state/partition.h"
#include "state/view.h"

/// The state after a block as bytes, for whoever does not want to apply all blocks before it: a **manifest**, then the
/// state's **parts**, then the pieces of the **derived** part. As one stream it is a file; as manifest, parts and
/// pieces it is fetched from many strangers, each of whom can be caught with the first wrong byte. Docs/spec/chain.md
/// section 6 has the bytes.
///
/// Whether the header is one of the chain, and its signature the proposer's, is consensus' to say. The header commits
/// to the state, so parts need no trust; nothing in it commits to the derived part, which is to be compared with the
/// root that members attest.
///
/// Pure: where the bytes lie is the caller's business. Functions here may run on any thread.
namespace rhizome::ledger {

inline constexpr std::uint32_t kSnapshotMagic = 0x53042011;  ///< bytes 11 20 04 53
inline constexpr std::uint32_t kSnapshotVersion = 1;
inline constexpr std::size_t kPartBytesAim = 1u << 20;   ///< a second at 8 Mbit/s: little to lose with a peer
inline constexpr std::size_t kPartBytesMax = 16u << 20;  ///< the largest entry has 4 MiB and a head
inline constexpr std::size_t kPieceBytes = 1u << 20;     ///< of the derived part; the last piece has the rest
inline constexpr std::size_t kPiecesMax = 65'536;        ///< 64 GiB
inline constexpr std::size_t kManifestBytesMax = 8u
                                                 << 20;  ///< 1 MiB of seal, 52 × 65,536 of parts, 32 × 65,536 of pieces

enum class SnapshotFaultKind : std::uint8_t {
    BadEncoding,  ///< the bytes are no manifest, or no entries
    Unsupported,  ///< a version that this program does not know
    TooLarge,     ///< beyond a bound
    WrongRoot,    ///< the parts are not those of the header's state
    WrongSeal,    ///< the seal is not the header's
    WrongChain,   ///< the state is that of another chain
    WrongSize,    ///< other than as many bytes or entries as the manifest says
    BadOrder,     ///< entries are not in the order of their paths
    WrongPlace,   ///< entries that belong elsewhere in the state
    WrongHash,    ///< entries, or bytes, that are not those that were announced
    BadEntry,     ///< an entry that the ledger would not have written
    Missing,      ///< not all parts are here
};
std::string_view name(SnapshotFaultKind kind);

struct SnapshotFault {
    SnapshotFaultKind kind = SnapshotFaultKind::BadEncoding;
    std::string why{};                   ///< a sentence, without the place
    std::optional<std::size_t> part{};   ///< which part of the state
    std::optional<std::size_t> piece{};  ///< which piece of the derived part
    friend bool operator==(const SnapshotFault&, const SnapshotFault&) = default;
};
/// `WrongHash: part 17: its entries are not those of the state`.
std::string to_text(const SnapshotFault& fault);
Error to_error(const SnapshotFault& fault);

/// What controllers made of the state, opaque here.
struct DerivedSummary {
    std::uint64_t bytes = 0;
    crypto::Hash256 hash{};                 ///< SHA-256 of all of it
    std::vector<crypto::Hash256> pieces{};  ///< SHA-256 of each piece of `kPieceBytes`
    friend bool operator==(const DerivedSummary&, const DerivedSummary&) = default;
};

struct SnapshotManifest {
    ChainId chain{};
    Header header{};                           ///< of the block whose state it is
    std::array<std::uint8_t, 64> signature{};  ///< the proposer's
    Seal seal{};
    state::Partition partition{};
    DerivedSummary derived{};
    friend bool operator==(const SnapshotManifest&, const SnapshotManifest&) = default;
};

// ---- writing --------------------------------------------------------------------------------------------------------

/// The manifest of the state `view` after `block` (whose transactions play no part) on `chain`, with what was derived.
/// TooLarge for what no manifest can describe.
Result<SnapshotManifest, SnapshotFault> make_manifest(const ChainId& chain, const Block& block,
                                                      const state::StateView& view, ByteView derived = {},
                                                      std::uint64_t part_bytes = kPartBytesAim);
Bytes encode(const SnapshotManifest& manifest);
/// The bytes of part `part` of `view`, whose manifest this is.
Bytes encode_part(const state::StateView& view, const SnapshotManifest& manifest, std::size_t part);
/// Piece `piece` of what was derived.
ByteView piece_of(ByteView derived, std::size_t piece);

/// Takes the bytes that come next, or says why it cannot.
using ByteSink = std::function<Result<void>(ByteView)>;
/// The whole snapshot: manifest, parts, pieces, one after the other.
Result<void> write_snapshot(const SnapshotManifest& manifest, const state::StateView& view, ByteView derived,
                            const ByteSink& sink);

// ---- reading --------------------------------------------------------------------------------------------------------

/// Takes form and bounds only. `bytes` is the manifest and no more.
Result<SnapshotManifest, SnapshotFault> decode_manifest(ByteView bytes);
/// How many bytes of manifest follow the first `kManifestFrontBytes`: for whoever reads a stream.
inline constexpr std::size_t kManifestFrontBytes = 4 + 4 + 4;
Result<std::size_t, SnapshotFault> manifest_rest(ByteView front);

/// Whether the manifest's parts are those of its header's state, its seal the header's, its sizes possible.
Result<void, SnapshotFault> check_manifest(const SnapshotManifest& manifest);

/// A part that was checked alone: all its entries, as a state of their own.
struct PartEntries {
    std::size_t part = 0;
    state::StateView entries{};
};
/// The part that `bytes` are: size, form, order, place and hash, and every entry as the ledger would have written it.
/// `manifest` has been checked.
Result<PartEntries, SnapshotFault> read_part(const SnapshotManifest& manifest, std::size_t part, ByteView bytes,
                                             Parallel* parallel = nullptr);

Result<void, SnapshotFault> check_piece(const SnapshotManifest& manifest, std::size_t piece, ByteView bytes);
/// The derived part as a whole.
Result<void, SnapshotFault> check_derived(const SnapshotManifest& manifest, ByteView derived);

/// Makes a state of checked parts in whatever order they come. Takes memory for the state and the skeleton, nothing
/// else; confined to one thread at a time.
class SnapshotAssembler {
public:
    /// `manifest` has been checked.
    explicit SnapshotAssembler(SnapshotManifest manifest);

    [[nodiscard]] const SnapshotManifest& manifest() const { return manifest_; }
    [[nodiscard]] bool has(std::size_t part) const { return assembly_.has(part); }
    [[nodiscard]] std::size_t missing() const { return assembly_.missing(); }

    /// A part that is here already is taken as known.
    Result<void, SnapshotFault> add(const PartEntries& part);
    /// The state, with the header's root, on the manifest's chain. Spent afterwards.
    Result<state::StateView, SnapshotFault> finish() &&;

private:
    SnapshotManifest manifest_;
    state::Assembly assembly_;
};

/// Gives exactly so many bytes, the next ones, or says why it cannot.
using ByteSource = std::function<Result<Bytes>(std::size_t)>;

struct Snapshot {
    SnapshotManifest manifest{};
    state::StateView view{};
    Bytes derived{};
};
/// What `write_snapshot` wrote. Several parts are checked at once, as many as `parallel` is wide; each is read when the
/// ones before it are taken, so a stream that lies is read no further than that.
Result<Snapshot> read_snapshot(const ByteSource& source, Parallel& parallel);

}  // namespace rhizome::ledger
