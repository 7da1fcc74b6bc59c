#include "ptx/grammar/constant_expression.hpp"

#include <bit>
#include <limits>
#include <optional>

#include "ptx/grammar/literal.hpp"

namespace sluice::ptx::grammar {
namespace {

constexpr unsigned deepest_expression = 64;

bool is_integer(const Constant& value) {
  return std::holds_alternative<IntegerLiteral>(value);
}

double as_double(const Constant& value) {
  if (auto* integer = std::get_if<IntegerLiteral>(&value)) {
    return integer->is_unsigned ? static_cast<double>(integer->bits)
                                : static_cast<double>(static_cast<int64_t>(integer->bits));
  }
  const auto& literal = std::get<FloatLiteral>(value);
  if (literal.width == 32) return std::bit_cast<float>(static_cast<uint32_t>(literal.bits));
  return std::bit_cast<double>(literal.bits);
}

Constant from_double(double value) {
  return FloatLiteral{std::bit_cast<uint64_t>(value), 64};
}

// Binary operators of C, in their order; a higher number binds tighter.
int precedence(const Token& token) {
  // A comma or a bracket ends most constants.
  constexpr std::string_view begins = "|&^=!<>+-*/%";
  if (token.kind != Token::Kind::symbol ||
      begins.find(token.text.front()) == std::string_view::npos)
    return 0;
  static constexpr struct {
    std::string_view text;
    int level;
  } operators[] = {{"||", 1}, {"&&", 2}, {"|", 3},  {"^", 4},  {"&", 5},  {"==", 6},
                   {"!=", 6}, {"<", 7},  {"<=", 7}, {">", 7},  {">=", 7}, {"<<", 8},
                   {">>", 8}, {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10}};
  for (const auto& row : operators) {
    if (row.text == token.text) return row.level;
  }
  return 0;
}

template <class T>
std::optional<bool> compare(std::string_view op, T a, T b) {
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "<") return a < b;
  if (op == "<=") return a <= b;
  if (op == ">") return a > b;
  if (op == ">=") return a >= b;
  if (op == "&&") return a != T{} && b != T{};
  if (op == "||") return a != T{} || b != T{};
  return std::nullopt;
}

Constant shift(std::string_view op, IntegerLiteral a, uint64_t count) {
  bool negative = !a.is_unsigned && a.bits >> 63 != 0;
  if (count > 63) return IntegerLiteral{op == ">>" && negative ? ~uint64_t{0} : 0, a.is_unsigned};
  if (op == "<<") return IntegerLiteral{a.bits << count, a.is_unsigned};
  if (negative) return IntegerLiteral{static_cast<uint64_t>(static_cast<int64_t>(a.bits) >> count)};
  return IntegerLiteral{a.bits >> count, a.is_unsigned};
}

// The divisor is not zero. Signed division of the smallest number by -1 wraps, as PTX's does.
uint64_t divide(std::string_view op, uint64_t a, uint64_t b, bool is_unsigned) {
  if (is_unsigned) return op == "/" ? a / b : a % b;
  if (b == ~uint64_t{0}) return op == "/" ? -a : 0;
  auto sa = static_cast<int64_t>(a);
  auto sb = static_cast<int64_t>(b);
  return static_cast<uint64_t>(op == "/" ? sa / sb : sa % sb);
}

std::optional<Constant> apply_integer(std::string_view op, IntegerLiteral a, IntegerLiteral b) {
  if (op == "<<" || op == ">>") return shift(op, a, b.bits);
  bool is_unsigned = a.is_unsigned || b.is_unsigned;
  auto truth = is_unsigned
                   ? compare(op, a.bits, b.bits)
                   : compare(op, static_cast<int64_t>(a.bits), static_cast<int64_t>(b.bits));
  if (truth) return IntegerLiteral{*truth};
  if (op == "+") return IntegerLiteral{a.bits + b.bits, is_unsigned};
  if (op == "-") return IntegerLiteral{a.bits - b.bits, is_unsigned};
  if (op == "*") return IntegerLiteral{a.bits * b.bits, is_unsigned};
  if (op == "&") return IntegerLiteral{a.bits & b.bits, is_unsigned};
  if (op == "|") return IntegerLiteral{a.bits | b.bits, is_unsigned};
  if (op == "^") return IntegerLiteral{a.bits ^ b.bits, is_unsigned};
  if (b.bits == 0) return std::nullopt;
  return IntegerLiteral{divide(op, a.bits, b.bits, is_unsigned), is_unsigned};
}

std::optional<Constant> apply_float(std::string_view op, double a, double b) {
  if (auto truth = compare(op, a, b)) return IntegerLiteral{*truth};
  if (op == "+") return from_double(a + b);
  if (op == "-") return from_double(a - b);
  if (op == "*") return from_double(a * b);
  if (op == "/") return from_double(a / b);
  return std::nullopt;
}

class ExpressionParser {
 public:
  explicit ExpressionParser(TokenStream& stream) : stream_(stream) {}

