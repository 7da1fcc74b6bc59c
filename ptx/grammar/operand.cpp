#include "ptx/grammar/operand.hpp"

#include "ptx/grammar/constant_expression.hpp"

namespace sluice::ptx::grammar {
namespace {

constexpr unsigned deepest_operand = 16;

class OperandParser {
 public:
  OperandParser(TokenStream& stream, const OperandContext& context)
      : stream_(stream), context_(context) {}

  Operand operand() {
    NestingGuard guard(stream_, depth_, deepest_operand);
    if (stream_.accept("{")) return {VectorOperand{list("}")}};
    if (stream_.accept("[")) return bracketed();
    if (context_.is_call && stream_.accept("(")) return {ListOperand{list(")")}};
    if (stream_.at("!") && stream_.second().kind == Token::Kind::word &&
        !stream_.second().is("WARP_SZ")) {
      stream_.next();
      return {NotOperand{identifier()}};
    }
    if (begins_constant(stream_)) {
      return std::visit([](auto literal) { return Operand{literal}; }, parse_constant(stream_));
    }
    if (!stream_.at(Token::Kind::word)) stream_.fail("an operand");
    return named();
  }

 private:
  // list() reads operands up to `closing`, which it takes.
  std::vector<Operand> list(std::string_view closing) {
    std::vector<Operand> elements;
    if (stream_.accept(closing)) return elements;
    do {
      elements.push_back(operand());
    } while (stream_.accept(","));
    if (!stream_.accept(closing)) stream_.fail("',' or '" + std::string(closing) + "'");
    return elements;
  }

  Identifier identifier() {
    Identifier name{stream_.expect_word("a name"), {}};
    const Token& component = stream_.peek();
    if (component.kind == Token::Kind::dotted && component.follows_directly) {
      name.component = stream_.next().text.substr(1);
    }
    return name;
  }

  // named() reads what begins with a name: `a`, `a.x`, `p|q`, `a+4`, `a[1]`.
  Operand named() {
    const Token begin = stream_.peek();
    Identifier name = identifier();
    if (!name.component.empty()) return {std::move(name)};
    if (stream_.accept("|")) {
      return {PairOperand{std::move(name.name), stream_.expect_word("a name")}};
    }
    if (stream_.at("[")) return indexed(begin);
    if (stream_.at("+") || stream_.at("-")) {
      return {Offset{std::move(name.name), parse_byte_offset(stream_)}};
    }
    return {std::move(name)};
  }

  Operand indexed(const Token& array) {
    stream_.expect("[");
    uint64_t index = parse_integer(stream_).bits;
    stream_.expect("]");
    auto size = context_.sizes->find(array.text);
    if (size == context_.sizes->end()) stream_.fail("an array declared before its use", array);
    auto bytes = static_cast<int64_t>(index * size->second);
    if (context_.accesses_memory) return {Address{std::string(array.text), bytes}};
    return {Offset{std::string(array.text), bytes}};
  }

  // bracketed() reads `[base+4]`, `[16]` or `[texture, {x, y}]` after its opening bracket.
  Operand bracketed() {
    if (stream_.at("{")) return {BracketedList{list("]")}};
    Address address;
    const bool numeric = begins_constant(stream_);
    if (numeric) {
      address.bytes = static_cast<int64_t>(parse_integer(stream_).bits);
    } else {
      if (!stream_.at(Token::Kind::word)) stream_.fail("an address");
      Identifier base = identifier();
      address.base = std::move(base.name);
      if (!base.component.empty()) address.base += "." + base.component;
      address.bytes = parse_byte_offset(stream_);
    }
    if (stream_.accept("]")) return {std::move(address)};
    if (!stream_.accept(",")) stream_.fail("'+', ',' or ']'");
    std::vector<Operand> elements{first_of_list(address, numeric)};
    for (Operand& element : list("]"))
      elements.push_back(std::move(element));
    return {BracketedList{std::move(elements)}};
  }

  static Operand first_of_list(const Address& address, bool numeric) {
    if (numeric) {
      auto bits = static_cast<uint64_t>(address.bytes);
      return {IntegerLiteral{bits, bits == uint64_t{1} << 63}};
    }
    if (address.bytes != 0) return {Offset{address.base, address.bytes}};
    return {Identifier{address.base, {}}};
  }

  TokenStream& stream_;
  const OperandContext& context_;
  unsigned depth_ = 0;
};

}  // namespace

Operand parse_operand(TokenStream& stream, const OperandContext& context) {
  return OperandParser(stream, context).operand();
}

int64_t parse_byte_offset(TokenStream& stream) {
  if (!stream.at("+") && !stream.at("-")) return 0;
  return static_cast<int64_t>(parse_integer(stream).bits);
}

}  // namespace sluice::ptx::grammar
