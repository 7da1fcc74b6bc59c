// PTX text to tokens. Source: PTX ISA, chapter "Syntax".
#pragma once

#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "ptx/syntax.hpp"

namespace sluice::ptx::grammar {

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

  bool is(std::string_view expected) const { return kind != Kind::string && text == expected; }
};

// tokenise() reads the whole text, up to its first NUL; the last token is of kind `end`. The
// text must outlive the tokens. Errors carry "file:line:column". Thread-safe.
Result<std::vector<Token>> tokenise(std::string_view text, std::string_view file);

// where() is "file:line:column".
std::string where(std::string_view file, const Location& location);

}  // namespace sluice::ptx::grammar