  Constant conditional() {
    NestingGuard guard(stream_, depth_, deepest_expression);
    Constant condition = binary(1);
    if (!stream_.accept("?")) return condition;
    Constant if_true = conditional();
    stream_.expect(":");
    Constant if_false = conditional();
    return as_double(condition) != 0 ? if_true : if_false;
  }

 private:
  Constant binary(int lowest) {
    Constant left = unary();
    for (;;) {
      const Token operation = stream_.peek();
      int level = precedence(operation);
      if (level < lowest || level == 0) return left;
      stream_.next();
      Constant right = binary(level + 1);
      bool integers = is_integer(left) && is_integer(right);
      auto value = integers ? apply_integer(operation.text, std::get<IntegerLiteral>(left),
                                            std::get<IntegerLiteral>(right))
                            : apply_float(operation.text, as_double(left), as_double(right));
      if (!value) stream_.fail("operands that the operator is defined for", operation);
      left = *value;
    }
  }

  Constant unary() {
    NestingGuard guard(stream_, depth_, deepest_expression);
    const Token operation = stream_.peek();
    if (operation.is("+") || operation.is("-") || operation.is("!") || operation.is("~")) {
      stream_.next();
      return apply_unary(operation, unary());
    }
    if (stream_.accept("(")) {
      if (stream_.at(".s64") || stream_.at(".u64")) return cast();
      Constant value = conditional();
      stream_.expect(")");
      return value;
    }
    if (stream_.accept("WARP_SZ")) return IntegerLiteral{32};
    return parse_literal(stream_);
  }

  Constant apply_unary(const Token& operation, Constant value) {
    if (auto* literal = std::get_if<FloatLiteral>(&value)) {
      if (operation.is("-")) literal->bits ^= uint64_t{1} << (literal->width - 1);
      if (operation.is("!")) return IntegerLiteral{as_double(value) == 0};
      if (operation.is("~")) stream_.fail("an integer after '~'", operation);
      return value;
    }
    auto& integer = std::get<IntegerLiteral>(value);
    if (operation.is("-")) integer.bits = -integer.bits;
    if (operation.is("~")) integer.bits = ~integer.bits;
    if (operation.is("!")) return IntegerLiteral{integer.bits == 0};
    return value;
  }

  Constant cast() {
    const Token type = stream_.next();
    stream_.expect(")");
    Constant value = unary();
    if (!is_integer(value)) stream_.fail("an integer after the cast", type);
    std::get<IntegerLiteral>(value).is_unsigned = type.is(".u64");
    return value;
  }

  TokenStream& stream_;
  unsigned depth_ = 0;
};

}  // namespace

bool begins_constant(const TokenStream& stream) {
  if (stream.at(Token::Kind::number)) return true;
  if (!stream.at(Token::Kind::symbol)) return stream.at("WARP_SZ");
  return std::string_view("-+~!(").find(stream.peek().text.front()) != std::string_view::npos;
}

Constant parse_constant(TokenStream& stream) {
  Constant value = ExpressionParser(stream).conditional();
  // A literal above the signed range is unsigned, and the smallest signed number can only be
  // written as such a literal: it counts as unsigned, so that printing it changes nothing.
  if (auto* integer = std::get_if<IntegerLiteral>(&value)) {
    if (integer->bits == uint64_t{1} << 63) integer->is_unsigned = true;
  }
  return value;
}

IntegerLiteral parse_integer(TokenStream& stream) {
  const Token begin = stream.peek();
  Constant value = parse_constant(stream);
  if (!is_integer(value)) stream.fail("an integer", begin);
  return std::get<IntegerLiteral>(value);
}

uint64_t parse_count(TokenStream& stream, uint64_t limit) {
  const Token begin = stream.peek();
  IntegerLiteral value = parse_integer(stream);
  bool negative = !value.is_unsigned && value.bits >> 63 != 0;
  if (negative || value.bits > limit) {
    stream.fail("a number from 0 to " + std::to_string(limit), begin);
  }
  return value.bits;
}

}  // namespace sluice::ptx::grammar
