// SPDX-License-Identifier: Apache-2.0
#include "script/detail/words.h"

#include <fmt/core.h>

namespace rhizome::script::detail {
namespace {

constexpr bool is_blank(char letter) {
    return letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n' || letter == '\f' || letter == '\v';
}

class Splitter {
public:
    explicit Splitter(std::string_view text) : text_(text) {}

    Result<std::vector<Word>, TextFault> split() {
        std::vector<Word> words;
        for (;;) {
            skip_blanks_and_comments();
            Word word;
            word.line = line_;
            word.column = column_;
            if (at_ == text_.size()) {
                words.push_back(word);
                return words;
            }
            const std::size_t begin = at_;
            const char first = text_[at_];
            if (first == '\'' || first == '<') {
                TRY(enclosed(word));
            } else if (first == '(' || first == ')') {
                advance();
                word.kind = first == '(' ? WordKind::Open : WordKind::Close;
                word.text = text_.substr(begin, 1);
            } else {
                while (at_ < text_.size() && !ends_bare(text_[at_]) && !comment_here()) advance();
                word.kind = WordKind::Bare;
                word.text = text_.substr(begin, at_ - begin);
            }
            word.length = column_ - word.column;
            words.push_back(word);
        }
    }

private:
    static constexpr bool ends_bare(char letter) {
        return is_blank(letter) || letter == '(' || letter == ')' || letter == '<' || letter == '\'';
    }
    [[nodiscard]] bool comment_here() const {
        return text_[at_] == '#' || (text_[at_] == '/' && at_ + 1 < text_.size() && text_[at_ + 1] == '/');
    }

    void advance() {
        const auto byte = static_cast<unsigned char>(text_[at_++]);
        if (byte == '\n') {
            ++line_;
            column_ = 1;
        } else if (at_ == text_.size() || (static_cast<unsigned char>(text_[at_]) & 0xc0) != 0x80) {
            ++column_;  // the next byte begins a letter
        }
    }

    void skip_blanks_and_comments() {
        while (at_ < text_.size()) {
            if (is_blank(text_[at_])) {
                advance();
            } else if (comment_here()) {
                while (at_ < text_.size() && text_[at_] != '\n') advance();
            } else {
                return;
            }
        }
    }

    Result<void, TextFault> enclosed(Word& word) {
        const char close = text_[at_] == '<' ? '>' : '\'';
        word.kind = close == '>' ? WordKind::Angled : WordKind::Quoted;
        advance();
        const std::size_t begin = at_;
        while (at_ < text_.size() && text_[at_] != close && text_[at_] != '\n') advance();
        if (at_ == text_.size() || text_[at_] != close) {
            word.length = column_ - word.column;
            return Fail{
                word.fault(close == '>' ? "\"<\" without \">\" on this line" : "a quote is not closed on this line")};
        }
        word.text = text_.substr(begin, at_ - begin);
        advance();
        if (word.kind == WordKind::Angled) {
            while (!word.text.empty() && is_blank(word.text.front())) word.text.remove_prefix(1);
            while (!word.text.empty() && is_blank(word.text.back())) word.text.remove_suffix(1);
        }
        return {};
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t line_ = 1;
    std::size_t column_ = 1;
};

}  // namespace

Result<std::vector<Word>, TextFault> split_words(std::string_view text) {
    if (text.size() > kTextBytesMax) {
        return Fail{
            TextFault{1, 1, 1, fmt::format("the text has {} bytes; at most {} are read", text.size(), kTextBytesMax)}};
    }
    return Splitter{text}.split();
}

}  // namespace rhizome::script::detail
