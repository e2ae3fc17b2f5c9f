// SPDX-License-Identifier: Apache-2.0
#include "store/accepted_log.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/core.h>

#include "base/codec.h"
#include "ledger/codec.h"
#include "ledger/limits.h"
#include "runtime/entropy.h"
#include "store/data_folder.h"
#include "store/detail/file.h"
#include "store/record.h"

namespace rhizome::store {
namespace {

constexpr std::string_view kAcceptedName = "accepted";
constexpr std::string_view kAcceptedAnew = "accepted.new";
/// Sentences of refusals are ours; longer ones are cut.
constexpr std::size_t kWhyMax = 4'096;

/// The first byte of a record's payload. Values are on disks: never reuse one.
enum class Said : std::uint8_t {
    Kept = 1,     ///< time ‖ transaction
    Settled = 2,  ///< id
    Lost =
        3,  ///< accepted ‖ lost ‖ was included ‖ code ‖ sentence ‖ script error ‖ input ‖ made again by ‖ transaction
};

Bytes kept_payload(const AcceptedLog::Kept& kept) {
    Writer out;
    out.u8(static_cast<std::uint8_t>(Said::Kept)).u64(static_cast<std::uint64_t>(kept.time.unix_millis()));
    ledger::encode_to(out, kept.tx->tx);
    return std::move(out).take();
}

Bytes settled_payload(const ledger::TxId& id) {
    Writer out;
    out.u8(static_cast<std::uint8_t>(Said::Settled)).id(id);
    return std::move(out).take();
}

Bytes lost_payload(const LostTx& lost) {
    Writer out;
    out.u8(static_cast<std::uint8_t>(Said::Lost));
    out.u64(static_cast<std::uint64_t>(lost.accepted.unix_millis()));
    out.u64(static_cast<std::uint64_t>(lost.lost.unix_millis()));
    out.boolean(lost.was_included);
    out.short_blob(as_bytes(ledger::name(lost.why.code)));
    out.short_blob(as_bytes(std::string_view{lost.why.why}.substr(0, kWhyMax)));
    out.short_blob(as_bytes(std::string_view{lost.why.script_error}.substr(0, kWhyMax)));
    out.boolean(lost.why.input.has_value()).u16(lost.why.input.value_or(0));
    out.boolean(lost.made_again.has_value()).id(lost.made_again.value_or(ledger::TxId{}));
    ledger::encode_to(out, lost.tx->tx);
    return std::move(out).take();
}

std::string text_of(ByteView bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

Time time_of(std::uint64_t millis) { return Time::from_unix_millis(static_cast<std::int64_t>(millis)); }

/// The transaction that the rest is; null when it is none.
ledger::SharedTx tx_of(ByteView rest) {
    auto tx = ledger::decode_tx(rest);
    if (!tx) return nullptr;
    auto checked = ledger::check_tx(*std::move(tx));
    return checked ? *std::move(checked) : nullptr;
}

Result<LostTx, DecodeFault> lost_of(Reader& in) {
    LostTx lost;
    TRY(const auto accepted, in.u64());
    TRY(const auto when, in.u64());
    lost.accepted = time_of(accepted);
    lost.lost = time_of(when);
    TRY(lost.was_included, in.boolean());
    TRY(const ByteView code, in.short_blob(kWhyMax));
    TRY(const ByteView why, in.short_blob(kWhyMax));
    TRY(const ByteView script_error, in.short_blob(kWhyMax));
    TRY(const bool has_input, in.boolean());
    TRY(const auto input, in.u16());
    TRY(const bool is_made_again, in.boolean());
    TRY(const auto made_again, in.id<ledger::TxId>());
    if (is_made_again) lost.made_again = made_again;
    const auto known = ledger::reject_code_from_name(text_of(code));
    lost.tx = tx_of(in.rest());
    if (!known || !lost.tx) return Fail{DecodeFault::BadValue};
    lost.why = {.code = *known, .why = text_of(why), .script_error = text_of(script_error)};
    if (has_input) lost.why.input = input;
    return lost;
}

}  // namespace

AcceptedLog::AcceptedLog(std::filesystem::path folder, const ledger::ChainId& chain, const Limits& limits)
    : folder_(std::move(folder)), chain_(chain), limits_(limits) {}
AcceptedLog::~AcceptedLog() = default;

Result<std::unique_ptr<AcceptedLog>> AcceptedLog::open(const std::filesystem::path& folder,
                                                       const ledger::ChainId& chain, const Limits& limits) {
    std::unique_ptr<AcceptedLog> log{new AcceptedLog{folder, chain, limits}};
    log->read();
    {
        const std::lock_guard hold{log->mutex_};
        // Without room the one there is stays, and what comes next tries again.
        if (const auto made = log->make_anew(); !made && made.error().kind != ErrorKind::Exhausted)
            return Fail{made.error()};
    }
    TRY(log->sync());
    return log;
}

void AcceptedLog::read() {
    const auto path = folder_ / kAcceptedName;
    std::error_code failed;
    if (!std::filesystem::exists(path, failed)) return;
    const auto pass_over = [&](std::uint64_t offset, std::string_view what) {
        finding_ = fmt::format("from offset {} on {}: what was accepted and not settled then is not known any more",
                               offset, what);
    };
    const auto file = detail::File::open(path, detail::File::Mode::Read);
    if (!file) return pass_over(0, file.error().message);
    std::array<std::uint8_t, kSegmentHeadBytes> head{};
    const auto got = file->read_some(0, head);
    if (!got || *got != head.size()) return pass_over(0, "it has no head");
    const auto segment = decode_segment_head(head);
    if (!segment || segment->schema != kSchema || ledger::ChainId{segment->chain} != chain_)
        return pass_over(0, "it is no list of this chain");
    std::uint64_t at = kSegmentHeadBytes;
    std::uint64_t sequence = 0;
    std::uint64_t link = 0;
    Bytes record;
    for (;;) {
        record.resize(kRecordHeadBytes);
        const auto front = file->read_some(at, record);
        if (!front || *front == 0) return;
        const auto said = *front == record.size() ? decode_head(record) : Fail{RecordFault::Truncated};
        if (!said) return pass_over(at, "it cannot be read");
        record.resize(record_bytes(said->length));
        const auto whole = file->read_some(at, record);
        if (!whole) return pass_over(at, whole.error().message);
        record.resize(*whole);
        const auto read = decode_record(record, segment->salt);
        // The end of what was written when the power failed: nobody was promised it.
        if (!read || read->head.sequence != sequence + 1 || read->head.link != link)
            return pass_over(at, "it cannot be read");
        take(read->payload);
        sequence = read->head.sequence;
        link = read->head.checksum;
        at += record.size();
    }
}

void AcceptedLog::take(ByteView payload) {
    Reader in{payload};
    const auto said = in.u8();
    if (!said) return;
    if (*said == static_cast<std::uint8_t>(Said::Kept)) {
        const auto when = in.u64();
        const auto tx = when ? tx_of(in.rest()) : nullptr;
        if (!tx || places_.contains(tx->id)) return;
        places_.emplace(tx->id, ++numbers_);
        kept_.emplace(numbers_, Kept{tx, time_of(*when)});
    } else if (*said == static_cast<std::uint8_t>(Said::Settled)) {
        if (const auto id = in.id<ledger::TxId>()) forget(*id);
    } else if (*said == static_cast<std::uint8_t>(Said::Lost)) {
        if (auto lost = lost_of(in)) {
            forget(lost->tx->id);
            remember(*std::move(lost));
        }
    }
}

void AcceptedLog::forget(const ledger::TxId& id) {
    const auto at = places_.find(id);
    if (at == places_.end()) return;
    const auto kept = kept_.find(at->second);
    live_bytes_ -= std::min<std::uint64_t>(live_bytes_, record_bytes(kept->second.tx->bytes));
    kept_.erase(kept);
    places_.erase(at);
}

void AcceptedLog::remember(LostTx lost) {
    // Told twice, when the power failed between.
    std::erase_if(lost_, [&](const LostTx& one) {
        const bool same = one.tx->id == lost.tx->id;
        if (same) lost_bytes_ -= one.tx->bytes;
        return same;
    });
    lost_bytes_ += lost.tx->bytes;
    lost_.push_back(std::move(lost));
    while (lost_.size() > limits_.lost_max || (lost_.size() > 1 && lost_bytes_ > limits_.lost_bytes_max)) {
        lost_bytes_ -= lost_.front().tx->bytes;
        lost_.pop_front();
    }
}

Result<void> AcceptedLog::append(ByteView payload) {
    if (!file_) return make_anew();  // with all there is, this too
    RecordHead head{.kind = RecordKind::Note,
                    .length = static_cast<std::uint32_t>(payload.size()),
                    .sequence = sequence_ + 1,
                    .link = link_};
    const auto front = encode_head(head, std::span{&payload, 1}, salt_);
    const std::uint64_t bytes = record_bytes(payload.size());
    static constexpr std::array<std::uint8_t, kRecordAlignment> kZeros{};
    const ByteView padding{kZeros.data(), static_cast<std::size_t>(bytes - kRecordHeadBytes - payload.size())};
    const std::array<ByteView, 3> parts{ByteView{front}, payload, padding};
    TRY(file_->write(end_, parts));
    end_ += bytes;
    sequence_ = head.sequence;
    link_ = head.checksum;
    dirty_ = true;
    return ok();
}

Result<void> AcceptedLog::make_anew() {
    const auto path = folder_ / kAcceptedAnew;
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    TRY(auto file, detail::File::open(path, detail::File::Mode::Create));
    const auto before = std::tuple{file_, salt_, end_, sequence_, link_};
    file_ = std::make_shared<detail::File>(std::move(file));
    std::array<std::uint8_t, sizeof salt_> salt{};
    runtime::fill_with_entropy(salt);
    std::memcpy(&salt_, salt.data(), salt.size());
    sequence_ = link_ = 0;
    SegmentHead head{.schema = kSchema, .number = 0, .salt = salt_};
    const auto chain = chain_.view();
    std::copy(chain.begin(), chain.end(), head.chain.begin());
    const auto write_all = [&]() -> Result<void> {
        const auto front = encode_head(head);
        const std::array<ByteView, 1> parts{ByteView{front}};
        TRY(file_->write(0, parts));
        end_ = front.size();
        for (const LostTx& one : lost_) TRY(append(lost_payload(one)));
        for (const auto& [number, one] : kept_) TRY(append(kept_payload(one)));
        return ok();
    };
    if (auto written = write_all(); !written) {
        // No room, perhaps: the old one goes on.
        std::tie(file_, salt_, end_, sequence_, link_) = before;
        std::filesystem::remove(path, ignored);
        return written;
    }
    live_bytes_ = end_;
    is_new_ = dirty_ = true;
    return ok();
}

Result<void> AcceptedLog::keep(const ledger::SharedTx& tx, Time now) {
    const std::lock_guard hold{mutex_};
    if (places_.contains(tx->id)) return ok();
    const Kept kept{tx, now};
    // Also when it cannot be written: it is known until the process ends.
    places_.emplace(tx->id, ++numbers_);
    kept_.emplace(numbers_, kept);
    live_bytes_ += record_bytes(tx->bytes);
    return append(kept_payload(kept));
}

Result<void> AcceptedLog::settle(const ledger::TxId& id) {
    const std::lock_guard hold{mutex_};
    if (!places_.contains(id)) return ok();
    forget(id);
    TRY(append(settled_payload(id)));
    if (!is_new_ && end_ > 2 * live_bytes_ + limits_.slack_bytes) return make_anew();
    return ok();
}

Result<void> AcceptedLog::lose(LostTx lost) {
    const std::lock_guard hold{mutex_};
    forget(lost.tx->id);
    const Bytes payload = lost_payload(lost);
    live_bytes_ += record_bytes(payload.size());
    remember(std::move(lost));
    return append(payload);
}

Result<void> AcceptedLog::sync() {
    std::shared_ptr<detail::File> file;
    bool is_new = false;
    {
        const std::lock_guard hold{mutex_};
        if (!dirty_ || !file_) return ok();
        dirty_ = false;
        file = file_;
        is_new = is_new_;
    }
    TRY(file->sync());
    if (!is_new) return ok();
    TRY(detail::rename_file(folder_ / kAcceptedAnew, folder_ / kAcceptedName));
    TRY(detail::sync_folder(folder_));
    const std::lock_guard hold{mutex_};
    is_new_ = false;
    return ok();
}

std::vector<AcceptedLog::Kept> AcceptedLog::kept() const {
    const std::lock_guard hold{mutex_};
    std::vector<Kept> all;
    all.reserve(kept_.size());
    for (const auto& [number, one] : kept_) all.push_back(one);
    return all;
}

std::vector<LostTx> AcceptedLog::lost() const {
    const std::lock_guard hold{mutex_};
    return {lost_.rbegin(), lost_.rend()};
}

std::optional<LostTx> AcceptedLog::lost(const ledger::TxId& id) const {
    const std::lock_guard hold{mutex_};
    const auto at = std::find_if(lost_.begin(), lost_.end(), [&](const LostTx& one) { return one.tx->id == id; });
    if (at == lost_.end()) return std::nullopt;
    return *at;
}

std::uint64_t AcceptedLog::file_bytes() const {
    const std::lock_guard hold{mutex_};
    return end_;
}

}  // namespace rhizome::store
