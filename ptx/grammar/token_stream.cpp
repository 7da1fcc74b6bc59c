#include "ptx/grammar/token_stream.hpp"

#include <fmt/format.h>

namespace sluice::ptx::grammar {

Token TokenStream::next() {
  const Token token = tokens_[first_];
  tokens_[first_] = lexer_.next();
  first_ ^= 1;
  return token;
}

bool TokenStream::accept(std::string_view text) {
  if (!at(text)) return false;
  next();
  return true;
}

void TokenStream::expect(std::string_view text) {
  if (!accept(text)) fail(fmt::format("'{}'", text));
}

std::string TokenStream::expect_word(std::string_view expected) {
  if (!at(Token::Kind::word)) fail(expected);
  return std::string(next().text);
}

void TokenStream::fail(std::string_view expected, const Token& found) const {
  // An error is one line that fits a screen, however long the token is.
  constexpr size_t longest = 60;
  std::string text;
  if (found.kind == Token::Kind::end) {
    text = "the end of the file";
  } else if (found.text.size() > longest) {
    text = fmt::format("'{}...'", found.text.substr(0, longest));
  } else {
    text = fmt::format("'{}'", found.text);
  }
  throw SyntaxError{{ErrorKind::invalid_input,
                     fmt::format("expected {}, found {}", expected, text),
                     where(file_, found.location),
                     {}}};
}

}  // namespace sluice::ptx::grammar
