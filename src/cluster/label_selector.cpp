// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <set>

#include <fmt/core.h>

#include "cluster/names.h"
#include "cluster/object.h"
#include "cluster/selector.h"

namespace rhizome::cluster {
namespace {

using Requirement = LabelSelector::Requirement;
using Operator = LabelSelector::Operator;

enum class Token : std::uint8_t {
    End,
    Identifier,
    In,
    NotIn,
    Open,
    Close,
    Comma,
    Not,
    Equals,
    DoubleEquals,
    NotEquals,
    Greater,
    Less,
    Unknown,  ///< `!<`, `=!`: symbols that mean nothing together
};
struct Lexeme {
    Token token = Token::End;
    std::string_view text{};
};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool is_symbol(char c) { return std::string_view("=!(),><").find(c) != std::string_view::npos; }

/// The words of a selector. Symbols are taken as long as they mean something.
class Lexer {
public:
    explicit Lexer(std::string_view text) : rest_(text) {}

    Lexeme next() {
        while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
        if (rest_.empty()) return {};
        if (!is_symbol(rest_.front())) {
            std::size_t size = 0;
            while (size < rest_.size() && !is_blank(rest_[size]) && !is_symbol(rest_[size])) ++size;
            const std::string_view word = take(size);
            return {word == "in" ? Token::In : word == "notin" ? Token::NotIn : Token::Identifier, word};
        }
        static constexpr std::pair<std::string_view, Token> kSymbols[] = {
            {"==", Token::DoubleEquals}, {"!=", Token::NotEquals}, {"=", Token::Equals},
            {"!", Token::Not},           {"(", Token::Open},       {")", Token::Close},
            {",", Token::Comma},         {">", Token::Greater},    {"<", Token::Less}};
        for (const auto& [text, token] : kSymbols)
            if (rest_.starts_with(text)) return {token, take(text.size())};
        return {Token::Unknown, take(1)};
    }

private:
    std::string_view take(std::size_t size) {
        const std::string_view taken = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return taken;
    }
    std::string_view rest_;
};

std::optional<std::int64_t> integer(std::string_view text) {
    const auto number = json::Number::from_text(text);
    return number ? number->to_int64() : std::nullopt;
}

/// What is wrong with a requirement that was read; empty when nothing is.
FieldErrors check(const Requirement& requirement) {
    FieldErrors errors;
    for (const std::string& complaint : check_qualified_name(requirement.key))
        errors.push_back(invalid(Where("key"), requirement.key, complaint));
    const Where values("values");
    const json::Array shown(requirement.values.begin(), requirement.values.end());
    if ((requirement.op == Operator::In || requirement.op == Operator::NotIn) && requirement.values.empty())
        errors.push_back(invalid(values, shown, "for 'in', 'notin' operators, values set can't be empty"));
    if (requirement.op == Operator::GreaterThan || requirement.op == Operator::LessThan) {
        if (requirement.values.size() != 1)
            errors.push_back(invalid(values, shown, "for 'Gt', 'Lt' operators, exactly one value is required"));
        else if (!integer(requirement.values[0]))
            errors.push_back(
                invalid(values / 0, requirement.values[0], "for 'Gt', 'Lt' operators, the value must be an integer"));
    }
    for (std::size_t i = 0; i < requirement.values.size(); ++i)
        for (const std::string& complaint : check_label_value(requirement.values[i]))
            errors.push_back(invalid((values / i).key(requirement.key), requirement.values[i], complaint));
    return errors;
}

void sort_values(Requirement& requirement) {
    auto& values = requirement.values;
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
}

class Parser {
public:
    explicit Parser(std::string_view text) : lexer_(text) { advance(); }

    Result<std::vector<Requirement>> read() {
        std::vector<Requirement> found;
        for (;;) {
            switch (value_token()) {
                case Token::Identifier:
                case Token::Not: break;
                case Token::End: return found;
                default:
                    return fail(ErrorKind::Invalid,
                                fmt::format("found '{}', expected: !, identifier, or 'end of string'", now_.text));
            }
            auto one = requirement();
            if (!one) return fail(ErrorKind::Invalid, "unable to parse requirement: " + one.error().message);
            found.push_back(*std::move(one));
            if (now_.token == Token::End) return found;
            if (now_.token != Token::Comma)
                return fail(ErrorKind::Invalid, fmt::format("found '{}', expected: ',' or 'end of string'", now_.text));
            advance();
            if (value_token() != Token::Identifier && value_token() != Token::Not)
                return fail(ErrorKind::Invalid, fmt::format("found '{}', expected: identifier after ','", now_.text));
        }
    }

private:
    void advance() { now_ = lexer_.next(); }
    /// Where no operator can stand, `in` and `notin` are words like others.
    [[nodiscard]] Token value_token() const {
        return now_.token == Token::In || now_.token == Token::NotIn ? Token::Identifier : now_.token;
    }

