// The parser's view of its tokens, and the one way in which it reports an error.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "ptx/grammar/lexer.hpp"

namespace sluice::ptx::grammar {

// TokenStream hands out tokens in order, read from the text as they are wanted. It stays at the
// end token once it is reached. `text` and `file` must outlive it.
class TokenStream {
 public:
  TokenStream(std::string_view text, std::string_view file)
      : lexer_(text, file), file_(file), tokens_{lexer_.next(), lexer_.next()} {}

  // peek() is the next token, second() the one behind it; both hold until next().
  const Token& peek() const { return tokens_[first_]; }
  const Token& second() const { return tokens_[first_ ^ 1]; }
  Token next();
  bool at(std::string_view text) const { return peek().is(text); }
  bool at(Token::Kind kind) const { return peek().kind == kind; }
  Location location() const { return peek().location; }

  // accept() takes the next token if it is `text`; expect() fails if it is not.
  bool accept(std::string_view text);
  void expect(std::string_view text);
  std::string expect_word(std::string_view expected);

  // fail() throws "file:line:column: expected <expected>, found <next token>".
  [[noreturn]] void fail(std::string_view expected) const { fail(expected, peek()); }
  [[noreturn]] void fail(std::string_view expected, const Token& found) const;

 private:
  Lexer lexer_;
  std::string_view file_;
  std::array<Token, 2> tokens_;
  size_t first_ = 0;  // of the two, the next one
};

// NestingGuard bounds the recursion of the parser: text nested deeper than `limit` is an error.
class NestingGuard {
 public:
  NestingGuard(const TokenStream& stream, unsigned& depth, unsigned limit) : depth_(depth) {
    if (depth_ >= limit) stream.fail("nesting no deeper than " + std::to_string(limit) + " levels");
    ++depth_;
  }
  ~NestingGuard() { --depth_; }
  NestingGuard(const NestingGuard&) = delete;
  NestingGuard& operator=(const NestingGuard&) = delete;

 private:
  unsigned& depth_;
};

}  // namespace sluice::ptx::grammar
