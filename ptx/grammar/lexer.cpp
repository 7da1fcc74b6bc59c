#include "ptx/grammar/lexer.hpp"

#include <fmt/format.h>

namespace sluice::ptx::grammar {
namespace {

// The character tests of <cctype> depend on the locale of the user's process.
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_follow(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == '$';
}
bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
}

class Lexer {
 public:
  Lexer(std::string_view text, std::string_view file)
      : text_(text.substr(0, text.find('\0'))), file_(file) {}

  Result<std::vector<Token>> run() {
    tokens_.reserve(text_.size() / 5 + 1);
    for (;;) {
      size_t before = at_;
      if (Status status = skip_blanks_and_comments(); !status)
        return tl::unexpected(status.error());
      Token token;
      token.location = here();
      token.follows_directly = at_ == before && at_ != 0;
      if (at_ == text_.size()) {
        tokens_.push_back(token);
        return std::move(tokens_);
      }
      size_t begin = at_;
      if (Status status = read(token); !status) return tl::unexpected(status.error());
      token.text = text_.substr(begin, at_ - begin);
      tokens_.push_back(token);
    }
  }

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : 0; }
  Location here() const { return {line_, static_cast<uint32_t>(at_ - line_begin_ + 1)}; }

  void step() {
    if (text_[at_] == '\n') {
      ++line_;
      line_begin_ = at_ + 1;
    }
    ++at_;
  }

  Status skip_blanks_and_comments() {
    for (;;) {
      if (at_ < text_.size() && is_blank(peek())) {
        step();
      } else if (peek() == '/' && peek(1) == '/') {
        while (at_ < text_.size() && peek() != '\n')
          step();
      } else if (peek() == '/' && peek(1) == '*') {
        Location begin = here();
        step();
        step();
        while (at_ < text_.size() && !(peek() == '*' && peek(1) == '/'))
          step();
        if (at_ == text_.size()) {
          return invalid_input("expected '*/', found the end of the file", where(file_, begin));
        }
        step();
        step();
      } else {
        return {};
      }
    }
  }

  Status read(Token& token) {
    char c = peek();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)) && starts_operand())) {
      token.kind = Token::Kind::number;
      read_number();
      return {};
    }
    if (is_letter(c) || c == '_' || c == '$' || (c == '%' && starts_register())) {
      token.kind = Token::Kind::word;
      ++at_;
      while (is_follow(peek()))
        ++at_;
      return {};
    }
    if (c == '.' && is_follow(peek(1))) {
      token.kind = Token::Kind::dotted;
      ++at_;
      read_dotted();
      return {};
    }
    if (c == '"') return read_string(token);
    return read_symbol(token);
  }

  // A dot before a digit begins a number (`.5`) unless a word or a modifier stands directly before
  // it, as in `tex.2d`.
  bool starts_operand() const {
    return at_ == 0 || !(is_follow(text_[at_ - 1]) || text_[at_ - 1] == '>');
  }

  // `%` begins a register, except after an operand, where it is the remainder operator.
  bool starts_register() const {
    bool after_value =
        !tokens_.empty() && (tokens_.back().kind == Token::Kind::number || tokens_.back().is(")"));
    return is_follow(peek(1)) && !after_value;
  }

  void read_dotted() {
    for (;;) {
      while (is_follow(peek()))
        ++at_;
      if (peek() == ':' && peek(1) == ':' && is_follow(peek(2))) {
        at_ += 2;
      } else {
        return;
      }
    }
  }

  // Numbers are delimited here and checked where their value is taken (constant_expression.cpp).
  void read_number() {
    bool hexadecimal = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X');
    bool bits =
        peek() == '0' && (peek(1) == 'f' || peek(1) == 'F' || peek(1) == 'd' || peek(1) == 'D');
    while (at_ < text_.size()) {
      char c = peek();
      if (is_follow(c)) {
        ++at_;
        bool exponent = (c == 'e' || c == 'E') && !hexadecimal && !bits;
        if (exponent && (peek() == '+' || peek() == '-') && is_digit(peek(1))) ++at_;
      } else if (c == '.' && !hexadecimal && !bits && !is_letter(peek(1))) {
        ++at_;
      } else {
        return;
      }
    }
  }

  Status read_string(Token& token) {
    token.kind = Token::Kind::string;
    ++at_;
    while (peek() != '"') {
      if (at_ == text_.size() || peek() == '\n') {
        return invalid_input("expected '\"' at the end of the string",
                             where(file_, token.location));
      }
      at_ += peek() == '\\' && peek(1) != '\n' && at_ + 1 < text_.size() ? 2 : 1;
    }
    ++at_;
    return {};
  }

  Status read_symbol(Token& token) {
    static constexpr std::string_view two[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
    token.kind = Token::Kind::symbol;
    for (std::string_view symbol : two) {
      if (text_.substr(at_, 2) == symbol) {
        at_ += 2;
        return {};
      }
    }
    static constexpr std::string_view one = "{}()[]<>;:,@!|&^~+-*/%?=#";
    if (one.find(peek()) == std::string_view::npos) {
      unsigned char c = static_cast<unsigned char>(peek());
      std::string found =
          c > ' ' && c < 0x7f ? fmt::format("'{}'", peek()) : fmt::format("byte 0x{:02x}", c);
      return invalid_input("expected a statement or operand, found " + found,
                           where(file_, token.location));
    }
    ++at_;
    return {};
  }

  std::string_view text_;
  std::string_view file_;
  size_t at_ = 0;
  size_t line_begin_ = 0;
  uint32_t line_ = 1;
  std::vector<Token> tokens_;
};

}  // namespace

std::string where(std::string_view file, const Location& location) {
  return fmt::format("{}:{}:{}", file, location.line, location.column);
}

Result<std::vector<Token>> tokenise(std::string_view text, std::string_view file) {
  return Lexer(text, file).run();
}

}  // namespace sluice::ptx::grammar
