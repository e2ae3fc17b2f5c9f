// SPDX-License-Identifier: Apache-2.0
// libfyaml turns text into events; everything that gives them a meaning (scalars, keys, anchors, merges, bounds) is
// here.
#include "base/yaml.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>
#include <libfyaml.h>

#include "base/detail/json_text.h"
#include "base/detail/yaml_scalar.h"
#include "base/ensure.h"

namespace rhizome::yaml {
namespace {

using json::Fault;
using json::ParseError;
using json::Value;
using Failed = Fail<ParseError>;

ParseError error_at(std::string_view text, Fault fault, std::size_t offset, std::string what) {
    const std::string_view before = text.substr(0, std::min(offset, text.size()));
    return {.fault = fault,
            .offset = before.size(),
            .line = 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')),
            .column = before.size() - (before.rfind('\n') + 1) + 1,  // npos + 1 is 0
            .what = std::move(what)};
}

struct DiagFree {
    void operator()(fy_diag* diag) const { fy_diag_destroy(diag); }
};
struct ParserFree {
    void operator()(fy_parser* parser) const { fy_parser_destroy(parser); }
};
struct EventFree {
    fy_parser* parser;
    void operator()(fy_event* event) const { fy_parser_event_free(parser, event); }
};
using Event = std::unique_ptr<fy_event, EventFree>;

/// The events of a text. libfyaml is kept from printing and is given no search path, so it never opens a file.
class Events {
public:
    explicit Events(std::string_view text) : text_(text) {
        fy_diag_cfg quiet;
        fy_diag_cfg_default(&quiet);
        quiet.fp = nullptr;
        quiet.output_fn = [](fy_diag*, void*, const char*, std::size_t) {};
        diag_.reset(fy_diag_create(&quiet));
        ensure(diag_ != nullptr, "libfyaml has memory for a collector of errors");
        fy_diag_set_collect_errors(diag_.get(), true);
        fy_parse_cfg config{};
        config.flags = static_cast<fy_parse_cfg_flags>(FYPCF_QUIET | FYPCF_JSON_NONE | FYPCF_DEFAULT_VERSION_1_2);
        config.diag = diag_.get();
        parser_.reset(fy_parser_create(&config));
        ensure(parser_ != nullptr, "libfyaml has memory for a parser");
        const int failed = fy_parser_set_string(parser_.get(), text.data(), text.size());
        ensure(failed == 0, "libfyaml takes a text");
    }

    /// Null at the end and on failure.
    Event next() { return {fy_parser_parse(parser_.get()), EventFree{parser_.get()}}; }

    [[nodiscard]] bool failed() const { return fy_parser_get_stream_error(parser_.get()); }