    Result<Requirement> requirement() {
        Requirement one;
        const bool absent = now_.token == Token::Not;
        if (absent) advance();
        if (value_token() != Token::Identifier)
            return fail(ErrorKind::Invalid, fmt::format("found '{}', expected: identifier", now_.text));
        one.key = now_.text;
        advance();
        if (absent || now_.token == Token::End || now_.token == Token::Comma) {
            one.op = absent ? Operator::DoesNotExist : Operator::Exists;
            return checked(std::move(one));
        }
        const Lexeme op = now_;
        advance();
        switch (op.token) {
            case Token::In:
            case Token::NotIn: {
                one.op = op.token == Token::In ? Operator::In : Operator::NotIn;
                TRY(one.values, list());
                break;
            }
            case Token::Equals:
            case Token::DoubleEquals:
            case Token::NotEquals:
            case Token::Greater:
            case Token::Less: {
                one.op = op.token == Token::NotEquals ? Operator::NotIn
                         : op.token == Token::Greater ? Operator::GreaterThan
                         : op.token == Token::Less    ? Operator::LessThan
                                                      : Operator::In;
                TRY(one.values, exact());
                break;
            }
            default:
                return fail(ErrorKind::Invalid,
                            fmt::format("found '{}', expected: in, notin, =, ==, !=, gt, lt", op.text));
        }
        return checked(std::move(one));
    }

    Result<std::vector<std::string>> exact() {
        if (now_.token == Token::End || now_.token == Token::Comma) return std::vector<std::string>{""};
        if (value_token() != Token::Identifier)
            return fail(ErrorKind::Invalid, fmt::format("found '{}', expected: identifier", now_.text));
        std::vector<std::string> values{std::string(now_.text)};
        advance();
        return values;
    }

    /// `(a,b)`; an empty place between commas is the empty value.
    Result<std::vector<std::string>> list() {
        if (now_.token != Token::Open)
            return fail(ErrorKind::Invalid, fmt::format("found '{}' expected: '('", now_.text));
        advance();
        std::vector<std::string> values;
        if (now_.token == Token::Close) {
            advance();
            return values;
        }
        for (;;) {
            if (value_token() == Token::Identifier) {
                values.emplace_back(now_.text);
                advance();
            } else if (now_.token == Token::Comma || now_.token == Token::Close) {
                values.emplace_back();
            } else {
                return fail(ErrorKind::Invalid, fmt::format("found '{}', expected: ',', ')' or identifier", now_.text));
            }
            if (now_.token == Token::Close) {
                advance();
                return values;
            }
            if (now_.token != Token::Comma)
                return fail(ErrorKind::Invalid, fmt::format("found '{}', expected: ',' or ')'", now_.text));
            advance();
        }
    }

    static Result<Requirement> checked(Requirement one) {
        sort_values(one);
        if (const FieldErrors errors = check(one); !errors.empty()) return fail(ErrorKind::Invalid, text(errors));
        return one;
    }

