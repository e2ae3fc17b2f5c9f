// SPDX-License-Identifier: Apache-2.0
#include "cluster/text_pattern.h"

#include <re2/re2.h>

namespace rhizome::cluster {
namespace {

RE2::Options options() {
    RE2::Options chosen;
    chosen.set_log_errors(false);
    chosen.set_max_mem(static_cast<std::int64_t>(TextPattern::kBytesMax));
    return chosen;
}

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

struct TextPattern::Compiled {
    explicit Compiled(std::string_view text) : pattern(piece(text), options()) {}
    RE2 pattern;
};

Result<TextPattern> TextPattern::compile(std::string_view text) {
    if (text.size() > kTextMax) return fail(ErrorKind::Invalid, "it is longer than 16 KiB");
    auto compiled = std::make_shared<const Compiled>(text);
    if (!compiled->pattern.ok()) return fail(ErrorKind::Invalid, compiled->pattern.error());
    return TextPattern{std::move(compiled)};
}

bool TextPattern::matches(std::string_view text) const { return RE2::PartialMatch(piece(text), compiled_->pattern); }

const std::string& TextPattern::text() const { return compiled_->pattern.pattern(); }

}  // namespace rhizome::cluster