    [[nodiscard]] ParseError error() const {
        void* walk = nullptr;
        const fy_diag_error* first = fy_diag_errors_iterate(diag_.get(), &walk);
        if (first == nullptr) return error_at(text_, Fault::Syntax, text_.size(), "this is not YAML");
        // The place comes as a line and a character in it, both from 1.
        std::size_t at = 0;
        for (int line = 1; line < first->line && at < text_.size(); ++line)
            at = std::min(text_.find('\n', at), text_.size() - 1) + 1;
        for (int column = 1; column < first->column && at < text_.size() && text_[at] != '\n'; ++column)
            at += static_cast<std::size_t>(
                std::max(1, json::detail::utf8_length(&text_[at], text_.data() + text_.size())));
        return error_at(text_, at >= text_.size() ? Fault::Truncated : Fault::Syntax, at, first->msg);
    }

private:
    std::string_view text_;
    std::unique_ptr<fy_diag, DiagFree> diag_;
    std::unique_ptr<fy_parser, ParserFree> parser_;
};

std::string_view text_of(fy_token* token) {
    std::size_t size = 0;
    const char* const text = token != nullptr ? fy_token_get_text(token, &size) : nullptr;
    return text != nullptr ? std::string_view(text, size) : std::string_view();
}

/// The content of a single-quoted scalar that libfyaml has accepted; `rest` begins behind the opening quote. libfyaml
/// 0.7.12 itself gets `'a''''b'` wrong: where two escaped quotes follow each other it adds a quote, loses the last
/// byte and leaks memory.
std::string unquote_single(std::string_view rest) {
    const auto is_blank = [&rest](std::size_t i) { return i < rest.size() && (rest[i] == ' ' || rest[i] == '\t'); };
    const auto is_break = [&rest](std::size_t i) { return i < rest.size() && (rest[i] == '\n' || rest[i] == '\r'); };
    std::string out;
    std::size_t folded = 0;  // what was made of line breaks ends here: not blanks that a break takes away
    for (std::size_t at = 0; at < rest.size();) {
        if (rest[at] == '\'') {
            if (at + 1 == rest.size() || rest[at + 1] != '\'') break;
            out += '\'';
            at += 2;
        } else if (!is_break(at)) {
            out += rest[at++];
        } else {
            while (out.size() > folded && (out.back() == ' ' || out.back() == '\t')) out.pop_back();
            std::size_t breaks = 0;
            while (is_break(at)) {
                at += rest.substr(at).starts_with("\r\n") ? 2 : 1;
                ++breaks;
                while (is_blank(at)) ++at;
            }
            if (breaks == 1)
                out += ' ';
            else
                out.append(breaks - 1, '\n');
            folded = out.size();
        }
    }
    return out;
}

/// A finished value with what its copies count against the limits.
struct Built {
    Value value;
    std::size_t cost = 1;    ///< bytes of scalars and keys, and one for each value
    std::size_t height = 0;  ///< containers inside each other
    bool merge = false;      ///< a plain `<<`, which as a key asks for a merge
};

/// A container that has not ended.
struct Open {
    bool mapping = false;
    std::string anchor;
    std::size_t cost = 1;
    std::size_t height = 1;

    json::Array elements;
    std::vector<json::Object::Member> members;
    std::vector<std::size_t> places;  ///< where the members' keys stand
    std::vector<Value> merged;        ///< objects named by `<<`
    std::optional<std::size_t> merge_place;

    enum class Wants : unsigned char { Key, Value, MergeValue } wants = Wants::Key;
};

class Loader {
public:
    using Lines = std::map<std::string, std::size_t, std::less<>>;
    /// `lines`, when given, gets the line of every key.
    Loader(std::string_view text, json::Limits limits, Lines* lines = nullptr)
        : text_(text),
          limits_(limits),
          depth_max_(std::min(limits.depth, json::kDepthMax)),
          events_(text),
          lines_(lines) {}

    Result<std::vector<Value>, ParseError> documents() {
        std::vector<Value> out;
        while (const Event event = events_.next()) {
            if (const fy_mark* mark = fy_event_start_mark(event.get())) place_ = mark->input_pos;
            switch (event->type) {
                case FYET_DOCUMENT_START:
                    anchors_.clear();
                    root_.reset();
                    empty_ = false;
                    break;
                case FYET_DOCUMENT_END:
                    ensure(open_.empty(), "libfyaml ends what it has begun");
                    if (root_ && !empty_) out.push_back(std::move(root_->value));
                    break;
                case FYET_SCALAR: TRY(scalar(event->scalar)); break;
                case FYET_ALIAS: TRY(alias(text_of(event->alias.anchor))); break;
                case FYET_SEQUENCE_START:
                    TRY(enter(false, event->sequence_start.anchor, event->sequence_start.tag, "tag:yaml.org,2002:seq"));
                    break;
                case FYET_MAPPING_START:
                    TRY(enter(true, event->mapping_start.anchor, event->mapping_start.tag, "tag:yaml.org,2002:map"));
                    break;
                case FYET_SEQUENCE_END:
                case FYET_MAPPING_END: TRY(leave()); break;
                default: break;
            }
        }
        if (events_.failed()) return Fail{events_.error()};
        return out;
    }

private:
    using Done = Result<void, ParseError>;

    [[nodiscard]] Failed fault(Fault kind, std::string what) const { return fault_at(place_, kind, std::move(what)); }
    [[nodiscard]] Failed fault_at(std::size_t place, Fault kind, std::string what) const {
        return Fail{error_at(text_, kind, place, std::move(what))};
    }

