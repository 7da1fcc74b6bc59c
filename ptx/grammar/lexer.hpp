// PTX text to tokens. Source: PTX ISA, chapter "Syntax".
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "ptx/syntax.hpp"

namespace sluice::ptx::grammar {

// SyntaxError carries an Error from the depth of the recursive descent to parse(), which alone
// catches it and returns it as a value.
struct SyntaxError {
  Error error;
};

// Token is one word of the text. `text` points into the source:
//   word     a name: `ld`, `%r1`, `$L__BB0_1`, `_`
//   dotted   a dot and what follows it: `.global`, `.L1::no_allocate`, `.debug_str`, `.2d`
//   number   `12`, `0x1FU`, `0f3F800000`, `1.5e3`, `9.0`
//   string   with its quotes
//   symbol   punctuation and operators, one to two characters
//   end      the end of the text
struct Token {
  enum class Kind { word, dotted, number, string, symbol, end };
  Kind kind = Kind::end;
  std::string_view text;
  Location location;
  bool follows_directly = false;  // no blank stands before it

  // `expected` is not empty. Most answers are no, and the first character gives most of these.
  bool is(std::string_view expected) const {
    return text.size() == expected.size() && text.front() == expected.front() &&
           (expected.size() == 1 || text == expected) && kind != Kind::string;
  }
};

// Lexer hands out the tokens of a text, up to its first NUL, one after the other and then the
// end again and again. The text must outlive the tokens.
class Lexer {
 public:
  Lexer(std::string_view text, std::string_view file)
      : text_(text.substr(0, text.find('\0'))), file_(file) {}

  // next() throws SyntaxError where the text is no token.
  Token next();

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : 0; }
  Location here() const { return {line_, static_cast<uint32_t>(at_ - line_begin_ + 1)}; }
  [[noreturn]] void fail(const std::string& what, const Location& location) const;

  void skip_blanks_and_comments();
  void skip_comment();
  void step();
  Token::Kind read();
  bool starts_operand() const;
  void read_word();
  void read_dotted();
  void read_number();
  void read_string();
  void read_symbol();

  std::string_view text_;
  std::string_view file_;
  size_t at_ = 0;
  size_t line_begin_ = 0;
  uint32_t line_ = 1;
  bool after_value_ = false;  // the last token was a number or a closing bracket
};

// where() is "file:line:column".
std::string where(std::string_view file, const Location& location);

}  // namespace sluice::ptx::grammar
