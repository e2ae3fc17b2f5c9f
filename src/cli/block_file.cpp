// SPDX-License-Identifier: Apache-2.0
#include "cli/block_file.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/codec.h"
#include "ledger/block_json.h"
#include "ledger/codec.h"
#include "ledger/limits.h"

namespace rhizome::cli {
namespace {

constexpr std::size_t kFrontBytes = 8 + 32 + 8 + 8;
/// A line has a block and a little around it.
constexpr std::size_t kLineBytesMax = ledger::kBlockJsonBytesMax + 4'096;
constexpr json::Limits kLineLimits{.bytes = kLineBytesMax, .depth = ledger::kDocumentDepthMax + 7};
constexpr json::Limits kWholeLimits{.bytes = kBlocksJsonBytesMax, .depth = ledger::kDocumentDepthMax + 7};

const json::Slice* find(const std::vector<json::Slice>& slices, std::string_view key) {
    const auto at = std::find_if(slices.begin(), slices.end(), [&](const auto& slice) { return slice.key == key; });
    return at == slices.end() ? nullptr : &*at;
}

std::string read_bytes(std::istream& in, std::size_t size) {
    std::string bytes(size, '\0');
    in.read(bytes.data(), static_cast<std::streamsize>(size));
    bytes.resize(static_cast<std::size_t>(in.gcount()));
    return bytes;
}

}  // namespace

std::string block_file_front(const ledger::ChainId& chain, ledger::Height first, std::uint64_t count) {
    Writer out;
    out.raw(as_bytes(kBlockFileMagic)).id(chain).u64(first.number()).u64(count);
    return std::string{as_text(out.view())};
}

Error BlockFileReader::at(std::string place, Error error) const {
    if (!place.empty()) error = with_context(place, std::move(error));
    return with_context(name_, std::move(error));
}

Result<BlockFileReader> BlockFileReader::open(std::istream& in, std::string name) {
    BlockFileReader reader{in, std::move(name)};
    std::string front = read_bytes(in, kBlockFileMagic.size());
    if (in.bad()) return fail(ErrorKind::Failed, fmt::format("{}: cannot be read", reader.name_));
    if (front == kBlockFileMagic) {
        reader.form_ = Form::Binary;
        const std::string rest = read_bytes(in, kFrontBytes - front.size());
        Reader numbers{as_bytes(rest)};
        if (rest.size() + front.size() != kFrontBytes)
            return fail(ErrorKind::Corrupt, fmt::format("{}: the file ends in its front", reader.name_));
        (void)numbers.raw(32 + 8);  // for people and other tools: every block says the same and more
        reader.count_ = *numbers.u64();
        return reader;
    }
    const std::size_t first = front.find_first_not_of(" \t\r\n");
    if (first == std::string::npos || front[first] != '{')
        return fail(
            ErrorKind::Invalid,
            fmt::format("{}: holds no blocks\n'chain export' writes files that can be read here", reader.name_));
    if (in.eof()) in.clear();
    TRY(auto line, reader.read_line(kLineBytesMax));
    front += line.value_or("");
    // A line that is a whole object is the first of many; else the text is one object over many lines.
    const auto slices = json::slices(front, kLineLimits);
    if (slices && find(*slices, "blocks") == nullptr) {
        reader.form_ = Form::Lines;
        reader.first_line_ = std::move(front);
        return reader;
    }
    if (line) front += '\n';
    TRY(reader.read_whole(std::move(front)));
    return reader;
}

Result<std::optional<std::string>> BlockFileReader::read_line(std::size_t max_bytes) {
    std::string line;
    for (;;) {
        const auto next = in_->get();
        if (next == std::istream::traits_type::eof()) {
            if (in_->bad()) return fail(ErrorKind::Failed, fmt::format("{}: cannot be read", name_));
            if (line.empty()) return std::optional<std::string>{};
            return std::optional{std::move(line)};
        }
        if (next == '\n') return std::optional{std::move(line)};
        if (line.size() >= max_bytes)
            return fail(ErrorKind::Exhausted, fmt::format("{}: a line has more than {} bytes", name_, max_bytes));
        line += static_cast<char>(next);
    }
}

Result<void> BlockFileReader::read_whole(std::string front) {
    text_ = std::move(front);
    while (*in_) {
        text_ += read_bytes(*in_, std::size_t{1} << 20);
        if (text_.size() > kBlocksJsonBytesMax)
            return fail(ErrorKind::Exhausted,
                        fmt::format("{}: has more than {} bytes\nlarge chains travel as -o blocks or jsonl", name_,
                                    kBlocksJsonBytesMax));
    }
    if (in_->bad()) return fail(ErrorKind::Failed, fmt::format("{}: cannot be read", name_));
    const auto add = [&](std::string_view slice) {
        elements_.emplace_back(static_cast<std::size_t>(slice.data() - text_.data()), slice.size());
    };
    const auto slices = json::slices(text_, kWholeLimits);
    if (!slices) return Fail{at("", slices.error())};
    if (const json::Slice* blocks = find(*slices, "blocks")) {
        const json::Slice* kind = find(*slices, "kind");
        if (kind == nullptr || kind->text != "\"rhizome-blocks\"" || !blocks->text.starts_with('['))
            return Fail{at("", {ErrorKind::Invalid, "kind: is not rhizome-blocks"})};
        const auto elements = json::slices(blocks->text, kWholeLimits);
        ensure(elements.has_value(), "a slice of checked JSON is JSON");
        for (const json::Slice& element : *elements) add(element.text);
    } else {
        add(text_);
    }
    count_ = elements_.size();
    return ok();
}

Result<std::optional<ledger::Block>> BlockFileReader::next() {
    switch (form_) {
        case Form::Binary: return next_binary();
        case Form::Lines: return next_line();
        case Form::Whole: return next_element();
    }
    unreachable("a file of blocks has one of three forms");
}

Result<std::optional<ledger::Block>> BlockFileReader::next_binary() {
    const std::string place = fmt::format("block {} of {}", read_ + 1, *count_);
    std::string bytes = read_bytes(*in_, 8);
    if (bytes.empty() && in_->eof() && !in_->bad()) {
        if (read_ < *count_)
            return Fail{
                at("", {ErrorKind::Corrupt, fmt::format("the file ends after {} of its {} blocks", read_, *count_)})};
        return std::optional<ledger::Block>{};
    }
    if (read_ == *count_) return Fail{at("", {ErrorKind::Corrupt, "something stands behind the last block"})};
    Reader front{as_bytes(bytes)};
    const auto magic = front.u32();
    const auto size = front.u32();
    if (!magic || !size || *magic != ledger::kBlockMagic || *size > ledger::kBlockBytesMax)
        return Fail{at(place, {ErrorKind::Corrupt, "there is no block here"})};
    bytes += read_bytes(*in_, *size);
    auto block = ledger::decode_block(as_bytes(bytes));
    if (!block) return Fail{at(place, to_error(block.error()))};
    ++read_;
    return std::optional{*std::move(block)};
}

Result<std::optional<ledger::Block>> BlockFileReader::next_line() {
    for (;;) {
        std::optional<std::string> line = std::exchange(first_line_, std::nullopt);
        if (!line) {
            TRY(line, read_line(kLineBytesMax));
        }
        if (!line) return std::optional<ledger::Block>{};
        const std::string place = fmt::format("line {}", ++read_);
        if (line->find_first_not_of(" \t\r") == std::string::npos) continue;
        const auto slices = json::slices(*line, kLineLimits);
        if (!slices) return Fail{at(place, slices.error())};
        std::string_view form = *line;
        if (const json::Slice* type = find(*slices, "type")) {
            if (type->text != "\"block\"") continue;
            if (const json::Slice* bytes = find(*slices, "blockBytes")) {
                const auto raw = from_hex(bytes->text.size() < 2 ? "" : bytes->text.substr(1, bytes->text.size() - 2));
                if (!raw) return Fail{at(place, {ErrorKind::Invalid, "blockBytes: is not hexadecimal"})};
                auto decoded = ledger::decode_block(*raw);
                if (!decoded) return Fail{at(place, to_error(decoded.error()))};
                return std::optional{*std::move(decoded)};
            }
            const json::Slice* block = find(*slices, "block");
            if (block == nullptr) return Fail{at(place, {ErrorKind::Invalid, "block: is missing"})};
            form = block->text;
        }
        auto block = ledger::block_from_json(form);
        if (!block) return Fail{at(place, std::move(block).error())};
        return std::optional{*std::move(block)};
    }
}

Result<std::optional<ledger::Block>> BlockFileReader::next_element() {
    if (read_ == elements_.size()) return std::optional<ledger::Block>{};
    const auto [offset, size] = elements_[read_];
    auto block = ledger::block_from_json(std::string_view{text_}.substr(offset, size));
    const std::string place = elements_.size() == 1 ? "" : fmt::format("blocks[{}]", read_);
    if (!block) return Fail{at(place, std::move(block).error())};
    ++read_;
    return std::optional{*std::move(block)};
}

}  // namespace rhizome::cli
