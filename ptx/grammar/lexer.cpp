#include "ptx/grammar/lexer.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace sluice::ptx::grammar {
namespace {

// What a character can be. The tests of <cctype> depend on the locale of the user's process.
enum Class : unsigned char { digit = 1, letter = 2, follow = 4, blank = 8, operation = 16 };

constexpr std::array<unsigned char, 256> classes = [] {
  std::array<unsigned char, 256> table{};
  for (size_t c = 0; c < table.size(); ++c) {
    if (c >= '0' && c <= '9') table[c] = digit | follow;
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) table[c] = letter | follow;
  }
  for (const char c : std::string_view("_$"))
    table[static_cast<unsigned char>(c)] = follow;
  for (const char c : std::string_view(" \t\r\n\f\v"))
    table[static_cast<unsigned char>(c)] = blank;
  for (const char c : std::string_view("{}()[]<>;:,@!|&^~+-*/%?=#"))
    table[static_cast<unsigned char>(c)] = operation;
  return table;
}();

bool is(char c, unsigned char wanted) {
  return (classes[static_cast<unsigned char>(c)] & wanted) != 0;
}

}  // namespace

Token Lexer::next() {
  const size_t before = at_;
  skip_blanks_and_comments();
  Token token;
  token.location = here();
  token.follows_directly = at_ == before && at_ != 0;
  if (at_ == text_.size()) return token;
  const size_t begin = at_;
  token.kind = read();
  token.text = text_.substr(begin, at_ - begin);
  after_value_ = token.kind == Token::Kind::number || token.is(")");
  return token;
}

void Lexer::fail(const std::string& what, const Location& location) const {
  throw SyntaxError{{ErrorKind::invalid_input, what, where(file_, location), {}}};
}

void Lexer::step() {
  if (text_[at_] == '\n') {
    ++line_;
    line_begin_ = at_ + 1;
  }
  ++at_;
}

void Lexer::skip_blanks_and_comments() {
  while (at_ < text_.size()) {
    if (is(text_[at_], blank)) {
      step();
    } else if (text_[at_] == '/' && (peek(1) == '/' || peek(1) == '*')) {
      skip_comment();
    } else {
      return;
    }
  }
}

void Lexer::skip_comment() {
  if (peek(1) == '/') {
    at_ = std::min(text_.find('\n', at_), text_.size());
    return;
  }
  const Location begin = here();
  const size_t end = text_.find("*/", at_ + 2);
  if (end == std::string_view::npos) fail("expected '*/', found the end of the file", begin);
  while (at_ < end + 2)
    step();
}

Token::Kind Lexer::read() {
  const char c = text_[at_];
  if (is(c, digit) || (c == '.' && is(peek(1), digit) && starts_operand())) {
    read_number();
    return Token::Kind::number;
  }
  // `%` begins a register, except after an operand, where it is the remainder operator.
  if (is(c, follow) || (c == '%' && is(peek(1), follow) && !after_value_)) {
    read_word();
    return Token::Kind::word;
  }
  if (c == '.' && is(peek(1), follow)) {
    read_dotted();
    return Token::Kind::dotted;
  }
  if (c == '"') {
    read_string();
    return Token::Kind::string;
  }
  read_symbol();
  return Token::Kind::symbol;
}

// A dot before a digit begins a number (`.5`) unless a word or a modifier stands directly before
// it, as in `tex.2d`.
bool Lexer::starts_operand() const {
  return at_ == 0 || !(is(text_[at_ - 1], follow) || text_[at_ - 1] == '>');
}

void Lexer::read_word() {
  ++at_;
  while (is(peek(), follow))
    ++at_;
}

void Lexer::read_dotted() {
  read_word();
  while (peek() == ':' && peek(1) == ':' && is(peek(2), follow)) {
    at_ += 2;
    read_word();
  }
}

// Numbers are delimited here and checked where their value is taken (literal.cpp).
void Lexer::read_number() {
  const char second = peek(1) | 0x20;
  const bool prefixed = peek() == '0' && (second == 'x' || second == 'f' || second == 'd');
  while (at_ < text_.size()) {
    const char c = peek();
    if (is(c, follow)) {
      ++at_;
      const bool exponent = (c == 'e' || c == 'E') && !prefixed;
      if (exponent && (peek() == '+' || peek() == '-') && is(peek(1), digit)) ++at_;
    } else if (c == '.' && !prefixed && !is(peek(1), letter)) {
      ++at_;
    } else {
      return;
    }
  }
}

void Lexer::read_string() {
  const Location begin = here();
  ++at_;
  while (peek() != '"') {
    if (at_ == text_.size() || peek() == '\n')
      fail("expected '\"' at the end of the string", begin);
    at_ += peek() == '\\' && peek(1) != '\n' && at_ + 1 < text_.size() ? 2 : 1;
  }
  ++at_;
}

void Lexer::read_symbol() {
  const char c = text_[at_];
  if (!is(c, operation)) {
    const auto byte = static_cast<unsigned char>(c);
    const std::string found =
        byte > ' ' && byte < 0x7f ? fmt::format("'{}'", c) : fmt::format("byte 0x{:02x}", byte);
    fail("expected a statement or operand, found " + found, here());
  }
  // `<<`, `>>`, `==`, `&&`, `||`; `<=`, `>=`, `==`, `!=`.
  const char second = peek(1);
  const bool doubled = second == c && (c == '<' || c == '>' || c == '=' || c == '&' || c == '|');
  const bool compares = second == '=' && (c == '<' || c == '>' || c == '!');
  at_ += doubled || compares ? 2 : 1;
}

std::string where(std::string_view file, const Location& location) {
  return fmt::format("{}:{}:{}", file, location.line, location.column);
}

}  // namespace sluice::ptx::grammar