    Done scalar(const fy_event_scalar_data& data) {
        const auto style = data.value != nullptr ? fy_token_scalar_style(data.value) : FYSS_PLAIN;
        const bool plain = style == FYSS_PLAIN;
        std::string unquoted;
        if (style == FYSS_SINGLE_QUOTED) unquoted = unquote_single(text_.substr(place_));
        std::string_view text = style == FYSS_SINGLE_QUOTED ? std::string_view(unquoted) : text_of(data.value);
        if ((style == FYSS_LITERAL || style == FYSS_FOLDED) && text.ends_with('\n') && ends_unbroken(data.value)) {
            text.remove_suffix(1);
        }
        empty_ = open_.empty() && plain && text.empty() && data.tag == nullptr && data.anchor == nullptr;
        for (const char *at = text.data(), *end = at + text.size(); at != end;) {
            const int length = json::detail::utf8_length(at, end);
            if (length <= 0) return fault(Fault::BadUtf8, "an escape makes a string that is not UTF-8");
            at += length;
        }
        TRY(Built built, resolve(text, plain, data.tag));
        built.cost = 1 + text.size();
        return finish(std::move(built), text_of(data.anchor));
    }

    /// The scalar's last line is the text's last and has no line break, which libfyaml supplies.
    [[nodiscard]] bool ends_unbroken(fy_token* token) const {
        const fy_mark* end = fy_token_end_mark(token);
        const std::string_view last = text_.substr(text_.find_last_of("\r\n") + 1);  // npos + 1 is 0
        return end != nullptr && end->input_pos >= text_.size() && last.find_first_not_of(" \t") != last.npos;
    }

    Result<Built, ParseError> resolve(std::string_view text, bool plain, fy_token* tag_token) {
        const std::string_view tag = text_of(tag_token);
        constexpr std::string_view kCore = "tag:yaml.org,2002:";
        if (tag == "!" || tag == "tag:yaml.org,2002:str" || (tag.empty() && !plain)) return Built{.value = text};
        auto resolved = detail::resolve_plain(text);
        const bool is_value = resolved.plain == detail::Plain::Value;
        if (tag.empty()) {
            if (resolved.plain == detail::Plain::NotJson)
                return fault(Fault::Syntax, "JSON has no number for infinity or NaN");
            if (resolved.plain == detail::Plain::Merge) return Built{.value = text, .merge = true};
            return Built{.value = std::move(resolved.value)};
        }
        if (!tag.starts_with(kCore)) return fault(Fault::Syntax, fmt::format("the tag {} is not known", shown(tag)));
        const std::string_view type = tag.substr(kCore.size());
        const json::Number* number = is_value ? resolved.value.if_number() : nullptr;
        const bool whole = number != nullptr && number->text().find_first_of(".eE") == std::string::npos;
        const bool fits = type == "null"    ? is_value && resolved.value.is_null()
                          : type == "bool"  ? is_value && resolved.value.if_boolean().has_value()
                          : type == "int"   ? whole
                          : type == "float" ? number != nullptr
                                            : false;
        if (!fits) return fault(Fault::Syntax, fmt::format("the tag {} does not fit this scalar", shown(tag)));
        return Built{.value = std::move(resolved.value)};
    }

    Done alias(std::string_view name) {
        const auto at = anchors_.find(name);
        if (at == anchors_.end())
            return fault(Fault::Syntax, fmt::format("no anchor {} comes before its alias", shown(name)));
        if (!at->second) return fault(Fault::Syntax, fmt::format("the anchor {} contains its own alias", shown(name)));
        const Built& named = *at->second;
        TRY(spend(named.cost));
        if (open_.size() + named.height > depth_max_) return too_deep();
        Built copy = named;
        copy.merge = false;
        return finish(std::move(copy), {});
    }

