// The parser's view of its tokens, and the one way in which it reports an error.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "ptx/grammar/lexer.hpp"

namespace sluice::ptx::grammar {

// SyntaxError carries an Error from the depth of the recursive descent to parse(), which alone
// catches it and returns it as a value.
struct SyntaxError {
  Error error;
};

// TokenStream hands out tokens in order. It stays at the end token once it is reached. `file` and
// the text of the tokens must outlive it.
class TokenStream {
 public:
  TokenStream(std::vector<Token> tokens, std::string_view file)
      : tokens_(std::move(tokens)), file_(file) {}

  const Token& peek(size_t ahead = 0) const;
  const Token& next();
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
  std::vector<Token> tokens_;  // the last one is of kind end
  std::string_view file_;
  size_t at_ = 0;
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