    Lexer lexer_;
    Lexeme now_{};
};

void sort_requirements(std::vector<Requirement>& requirements) {
    std::stable_sort(requirements.begin(), requirements.end(),
                     [](const Requirement& left, const Requirement& right) { return left.key < right.key; });
}

bool holds(const Requirement& requirement, const std::string* value) {
    const auto& values = requirement.values;
    switch (requirement.op) {
        case Operator::Exists: return value != nullptr;
        case Operator::DoesNotExist: return value == nullptr;
        case Operator::In: return value != nullptr && std::binary_search(values.begin(), values.end(), *value);
        case Operator::NotIn: return value == nullptr || !std::binary_search(values.begin(), values.end(), *value);
        case Operator::GreaterThan:
        case Operator::LessThan: {
            const auto left = value == nullptr ? std::nullopt : integer(*value);
            const auto right = integer(values[0]);
            if (!left || !right) return false;
            return requirement.op == Operator::GreaterThan ? *left > *right : *left < *right;
        }
    }
    return false;
}

std::optional<Operator> document_operator(std::string_view text) {
    if (text == "In") return Operator::In;
    if (text == "NotIn") return Operator::NotIn;
    if (text == "Exists") return Operator::Exists;
    if (text == "DoesNotExist") return Operator::DoesNotExist;
    return std::nullopt;
}

void read_expression(const json::Value& expression, const Where& where, std::vector<Requirement>& found,
                     FieldErrors& errors) {
    Requirement one{.key = std::string(expression.text_at({"key"}))};
    const std::string_view name = expression.text_at({"operator"});
    if (const json::Value* values = expression.find("values"); values != nullptr && values->if_array() != nullptr)
        for (const json::Value& value : *values->if_array())
            if (const std::string* text = value.if_string()) one.values.push_back(*text);
    const auto op = document_operator(name);
    if (!op) {
        errors.push_back(invalid(where / "operator", name, "not a valid selector operator"));
    } else {
        one.op = *op;
        const bool takes_values = *op == Operator::In || *op == Operator::NotIn;
        if (takes_values && one.values.empty())
            errors.push_back(required(where / "values", "must be specified when `operator` is 'In' or 'NotIn'"));
        if (!takes_values && !one.values.empty())
            errors.push_back(
                forbidden(where / "values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
    }
    for (const std::string& complaint : check_qualified_name(one.key))
        errors.push_back(invalid(where / "key", one.key, complaint));
    for (std::size_t i = 0; i < one.values.size(); ++i)
        for (const std::string& complaint : check_label_value(one.values[i]))
            errors.push_back(invalid(where / "values" / i, one.values[i], complaint));
    sort_values(one);
    found.push_back(std::move(one));
}

std::string text_of(const Requirement& requirement) {
    std::string joined;
    for (std::size_t i = 0; i < requirement.values.size(); ++i) joined += (i == 0 ? "" : ",") + requirement.values[i];
    switch (requirement.op) {
        case Operator::Exists: return requirement.key;
        case Operator::DoesNotExist: return "!" + requirement.key;
        case Operator::GreaterThan: return requirement.key + ">" + joined;
        case Operator::LessThan: return requirement.key + "<" + joined;
        case Operator::In:
            return requirement.values.size() == 1 ? requirement.key + "=" + joined
                                                  : requirement.key + " in (" + joined + ")";
        case Operator::NotIn:
            return requirement.values.size() == 1 ? requirement.key + "!=" + joined
                                                  : requirement.key + " notin (" + joined + ")";
    }
    return {};
}

}  // namespace

LabelSelector LabelSelector::nothing() {
    LabelSelector selector;
    selector.nothing_ = true;
    return selector;
}

Result<LabelSelector> LabelSelector::parse(std::string_view text) {
    LabelSelector selector;
    TRY(selector.requirements_, Parser{text}.read());
    sort_requirements(selector.requirements_);
    return selector;
}

Result<LabelSelector, FieldErrors> LabelSelector::from_document(const json::Value* selector, const Where& where) {
    if (selector == nullptr || selector->is_null()) return nothing();
    LabelSelector made;
    FieldErrors errors;
    if (const json::Value* labels = selector->find("matchLabels")) {
        errors = check_labels(*labels, where / "matchLabels");
        made = from_map(labels);
    }
    if (const json::Value* list = selector->find("matchExpressions"); list != nullptr && list->if_array() != nullptr) {
        const json::Array& expressions = *list->if_array();
        for (std::size_t i = 0; i < expressions.size(); ++i)
            read_expression(expressions[i], where / "matchExpressions" / i, made.requirements_, errors);
    }
    if (!errors.empty()) return Fail{std::move(errors)};
    sort_requirements(made.requirements_);
    return made;
}

LabelSelector LabelSelector::from_map(const json::Value* labels) {
    LabelSelector selector;
    const json::Object* object = labels == nullptr ? nullptr : labels->if_object();
    if (object == nullptr) return selector;
    for (const auto& [key, value] : *object)
        selector.requirements_.push_back(
            {key, Operator::In, {value.if_string() == nullptr ? std::string{} : *value.if_string()}});
    sort_requirements(selector.requirements_);
    return selector;
}

bool LabelSelector::matches(const json::Value* labels) const {
    if (nothing_) return false;
    return std::all_of(requirements_.begin(), requirements_.end(), [&](const Requirement& each) {
        const json::Value* value = labels == nullptr ? nullptr : labels->find(each.key);
        return holds(each, value == nullptr ? nullptr : value->if_string());
    });
}

bool LabelSelector::matches_object(const json::Value& object) const {
    return matches(object.find_path({"metadata", "labels"}));
}

std::string LabelSelector::text() const {
    std::string out;
    for (const Requirement& each : requirements_) out += (out.empty() ? "" : ",") + text_of(each);
    return out;
}

}  // namespace rhizome::cluster