    Done enter(bool mapping, fy_token* anchor, fy_token* tag_token, std::string_view expected) {
        const std::string_view tag = text_of(tag_token);
        empty_ = false;
        if (!tag.empty() && tag != "!" && tag != expected)
            return fault(Fault::Syntax, fmt::format("the tag {} does not fit a list or map", shown(tag)));
        if (open_.size() >= depth_max_) return too_deep();
        if (!open_.empty() && open_.back().mapping && open_.back().wants == Open::Wants::Key)
            return fault(Fault::Syntax, "a key must be a scalar");
        Open next;
        next.mapping = mapping;
        next.anchor = text_of(anchor);
        if (!next.anchor.empty()) anchors_.insert_or_assign(next.anchor, std::nullopt);
        open_.push_back(std::move(next));
        return {};
    }

    Done leave() {
        Open ended = std::move(open_.back());
        open_.pop_back();
        Built built{.value = nullptr, .cost = ended.cost, .height = ended.height};
        if (ended.mapping) {
            auto object = json::Object::from_members(std::move(ended.members));
            if (!object) {
                return fault_at(ended.places[object.error()], Fault::DuplicateKey, "a key stands twice in one map");
            }
            // What stands in the map itself wins, then the map that is named first.
            for (Value& merged : ended.merged) {
                for (auto& [key, value] : *merged.if_object()) {
                    if (!object->contains(key)) object->set(key, std::move(value));
                }
            }
            built.value = std::move(*object);
        } else {
            built.value = std::move(ended.elements);
        }
        return finish(std::move(built), ended.anchor);
    }

    /// A value has ended: it gets its name, and goes into the container around it.
    Done finish(Built built, std::string_view anchor) {
        if (!anchor.empty()) {
            TRY(spend(built.cost));
            anchors_.insert_or_assign(std::string(anchor), built);
        }
        if (open_.empty()) {
            root_ = std::move(built);
            return {};
        }
        Open& around = open_.back();
        around.cost += built.cost;
        around.height = std::max(around.height, built.height + 1);
        if (!around.mapping) {
            around.elements.push_back(std::move(built.value));
            return {};
        }
        switch (around.wants) {
            case Open::Wants::Key: return key(around, std::move(built));
            case Open::Wants::Value: around.members.back().value = std::move(built.value); break;
            case Open::Wants::MergeValue: TRY(merge(around, std::move(built.value))); break;
        }
        around.wants = Open::Wants::Key;
        return {};
    }

    Done key(Open& around, Built built) {
        if (built.merge) {
            if (around.merge_place) return fault(Fault::DuplicateKey, "the key << stands twice in one map");
            around.merge_place = place_;
            around.wants = Open::Wants::MergeValue;
            return {};
        }
        std::string text;
        if (std::string* string = built.value.if_string())
            text = std::move(*string);
        else if (const json::Number* number = built.value.if_number())
            text = number->text();
        else if (const auto boolean = built.value.if_boolean())
            text = *boolean ? "true" : "false";
        else
            return fault(Fault::Syntax, "a key must be a string, a number or a boolean");
        around.members.push_back({std::move(text), nullptr});
        around.places.push_back(place_);
        around.wants = Open::Wants::Value;
        if (lines_ != nullptr) note_line();
        return {};
    }

    /// Of the key that was read last.
    void note_line() {
        std::string way;
        for (const Open& one : open_)
            if (one.mapping && !one.members.empty()) way += (way.empty() ? "" : ".") + one.members.back().key;
        lines_->insert_or_assign(std::move(way), error_at(text_, Fault::Syntax, place_, {}).line);
    }

    Done merge(Open& around, Value value) {
        if (value.is_object()) {
            around.merged.push_back(std::move(value));
            return {};
        }
        json::Array* list = value.if_array();
        const bool maps =
            list != nullptr && std::all_of(list->begin(), list->end(), [](const Value& v) { return v.is_object(); });
        if (!maps) return fault_at(*around.merge_place, Fault::Syntax, "<< merges a map or a list of maps");
        for (Value& map : *list) around.merged.push_back(std::move(map));
        return {};
    }

    /// Counts what aliases and anchors copy, so that a few lines cannot grow into gigabytes ("billion laughs").
    Done spend(std::size_t cost) {
        copied_ += cost;
        if (copied_ > limits_.bytes - text_.size())
            return fault(Fault::TooLarge, "aliases expand to more than is allowed");
        return {};
    }

    [[nodiscard]] Failed too_deep() const {
        return fault(Fault::TooDeep, "lists and maps are nested deeper than allowed");
    }

    /// A stranger's word, short and without surprises for a terminal.
    static std::string shown(std::string_view word) { return json::quote(word.substr(0, 64)); }

    std::string_view text_;
    json::Limits limits_;
    std::size_t depth_max_;
    Events events_;
    Lines* lines_ = nullptr;
    std::size_t place_ = 0;
    std::vector<Open> open_;
    std::optional<Built> root_;
    bool empty_ = false;                                                // the document holds nothing at all
    std::map<std::string, std::optional<Built>, std::less<>> anchors_;  // nothing: it has not ended yet
    std::size_t copied_ = 0;
};

/// Bounds, UTF-8 and control characters, before libfyaml sees a byte.
///
/// Characters that make tokens are counted too. libfyaml keeps up to 600 bytes for each as long as the collection that
/// they stand in could still turn out to be a key: four megabytes of `[` took 1.3 GB before our bound on depth was
/// asked. One for eight bytes of the limit is more than documents have (in block style about one in twenty), and costs
/// at most 310 MB at the default limit.
Result<void, ParseError> check_text(std::string_view text, json::Limits limits) {
    if (text.size() > limits.bytes)
        return Fail{error_at(text, Fault::TooLarge, limits.bytes, "the text is longer than allowed")};
    const char* const end = text.data() + text.size();
    constexpr std::string_view kIndicators = "[]{},:?!&*";
    const std::size_t indicators_max = std::max<std::size_t>(64u << 10, limits.bytes / 8);
    std::size_t indicators = 0;
    for (const char* at = text.data(); at != end;) {
        const auto offset = static_cast<std::size_t>(at - text.data());
        const auto byte = static_cast<unsigned char>(*at);
        if (kIndicators.find(*at) != kIndicators.npos && ++indicators > indicators_max)
            return Fail{error_at(text, Fault::TooLarge, offset, "the text holds more lists and maps than allowed")};
        if (byte < 0x20 && byte != '\n' && byte != '\t' && byte != '\r')
            return Fail{
                error_at(text, Fault::Syntax, offset, fmt::format("a control character (0x{:02x}) stands here", byte))};
        const int length = json::detail::utf8_length(at, end);
        if (length <= 0) return Fail{error_at(text, Fault::BadUtf8, offset, "the text is not valid UTF-8")};
        at += length;
    }
    return {};
}

}  // namespace

Result<std::vector<json::Value>, json::ParseError> parse_all(std::string_view text, json::Limits limits) {
    // JSON is YAML, comes often, and is read at a fraction of the cost.
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == text.npos) return std::vector<Value>{};
    if (text[first] == '{' || text[first] == '[') {
        if (auto value = json::parse(text, limits)) return std::vector<Value>{std::move(*value)};
    }
    TRY(check_text(text, limits));
    return Loader{text, limits}.documents();
}

namespace {

Result<Value, ParseError> only_one(std::vector<Value> documents, std::string_view text) {
    if (documents.empty()) return Fail{error_at(text, Fault::Truncated, text.size(), "the text has no document")};
    if (documents.size() > 1)
        return Fail{error_at(text, Fault::Trailing, text.size(), "the text has more than one document")};
    return std::move(documents.front());
}

}  // namespace

Result<json::Value, json::ParseError> parse(std::string_view text, json::Limits limits) {
    TRY(auto documents, parse_all(text, limits));
    return only_one(std::move(documents), text);
}

Result<Located, json::ParseError> parse_located(std::string_view text, json::Limits limits) {
    TRY(check_text(text, limits));
    Located located;
    TRY(auto documents, Loader(text, limits, &located.lines).documents());
    TRY(located.value, only_one(std::move(documents), text));
    return located;
}

}  // namespace rhizome::yaml
